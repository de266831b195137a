import { ApiError, assertDefined } from '../model/errors.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';
import { renderMetadata } from '../model/mark.ts';
import type { LiveResource } from '../model/state.ts';
import type { DeliverAgainWrite, DeliverWrite } from '../model/write.ts';
import { listBearers, type RivalContext } from './rivals.ts';

/**
 * Two concurrent applies of one stack can overtake each other. The first creates a credential and is about to deliver its token; the second
 * takes that credential for abandoned and replaces it; both deliver, and the dead token may be the one that stays. Two rules prevent this, in any order.
 * An apply that deletes an undelivered credential delivers its own token again afterwards, and records that. An apply that finds its delivered
 * credential deleted marks the replacement as undelivered, so that the next apply replaces it.
 */

/** A write that records a delivery. */
export type RecordWrite = DeliverWrite | DeliverAgainWrite;

/** Whether there was nothing to record a delivery on. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof ApiError && error.response.status === 404;
}

/** What taking a delivery back takes. */
export interface OvertakenContext {
  readonly rivals: RivalContext;
  /** Rejects as the client does. */
  readonly patch: (write: RecordWrite, id: string, body: JsonObject) => Promise<void>;
}

/** Marks the replacement of a deleted credential as undelivered, so that the next apply replaces it. Returns what was seen and done; rejects as the client does. */
export async function disown(write: RecordWrite, { rivals, patch }: OvertakenContext): Promise<string> {
  const delivered = (await listBearers(write, rivals)).filter(({ mark }) => mark?.delivered === true);
  for (const bearer of delivered) await patch(write, bearer.id, toBody(bearer));
  if (delivered.length === 0)
    return 'somebody deleted it while its token was being delivered, so that token no longer works';
  const ids = delivered.map(({ id }) => id).join(', ');
  return `another apply replaced it by ${ids} while its token was being delivered. It is unknown which token arrived last, so ${ids} counts as not delivered, and the next apply replaces it`;
}

function toBody({ spec, mark }: LiveResource): JsonObject {
  const user = spec['metadata'];
  const kept = typeof user === 'string' || isJsonObject(user) ? user : '';
  return { metadata: renderMetadata(kept, { ...assertDefined(mark, 'mark of what bears one'), delivered: false }) };
}
