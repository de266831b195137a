import type { Outcome } from './account.ts';
import type { Example, Moment } from './examples.ts';

/** What the guide says, in one line: what is seen, and what to do. It follows what the user did, and ends when there is nothing to add. */

export interface Guidance {
  readonly say: string;
  /** The key of the example to go on with. */
  readonly next?: string | undefined;
}

/** Undefined: there is nothing to say. */
export function guide(example: Example | undefined, outcome: Outcome, hasApplied: boolean): Guidance | undefined {
  const { about, isFailure, diagnostics, needsConsent, refusal } = outcome;
  if (about === 'failure') return { say: explainMistake(diagnostics) };
  if (about === 'drift')
    return { say: 'Drift is what was changed by hand. Open Plan to see what an apply would do about it.' };
  if (about === 'apply' && isFailure)
    return { say: 'The apply stopped half-way. Open Plan: the next apply completes it, and creates nothing twice.' };
  if (about === 'apply')
    return { say: example?.applied ?? 'Applied: the account has what the manifests say.', next: example?.next };
  if (needsConsent && refusal === '') return { say: 'You allow these deletes. Press Apply, and they are done.' };
  if (needsConsent)
    return { say: 'This plan deletes much of the account, so it asks first: tick “Allow these deletes”.' };
  const isRefused = refusal !== '' && outcome.writes > 0;
  const moment: Moment = { ...outcome, hasApplied, isRefused };
  const step = example?.steps.find(({ when }) => when(moment));
  if (step !== undefined) return step;
  return isRefused
    ? { say: 'A safety rule refuses this plan. The message beside says which, and what to do.' }
    : undefined;
}

function explainMistake(diagnostics: Outcome['diagnostics']): string {
  const place = diagnostics.find(({ severity, place: at }) => severity === 'error' && at !== undefined)?.place;
  if (place === undefined) return 'There is no plan. The message beside says why, and what to do.';
  return `There is no plan, because of line ${place.line} of ${place.file}. Undo it with Ctrl+Z, or do what the message says.`;
}
