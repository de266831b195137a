import type { Disruptions } from './run-edgewise.ts';

/** The disruptions of an apply, in addition to the state that was rehearsed. */
export const CAUSES = ['nothing else', 'other users', 'the token sink', 'the network', 'an interrupt'] as const;

/** An apply that failed. */
export interface FailedApply {
  readonly met: (typeof CAUSES)[number];
  /** Whether the rehearsal of its plan predicted a failing write. */
  readonly isPredicted: boolean;
}

/** Returns the disruption of a run that a rehearsal can predict least. */
export function toCause({
  faults,
  interrupt,
  lostSink,
  otherUserRequests,
  lostCursors = 0,
}: Disruptions): FailedApply['met'] {
  if (interrupt !== undefined) return 'an interrupt';
  if (faults.rules.length > 0) return 'the network';
  if (lostSink !== undefined) return 'the token sink';
  return otherUserRequests.size > 0 || lostCursors > 0 ? 'other users' : 'nothing else';
}

/** A table of failed applies: how many a rehearsal predicted, by disruption. */
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
