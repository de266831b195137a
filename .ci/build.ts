import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { build } from 'vite';
import { renderBillOfMaterials } from './bill-of-materials.ts';

/**
 * Bundles the command line with its packages: dist/cli.js, and dist/parts. Beside them, dist/THIRD_PARTY_LICENSES and
 * dist/sbom.cdx.json say what of others is in it. The library is not bundled: the TypeScript compiler writes it and its
 * types (tsconfig.lib.json).
 */

const LICENSES = 'THIRD_PARTY_LICENSES';

await rm('dist', { recursive: true, force: true });
await build({
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
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
