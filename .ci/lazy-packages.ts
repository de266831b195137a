import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'rolldown';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';

/**
 * Packages that few runs need: what makes schemas and RE2, when something is wrong, and what reads SSH keys. Each is a file of its own, which is
 * loaded when something of the package is first used. Functions that are not asynchronous use them, so the file is one that can be required.
 */
const LAZY: Readonly<Record<string, readonly string[]>> = {
  zod: ['z'],
  re2js: ['RE2JS'],
  sshpk: ['parseKey', 'parsePrivateKey'],
};

/** The files, as the input of a build of their own, in the format `cjs`. */
export const LAZY_INPUT = Object.fromEntries(Object.keys(LAZY).map((name) => [name, `\0whole:${name}`]));

/** Where they are, beside the file that loads them. */
export const LAZY_FILES = '[name].cjs';

/** Loads the packages when they are first used. */
export const lazyPackages: Plugin = {
  name: 'lazy-packages',
  resolveId: (id) => {
    if (Object.hasOwn(LAZY, id)) return `\0lazy:${id}`;
    const name = /^\.\/(\w+)\.cjs$/.exec(id)?.[1] ?? '';
    return Object.hasOwn(LAZY, name) ? { id, external: true } : undefined;
  },
  load: (id) => (id.startsWith('\0lazy:') ? renderLazy(id.replace('\0lazy:', '')) : undefined),
};

function renderLazy(name: string): string {
  return `for (const name of ${JSON.stringify(LAZY[name])})
  Object.defineProperty(exports, name, { enumerable: true, get: () => require('./${name}.cjs')[name] });`;
}

/** What the files hold of the packages: what the sources use. */
export const wholePackages: Plugin = {
  name: 'whole-packages',
  resolveId: (id) => (id.startsWith('\0whole:') ? id : undefined),
  load: (id) => (id.startsWith('\0whole:') ? renderWhole(id.replace('\0whole:', '')) : undefined),
};

function renderWhole(name: string): string {
  if (name === 'zod') return `import * as all from 'zod';\nexport const z = { ${listMembers().join(', ')} };`;
  return `export { ${LAZY[name]?.join(', ')} } from '${name}';`;
}

/** The members of zod that the sources use, as those of an object, so that the others can be left out. */
function listMembers(): readonly string[] {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const used = new Set<string>();
  for (const code of files.map((file) => readFileSync(join('src', file), 'utf8'))) {
    if (!code.includes("from 'zod'")) continue;
    const add = ({ object, property }: ESTree.MemberExpression): void => {
      if (object.type === 'Identifier' && object.name === 'z') used.add(code.slice(property.start, property.end));
    };
    new Visitor({ MemberExpression: add }).visit(parseSync('schema.ts', code).program);
  }
  return [...used].map((member) => `${member}: all.${member}`);
}
