import { chmod, rm, writeFile } from 'node:fs/promises';
import { join, parse, resolve } from 'node:path';
import { type OutputOptions, type RolldownBuild, rolldown } from 'rolldown';
import { renderBillOfMaterials } from './bill-of-materials.ts';
import { createNarrowing, lazyBuiltins, statementLines } from './bundle-plugins.ts';
import { LAZY_FILES, LAZY_INPUT, lazyPackages, wholePackages } from './lazy-packages.ts';
import { listPackages, renderLicenses } from './licenses.ts';
import { createLightUndici } from './light-undici.ts';
import { createYamlPlugin } from './yaml-plugin.ts';

/**
 * Builds dist/cli.js, the command line, and dist/lib, the library, with everything that they need of other packages, in files that both share and that
 * are loaded when they are needed (dist/parts). Beside them dist/THIRD_PARTY_LICENSES and dist/sbom.cdx.json say what of others is in the package.
 * The types (dist/types) are made by the TypeScript compiler: see tsconfig.lib.json.
 */

const INPUT = {
  cli: 'src/cli/launch.ts',
  'lib/index': 'src/index.ts',
  'lib/server': 'src/server/index.ts',
  'lib/msw': 'src/server/msw.ts',
};

/**
 * Files that are loaded as a whole, with all that their first module imports: few files load faster than many. A module belongs to
 * the first of them that needs it. The first two are there before compiled code is kept, so that they hold nothing else. The library
 * uses these files too: nothing is run when they are loaded.
 */
const GROUPS = [
  'package.json',
  'src/cli/compile-cache.ts',
  'src/cli/program.ts',
  'src/cli/commands/validate.ts',
  'src/cli/commands/plan.ts',
  'src/stack/open-transport.ts',
  'src/report/text/form.ts',
  'src/rehearse/rehearse.ts',
].map((first, index, { length }) => ({
  name: parse(first).name,
  test: (id: string) => id === resolve(first),
  priority: length - index,
}));

/** As small as it can be, but that functions and classes keep their names: whoever reports an error has its stack trace, and nothing else. */
const keepNames = { function: true, class: true };
const MINIFY = {
  compress: { keepNames },
  mangle: { toplevel: true, keepNames },
  codegen: { removeWhitespace: true },
} as const;

/** Gives the paths of the modules that the files were made of. */
async function bundle(folder: string): Promise<readonly string[]> {
  const build = await rolldown({
    input: INPUT,
    platform: 'node',
    // Whoever uses the handlers has msw.
    external: ['msw'],
    // How undici is told to leave out a parser that is an experiment.
    transform: { define: { esbuildDetection: '"rolldown"' } },
    plugins: [createLightUndici(), lazyBuiltins, lazyPackages, createNarrowing(), createYamlPlugin(), statementLines],
    // The build of yaml that does not look into the environment for each token.
    resolve: { alias: { yaml: resolve('node_modules/yaml/browser/dist/index.js') } },
    preserveEntrySignatures: 'allow-extension',
    checks: { bundlerTimings: false },
  });
  const modules = await write(build, {
    dir: folder,
    format: 'esm',
    minify: MINIFY,
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name]-[hash].js',
    codeSplitting: { groups: GROUPS },
    banner: ({ name }) => (name === 'cli' ? '#!/usr/bin/env node' : ''),
  });
  await chmod(join(folder, 'cli.js'), 0o755);
  return modules;
}

/** The packages that are files of their own. Gives the paths of their modules. */
async function bundleLazyPackages(folder: string): Promise<readonly string[]> {
  const build = await rolldown({
    input: LAZY_INPUT,
    platform: 'node',
    plugins: [wholePackages, lazyBuiltins, statementLines],
  });
  return write(build, {
    dir: join(folder, 'parts'),
    format: 'cjs',
    minify: MINIFY,
    entryFileNames: LAZY_FILES,
    chunkFileNames: LAZY_FILES,
  });
}

async function write(build: RolldownBuild, options: OutputOptions): Promise<readonly string[]> {
  const { output } = await build.write(options);
  await build.close();
  return output.flatMap((part) => (part.type === 'chunk' ? Object.keys(part.modules) : []));
}

await rm('dist', { recursive: true, force: true });
const modules = [...(await bundle('dist')), ...(await bundleLazyPackages('dist'))];
await writeFile('dist/THIRD_PARTY_LICENSES', await renderLicenses(modules));
await writeFile('dist/sbom.cdx.json', renderBillOfMaterials(await listPackages(modules)));
