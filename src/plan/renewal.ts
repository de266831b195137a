import { renderTimeSpan } from '../kinds/duration.ts';
import { findFixedEnd } from '../kinds/fixed-end.ts';
import { hasToken, isRotatable } from '../kinds/kind.ts';
import { isTokenUndelivered } from '../kinds/precedence.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { getAddressName } from '../model/address.ts';
import type { DueDate } from '../model/change.ts';
import { isCopiedMark, isRefusalRecord, isRetiring } from '../model/mark.ts';
import { isResourceOf } from '../model/ownership.ts';
import type { Place } from '../model/place.ts';
import { listKnownIds, type Plan } from '../model/plan.ts';
import type { DesiredResource, LiveResource, LiveState, Spec } from '../model/state.ts';
import type { PlanningRequest } from '../settings/request.ts';
import type { ExistingPair, ResourcePair } from './match.ts';
import { describeRecord } from './refused-creations.ts';
import type { PlanTimes } from './retirement.ts';
import { findManifestValidForMs, listValidityDifference, readFieldTime, readSettingMs } from './validity.ts';

/** Credentials and certificates that are replaced although nothing differs: lost tokens, `--rotate`, ends and ages. */

export interface RenewalContext extends PlanTimes, Pick<PlanningRequest, 'rotate'> {}

/** Whether and when an existing resource is due for renewal. */
interface Renewal {
  /** Why it is replaced now. `undefined`: it is not. */
  readonly reason: string | undefined;
  readonly notes: readonly string[];
  readonly due?: DueDate | undefined;
}

const NOT_DUE: Renewal = { reason: undefined, notes: [] };

/**
 * Whether `--rotate` can replace the resource. It cannot if the plan adopts or takes over the resource, because the
 * stack does not own it yet.
 */
export function canRotate({ kind, desired, by }: ResourcePair): boolean {
  return desired !== undefined && by === 'mark' && isRotatable(kind);
}

/**
 * Decides whether a live resource is due for renewal. An adopted resource is renewed only after the stack owns it.
 * Exception: a resource that another stack handed over without its token is renewed at once. If the length of the
 * validity differs, the resource is not due, because that difference replaces it anyway.
 */
export function decideRenewal(pair: ExistingPair, written: Spec, context: RenewalContext): Renewal {
  const { address, kind, desired, live, by } = pair;
  if (by === 'attachment') return NOT_DUE;
  const isOwn = by === 'mark';
  // From a take-over on, only this stack can deliver a token.
  const isTakenOver = by === 'adopt' && live.mark !== undefined;
  if (isOwn && isRefusalRecord(live)) return toReason(describeRecord(live));
  if (isOwn && isRetiring(live)) return toReason('it is an old one, and the one that replaced it no longer exists');
  const lostToken = isOwn || isTakenOver ? describeLostToken(pair) : undefined;
  if (lostToken !== undefined) return toReason(lostToken);
  if (isOwn && context.rotate?.includes(address) === true) return toReason('requested with --rotate');
  const validForMs = findManifestValidForMs(kind, desired);
  if (listValidityDifference({ kind, live, validForMs }).length > 0) return NOT_DUE;
  const timed = findTimedRenewal(pair, written, context);
  return isOwn || timed.reason === undefined ? timed : toNote(`${timed.reason}: the next apply replaces it`);
}

/**
 * Decides whether a resource is due because of its end or its age. If it is unknown which of two clocks is right, it is
 * due only by both: a wrong time from a proxy must not replace anything.
 */
function findTimedRenewal(pair: ExistingPair, written: Spec, { now, localNow = now, clock }: RenewalContext): Renewal {
  const [due, dueLocally] = [now, localNow].map((at) => findExpiry(pair, written, at) ?? findAge(pair, at));
  if (due?.reason === undefined || clock?.isDoubtful !== true || dueLocally?.reason !== undefined)
    return due ?? NOT_DUE;
  return toNote(`${due.reason}; not by the clock of this machine, so it is not replaced`);
}

/**
 * The reason to replace a credential: its token was not delivered, or a wrong token may have been delivered.
 * `undefined` if neither is the case.
 */
function describeLostToken({ kind, live, isTokenInDoubt }: ExistingPair): string | undefined {
  if (!hasToken(kind)) return undefined;
  if (isCopiedMark(live))
    return `its mark is that of ${live.mark?.id}, whose token was delivered, and that credential no longer exists`;
  if (live.mark?.delivered !== true)
    return 'nothing shows that its token was delivered, and the token cannot be read again';
  return isTokenInDoubt === true
    ? 'another credential has its mark, and it is unknown which of the two tokens was delivered last'
    : undefined;
}

/**
 * Decides whether a certificate is due because of its end. If the manifest sets the end, the certificate is never due,
 * because a new one would end at the same time. `undefined` if the live resource has no end.
 */
