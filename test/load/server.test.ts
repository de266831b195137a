import { describe, expect, it } from 'vitest';
import { countSteps } from './steps/count.ts';

/** The same requests take the same steps, however much the server holds: counted by the engine, for every block of its code. */

const [FEW, MANY] = [1000, 10_000];

/** A process that counts is slow on a busy machine. */
const TIMEOUT_MS = 120_000;

/** How often the block of the sources ran that ran most often. */
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
