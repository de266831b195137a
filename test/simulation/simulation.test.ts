import { describe, expect, it } from 'vitest';
import { renderFailure } from './share.ts';
import { walk } from './walk.ts';

describe('a simulation', () => {
  it('is the same for the same number, and another for another', async () => {
    for (const seed of [2, 3, 40]) {
      const walks = [await walk(seed), await walk(seed), await walk(seed + 1)];
      const [first, second, other] = walks.map(({ trace }) => trace.join('\n'));
      expect(second).toBe(first);
      expect(other).not.toBe(first);
    }
  });

  it('that fails says how to see it again, and what was done and sent', async () => {
    const walked = await walk(2, () => async () => Response.json({}));
    expect(walked.violations.length).toBeGreaterThan(0);
    expect(renderFailure(walked)).toMatch(/\nAgain: npm run simulate -- --seeds 1 --from 2\n/);
    expect(renderFailure(walked)).toMatch(/run 1: edgewise /);
  });
});