function findExpiry({ kind, desired, live }: ExistingPair, written: Spec, now: Date): Renewal | undefined {
  const until = readFieldTime(live.spec, kind.validity?.until);
  if (until === undefined || kind.validity === undefined) return undefined;
  const leftMs = until - now.getTime();
  const left = renderTimeSpan(leftMs);
  if (readFieldTime(written, kind.validity.until) !== undefined)
    return leftMs > 0
      ? toDue(`expires in ${left}`, { event: 'expires', at: until })
      : toNote(`expired ${renderTimeSpan(-leftMs)} ago`);
  if (leftMs <= 0) return toReason(`it expired ${renderTimeSpan(-leftMs)} ago`);
  const renewBefore = desired.lifecycle.settings['renew_before'];
  const waitMs = leftMs - readSettingMs(desired, 'renew_before');
  if (renewBefore === undefined)
    return toDue(`expires in ${left}, and is renewed then`, { event: 'expires', at: until });
  if (waitMs > 0) return toDue(`renews in ${renderTimeSpan(waitMs)}`, { event: 'renews', at: now.getTime() + waitMs });
  return toReason(`it expires in ${left}, and is renewed ${String(renewBefore)} before that`);
}

function findAge({ desired, live }: ExistingPair, now: Date): Renewal | undefined {
  const limitMs = readSettingMs(desired, 'rotate_after');
  if (limitMs === 0) return undefined;
  const created = Date.parse(live.createdAt);
  if (Number.isNaN(created)) return undefined;
  const ageMs = now.getTime() - created;
  if (ageMs < limitMs)
    return toDue(`rotates in ${renderTimeSpan(limitMs - ageMs)}`, { event: 'rotates', at: created + limitMs });
  return toReason(
    `it is ${renderTimeSpan(ageMs)} old, and is rotated after ${String(desired.lifecycle.settings['rotate_after'])}`,
  );
}

function toReason(reason: string): Renewal {
  return { ...NOT_DUE, reason };
}

function toNote(note: string): Renewal {
  return { ...NOT_DUE, notes: [note] };
}

/** `at`: in milliseconds since 1970. */
function toDue(note: string, { event, at }: Pick<DueDate, 'event'> & { readonly at: number }): Renewal {
  return { ...toNote(note), due: { at: new Date(at).toISOString(), event } };
}

interface EndOfManifest extends Pick<ResourcePair, 'address'> {
  readonly place: Place;
  readonly field: string;
  /** Negative: the end is past. */
  readonly leftMs: number;
}

/** Finds an end that a manifest sets and that is past or near: a new certificate would end at the same time. */
export function findEndOfManifest(pair: ResourcePair, written: Spec, now: Date): readonly EndOfManifest[] {
  const { kind, desired, address } = pair;
  const fixed = findFixedEnd(kind, written);
  if (desired === undefined || fixed === undefined) return [];
  const { end, field } = fixed;
  const leftMs = end - now.getTime();
  if (leftMs > Math.max(0, computeWarningMs(pair, desired, { ...pair.live?.spec, ...written }))) return [];
  return [{ address, place: desired.locate(['spec', field]), field, leftMs }];
}

/** The share of a validity that counts as near its end: nine days of ninety, so that a weekly apply warns in time. */
export const VALIDITY_WARNING_SHARE = 0.1;

/**
 * The time before the end of a validity at which warnings begin: `renew_before` if it is set, else VALIDITY_WARNING_SHARE
 * of the validity. 0 if the validity is unknown.
 */
function computeWarningMs({ kind }: ResourcePair, desired: DesiredResource, spec: Spec): number {
  if (desired.lifecycle.settings['renew_before'] !== undefined) return readSettingMs(desired, 'renew_before');
  const after = readFieldTime(spec, kind.validity?.after);
  const until = readFieldTime(spec, kind.validity?.until);
  return after === undefined || until === undefined ? 0 : (until - after) * VALIDITY_WARNING_SHARE;
}

/**
 * The addresses of `--rotate` whose rotation in the approved plan is done, whoever did it: the resource was replaced by
 * one that the plan did not know, or the plan itself has the address in `--rotate` and does not replace it any more.
 * Otherwise each apply of the plan would rotate them again.
 */
export function listFinishedRotations(
  { changes, stack, options }: Plan,
  { resources }: LiveState,
  { rotate = [] }: Pick<PlanningRequest, 'rotate'>,
): readonly string[] {
  const known = listKnownIds({ changes });
  return rotate.filter((address) => {
    const replaced = changes.find((change) => change.address === address && change.action === 'replace');
    if (replaced === undefined) return options.rotate.includes(address);
    const kind = getKind(replaced.kind);
    const named = { stack, name: getAddressName(replaced.address) };
    const isFinished = (one: LiveResource): boolean =>
      isResourceOf(one, named) && !known.has(one.id) && !isTokenUndelivered(kind, one);
    return resources.get(replaced.kind)?.some(isFinished) === true;
  });
}
