import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { build, type Plugin } from 'vite';
import { renderBillOfMaterials } from './bill-of-materials.ts';

/**
 * Bundles the command line with its packages: dist/cli.js, and dist/parts. dist/THIRD_PARTY_LICENSES and dist/sbom.cdx.json list the bundled
 * packages. The library is not bundled: the TypeScript compiler writes it and its types (tsconfig.lib.json).
 */

/** Puts the page of `explain` into the bundle, so that the program reads no file for it. */
const pageText: Plugin = {
  name: 'page-text',
  load: async (id) =>
    id.endsWith('/src/explain/page-text.ts')
      ? `export const getDiagnosticsPage = () => ${JSON.stringify(await readFile('docs/diagnostics.md', 'utf8'))};`
      : undefined,
};

const LICENSES = 'THIRD_PARTY_LICENSES';

await rm('dist', { recursive: true, force: true });
await build({
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
  plugins: [pageText],
  ssr: { noExternal: true },
  build: {
    ssr: 'src/cli/main.ts',
    outDir: 'dist',
    license: { fileName: LICENSES },
    rolldownOptions: { output: { entryFileNames: 'cli.js', chunkFileNames: 'parts/[name]-[hash].js' } },
  },
});
await chmod('dist/cli.js', 0o755);
const licenses = await readFile(`dist/${LICENSES}`, 'utf8');
const packages = [...licenses.matchAll(/^## (\S+) - (\S+)/gm)].map(([, name, version]) => `${name}@${version}`);
await writeFile('dist/sbom.cdx.json', renderBillOfMaterials(packages));
