import { describe, expect, it } from 'vitest';
import { countSteps } from './steps/count.ts';

/** Requests take the same steps, however many resources the server has. The engine counts the runs of every block. */

const [FEW, MANY] = [1000, 10_000];

/** A process that counts is slow on a busy machine. */
const TIMEOUT_MS = 120_000;

/** Returns the run count of the block in the sources that ran most often. */
async function countMost(name: string, count: number): Promise<number> {
  const [steps = new Map()] = await countSteps({ module: new URL('server-task.ts', import.meta.url), name }, [count]);
  return Math.max(...steps.values());
}

describe('a request', { timeout: TIMEOUT_MS }, () => {
  it('takes as many steps on many resources as on few', async () => {
    const few = await countMost('prepareRequests', FEW);
    expect(few).toBeGreaterThan(100);
    expect(await countMost('prepareRequests', MANY)).toBeLessThan(few * 2);
  });

  it('does not scan removed resources', async () => {
    const few = await countMost('prepareRequests', FEW);
    expect(await countMost('prepareAfterDeletes', MANY)).toBeLessThan(few * 2);
  });
});
