import { chmod, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join, parse, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { renderBillOfMaterials } from './bill-of-materials.ts';
import { listPackages, renderLicenses } from './licenses.ts';

/**
 * Builds dist/cli.js and dist/cli/, the whole command line with everything that it needs of other packages, in files that are
 * loaded when they are needed. Beside them dist/THIRD_PARTY_LICENSES and dist/sbom.cdx.json say what of others is in the package.
 * The library (dist/lib) is made by the TypeScript compiler alone: see tsconfig.lib.json.
 */

/**
 * Loads a module of Node's when something of it is first used, not when the file starts: some cost more than the rest of the start
 * together (node:http2, node:crypto), and an import of node:fs loads all that there is in it.
 */
const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  resolveId: (id, importer) =>
    isBuiltin(id) && !importer?.startsWith('\0') ? `\0builtin:${id.replace(/^node:/, '')}` : undefined,
  load: (id) => (id.startsWith('\0builtin:') ? renderLazy(id.replace('\0builtin:', 'node:')) : undefined),
};

/** A module that itself is a function is loaded at once, with what it is called with. */
function renderLazy(id: string): string {
  const builtin: unknown = process.getBuiltinModule(id);
  const load = `process.getBuiltinModule(${JSON.stringify(id)})`;
  if (typeof builtin !== 'object' || builtin === null) return `module.exports = ${load};`;
  const names = JSON.stringify(Object.keys(builtin));
  return `for (const name of ${names}) Object.defineProperty(exports, name, { enumerable: true, get: () => ${load}[name] });`;
}

/**
 * Files that are loaded as a whole, with all that their first module imports: few files load faster than many. A module belongs to
 * the first of them that needs it. The first two are there before compiled code is kept, so that they hold nothing else.
 */
const GROUPS = [
  'package.json',
  'src/cli/compile-cache.ts',
  'src/cli/main.ts',
  'src/cli/commands/validate.ts',
  'src/cli/commands/plan.ts',
].map((first, index, { length }) => ({
  name: parse(first).name,
  test: (id: string) => id === resolve(first),
  priority: length - index,
}));

/** Gives the paths of the modules that the files were made of. */
async function buildCommandLine(folder: string): Promise<readonly string[]> {
  const bundle = await rolldown({
    input: { cli: 'src/cli/launch.ts' },
    platform: 'node',
    plugins: [lazyBuiltins],
    preserveEntrySignatures: 'allow-extension',
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'cli/[name]-[hash].js',
    codeSplitting: { groups: GROUPS },
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
