import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renderSchemaFiles } from './schema-files.ts';

/** Writes schemas/. With `--check` it writes nothing, and fails when a file there is not what the sources say. */

async function findStale(): Promise<readonly string[]> {
  const files = await Promise.all(
    [...renderSchemaFiles()].map(async ([file, text]) =>
      (await readSchema(file)) === text ? [] : [`schemas/${file}`],
    ),
  );
  return files.flat();
}

/** Nothing when the file does not exist. */
async function readSchema(file: string): Promise<string | undefined> {
  try {
    return await readFile(`schemas/${file}`, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeSchemas(): Promise<void> {
  for (const [file, text] of renderSchemaFiles()) {
    const path = join('schemas', file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}

if (process.argv.includes('--check')) {
  const stale = await findStale();
  if (stale.length > 0) {
    console.error(`Stale, run \`npm run schemas\`: ${stale.join(', ')}`);
    process.exitCode = 1;
  }
} else {
  await writeSchemas();
}
