import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, createServer } from 'vite';
import { FACE, MARK_URL } from '../src/report/html/face.ts';

/** `npm run try`: builds the page of examples/try into dist/try, and opens it. With `--no-open` it only builds; a folder may be named instead of dist/try. */

const NODE = resolve('.ci/browser/node.ts');

/** Modules of Node, and packages that run only in Node. */
const NOT_IN_A_PAGE =
  /^(?:node:.+|assert|buffer|child_process|constants|crypto|events|fs|os|path|process|stream|tty|util|undici|proper-lockfile)$/;

const sources = [
  { find: /^edgewise$/, replacement: resolve('src/index.ts') },
  { find: /^edgewise\/server$/, replacement: resolve('src/server/index.ts') },
];

const alias = [
  ...sources,
  { find: NOT_IN_A_PAGE, replacement: NODE },
  // Its own Buffer is safe, as in every supported Node.
  { find: 'safer-buffer', replacement: NODE },
];

/** Globals of Node that packages use. */
const transform = { inject: { Buffer: [NODE, 'Buffer'] as [string, string] }, define: { 'process.env': '{}' } };

const [folder = 'dist/try', ...rest] = process.argv.slice(2).filter((word) => word !== '--no-open');
if (rest.length > 0) throw new Error('One folder, at most.');
await build({
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
  base: './',
  resolve: { alias },
  worker: {
    format: 'iife',
    rolldownOptions: { transform, checks: { emptyImportMeta: false }, output: { codeSplitting: false } },
  },
  build: {
    outDir: folder,
    emptyOutDir: true,
    cssCodeSplit: false,
    chunkSizeWarningLimit: 2500,
    rolldownOptions: {
      checks: { pluginTimings: false },
      input: 'examples/try/page.ts',
      output: { format: 'iife', entryFileNames: 'try.js', assetFileNames: 'try[extname]' },
    },
  },
});

/** The plan of the first example, made in this process. */
async function planFirst(): Promise<string> {
  const server = await createServer({
    configFile: false,
    logLevel: 'warn',
    appType: 'custom',
    server: { middlewareMode: true, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
    resolve: { alias: sources },
  });
  try {
    const { createFirstPlan } = await server.ssrLoadModule('examples/try/first.ts');
    return JSON.stringify(await createFirstPlan()).replaceAll('<', '\\u003c');
  } finally {
    await server.close();
  }
}

const page = await readFile('examples/try/index.html', 'utf8');
const first = await planFirst();
await writeFile(
  `${folder}/index.html`,
  page.replace('href="data:,"', `href="${MARK_URL}"`).replace('id="first">', () => `id="first">${first}`),
);
const styles = ['parts', 'style'].map((name) => readFile(`examples/try/${name}.css`, 'utf8'));
await writeFile(`${folder}/try.css`, [FACE, ...(await Promise.all(styles))].join('\n'));
const url = pathToFileURL(resolve(folder, 'index.html')).href;
console.log(url);
if (!process.argv.includes('--no-open')) {
  const program = { darwin: 'open', win32: 'explorer' }[String(process.platform)] ?? 'xdg-open';
  // If no browser can be started, the address is printed.
  spawn(program, [url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
