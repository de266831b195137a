import { createFailedOutcome, createInterruptedOutcome, type Outcome } from '../model/outcome.ts';
import type { LiveResource } from '../model/state.ts';
import type { Write } from '../model/write.ts';
import type { ApplyRun } from './apply-run.ts';
import { type ComparedResponse, listUnacceptedFieldMessages } from './check-response.ts';
import { checkTexts } from './other-texts.ts';
import type { ApplyRequests } from './requests.ts';
import { describeLostMark } from './service-watch.ts';

/** Sends an update or a delete of a resource or module that existed before this run. Rejects as the client does. */
export async function changeResource(write: Write, run: ApplyRun): Promise<Outcome> {
  const answer = await sendChange(write, run.requests, run);
  if (answer === undefined) return createInterruptedOutcome(write);
  if (answer.shows === 'lost-mark') return createFailedOutcome(write, describeLostMark(write, answer.live));
  // The response to a PATCH contains the whole resource, so it also shows changes by other clients.
  if (answer.shows === 'nothing' || write.method !== 'PATCH') return checkStored(write, answer, run);
  const concurrentChange = run.planned.findConcurrentChange(write, answer.live);
  if (concurrentChange !== undefined) run.note(concurrentChange);
  const outcome = checkStored(write, answer, run);
  return outcome.outcome === 'applied' ? { ...outcome, computed: answer.live.computed } : outcome;
}

/** What the response to a change shows. */
type ChangeAnswer =
  | { readonly shows: 'nothing' }
  /** The resource has no mark any more, so nothing more is sent to its kind. */
  | { readonly shows: 'lost-mark'; readonly live: LiveResource }
  | ({ readonly shows: 'resource' } & ComparedResponse);

/** Sends a change, and checks that the resource keeps its mark. `undefined`: interrupted before it was sent. */
export async function sendChange(
  write: Write,
  requests: ApplyRequests,
  { planned, ids, watch }: Pick<ApplyRun, 'planned' | 'ids' | 'watch'>,
): Promise<ChangeAnswer | undefined> {
  return requests.send(write, async ({ body, live }): Promise<ChangeAnswer> => {
    if (live === undefined) return { shows: 'nothing' };
    if (!isMarkLost(write, live, planned)) return { shows: 'resource', body, live };
    // The response may leave the mark out, or the service may have replaced the resource where it should have merged.
    const id = write.ids?.id ?? ids.get(write.address) ?? live.id;
    const again = (await requests.read?.(write, id)) ?? live;
    if (!isMarkLost(write, again, planned)) return { shows: 'resource', body, live: again };
    watch.noteLostMark(write);
    return { shows: 'lost-mark', live: again };
  });
}

/** Whether a resource has no mark after an update that sets the mark, or that should leave it as it is. */
function isMarkLost(
  { method, module, mark, purpose, ids }: Write,
  live: LiveResource,
  planned: ApplyRun['planned'],
): boolean {
  if (method !== 'PATCH' || module !== undefined || purpose === 'release' || live.mark !== undefined) return false;
  return mark !== undefined || planned.find(ids?.id ?? '')?.mark !== undefined;
}

/** Checks that the service stored what was sent, as far as the response shows it. */
export function checkStored(
  write: Write,
  answer: Exclude<ChangeAnswer, { readonly shows: 'lost-mark' }>,
  run: ApplyRun,
): Outcome {
  const applied = { outcome: 'applied', write, id: write.ids?.id ?? run.ids.get(write.address) } as const;
  if (answer.shows === 'nothing') return applied;
  const failures = listUnacceptedFieldMessages(write, answer);
  return failures.length > 0 ? createFailedOutcome(write, failures.join('; ')) : checkTexts(applied, answer, run);
}
