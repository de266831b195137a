import { describe, expect, it } from 'vitest';
import { renderFailure } from './share.ts';
import { simulate } from './simulate.ts';
import { walk } from './walk.ts';

describe('a simulation', () => {
  it('is the same for the same number, and another for another', async () => {
    const trace = async (seed: number): Promise<string> => {
      const { exitCode, output } = await simulate(['--trace', '--seeds', '1', '--from', String(seed)]);
      expect(exitCode, output).toBe(0);
      return output.split('\n').slice(0, -9).join('\n');
    };
    for (const seed of [2, 3, 40]) {
      const first = await trace(seed);
      expect(first).toMatch(/run 1: edgewise /);
      expect(await trace(seed)).toBe(first);
      expect(await trace(seed + 1)).not.toBe(first);
    }
  });

  it('that fails says how to see it again, and what was done and sent', async () => {
    const walked = await walk(2, () => async () => Response.json({}));
    expect(walked.violations.length).toBeGreaterThan(0);
    expect(renderFailure(walked)).toMatch(/\nAgain: npm run simulate -- --seeds 1 --from 2\n/);
    expect(renderFailure(walked)).toMatch(/run 1: edgewise /);
  });
});
