import type { Disruptions } from './run-edgewise.ts';

/** What an apply met, besides the account as it was when its plan was rehearsed. */
export const CAUSES = [
  'nothing else',
  'what others did',
  'the place for tokens',
  'the network',
  'an interrupt',
] as const;

/** An apply that failed. */
export interface FailedApply {
  readonly met: (typeof CAUSES)[number];
  /** The rehearsal of its plan had said that a write fails. */
  readonly isPredicted: boolean;
}

/** What a run can have met, the one that a rehearsal can know least of first. */
export function toCause({
  faults,
  interrupt,
  lostSink,
  otherUserRequests,
  lostCursors = 0,
}: Disruptions): FailedApply['met'] {
  if (interrupt !== undefined) return 'an interrupt';
  if (faults.rules.length > 0) return 'the network';
  if (lostSink !== undefined) return 'the place for tokens';
  return otherUserRequests.size > 0 || lostCursors > 0 ? 'what others did' : 'nothing else';
}

/** A table of failed applies: how many a rehearsal had foretold, by what they met. */
export function renderFailedApplies(failures: readonly FailedApply[]): string {
  const rows = CAUSES.map((cause) => {
    const of = failures.filter(({ met }) => met === cause);
    return `  ${cause.padEnd(22)} ${String(of.length).padStart(7)} ${String(of.filter((one) => one.isPredicted).length).padStart(10)}`;
  });
  return [
    'Failed applies, by what they met besides the account as it was:',
    '                          failed  predicted',
    ...rows,
    '',
  ].join('\n');
}
