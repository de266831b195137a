import type { Fate } from './run-edgewise.ts';

/** What an apply met, besides the account as it was when its plan was rehearsed. */
export const CAUSES = [
  'nothing else',
  'what others did',
  'the place for tokens',
  'the network',
  'an interrupt',
] as const;

/** An apply that failed. */
export interface Foretelling {
  readonly met: (typeof CAUSES)[number];
  /** The rehearsal of its plan had said that a write fails. */
  readonly isForetold: boolean;
}

/** What a run can have met, the one that a rehearsal can know least of first. */
export function toCause({ faults, interrupt, lostSink, meddling, lostCursors = 0 }: Fate): Foretelling['met'] {
  if (interrupt !== undefined) return 'an interrupt';
  if (faults.rules.length > 0) return 'the network';
  if (lostSink !== undefined) return 'the place for tokens';
  return meddling.size > 0 || lostCursors > 0 ? 'what others did' : 'nothing else';
}

/** A table of failed applies: how many a rehearsal had foretold, by what they met. */
export function renderForetellings(failures: readonly Foretelling[]): string {
  const rows = CAUSES.map((cause) => {
    const of = failures.filter(({ met }) => met === cause);
    return `  ${cause.padEnd(22)} ${String(of.length).padStart(7)} ${String(of.filter((one) => one.isForetold).length).padStart(9)}`;
  });
  return [
    'Failed applies, by what they met besides the account as it was:',
    '                          failed  foretold',
    ...rows,
    '',
  ].join('\n');
}
