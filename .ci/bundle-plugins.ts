import { isBuiltin } from 'node:module';
import type { Plugin } from 'rolldown';
import { parseSync, Visitor } from 'rolldown/utils';

/**
 * Loads a module of Node's when something of it is first used, not when the file starts: some cost more than the rest of the start
 * together (node:http2, node:crypto), and an import of node:fs loads all that there is in it. For code that does not ask what there is in one.
 */
export const lazyBuiltins: Plugin = createBuiltins('lazy-builtins', renderLazy);

/** Loads a module of Node's with the file that uses it. */
export const wholeBuiltins: Plugin = createBuiltins('whole-builtins', renderWhole);

function createBuiltins(name: string, render: (id: string) => string): Plugin {
  return {
    name,
    resolveId: (id, importer) =>
      isBuiltin(id) && !importer?.startsWith('\0') ? `\0builtin:${id.replace(/^node:/, '')}` : undefined,
    load: (id) => (id.startsWith('\0builtin:') ? render(id.replace('\0builtin:', 'node:')) : undefined),
  };
}

function renderWhole(id: string): string {
  return `module.exports = ${renderLoad(id)};`;
}

/** By what loads the files, which knows when. */
function renderLoad(id: string): string {
  return `require(${JSON.stringify(id)})`;
}

/** A module that itself is a function is loaded at once, with what it is called with, but for one that does nothing as long as all is well. */
export function renderLazy(id: string): string {
  const builtin: unknown = process.getBuiltinModule(id);
  const load = renderLoad(id);
  // It has been there from the start, and its properties change.
  if (id === 'node:process') return 'module.exports = process;';
  const lazy = `new Proxy({}, {
  get: (_, name, user) => {
    if (name === '__esModule') return undefined;
    const value = ${load}[name];
    Object.defineProperty(user, name, { value, enumerable: true });
    return value;
  },
  has: (_, name) => name in ${load},
})`;
  if (id === 'node:assert')
    return `module.exports = (value, ...more) => {
  if (!value) ${load}(value, ...more);
};
Object.setPrototypeOf(module.exports, ${lazy});`;
  if (typeof builtin !== 'object' || builtin === null) return renderWhole(id);
  // What a property is first asked for has it from then on. To name all that there are would take longer than most of the modules do.
  return `module.exports = Object.create(${lazy});`;
}

/** What is used of packages whose main file brings everything: names, and the files that export them. */
const USED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  undici: { Agent: 'lib/dispatcher/agent.js', EnvHttpProxyAgent: 'lib/dispatcher/env-http-proxy-agent.js' },
  'rate-limiter-flexible': {
    RateLimiterMemory: 'lib/RateLimiterMemory.js',
    RateLimiterQueue: 'lib/RateLimiterQueue.js',
  },
};

/**
 * Files that those load for what is never asked of them: `fetch` and its bodies (the transport sends bytes), HTTP/2 (it is switched off), and a second
 * parser for processors that have vector instructions (undici falls back to the other one).
 */
const UNUSED = [
  'undici/lib/web/fetch/body.js',
  'undici/lib/web/fetch/formdata.js',
  'undici/lib/dispatcher/client-h2.js',
  'undici/lib/llhttp/llhttp_simd-wasm.js',
];

/** Leaves out of packages what is not used. Fails when a package no longer has what is left out: then this list is to be looked at. */
export function createNarrowing(): Plugin {
  const left = new Set(UNUSED);
  return {
    name: 'narrowing',
    resolveId: (id) => (Object.hasOwn(USED, id) ? `\0used:${id}` : undefined),
    load: (id) => {
      if (id.startsWith('\0used:')) return renderUsed(id.replace('\0used:', ''));
      const unused = UNUSED.find((file) => id.replaceAll('\\', '/').endsWith(`/node_modules/${file}`));
      if (unused === undefined) return undefined;
      left.delete(unused);
      return renderUnused(unused);
    },
    buildEnd: () => {
      if (left.size > 0) throw new Error(`Nothing loads ${[...left].join(', ')} any more: see .ci/bundle-plugins.ts`);
    },
  };
}

function renderUsed(name: string): string {
  return Object.entries(USED[name] ?? {})
    .map(([exported, file]) => `export { default as ${exported} } from '${name}/${file}';\n`)
    .join('');
}

/** It may be loaded, and does nothing but say what it lacks. */
function renderUnused(file: string): string {
  return `const refuse = () => { throw new Error('edgewise has left out ${file}'); };
module.exports = new Proxy(refuse, { get: refuse });`;
}

/**
 * Puts each statement on a line of its own, after everything was made small: a stack trace then has line numbers that say something, and Node shows a
 * short line of what failed instead of a whole file.
 */
export const statementLines: Plugin = {
  name: 'statement-lines',
  generateBundle: (_options, bundle) => {
    for (const part of Object.values(bundle)) if (part.type === 'chunk') part.code = breakLines(part.code);
  },
};

function breakLines(code: string): string {
  const starts = new Set<number>();
  const add = ({ body }: { readonly body: readonly { readonly start: number }[] }): void => {
    for (const { start } of body) starts.add(start);
  };
  const { program } = parseSync('part.js', code);
  new Visitor({ Program: add, BlockStatement: add, ClassBody: add, StaticBlock: add }).visit(program);
  const sorted = [0, ...[...starts].sort((left, right) => left - right), code.length];
  const lines = sorted.slice(1).map((end, index) => code.slice(sorted[index], end));
  return lines.map((line) => (line === '' || line.endsWith('\n') ? line : `${line}\n`)).join('');
}
