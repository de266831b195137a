import { renderTimeSpan, toDurationMs } from '../kinds/duration.ts';
import { listOneTimeFields } from '../kinds/kind.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/state.ts';
import type { Pair } from './match.ts';
import { listLengthDifference, readTime, toValidForMs } from './validity.ts';

/** What decides besides the manifests whether something is renewed. */
export interface RenewalContext {
  readonly now: Date;
  /** Addresses that are to be replaced though nothing differs. */
  readonly rotate: readonly string[];
}

/** Whether an existing resource is due for renewal. */
export interface Renewal {
  /** Why it is to be replaced though no field differs. */
  readonly reason: string | undefined;
  /** When its time will come. */
  readonly notes: readonly string[];
}

const NOTHING: Renewal = { reason: undefined, notes: [] };

/** A live resource that a manifest describes, seen at a time. */
interface Subject extends Pair {
  readonly desired: DesiredResource;
  readonly live: LiveResource;
}

/** Whether a live resource is due for renewal. An adopted one is renewed only once the stack owns it; one of another length is replaced anyway. */
export function findRenewal(pair: Pair, written: Spec, context: RenewalContext): Renewal {
  const { desired, live } = pair;
  if (desired === undefined || live === undefined || pair.by === 'attachment') return NOTHING;
  const subject = { ...pair, desired, live };
  const due = pair.by === 'mark' ? (findLoss(subject) ?? findRequest(subject, context)) : undefined;
  if (due !== undefined) return { ...NOTHING, reason: due };
  const validForMs = toValidForMs(pair.kind, desired);
  if (listLengthDifference({ kind: pair.kind, live, validForMs }).length > 0) return NOTHING;
  const timed = findEnd(subject, written, context.now) ?? findAge(subject, context.now) ?? NOTHING;
  return pair.by === 'mark' || timed.reason === undefined ? timed : toLater(timed.reason);
}

/** A warning for each certificate that would be, or stays, expired because its manifest says when it ends. */
export function listExpiredManifests(pair: Pair, written: Spec, now: Date): readonly Diagnostic[] {
  const { kind, desired, address } = pair;
  const end = readTime(written, kind.validity?.until);
  if (kind.validity === undefined || desired === undefined || end === undefined) return [];
  const leftMs = end - now.getTime();
  const isSoon = leftMs > 0 && leftMs <= toWarningMs(pair, desired, { ...pair.live?.spec, ...written });
  if (leftMs > 0 && !isSoon) return [];
  const when = isSoon ? `ends in ${renderTimeSpan(leftMs)}` : `ended ${renderTimeSpan(-leftMs)} ago`;
  return [
    {
      code: 'validity-ends',
      severity: 'warning',
      message: `${address}: its spec.${kind.validity.until} ${when}; a new one would end at the same time`,
      remedy: `Change spec.${kind.validity.until}, or use lifecycle.valid_for instead of times.`,
      address,
      place: desired.locate(['spec', kind.validity.until]),
    },
  ];
}

/** The share of a validity in which its end counts as near. */
export const NEAR = 0.1;

/** How long before its stated end there is a warning: the renewal period if one is set, else the default share. */
function toWarningMs({ kind }: Pair, desired: DesiredResource, spec: Spec): number {
  if (desired.lifecycle.settings['renew_before'] !== undefined) return toSettingMs(desired, 'renew_before');
  const after = readTime(spec, kind.validity?.after);
  const until = readTime(spec, kind.validity?.until);
  return after === undefined || until === undefined ? 0 : (until - after) * NEAR;
}

/** A token that was not delivered, or may be the wrong one. */
function findLoss({ kind, live, hasUndelivered }: Subject): string | undefined {
  if (listOneTimeFields(kind).length === 0) return undefined;
  if (live.mark?.delivered !== true)
    return 'nothing shows that its token was delivered, and the token cannot be read again';
  return hasUndelivered
    ? 'a replacement of it was interrupted, and it is unknown which of the two tokens was delivered'
    : undefined;
}

function findRequest({ address }: Subject, { rotate }: RenewalContext): string | undefined {
  return rotate.includes(address) ? 'asked for with --rotate' : undefined;
}

/** An end that the manifest states is no reason to replace: a new one would end at the same time. */
function findEnd({ kind, desired, live }: Subject, written: Spec, now: Date): Renewal | undefined {
  const until = readTime(live.spec, kind.validity?.until);
  if (until === undefined || kind.validity === undefined) return undefined;
  const leftMs = until - now.getTime();
  const left = renderTimeSpan(leftMs);
  if (readTime(written, kind.validity.until) !== undefined)
    return leftMs > 0 ? toNote(`expires in ${left}`) : toNote(`expired ${renderTimeSpan(-leftMs)} ago`);
  if (leftMs <= 0) return toReason(`it expired ${renderTimeSpan(-leftMs)} ago`);
  const renewBefore = desired.lifecycle.settings['renew_before'];
  const waitMs = leftMs - toSettingMs(desired, 'renew_before');
  if (renewBefore === undefined) return toNote(`expires in ${left}, and is renewed then`);
  if (waitMs > 0) return toNote(`renews in ${renderTimeSpan(waitMs)}`);
  return toReason(`it expires in ${left}, and is renewed ${String(renewBefore)} before that`);
}

function findAge({ desired, live }: Subject, now: Date): Renewal | undefined {
  const limitMs = toSettingMs(desired, 'rotate_after');
  if (limitMs === 0) return undefined;
  const created = Date.parse(live.createdAt);
  if (Number.isNaN(created)) return undefined;
  const ageMs = now.getTime() - created;
  if (ageMs < limitMs) return toNote(`rotates in ${renderTimeSpan(limitMs - ageMs)}`);
  return toReason(
    `it is ${renderTimeSpan(ageMs)} old, and is rotated after ${String(desired.lifecycle.settings['rotate_after'])}`,
  );
}

function toReason(reason: string): Renewal {
  return { ...NOTHING, reason };
}

function toNote(note: string): Renewal {
  return { ...NOTHING, notes: [note] };
}

function toLater(reason: string): Renewal {
  return toNote(`${reason}: the next apply replaces it`);
}

/** 0 when the manifest does not say it. */
function toSettingMs({ lifecycle }: DesiredResource, name: string): number {
  const text = lifecycle.settings[name];
  return typeof text === 'string' ? (toDurationMs(text) ?? 0) : 0;
}
