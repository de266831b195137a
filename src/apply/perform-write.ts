import { assertNever } from '../model/errors.ts';
import type { Outcome } from '../model/outcome.ts';
import type { LiveResource } from '../model/state.ts';
import type { DeliverAgainWrite, Write } from '../model/write.ts';
import type { Patch } from './changed-meanwhile.ts';
import { listNotTaken, readAnswer } from './check-response.ts';
import { createResource } from './create-resource.ts';
import { toFailed, toFailure, toInterrupted } from './outcomes.ts';
import { disown, isOvertaken, type RecordWrite } from './overtaken.ts';
import { toResourceId } from './requests.ts';
import { type ResolvedWrite, resolveWrite } from './resolve-write.ts';
import type { WriteContext } from './write-context.ts';

/** Makes one write whose dependencies have succeeded. Never rejects because of the service or the network. */
export async function performWrite(write: Write, context: WriteContext): Promise<Outcome> {
  try {
    return await perform(write, context);
  } catch (error) {
    return toFailure(write, error);
  }
}

async function perform(write: Write, context: WriteContext): Promise<Outcome> {
  switch (write.act) {
    case 'create':
      return createResource(write, context);
    case 'deliver':
      return recordDelivery(write, context);
    case 'deliver-again':
      return deliverAgain(write, context);
    case 'update':
    case 'adopt':
    case 'release':
    case 'give-up':
      return change(write, context);
    case 'set-module':
    case 'remove-module':
    case 'delete':
      return send(write, context);
    default:
      return assertNever(write);
  }
}

async function send(write: Write, context: WriteContext): Promise<Outcome> {
  const exchanged = await exchange(write, context);
  return exchanged === undefined ? toInterrupted(write) : accept(write, exchanged, context);
}

/** The answer to an update shows the whole resource, including what somebody else changed meanwhile. */
async function change(write: Patch, context: WriteContext): Promise<Outcome> {
  const exchanged = await exchange(write, context);
  if (exchanged === undefined) return toInterrupted(write);
  const { live } = exchanged;
  const meanwhile = live && context.meanwhile.find(write, live);
  if (meanwhile !== undefined) context.settle.note(meanwhile);
  const outcome = accept(write, exchanged, context);
  return outcome.outcome !== 'applied' || live === undefined ? outcome : { ...outcome, computed: live.computed };
}

/** What was sent, and what the answer shows; nothing: it is empty. */
interface Shown {
  readonly sent: ResolvedWrite;
  readonly live: LiveResource | undefined;
}

async function exchange(write: Write, { requests, ids, now }: WriteContext): Promise<Shown | undefined> {
  const exchanged = await requests.send(write, () => resolveWrite(write, ids, now()));
  if (exchanged === undefined) return undefined;
  const { sent, answer } = exchanged;
  return { sent, live: answer === null ? undefined : readAnswer(write, answer) };
}

function accept(write: Write, { sent, live }: Shown, { ids }: WriteContext): Outcome {
  const faults = live === undefined ? [] : listNotTaken(write, sent, live);
  if (faults.length > 0) return toFailed(write, faults.join('; '));
  return { outcome: 'applied', write, id: toResourceId(write) ?? ids.get(write.address) };
}

/** A delivery counts only when it is recorded on a credential that still exists. */
async function recordDelivery(write: RecordWrite, context: WriteContext): Promise<Outcome> {
  try {
    const exchanged = await exchange(write, context);
    if (exchanged === undefined) return toInterrupted(write);
    const outcome = accept(write, exchanged, context);
    if (outcome.outcome === 'failed') context.unrecorded.add(write.id);
    return outcome;
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    const { requests, settle } = context;
    return toFailed(write, await disown(write, { rivals: settle.rivals, patch: requests.patch }));
  }
}

/** See `overtaken.ts`. It is delivered even when the run is interrupted, since what it replaces is gone. */
async function deliverAgain(write: DeliverAgainWrite, context: WriteContext): Promise<Outcome> {
  const { deliveries, ids } = context;
  if (!deliveries.has(write.address))
    return { outcome: 'applied', write, id: ids.get(write.address), alreadyDone: true };
  const fault = await deliveries.deliverAgain(write.address);
  return fault === undefined ? recordDelivery(write, context) : toFailed(write, fault);
}
