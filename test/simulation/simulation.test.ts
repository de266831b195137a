import { describe, expect, it } from 'vitest';
import { renderFailure } from './share.ts';
import { simulate } from './simulate.ts';
import { walk } from './walk.ts';

describe('a simulation', () => {
  it('is the same for the same number, whatever was walked before, and another for another', async () => {
    const [first, second, third] = await traceWalks({ from: 2, count: 3 });
    expect(first).toMatch(/run 1: edgewise /);
    expect(second).not.toBe(first);
    expect(await traceWalks({ from: 4, count: 1 })).toEqual([third]);
  });

  it('that fails says how to see it again, and what was done and sent', async () => {
    const walked = await walk(2, () => async () => Response.json({}));
    expect(walked.violations.length).toBeGreaterThan(0);
    expect(renderFailure(walked)).toMatch(/\nAgain: npm run simulate -- --seeds 1 --from 2\n/);
    expect(renderFailure(walked)).toMatch(/run 1: edgewise /);
  });
});

/** What was done and sent in each of some walks. */
async function traceWalks({ from, count }: { readonly from: number; readonly count: number }) {
  const { exitCode, output } = await simulate(['--trace', '--seeds', String(count), '--from', String(from)]);
  expect(exitCode, output).toBe(0);
  return output
    .split(/^walk \d+\n/m)
    .slice(1)
    .map((walked) => walked.split('\n\n')[0]);
}
