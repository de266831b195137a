import { chmod, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { renderBillOfMaterials } from './bill-of-materials.ts';
import { listPackages, renderLicenses } from './licenses.ts';

/**
 * Builds dist/cli.js and dist/cli/, the whole command line with everything that it needs of other packages, in files that are
 * loaded when they are needed. Beside them dist/THIRD_PARTY_LICENSES and dist/sbom.cdx.json say what of others is in the package.
 * The library (dist/lib) is made by the TypeScript compiler alone: see tsconfig.lib.json.
 */

/**
 * Loads a module of Node's when the module that imports it is first evaluated, not when the file starts: some cost more than the
 * rest of the start together (node:http2), and only `serve` needs them.
 */
const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  resolveId: (id, importer) =>
    isBuiltin(id) && !importer?.startsWith('\0') ? `\0builtin:${id.replace(/^node:/, '')}` : undefined,
  load: (id) =>
    id.startsWith('\0builtin:')
      ? `module.exports = process.getBuiltinModule(${JSON.stringify(id.replace('\0builtin:', 'node:'))});`
      : undefined,
};

/** Gives the paths of the modules that the files were made of. */
async function buildCommandLine(folder: string): Promise<readonly string[]> {
  const bundle = await rolldown({ input: { cli: 'src/cli/launch.ts' }, platform: 'node', plugins: [lazyBuiltins] });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'cli/[name]-[hash].js',
    banner: ({ isEntry }) => (isEntry ? '#!/usr/bin/env node' : ''),
  });
  await bundle.close();
  await chmod(join(folder, 'cli.js'), 0o755);
  return output.flatMap((part) => (part.type === 'chunk' ? Object.keys(part.modules) : []));
}

await rm('dist', { recursive: true, force: true });
const modules = await buildCommandLine('dist');
await writeFile('dist/THIRD_PARTY_LICENSES', await renderLicenses(modules));
await writeFile('dist/sbom.cdx.json', renderBillOfMaterials(await listPackages(modules)));
