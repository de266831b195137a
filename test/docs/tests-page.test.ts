import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const PAGE = readFileSync('test/README.md', 'utf8');
const [, PROMISES = ''] = PAGE.split('## Promises\n');

/** The first cell of each row of the page's tables of promises. */
const ROWS = Array.from(
  PROMISES.matchAll(/^\| ([^[|-][^|]*) \| ([^|]*) \| [^|]* \|$/gm),
  ([, name = '', place = '']) => ({
    name,
    place,
  }),
);

describe('test/README.md', () => {
  it('names a test for each promise of the page on reliability', () => {
    const [, promises = ''] = readFileSync('docs/explanation/reliability.md', 'utf8').split('## Promises\n');
    const numbers = Array.from((promises.split('\n## ')[0] ?? '').matchAll(/^(\d+)\. /gm), ([, number]) => number);
    expect(numbers.length).toBeGreaterThan(10);
    expect(ROWS.flatMap(({ name }) => /^(\d+) /.exec(name)?.[1] ?? [])).toEqual(numbers);
  });

  it('names a test for each safety rule, by the heading of its section', () => {
    const pages = ['docs/how-to/deletes.md', 'docs/reference/dangers.md', ...globSync('docs/explanation/*.md')];
    const headings = pages.flatMap((page) =>
      Array.from(readFileSync(page, 'utf8').matchAll(/^##? (.*)$/gm), ([, heading = '']) => heading),
    );
    const named = ROWS.map(({ name }) => name).filter((name) => !/^\d/.test(name));
    expect(named.length).toBeGreaterThan(9);
    expect(named.filter((name) => !headings.includes(name))).toEqual([]);
  });

  it('names only tests that exist, one or two in a row', () => {
    const listPaths = (text: string) =>
      Array.from(text.matchAll(/`([\w/-]+(?:\.test\.ts)?)`/g), ([, path = '']) => path);
    for (const { name, place } of ROWS) expect([1, 2], name).toContain(listPaths(place).length);
    const paths = listPaths(PROMISES.split('\n## ')[0] ?? '').filter((path) => path.includes('/') || path === 'fuzz');
    expect(paths.length).toBeGreaterThan(50);
    expect(paths.filter((path) => !existsSync(join('test', path)))).toEqual([]);
  });
});
