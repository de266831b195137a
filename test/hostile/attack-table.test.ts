import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';

const PAGE = readFileSync('test/hostile/README.md', 'utf8');

/** Returns the cells of a table's rows, without its head. */
function readTable(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = PAGE.split(`${heading}\n`);
  const [text = ''] = section.split('\n## ');
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function listNames(cell: string): readonly string[] {
  return Array.from(cell.matchAll(/`([\w-]+)`/g), ([, name = '']) => name);
}

describe('the page of attacks', () => {
  it('names every test of an attack, and no other file', () => {
    const named = readTable('## Attacks and tests').flatMap((row) => listNames(row.at(-1) ?? ''));
    const tests = globSync('test/hostile/*.test.ts').map((file) => basename(file, '.test.ts'));
    expect([...new Set(named)].sort()).toEqual(tests.filter((name) => name !== 'attack-table').sort());
  });

  const decisions = readTable('## Who may decide what');

  it('has a decision of each command for each value', () => {
    expect(decisions.length).toBeGreaterThan(9);
    for (const row of decisions) expect(row, row[0]).toHaveLength(7);
  });

  it.each(decisions.flatMap(([what, ...cells]) => cells.map((cell) => [what, cell] as const)))(
    'names a test for %s: %s',
    (_, cell) => {
      if (cell === '–' || cell === 'drift only') return;
      const names = listNames(cell);
      expect(names.length).toBeGreaterThan(0);
      for (const name of names) expect(existsSync(`test/hostile/${name}.test.ts`), name).toBe(true);
    },
  );
});
