import { describe, expect, it } from 'vitest';
import { IS_FULL } from '../tries.ts';
import { type Walked, walk } from './walk.ts';

/** How many walks there are in all files together. They take more time than anything else. */
const WALKS = Number(process.env['EDGEWISE_SIMULATIONS'] ?? (IS_FULL ? 1200 : 320));

/** So that they run at once, on as many processors as there are, the walks are divided among files. */
const SHARES = 4;

/** Generous: a busy machine takes several times as long as a quiet one. */
const TIMEOUT_MS = 600_000 + WALKS * 1000;

/** Lines of a walk that are shown of one that went wrong. */
const SHOWN_LINES = 150;

/** Goes one share of the walks. */
export function describeShare(share: number): void {
  const seeds = Array.from({ length: WALKS }, (_, index) => index + 1).filter((seed) => seed % SHARES === share);
  describe('whatever goes wrong', () => {
    it(`is made good by one apply, and nothing was lost or touched: walks ${seeds[0]}, ${seeds[1]} …`, {
      timeout: TIMEOUT_MS,
    }, async () => {
      for (const seed of seeds) {
        const walked = await walk(seed);
        if (walked.violations.length > 0) expect.fail(renderFailure(walked));
      }
    });
  });
}

/** What went wrong, how to see it again, and the end of the walk. */
export function renderFailure({ seed, violations, trace }: Walked): string {
  const again = `npm run simulate -- --seeds 1 --from ${seed}`;
  return [...violations, '', `Again: ${again}`, '', ...trace.slice(-SHOWN_LINES)].join('\n');
}
