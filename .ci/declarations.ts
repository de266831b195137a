import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/**
 * `node .ci/declarations.ts [FOLDER]`: keeps what the types of the library's entry points need of dist/types, where the TypeScript compiler writes one file
 * for each source. Fails when they need another package than the one that a user has anyway: the library has no dependencies.
 */

const FOLDER = process.argv[2] ?? 'dist/types';
const ENTRIES = ['index.d.ts', 'server/index.d.ts', 'server/msw.d.ts'];
const GIVEN = ['msw'];

/** As the compiler writes them: `from '…'` and `import("…")`. */
const SPECIFIER = /\bfrom '([^']+)'|\bimport\("([^"]+)"\)/g;

const needed = new Set<string>();
for (const entry of ENTRIES) await follow(resolve(FOLDER, entry));
for (const file of await readdir(FOLDER, { recursive: true, withFileTypes: true })) {
  const path = resolve(file.parentPath, file.name);
  if (file.isFile() && !needed.has(path)) await rm(path);
}

async function follow(file: string): Promise<void> {
  if (needed.has(file)) return;
  needed.add(file);
  const text = await readFile(file, 'utf8');
  for (const [, from, imported] of text.matchAll(SPECIFIER)) {
    const name = from ?? imported ?? '';
    if (name.startsWith('.')) await follow(toDeclaration(join(dirname(file), name)));
    else if (!GIVEN.includes(name)) throw new Error(`The types of the library need ${name}: ${file}`);
  }
}

function toDeclaration(path: string): string {
  const file = path.replace(/[.][jt]s$/, '.d.ts');
  if (!existsSync(file)) throw new Error(`The types of the library lack ${file}`);
  return file;
}
