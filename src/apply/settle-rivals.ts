import { listOneTimeFields } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { assertDefined, toReason } from '../model/errors.ts';
import type { Outcome } from '../model/outcome.ts';
import type { LiveResource } from '../model/state.ts';
import { canBeMadeTwice } from '../plan/look-ups.ts';
import { findRivals, type Made, type RivalContext, type Rivals } from './rivals.ts';
import { isOfTheWorld, type TakeBackContext, takeBack } from './take-back.ts';

/** What settling between two applies of one stack takes. */
export interface SettleContext extends TakeBackContext {
  readonly rivals: RivalContext;
  /** Says what was seen of others. */
  readonly note: (diagnostic: Diagnostic) => void;
}

/**
 * Two applies of one stack at once can make the same twice, where no unique value keeps the service from it. When the writes are
 * over, who made the later one deletes it. Only what the service does not see to itself is looked for. Gives the outcomes with
 * what became of them.
 */
export async function settleRivals(outcomes: readonly Outcome[], context: SettleContext): Promise<readonly Outcome[]> {
  return Promise.all(outcomes.map((outcome) => settleOutcome(outcome, context)));
}

/** Before the token of a new credential is delivered: why it is not to be, or nothing. */
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

/** What this run made, unless the service itself keeps it from being made twice, or it was looked at before its token went out. */
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
