import { spawn } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { resolve } from 'node:path';
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
];

/** What the page never asks for: encrypted keys, and keys in formats other than those of OpenSSH and PKCS #8; forms of reports for programs. */
const LEFT_OUT =
  /bcrypt-pbkdf|sshpk.lib.formats.(?:putty|dnssec|x509|x509-pem|openssh-cert)|report.machine.(?:sarif|junit|github|metrics|json-lines|stacks)[.]ts|report.\w+.stacks-report[.]ts/;

const leaveOut = {
  name: 'leave-out',
  enforce: 'pre',
  load: (id: string) => {
    if (!LEFT_OUT.test(id)) return undefined;
    return { code: id.endsWith('.ts') ? 'export default undefined;' : 'module.exports = {};', moduleType: 'js' };
  },
} as const;

const transform = { inject: { Buffer: [NODE, 'Buffer'] as [string, string] }, define: { 'process.env': '{}' } };

const [folder = 'dist/try', ...rest] = process.argv.slice(2).filter((word) => word !== '--no-open');
if (rest.length > 0) throw new Error('One folder, at most.');
await build({
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
  base: './',
  resolve: { alias },
  plugins: [leaveOut],
  worker: {
    format: 'iife',
    plugins: () => [leaveOut],
    rolldownOptions: { transform, checks: { emptyImportMeta: false } },
  },
  build: {
    outDir: folder,
    emptyOutDir: true,
    cssCodeSplit: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
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
