import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { writeManifests } from '../bench/manifests.ts';
import { createWorkspace } from '../cli/workspace.ts';
import { HAS_ALL_TRIES, LONG } from '../tries.ts';

const PAGE = readFileSync('docs/reference/benchmarks.md', 'utf8');
const [, SECTION = ''] = PAGE.split('\n## Requests\n');

/** The rows of the table of requests: the number of edges, and the requests of each step. */
const ROWS = Array.from((SECTION.split('\n## ')[0] ?? '').matchAll(/^\|( [\d,]+ \|){4}$/gm), ([row]) =>
  row.split('|').flatMap((cell) => (cell === '' ? [] : [Number(cell.replaceAll(',', ''))])),
);

const STEPS = [
  ['plan --detailed-exitcode', 2],
  ['apply --yes', 0],
  ['plan --detailed-exitcode', 0],
] as const;

describe('the benchmarks', () => {
  it.each(ROWS.filter(([edges = 0]) => edges <= 1_000 || HAS_ALL_TRIES))(
    'count the requests of a plan, an apply and a plan of %i edges as they are',
    LONG,
    async (edges, ...requests) => {
      const { folder, edgewise, recorder } = await createWorkspace();
      writeManifests(folder, edges);
      const counted: number[] = [];
      for (const [line, exitCode] of STEPS) {
        expect(await edgewise(`${line} --rate-limit none --no-rehearsal`)).toMatchObject({ exitCode });
        counted.push(recorder.take().length);
      }
      expect(counted).toEqual(requests);
    },
  );

  it('say how long the largest apply takes at 120 requests a minute', () => {
    expect(ROWS).toHaveLength(4);
    const [edges = 0, , requests = 0] = ROWS.at(-1) ?? [];
    const minutes = Math.floor(requests / 120);
    expect(PAGE).toContain(`the apply of ${edges.toLocaleString('en')} edges takes ${minutes} minutes`);
  });
});
