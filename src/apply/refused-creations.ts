import { listResourceTransitionDangers } from '../access/dangers.ts';
import { AS_WRITTEN, canonical } from '../kinds/canonical.ts';
import { hasToken, type Kind } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { LiveBeforeChange } from '../model/change.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';
import { type RefusedCreation, renderFittingMetadata } from '../model/mark.ts';
import { hasMarkOf } from '../model/ownership.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import type { CreateWrite } from '../model/write.ts';
import { computeAskedDigest } from '../plan/refused-creations.ts';
import { readFieldTime } from '../plan/validity.ts';
import type { PlannedLive } from './concurrent-changes.ts';
import { isExternalError } from './external-error.ts';
import type { ApplyRequests } from './requests.ts';

/**
 * A credential or certificate that the service did not store as asked. It is deleted, and the mark of the resource that
 * it was to replace remembers what was asked for. The first one for an address has no such resource: it stays as the
 * record itself, undelivered. A certificate that permits more than was asked for does not stay: it is no secret.
 */
export interface Refusal {
  readonly write: CreateWrite;
  readonly body: JsonObject | undefined;
  readonly live: LiveResource;
  /** Names of the fields that the service stored otherwise. */
  readonly fields: readonly string[];
  readonly replaced: PlannedLive | undefined;
}

/** Whether the service keeps the record of a refusal. `failed`: none was written. `lost`: it dropped the mark instead. */
type Recorded = 'kept' | 'failed' | 'lost';

/** Records a refusal in the mark of the replaced resource. If that fails, the next apply tries again. */
export async function recordRefusalInReplaced(
  { replaced, ...refusal }: Refusal,
  requests: ApplyRequests,
): Promise<Recorded> {
  const { write, live } = refusal;
  if (replaced === undefined || refusal.fields.length === 0) return 'failed';
  const prepare = (shown: LiveResource) => createBody(shown, refusal);
  const body = createBody(replaced, { ...refusal, live });
  return body === undefined ? 'failed' : record(requests, write, { id: replaced.id, body, prepare });
}

/** Records the refusal of the first creation for an address in its own mark. If that is kept, the resource stays. */
export async function recordRefusalInItself(refusal: Refusal, requests: ApplyRequests): Promise<Recorded> {
  const { write, body: sent = {}, live, fields, replaced } = refusal;
  if (replaced !== undefined || fields.length === 0) return 'failed';
  if (!hasToken(getKind(write.kind)) && permitsMore(refusal, sent)) return 'failed';
  const body = createBody(live, { ...refusal, isRecord: true });
  return body === undefined ? 'failed' : record(requests, write, { id: live.id, body });
}

/** Whether a certificate admits more callers than was asked for, permits them more, or is valid for longer. */
function permitsMore({ write, live }: Refusal, sent: Spec): boolean {
  const kind = getKind(write.kind);
  const dangers = listResourceTransitionDangers(kind, { spec: canonical(kind, sent, AS_WRITTEN) }, { spec: live.spec });
  // No certificate was valid before this one.
  return dangers.some(({ danger }) => danger !== 'stays-valid') || isValidLonger(kind, sent, live.spec);
}

function isValidLonger({ validity, fields }: Kind, sent: Spec, live: Spec): boolean {
  if (validity === undefined) return false;
  const { after, until } = validity;
  const isLater = (readFieldTime(live, until) ?? 0) > (readFieldTime(sent, until) ?? Number.POSITIVE_INFINITY);
  const earliest = (readFieldTime(sent, after) ?? 0) - (fields[after]?.earlierByMs ?? 0);
  return isLater || (readFieldTime(live, after) ?? Number.POSITIVE_INFINITY) < earliest;
}

interface RecordTarget {
  readonly id: string;
  readonly body: JsonObject;
  readonly prepare?: (shown: LiveResource) => JsonObject | undefined;
}

async function record(
  requests: ApplyRequests,
  write: CreateWrite,
  { id, body, prepare }: RecordTarget,
): Promise<Recorded> {
  try {
    const again = prepare && ((shown: LiveResource) => prepare(shown) ?? body);
    const live = await requests.record(write, id, { body, ...(again && { prepare: again }) });
    return hasMarkOf(live, write.mark) ? 'kept' : 'lost';
  } catch (error) {
    if (isExternalError(error)) return 'failed';
    throw error;
  }
}

/** The PATCH that records the refusal. `undefined`: the resource has another mark, or its metadata has no room. */
function createBody(
  { id, spec = {}, mark }: LiveBeforeChange,
  { write, live, fields, isRecord }: Pick<Refusal, 'write' | 'live' | 'fields'> & { readonly isRecord?: true },
): JsonObject | undefined {
  const kind = getKind(write.kind);
  const type = kind.fields['metadata']?.type;
  if (mark === undefined || !hasMarkOf({ mark }, write.mark) || type?.type !== 'metadata') return undefined;
  const asked = computeAskedDigest(kind, live.mark?.fields ?? {}, write.validForMs);
  const refused: RefusedCreation = { asked, fields, ...(isRecord && { record: isRecord }) };
  const user = spec['metadata'];
  const kept = typeof user === 'string' || isJsonObject(user) ? user : '';
  const metadata = renderFittingMetadata(kept, { ...mark, id, refused }, type.maxBytes);
  return metadata === undefined ? undefined : { metadata };
}
