import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Names of node:fs and node:fs/promises that cannot change a file. All others belong to files/write-file.ts. */
const READING = new Set([
  'access',
  'accessSync',
  'constants',
  'Dirent',
  'existsSync',
  'fstatSync',
  'lstat',
  'lstatSync',
  'readdir',
  'readdirSync',
  'readlinkSync',
  'realpath',
  'realpathSync',
  'stat',
  'Stats',
  'statSync',
  // Any file can use a handle, but only write-file.ts opens one for writing.
  'FileHandle',
]);

/** Other names that single files use, and the reason why they write nothing. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // Opens files for reading: the test below checks the flags.
  'src/files/read-input.ts': ['closeSync', 'openSync', 'readSync'],
  // Reads a page of the package itself.
  'src/explain/page-text.ts': ['readFileSync'],
};

const WRITER = 'src/files/write-file.ts';

interface Source {
  readonly file: string;
  readonly text: string;
}

const SOURCES: readonly Source[] = globSync('src/**/*.ts').map((file) => ({
  file: file.replaceAll('\\', '/'),
  text: readFileSync(file, 'utf8'),
}));

/** The names that a source imports from node:fs. Any other way to get at the module counts as the name `*`. */
function listFileSystemNames({ text }: Source): readonly string[] {
  const module = `['"](?:node:)?fs(?:/promises)?['"]`;
  const named = [...text.matchAll(new RegExp(String.raw`import\s+(?:type\s+)?\{([^}]*)\}\s*from\s*${module}`, 'g'))];
  const mentions = [...text.matchAll(new RegExp(module, 'g'))];
  const names = named.flatMap(([, list = '']) => list.split(','));
  const plain = names
    .map((name) =>
      name
        .trim()
        .replace(/^type\s+/, '')
        .replace(/\s+as\s.*$/s, ''),
    )
    .filter(Boolean);
  return mentions.length > named.length ? [...plain, '*'] : plain;
}

function listWritingNames(source: Source): readonly string[] {
  const allowed = EXCEPTIONS[source.file] ?? [];
  return listFileSystemNames(source).filter((name) => !READING.has(name) && !allowed.includes(name));
}

describe('a call that opens a file for writing', () => {
  it('is in write-file.ts, and nowhere else', () => {
    const others = SOURCES.filter((source) => source.file !== WRITER && listWritingNames(source).length > 0);
    expect(others.map((source) => `${source.file}: ${listWritingNames(source).join(', ')}`)).toEqual([]);
  });

  it.each([
    `import { writeFile } from 'node:fs/promises';`,
    `import { type Stats, rmSync } from "fs";`,
    `import {\n  lstat,\n  open,\n} from 'node:fs/promises';`,
    `import { rename as stat } from 'node:fs/promises';`,
    `import * as files from 'node:fs';`,
    `import files from 'node:fs';`,
    `const { writeFileSync } = await import('node:fs');`,
    `const { writeFileSync } = process.getBuiltinModule('node:fs');`,
    `const files = require('fs/promises');`,
    `export { writeFile } from 'node:fs/promises';`,
  ])('is found in %s', (text) => {
    expect(listWritingNames({ file: 'src/x.ts', text })).not.toEqual([]);
  });

  it('is never in the module that reads', () => {
    const opened = [...readSource('src/files/read-input.ts').matchAll(/openSync\(([^;]*)\);/g)].map(
      ([, flags]) => flags,
    );
    expect(opened.length).toBeGreaterThan(0);
    for (const flags of opened) expect(flags).toMatch(/^path, (?:[^']*O_RDONLY[^']*)(?: : 'r')?$/);
  });

  it('comes from the files in its table', () => {
    const importers = SOURCES.filter(({ file, text }) =>
      [...text.matchAll(/import \{([^}]*)\} from '([^']+write-file[.]ts)'/g)].some(
        ([, names = '', path = '']) => join(dirname(file), path) === WRITER && names.trim() !== 'describeWriteError',
      ),
    ).map(({ file }) => file);
    const listed = [...readSource(WRITER).matchAll(/^ \* \| `([\w/-]+[.]ts)` \|/gm)].map(([, file]) => `src/${file}`);
    expect([...new Set(listed)].sort()).toEqual(importers.sort());
  });
});

function readSource(file: string): string {
  return SOURCES.find((source) => source.file === file)?.text ?? '';
}
