import { spawn } from 'node:child_process';
import { copyFile, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';

/** `npm run try`: builds the page of examples/try into dist/try, and opens it. With `--no-open` it only builds; a folder may be named instead of dist/try. */

const NODE = resolve('.ci/browser/node.ts');

/** Modules of Node's, and packages that only Node can use. */
const NOT_IN_A_PAGE =
  /^(?:node:.+|assert|buffer|child_process|constants|crypto|events|fs|os|path|process|stream|tty|util|undici|proper-lockfile)$/;

const alias = [
  { find: /^yaml$/, replacement: resolve('node_modules/yaml/browser/dist/index.js') },
  { find: /^edgewise$/, replacement: resolve('src/index.ts') },
  { find: /^edgewise\/server$/, replacement: resolve('src/server/index.ts') },
  { find: NOT_IN_A_PAGE, replacement: NODE },
  { find: 'tweetnacl', replacement: resolve('.ci/browser/ed25519.ts') },
  // Its own Buffer is safe, as that of every Node is by now.
  { find: 'safer-buffer', replacement: NODE },
];

/**
 * What the page cannot reach: plans from a file, exports, a server on a socket or of a URL, its OpenAPI document, commands, formats of reports for programs, and of
 * SSH keys everything but OpenSSH and PKCS #8 of Ed25519. Each function of it throws.
 */
const LEFT_OUT = new RegExp(
  [
    'asn1.lib.ber.writer|bcrypt-pbkdf|ecc-jsbn|node_modules.jsbn|sshpk.lib.(?:certificate|dhe|fingerprint|identity)',
    'sshpk.lib.formats.(?:auto|dnssec|openssh-cert|pkcs1|putty|ssh-private|x509|x509-pem)',
    'zod.v4.core.(?:json-schema-processors|to-json-schema)',
    'src.schemas.openapi|src.plan.saved.(?:check-plan|drift-against|list-plan-mismatches|verify-plan)|src.plan.compare.compare-plans',
    'src.export.export-live|src.server.listen|src.stack.(?:embedded|render|saved-plan)|src.apply.run-command|src.client.undici-transport',
    'src.report.machine.(?:github|inventory|json-lines|junit|metrics|sarif|stacks)|src.report.(?:html|markdown).stacks-report|src.report.view.comparison-view',
  ].join('|'),
);

const REFUSE = "function refuse() { throw new Error('This cannot be done in a page.'); }";

const omitFields = {
  name: 'leave-out',
  enforce: 'pre',
  load: async (id: string) => {
    if (!LEFT_OUT.test(id)) return undefined;
    const code = await readFile(id, 'utf8');
    if (!/^export /m.test(code)) return { code: 'module.exports = {};', moduleType: 'js' };
    const names = Array.from(code.matchAll(/^export (?:async )?(?:const|function|class) (\w+)/gm), ([, name]) => name);
    return { code: `${REFUSE}\nexport { ${names.map((name) => `refuse as ${name}`).join(', ')} };`, moduleType: 'js' };
  },
} as const;

/** Everything is in one script, so nothing is loaded later, and what is not used can be found. */
const importAtOnce = {
  name: 'import-at-once',
  enforce: 'pre',
  transform: {
    filter: { id: /src.+[.]ts$/, code: /\bimport\('/ },
    handler: (code: string) => {
      const modules: string[] = [];
      const body = code.replace(/(?<!typeof )(?:\bawait )?\bimport\(('[^']+')\)/g, (_, from: string) => {
        const at = modules.includes(from) ? modules.indexOf(from) : modules.push(from) - 1;
        return `module${at}`;
      });
      return `${modules.map((from, at) => `import * as module${at} from ${from};`).join('\n')}\n${body}`;
    },
  },
} as const;

/** Of the published schema, the editor needs the words and not the limits. */
const LIMITS =
  /^(?:\$id|\$schema|format|title|pattern|patternErrorMessage|required|unique\w+|contentEncoding|(?:min|max)(?:imum|\w+s|Length))$/;

const shortenSchema = {
  name: 'shorten-schema',
  enforce: 'pre',
  load: async (id: string) => {
    if (!id.endsWith('manifest.schema.json')) return undefined;
    const shorten = (key: string, value: unknown) => (LIMITS.test(key) && !isSchema(value) ? undefined : value);
    const schema = JSON.parse(await readFile(id, 'utf8'), shorten);
    return JSON.stringify(schema);
  },
} as const;

/** A field may have the name of a limit. */
function isSchema(value: unknown): boolean {
  return typeof value === 'object' && !Array.isArray(value);
}

const plugins = [omitFields, importAtOnce];
const transform = { inject: { Buffer: [NODE, 'Buffer'] as [string, string] }, define: { 'process.env': '{}' } };
/** Modules that only define something. */
const PURE = ['src', ...['@marcbachmann', '@dagrejs', 'hono', 'yaml'].map((name) => join('node_modules', name))];
const treeshake = {
  moduleSideEffects: PURE.map((from) => ({ test: new RegExp(`^${RegExp.escape(resolve(from))}`), sideEffects: false })),
  propertyReadSideEffects: false,
} as const;

const [folder = 'dist/try', ...rest] = process.argv.slice(2).filter((word) => word !== '--no-open');
if (rest.length > 0) throw new Error('One folder, at most.');
await build({
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
  base: './',
  resolve: { alias },
  plugins: [...plugins, shortenSchema],
  worker: {
    format: 'iife',
    plugins: () => plugins,
    rolldownOptions: { transform, treeshake, checks: { emptyImportMeta: false } },
  },
  build: {
    outDir: folder,
    emptyOutDir: true,
    cssCodeSplit: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      checks: { pluginTimings: false },
      input: 'examples/try/page.ts',
      output: { format: 'iife', entryFileNames: 'try.js', assetFileNames: 'try[extname]' },
    },
  },
});
await copyFile('examples/try/index.html', `${folder}/index.html`);
await copyFile('examples/try/style.css', `${folder}/try.css`);
const url = pathToFileURL(resolve(folder, 'index.html')).href;
console.log(url);
if (!process.argv.includes('--no-open')) {
  const program = { darwin: 'open', win32: 'explorer' }[String(process.platform)] ?? 'xdg-open';
  // Where nothing can show it, the address has to do.
  spawn(program, [url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
