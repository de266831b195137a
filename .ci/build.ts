import { chmod, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { type Plugin, rolldown } from 'rolldown';
import { renderLicenses } from './licenses.ts';

/**
 * Builds dist/cli.js, the whole command line in one file, and dist/THIRD_PARTY_LICENSES, for what it holds of others.
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

async function buildCommandLine(file: string): Promise<readonly string[]> {
  const bundle = await rolldown({ input: 'src/cli/main.ts', platform: 'node', plugins: [lazyBuiltins] });
  const { output } = await bundle.write({ file, format: 'esm', codeSplitting: false, banner: '#!/usr/bin/env node' });
  await bundle.close();
  await chmod(file, 0o755);
  return output.flatMap((part) => (part.type === 'chunk' ? Object.keys(part.modules) : []));
}

await rm('dist', { recursive: true, force: true });
const modules = await buildCommandLine('dist/cli.js');
await writeFile('dist/THIRD_PARTY_LICENSES', await renderLicenses(modules));
