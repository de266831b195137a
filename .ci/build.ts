import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { parse, resolve } from 'node:path';
import { build } from 'vite';
import { renderBillOfMaterials } from './bill-of-materials.ts';
import { createYamlPlugin } from './plain-yaml.ts';

/**
 * Bundles the command line: dist/cli.js, and dist/parts with all that it needs of other packages. Beside them dist/THIRD_PARTY_LICENSES and dist/sbom.cdx.json
 * say what of others is in it. The library is not bundled: the TypeScript compiler writes it and its types (tsconfig.lib.json).
 */

/** Whoever reports an error has its stack trace, and nothing else: functions and classes keep their names, and statements their lines. */
const keepNames = { function: true, class: true };
const minify = {
  compress: { keepNames },
  mangle: { toplevel: true, keepNames },
  codegen: { removeWhitespace: false },
} as const;

/** Nothing but what is said here decides what is built. */
const COMMON = { configFile: false, logLevel: 'warn', publicDir: false } as const;

/** Smaller entry points of packages, as published. */
const ALIASES = [
  // This build of yaml does not look into the environment for each token.
  { find: /^yaml$/, replacement: resolve('node_modules/yaml/browser/dist/index.js') },
  // The main file loads all of undici: fetch, WebSocket, caches.
  { find: /^undici$/, replacement: resolve('.ci/undici.mjs') },
  { find: /^\.\.\/llhttp\/llhttp_simd-wasm\.js$/, replacement: resolve('.ci/llhttp.cjs') },
  { find: /^re2js$/, replacement: resolve('.ci/re2js.cjs') },
];

/** What starts, and what nearly every command needs: one file each, with all that its module imports, since a hundred small files take 15 ms longer to load. */
const GROUPS = ['src/cli/program.ts', 'src/cli/commands/validate.ts'].map((first, index, { length }) => ({
  name: parse(first).name,
  test: (id: string) => id === resolve(first),
  // Below 1 the order would be another one.
  priority: length - index,
}));

const LICENSES = 'THIRD_PARTY_LICENSES';

/** Bundles the program, and writes the licences of what is in it. Returns the name of its first file. */
async function bundleProgram(): Promise<string> {
  const built = await build({
    ...COMMON,
    resolve: { alias: ALIASES },
    plugins: [createYamlPlugin()],
    ssr: { noExternal: true },
    build: {
      ssr: 'src/cli/program.ts',
      outDir: 'dist',
      emptyOutDir: false,
      license: { fileName: LICENSES },
      rolldownOptions: {
        checks: { ineffectiveDynamicImport: false },
        output: {
          // Node loads CommonJS faster: as modules, the same files take twice as long.
          format: 'cjs',
          // As the sources, which are modules: a write to what is frozen throws.
          strict: true,
          minify,
          // Text of one byte a character takes Node 5 ms less to load.
          charset: 'ascii',
          // Who reads the code reads the sources: a tenth of the package would be comments. The licences stand in a file of their own.
          comments: false,
          entryFileNames: 'parts/[name]-[hash].cjs',
          chunkFileNames: 'parts/[name]-[hash].cjs',
          codeSplitting: { groups: GROUPS },
        },
      },
    },
  });
  const files = 'output' in built ? built.output : [];
  const program = files.find((file) => file.type === 'chunk' && file.isEntry);
  if (program === undefined) throw new Error('The program has no first file.');
  return program.fileName;
}

/** What starts the program: a file that an older Node can read too. */
async function bundleStart(program: string): Promise<void> {
  await build({
    ...COMMON,
    build: {
      ssr: 'src/cli/main.ts',
      outDir: 'dist',
      emptyOutDir: false,
      target: 'es2020',
      rolldownOptions: {
        external: /program\.ts$/,
        output: { entryFileNames: 'cli.js', minify, paths: () => `./${program}`, banner: '#!/usr/bin/env node' },
      },
    },
  });
  await chmod('dist/cli.js', 0o755);
}

await rm('dist', { recursive: true, force: true });
await bundleStart(await bundleProgram());
const licenses = await readFile(`dist/${LICENSES}`, 'utf8');
const packages = [...licenses.matchAll(/^## (\S+) - (\S+)/gm)].map(([, name, version]) => `${name}@${version}`);
await writeFile('dist/sbom.cdx.json', renderBillOfMaterials(packages));
