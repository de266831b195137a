import { describe, expect, it } from 'vitest';
import { toTries } from '../tries.ts';
import { simulate } from './simulate.ts';
import type { Walked } from './walk.ts';

/** The number of walks in all files. They take more time than all other tests. */
const WALKS = toTries(900);

/** The walks are divided among files, so that they use all processors. */
const SHARES = 4;

/** Generous: a busy machine takes several times as long as a quiet one. */
const TIMEOUT_MS = 600_000 + WALKS * 1000;

/** The number of lines that are printed of a failed walk. */
const SHOWN_LINES = 150;

/** Runs one share of the walks. */
export function describeWalkShare(share: number): void {
  const size = Math.ceil(WALKS / SHARES);
  const from = share * size + 1;
  describe('a history with faults', () => {
    it(`is repaired by one apply, without a lost token or a changed unowned resource: ${size} walks from ${from}`, {
      timeout: TIMEOUT_MS,
    }, async () => {
      const { exitCode, output } = await simulate(['--from', String(from), '--seeds', String(size)]);
      expect(exitCode, output.split('\n').slice(-SHOWN_LINES).join('\n')).toBe(0);
      expect(output).toContain(`${size} walks from ${from} in `);
    });
  });
}

/** The broken promises, the command that repeats the walk, and its last lines. */
export function renderFailure({ seed, violations, trace }: Walked): string {
  const again = `npm run simulate -- --seeds 1 --from ${seed}`;
  return [...violations, '', `Again: ${again}`, '', ...trace.slice(-SHOWN_LINES)].join('\n');
}
