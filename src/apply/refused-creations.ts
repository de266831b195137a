import { listResourceTransitionDangers } from '../access/dangers.ts';
import { AS_WRITTEN, canonical } from '../kinds/canonical.ts';
import { hasToken, isRotatable, type Kind } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { LiveBeforeChange } from '../model/change.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';
import { type RefusedCreation, renderFittingMetadata } from '../model/mark.ts';
import { hasMarkOf } from '../model/ownership.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import type { CreateWrite } from '../model/write.ts';
import { computeAskedDigest } from '../plan/refused-creations.ts';
import { readFieldTime } from '../plan/validity.ts';
import type { ApplyRun } from './apply-run.ts';
import { listUnacceptedFieldMessages, listUnacceptedFields } from './check-response.ts';
import type { ShownCreation } from './judge-creation.ts';
import type { PlannedLive } from './planned-live.ts';
import type { ApplyRequests, Recorded } from './requests.ts';
import { describeLostMark } from './service-watch.ts';
import { takeBack, type Withdrawal } from './take-back.ts';

/**
 * Takes back a credential without its token, and a credential or certificate that the service did not store as asked:
 * otherwise each apply would leave another valid one. The mark of the resource that it was to replace remembers what was
 * asked for (see `RefusedCreation`), so the next plan knows. The first one for an address has no such resource: it stays
 * as the record itself, undelivered. A certificate that permits more than was asked for does not stay: it is no secret.
 * Returns the reason. `undefined`: nothing is refused.
 */
export async function withdrawIfRefused(
  created: ShownCreation,
  { planned, requests, settling, watch }: Pick<ApplyRun, 'planned' | 'requests' | 'settling' | 'watch'>,
): Promise<Withdrawal | undefined> {
  const { write, live, token } = created;
  const { body } = created.request;
  const kind = getKind(write.kind);
  const [field] = kind.oneTimeFields;
  const isHidden = field !== undefined && token === undefined;
  const failures = [
    ...(isHidden ? [`the service did not show its ${field}`] : []),
    ...(isRotatable(kind) ? listUnacceptedFieldMessages(write, { body, live }) : []),
  ];
  if (failures.length === 0) return undefined;
  const fields = isHidden ? [] : listUnacceptedFields(write, { body, live });
  const replaced = planned.findReplaced(write.address);
  const refusal = { write, body, live, fields, replaced };
  const own = await recordInItself(refusal, requests);
  if (own === 'kept')
    return { message: [...failures, `nothing was delivered; ${live.id} is kept as a record of this`].join('; ') };
  const made = { write, id: live.id };
  failures.push(await takeBack(made, settling, 'Delete it by hand, unless the next plan deletes it'));
  if (replaced !== undefined && (await recordInReplaced({ ...refusal, replaced }, requests)) === 'lost') {
    watch.noteLostMark(write);
    failures.push(describeLostMark(write, replaced));
  }
  return { message: failures.join('; '), ...(own === 'lost' && { isUnmanageable: true }) };
}

interface Refusal {
  readonly write: CreateWrite;
  readonly body: JsonObject | undefined;
  readonly live: LiveResource;
  /** Names of the fields that the service stored otherwise. */
  readonly fields: readonly string[];
  readonly replaced: PlannedLive | undefined;
}

/** Records a refusal in the mark of the replaced resource. If that fails, the next apply tries again. */
async function recordInReplaced(
  { replaced, ...refusal }: Refusal & { readonly replaced: PlannedLive },
  requests: ApplyRequests,
): Promise<Recorded> {
  const body = refusal.fields.length === 0 ? undefined : createBody(replaced, refusal);
  if (body === undefined) return 'failed';
  const prepare = (shown: LiveResource): JsonObject => createBody(shown, refusal) ?? body;
  return requests.record(refusal.write, replaced.id, { body, prepare });
}

/** Records the refusal of the first creation for an address in its own mark. If that is kept, the resource stays. */
async function recordInItself(refusal: Refusal, requests: ApplyRequests): Promise<Recorded> {
  const { write, body: sent = {}, live, fields, replaced } = refusal;
  if (replaced !== undefined || fields.length === 0) return 'failed';
  if (!hasToken(getKind(write.kind)) && permitsMore(refusal, sent)) return 'failed';
  const body = createBody(live, { ...refusal, isRecord: true });
  return body === undefined ? 'failed' : requests.record(write, live.id, { body });
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
