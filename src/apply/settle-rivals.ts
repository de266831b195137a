import { listOneTimeFields } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { assertDefined, toReason } from '../model/errors.ts';
import type { Outcome } from '../model/outcome.ts';
import type { LiveResource } from '../model/state.ts';
import { canBeMadeTwice } from '../plan/look-ups.ts';
import { findRivals, type Made, type RivalContext, type Rivals } from './rivals.ts';
import { isOfTheWorld, type TakeBackContext, takeBack } from './take-back.ts';

/** What settling between concurrent applies needs. */
export interface SettleContext extends TakeBackContext {
  readonly rivals: RivalContext;
  /** Reports what other applies did. */
  readonly note: (diagnostic: Diagnostic) => void;
}

/**
 * Two concurrent applies of one stack can create the same resource twice, unless a unique value makes the service refuse that. After the
 * writes, the apply that created the later one deletes it. Kinds for which the service itself refuses duplicates are not looked at. Returns the
 * outcomes, changed where a creation was taken back.
 */
export async function settleRivals(outcomes: readonly Outcome[], context: SettleContext): Promise<readonly Outcome[]> {
  return Promise.all(outcomes.map((outcome) => settleOutcome(outcome, context)));
}

/** Called before the token of a new credential is delivered: the reason not to deliver it, if there is one. */
export async function settleRival(made: Made, context: SettleContext): Promise<string | undefined> {
  const { winner, losers, isUnmarked } = await look(made, context.rivals);
  if (typeof winner === 'string')
    return `it was created as ${made.id}, but the check for a concurrent apply failed (${winner}), so its token was not delivered. The next apply replaces it`;
  if (isUnmarked) return withdrawUnmarked(made, context);
  for (const loser of losers) context.note(toLoserWarning(made, loser));
  return winner && withdraw(made, winner, context);
}

async function settleOutcome(outcome: Outcome, context: SettleContext): Promise<Outcome> {
  const made = toMade(outcome);
  if (made === undefined) return outcome;
  const { winner, losers, isUnmarked } = await look(made, context.rivals);
  if (isUnmarked) return toFailed(made, await withdrawUnmarked(made, context));
  if (typeof winner === 'string') context.note(toBlindWarning(made, winner));
  for (const loser of losers) context.note(toLoserWarning(made, loser));
  if (winner === undefined || typeof winner === 'string') return outcome;
  const message = await withdraw(made, winner, context);
  context.note(toWithdrawal(made, message));
  return toFailed(made, message);
}

function toFailed({ write }: Made, message: string): Outcome {
  return { outcome: 'failed', write, message, isAuthentication: false, isUnknown: false };
}

/** What this run created, except what the service refuses to create twice and what was checked before its token was delivered. */
function toMade(outcome: Outcome): Made | undefined {
  const { write } = outcome;
  if (outcome.outcome !== 'applied' || 'alreadyDone' in outcome || !canBeMadeTwice(write)) return undefined;
  if (listOneTimeFields(getKind(write.kind)).length > 0) return undefined;
  return { write, id: assertDefined(outcome.id, `id of ${write.id}`) };
}

/** A `winner` that is a text says why nothing could be seen. */
interface Seen extends Omit<Rivals, 'winner'> {
  readonly winner: LiveResource | string | undefined;
}

async function look(made: Made, context: RivalContext): Promise<Seen> {
  try {
    return await findRivals(made, context);
  } catch (error) {
    if (isOfTheWorld(error)) return { winner: toReason(error), losers: [], isUnmarked: false };
    throw error;
  }
}

/** Each apply would make another one. */
async function withdrawUnmarked(made: Made, context: SettleContext): Promise<string> {
  const message = await takeBack(made, context, 'Delete it by hand');
  return `the service lists it without its metadata, which holds the mark; ${message}`;
}

async function withdraw(made: Made, winner: LiveResource, context: SettleContext): Promise<string> {
  const message = await takeBack(made, context, 'The next apply prunes it');
  return `another apply created it first, as ${winner.id}: ${message}`;
}

function toWithdrawal({ write: { address } }: Made, message: string): Diagnostic {
  return { code: 'made-twice', severity: 'warning', message: `${address}: ${message}.`, remedy: TOGETHER, address };
}

function toLoserWarning({ write: { address }, id }: Made, { id: other }: LiveResource): Diagnostic {
  return {
    code: 'made-twice',
    severity: 'warning',
    message: `${address}: another apply created it too, as ${other}; ${id}, which this run created, stays.`,
    remedy: `${TOGETHER} The other apply deletes its own, or the next apply does.`,
    address,
  };
}

function toBlindWarning({ write: { address } }: Made, why: string): Diagnostic {
  return {
    code: 'made-twice',
    severity: 'warning',
    message: `${address}: the check for a concurrent apply failed: ${why}.`,
    remedy: 'If there is a duplicate, the next plan shows it.',
    address,
  };
}

const TOGETHER = 'Run only one apply of a stack at a time.';
