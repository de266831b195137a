import { expect, it } from 'vitest';
import type { ShapeRun } from './run-shape.ts';
import { parseSeconds, renderBudgets, renderCrowd, renderHeaps, renderShapes } from './tables.ts';

const RUN = { requests: 10_012, refused: 0, ms: 20_700, leastMs: 16_000 };

function toShapeRun(stacks: number, accounts: number, cpuSeconds: number): ShapeRun {
  const shape = { stacks, accounts, resources: 10_000 };
  const counted = { requests: 10_011, least: 10_011, minutes: 83 };
  return { shape, command: 'apply', ...counted, seconds: 9, cpuSeconds, peakMegabytes: 300 };
}

it('what a short run did not measure is a dash, and never NaN', () => {
  const tables = [
    renderBudgets([['600/1s', RUN]]),
    renderCrowd({ requests: 0, errors: new Map(), latenciesMs: [] }, { clients: 50, seconds: 0.5 }),
    renderHeaps([['apply', { atTheEnd: 21_300_000 }]]),
    renderShapes([toShapeRun(1, 1, 2), toShapeRun(200, 4, 3)]),
  ].join('\n\n');
  expect(tables).toMatchInlineSnapshot(`
    "| apply of 10,001 resources | requests | 429 | least time | time | time / least |
    | --- | ---: | ---: | ---: | ---: | ---: |
    | 600/1s | 10,012 | 0 | 16.0 s | 20.7 s | 1.294 |

    | clients | for | requests | errors | median | 95 % | 99 % | longest |
    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
    | 50 | 0.5 s | 0 | 0 | – | – | – | – |

    | heap after a collection | after 10 s | at the end |
    | --- | ---: | ---: |
    | apply | – | 21.3 MB |

    | command | stacks | accounts | resources each | requests | least | CPU a resource | peak memory | minutes |
    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
    | apply | 1 | 1 | 10,000 | 10,011 | 10,011 | 0.20 ms | 300 MB | 83.0 |
    | apply | 200 | 4 | 50 | 10,011 | 10,011 | 0.30 ms | 300 MB | 83.0 |"
  `);
  expect(tables).not.toContain('NaN');
});

it('takes a number of seconds above zero, and nothing else', () => {
  expect([parseSeconds(undefined), parseSeconds('5'), parseSeconds('0.5')]).toEqual([60, 5, 0.5]);
  for (const text of ['abc', '0', '-1', '', 'Infinity']) expect(() => parseSeconds(text)).toThrow(RangeError);
});
