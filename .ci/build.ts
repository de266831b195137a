import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, parse, resolve } from 'node:path';
import { type OutputChunk, type OutputOptions, type RolldownBuild, rolldown } from 'rolldown';
import { renderBillOfMaterials } from './bill-of-materials.ts';
import { createNarrowing, lazyBuiltins, statementLines, wholeBuiltins } from './bundle-plugins.ts';
import { LAZY_FILES, LAZY_INPUT, lazyPackages, wholePackages } from './lazy-packages.ts';
import { listPackages, renderLicenses } from './licenses.ts';
import { createLightUndici } from './light-undici.ts';
import { createYamlPlugin } from './yaml-plugin.ts';

/**
 * Builds dist/cli.js, the command line, and dist/lib, the library, with everything that they need of other packages, in files that both share and that
 * are loaded when they are needed (dist/parts). Beside them dist/THIRD_PARTY_LICENSES and dist/sbom.cdx.json say what of others is in the package.
 * The types (dist/types) are made by the TypeScript compiler: see tsconfig.lib.json. It checks nothing then: `npm run types` does.
 */

/** What is asked for of dist/parts: the program, and what the library exports. */
const INPUT = {
  program: 'src/cli/program.ts',
  index: 'src/index.ts',
  server: 'src/server/index.ts',
};

/** What the library exports that is in dist/parts. Modules, as what imports them is. */
const LIBRARY = ['index', 'server'];

/** Where dist/lib has the handlers for msw. Whoever uses them has msw, and loads it as a module: so they are one too. */
const HANDLERS = 'src/server/msw.ts';

/**
 * Files that are loaded as a whole, with all that their first module imports: few files load faster than many. A module belongs to
 * the first of them that needs it. The library uses these files too: nothing is run when they are loaded.
 */
const GROUPS = [
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

/** The program and the library. Gives the paths of the modules that the files were made of. */
async function bundleParts(folder: string): Promise<readonly string[]> {
  const build = await rolldown({
    input: INPUT,
    platform: 'node',
    // How undici is told to leave out a parser that is an experiment.
    transform: { define: { esbuildDetection: '"rolldown"' } },
    plugins: [createLightUndici(), lazyBuiltins, lazyPackages, createNarrowing(), createYamlPlugin(), statementLines],
    // The build of yaml that does not look into the environment for each token.
    resolve: { alias: { yaml: resolve('node_modules/yaml/browser/dist/index.js') } },
    preserveEntrySignatures: 'allow-extension',
    checks: { bundlerTimings: false },
  });
  const output = await write(build, {
    dir: join(folder, 'parts'),
    format: 'cjs',
    minify: MINIFY,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    codeSplitting: { groups: GROUPS },
  });
  await mkdir(join(folder, 'lib'));
  for (const part of output)
    if (part.isEntry && LIBRARY.includes(part.name))
      await writeFile(join(folder, 'lib', `${part.name}.js`), renderModule(part));
  return listModules(output);
}

/** A module with what a file of dist/parts exports. */
function renderModule({ fileName, exports }: OutputChunk): string {
  return `import all from '../parts/${fileName}';\nexport const { ${exports.join(', ')} } = all;\n`;
}

/** What starts the program: one file, which an older Node can read too. */
async function bundleStart(folder: string, digest: string): Promise<void> {
  const build = await rolldown({
    input: 'src/cli/launch.ts',
    platform: 'node',
    transform: { target: 'es2020', define: { BUILD: JSON.stringify(digest) } },
    plugins: [statementLines],
  });
  const file = join(folder, 'cli.js');
  await write(build, { file, format: 'esm', minify: MINIFY, codeSplitting: false, banner: '#!/usr/bin/env node' });
  await chmod(file, 0o755);
}

/** The handlers for msw. What else they use is what the library exports, so that there is one of each class. */
async function bundleHandlers(folder: string): Promise<void> {
  const build = await rolldown({
    input: HANDLERS,
    platform: 'node',
    external: ['msw'],
    plugins: [
      {
        name: 'shared-with-the-library',
        resolveId: (id) => (id.startsWith('.') ? { id: './index.js', external: true } : undefined),
      },
    ],
  });
  await write(build, { file: join(folder, 'lib', 'msw.js'), format: 'esm' });
}

/** The packages that are files of their own. Gives the paths of their modules. */
async function bundleLazyPackages(folder: string): Promise<readonly string[]> {
  const build = await rolldown({
    input: LAZY_INPUT,
    platform: 'node',
    plugins: [wholePackages, wholeBuiltins, statementLines],
  });
  const output = await write(build, {
    dir: join(folder, 'parts'),
    format: 'cjs',
    minify: MINIFY,
    entryFileNames: LAZY_FILES,
    chunkFileNames: LAZY_FILES,
  });
  return listModules(output);
}

async function write(build: RolldownBuild, options: OutputOptions): Promise<readonly OutputChunk[]> {
  const { output } = await build.write(options);
  await build.close();
  return output.filter((part) => part.type === 'chunk');
}

/** A digest of the files of a folder, their names and what is in them. */
async function toFolderDigest(folder: string): Promise<string> {
  const digest = createHash('sha256');
  for (const name of (await readdir(folder)).sort()) {
    const text = await readFile(join(folder, name));
    digest.update(`${name} ${text.length}\n`).update(text);
  }
  return digest.digest('hex').slice(0, 16);
}

function listModules(output: readonly OutputChunk[]): readonly string[] {
  return output.flatMap((part) => Object.keys(part.modules));
}

await rm('dist', { recursive: true, force: true });
const modules = [...(await bundleParts('dist')), ...(await bundleLazyPackages('dist'))];
await bundleStart('dist', await toFolderDigest('dist/parts'));
await bundleHandlers('dist');
await writeFile('dist/THIRD_PARTY_LICENSES', await renderLicenses(modules));
await writeFile('dist/sbom.cdx.json', renderBillOfMaterials(await listPackages(modules)));
