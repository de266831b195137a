import { listOneTimeFields } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { JsonObject } from '../model/json.ts';
import type { Outcome } from '../model/outcome.ts';
import type { LiveResource } from '../model/state.ts';
import type { CreateWrite } from '../model/write.ts';
import { toFileText } from '../plan/files.ts';
import { listNotKept } from './check-response.ts';
import { createOnce } from './create-once.ts';
import { judgeCreation } from './judge-creation.ts';
import { toFailed, toInterrupted } from './outcomes.ts';
import { type ResolvedWrite, resolveWrite } from './resolve-write.ts';
import { listBearers } from './rivals.ts';
import type { WriteContext } from './write-context.ts';

/** Creates a resource exactly once. A retry sends the same body, times included. Rejects as the client does. */
export async function createResource(write: CreateWrite, context: WriteContext): Promise<Outcome> {
  const { requests, ids, now, settle } = context;
  let sent: ResolvedWrite | undefined;
  const resolve = (): ResolvedWrite => {
    sent ??= resolveWrite(write, ids, now());
    return sent;
  };
  const created = await createOnce({
    send: () => requests.send(write, resolve),
    look: () => listBearers(write, settle.rivals),
    sleep: settle.rivals.sleep,
  });
  if (created === undefined) return toInterrupted(write);
  if ('found' in created) return acceptFound(write, { sent: resolve(), live: created.found }, context);
  return acceptAnswer(write, { sent: resolve(), answer: created.answer.answer ?? {} }, context);
}

/** A token that was lost with its answer can only be replaced by a new credential. */
function acceptFound(write: CreateWrite, { sent, live }: Taken, context: WriteContext): Outcome {
  const [field] = listOneTimeFields(getKind(write.kind));
  if (field !== undefined) {
    const message = `its creation got no response. It was found as ${live.id}, but its ${field} was lost with the response. The next apply replaces it, unless another apply created it and delivers the ${field}`;
    return toFailed(write, message);
  }
  const faults = take(write, { sent, live }, context);
  if (faults.length > 0) return toFailed(write, faults.join('; '));
  return { outcome: 'applied', write, id: live.id, computed: live.computed, found: true };
}

/** A resource that differs from what was sent is deleted before its token is delivered anywhere. */
async function acceptAnswer(
  write: CreateWrite,
  { sent, answer }: { readonly sent: ResolvedWrite; readonly answer: JsonObject },
  context: WriteContext,
): Promise<Outcome> {
  const judged = await judgeCreation(write, { sent, answer }, context.settle);
  if (typeof judged === 'string') return toFailed(write, judged);
  const { live, token } = judged;
  const fault = token === undefined ? undefined : await context.deliveries.deliver(write, token, live?.id ?? '');
  const undelivered = fault === undefined ? [] : [fault];
  if (live === undefined) return toFailed(write, [...undelivered, 'the service did not return its id'].join('; '));
  const faults = [...undelivered, ...take(write, { sent, live }, context)];
  if (faults.length > 0) return toFailed(write, faults.join('; '));
  return { outcome: 'applied', write, id: live.id, computed: live.computed };
}

/** What was sent, and what is there. */
interface Taken {
  readonly sent: ResolvedWrite;
  readonly live: LiveResource;
}

/** Records the id of a resource for writes that refer to it. Returns what differs from what was sent. */
function take(write: CreateWrite, { sent, live }: Taken, { ids, texts }: WriteContext): readonly string[] {
  ids.set(write.address, live.id);
  const text = toFileText(live.computed[getKind(write.kind).fileField ?? '']);
  if (text !== undefined) texts.set(write.address, text);
  return listNotKept(write, sent, live);
}
