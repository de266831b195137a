import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

/** One story, one file: what is read together is not spread over files, and a reader follows it through few of them. */

const LEAST_LINES = 40;
const LONGEST_CHAIN = 28;

/** The files of a folder, with the files of the same folder tree that each imports. */
type Imports = ReadonlyMap<string, readonly string[]>;

const SPECIFIER = /from '([.][^']+[.]ts)'|import\('([.][^']+[.]ts)'\)/g;

function readImports(folder: string): Imports {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return new Map(
    files.map((file) => {
      const found = Array.from(readFileSync(join(folder, file), 'utf8').matchAll(SPECIFIER), ([, left, right]) =>
        normalize(join(dirname(file), left ?? right ?? '')),
      );
      return [file, [...new Set(found)].filter((other) => files.includes(other))] as const;
    }),
  );
}

/** Files that are shorter than a story, and that only one file imports, which stands beside them. */
function listFragments(folder: string): readonly string[] {
  const imports = readImports(folder);
  return [...imports.keys()].filter((file) => {
    const [importer, ...others] = [...imports].filter(([, used]) => used.includes(file)).map(([name]) => name);
    const isOwn = importer !== undefined && others.length === 0 && dirname(importer) === dirname(file);
    return isOwn && readFileSync(join(folder, file), 'utf8').trimEnd().split('\n').length < LEAST_LINES;
  });
}

/** The longest way from import to import. Circles are refused elsewhere. */
function findLongestChain(imports: Imports): readonly string[] {
  const known = new Map<string, readonly string[]>();
  const find = (file: string): readonly string[] => {
    const found = known.get(file);
    if (found !== undefined) return found;
    const rest = (imports.get(file) ?? []).map(find).toSorted((left, right) => right.length - left.length);
    const chain = [file, ...(rest[0] ?? [])];
    known.set(file, chain);
    return chain;
  };
  return [...imports.keys()].map(find).toSorted((left, right) => right.length - left.length)[0] ?? [];
}

describe('the files of src', () => {
  it('are no fragments of another', () => {
    expect(listFragments('src')).toEqual([]);
  });

  it('are reached from each other by few imports', () => {
    const chain = findLongestChain(readImports('src'));
    expect(chain.length, chain.join('\n')).toBeLessThanOrEqual(LONGEST_CHAIN);
  });
});

it('comments name files that exist', () => {
  const files = [...readImports('src').keys()];
  const named = files.flatMap((file) => {
    const lines = readFileSync(join('src', file), 'utf8').match(/^\s*(?:\/?\*|\/\/).*/gm) ?? [];
    return lines.flatMap((line) =>
      Array.from(line.matchAll(/`([\w/-]+\.ts)`/g), ([, name = '']) => [file, name] as const),
    );
  });
  expect(named).not.toEqual([]);
  expect(named.filter(([, name]) => !files.some((file) => file === name || file.endsWith(`/${name}`)))).toEqual([]);
});

it('fragments and chains are found', () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'story.ts'), "import { part } from './part.ts';\n");
  writeFileSync(join(folder, 'part.ts'), 'export const part = 1;\n');
  expect(listFragments(folder)).toEqual(['part.ts']);
  expect(findLongestChain(readImports(folder))).toEqual(['story.ts', 'part.ts']);
});
