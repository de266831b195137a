import { describe, expect, it } from 'vitest';
import { toTries } from '../tries.ts';
import { simulate } from './simulate.ts';
import type { Walked } from './walk.ts';

/** How many walks there are in all files together. They take more time than anything else. */
const WALKS = toTries(900);

/** So that they run at once, on as many processors as there are, the walks are divided among files. */
const SHARES = 4;

/** Generous: a busy machine takes several times as long as a quiet one. */
const TIMEOUT_MS = 600_000 + WALKS * 1000;

/** Lines of a walk that are shown of one that went wrong. */
const SHOWN_LINES = 150;

/** Goes one share of the walks. */
export function describeWalkShare(share: number): void {
  const size = Math.ceil(WALKS / SHARES);
  const from = share * size + 1;
  describe('a history with faults', () => {
    it(`is repaired by one apply, without a lost token or a changed foreign resource: ${size} walks from ${from}`, {
      timeout: TIMEOUT_MS,
    }, async () => {
      const { exitCode, output } = await simulate(['--from', String(from), '--seeds', String(size)]);
      expect(exitCode, output.split('\n').slice(-SHOWN_LINES).join('\n')).toBe(0);
      expect(output).toContain(`${size} walks from ${from} in `);
    });
  });
}

/** What went wrong, how to see it again, and the end of the walk. */
export function renderFailure({ seed, violations, trace }: Walked): string {
  const again = `npm run simulate -- --seeds 1 --from ${seed}`;
  return [...violations, '', `Again: ${again}`, '', ...trace.slice(-SHOWN_LINES)].join('\n');
}
