import { hasDeliveredToken } from '../model/mark.ts';
import { createFailedOutcome, createInterruptedOutcome, type Outcome } from '../model/outcome.ts';
import type { LiveResource } from '../model/state.ts';
import type { MarkWrite } from '../model/write.ts';
import type { ApplyRun } from './apply-run.ts';
import { checkStored, sendChange } from './change-resource.ts';
import { PAUSES_MS } from './look-ups.ts';
import { type ApplyRequests, isNotFoundError } from './requests.ts';
import { describeLostMark } from './service-watch.ts';
import { createWithdrawnOutcome } from './take-back.ts';

/**
 * Delivers a postponed token, and records in the mark of its credential that it was delivered. If the credential no
 * longer exists, marks its replacement as undelivered. Rejects as the client does.
 */
export async function recordDelivery(write: MarkWrite, run: ApplyRun): Promise<Outcome> {
  const undelivered = await run.deliveries.finish(write.address);
  if (undelivered !== undefined) return createFailedOutcome(write, undelivered);
  try {
    const answer = await sendChange(write, run.recording, run);
    if (answer === undefined) return createInterruptedOutcome(write);
    // What was delivered is in use, so it is not taken back.
    if (answer.shows === 'lost-mark') {
      const message = `its token was delivered, so ${answer.live.id} stays; but ${describeLostMark(write, answer.live)}`;
      return createWithdrawnOutcome(write, { message, isUnmanageable: true });
    }
    const outcome = checkStored(write, answer, run);
    // The token arrived, so the credential that it replaces can go.
    if (outcome.outcome === 'failed' && !run.followable.has(write.id)) run.followable.set(write.id, 'deletes');
    return outcome;
  } catch (error) {
    if (!isNotFoundError(error)) throw error;
    return createFailedOutcome(write, await markReplacementsUndelivered(write, run.recording));
  }
}

/**
 * Marks the replacements of a deleted credential as undelivered, so that the next apply replaces them: its own token may
 * have arrived after theirs. Returns a message about the replacements.
 */
async function markReplacementsUndelivered(write: MarkWrite, requests: ApplyRequests): Promise<string> {
  const delivered = (await listReplacements(write, requests)).filter(hasDeliveredToken);
  for (const marked of delivered) await requests.markUndelivered(write, marked);
  if (delivered.length === 0)
    return 'it was deleted while its token was being delivered, so that token no longer works';
  const ids = delivered.map(({ id }) => id).join(', ');
  return `another apply replaced it by ${ids} while its token was being delivered. It is unknown which token arrived last, so ${ids} counts as not delivered, and the next apply replaces it`;
}

/**
 * Lists the replacements of a deleted credential. While one is undelivered, the apply that created it may be about to
 * record its delivery, so lists them again after a pause, for at most half a minute.
 */
async function listReplacements(write: MarkWrite, requests: ApplyRequests): Promise<readonly LiveResource[]> {
  let { marked } = await requests.lookUps.listMarked(write);
  for (const pauseMs of PAUSES_MS) {
    if (marked.every(hasDeliveredToken)) break;
    await requests.sleep(pauseMs);
    ({ marked } = await requests.lookUps.listMarked(write));
  }
  return marked;
}
