import { fillAllLeftOut } from '../kinds/read-response.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Change, ChangeStart } from '../model/change.ts';
import { isJsonObject, type Json, toDigest } from '../model/json.ts';
import { toComparedMark } from '../model/mark.ts';
import type { DesiredResource, LiveResource } from '../model/state.ts';
import type { TokenPlace } from '../model/token-place.ts';
import type { Decision } from './decide.ts';
import type { Pair } from './match.ts';
import { findValidForMs } from './validity.ts';
import { listChangedFields, listSentForms } from './writes.ts';

/** The content of a change, in addition to its decision. */
interface ChangeFacts {
  readonly token?: TokenPlace | undefined;
  /** The label or annotation that says whose a resource is. */
  readonly ownerLabel?: string | undefined;
}

/** A decision as a change: all that its writes are computed from, without the manifest and what else was live. */
export function createChange(
  decision: Decision,
  notes: readonly string[],
  { token, ownerLabel }: ChangeFacts = {},
): Change {
  const { pair, action, differences, reason } = decision;
  const { address, duplicateOf, kind, desired, live, was } = pair;
  const isTouched = action !== 'no-op';
  const owner = isTouched && ownerLabel !== undefined ? findOwner(pair, ownerLabel) : undefined;
  return {
    address,
    ...(duplicateOf !== undefined && { duplicateOf }),
    kind: kind.name,
    action,
    ...(reason !== undefined && { reason }),
    differences,
    ...(token !== undefined && { token }),
    ...(notes.length > 0 && { notes }),
    ...(decision.kept.length > 0 && { kept: decision.kept }),
    ...(live !== undefined && { live: toStart(live, isTouched || kind.role === 'attached') }),
    ...(isTouched && toFuture(decision)),
    ...(desired?.lifecycle.protect === true && { protect: true }),
    ...(isTouched && was !== undefined && { was }),
    ...(owner !== undefined && { owner }),
    ...(isTouched && desired !== undefined && toManifestFacts(desired)),
  };
}

/** Whose a resource is. Without a manifest its mark tells, else its metadata, where they have the key. */
function findOwner({ desired, live }: Pair, label: string): string | undefined {
  if (desired !== undefined) return pick(desired.labels, label) ?? pick(desired.annotations, label);
  return live?.mark?.owner ?? pick(live?.spec['metadata'], label);
}

function pick(texts: Json | undefined, name: string): string | undefined {
  const text = isJsonObject(texts) && Object.hasOwn(texts, name) ? texts[name] : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** What readers want to know of its manifest. */
function toManifestFacts({
  labels,
  annotations,
  findStart,
}: DesiredResource): Pick<Change, 'labels' | 'annotations' | 'place'> {
  return {
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
    place: findStart(),
  };
}

/** The desired spec, as far as the change makes it. */
function toFuture(decision: Decision): Pick<Change, 'desired' | 'sent' | 'ignored' | 'validForMs'> {
  const { pair, form } = decision;
  if (form === undefined) return {};
  const sent = listSentForms(pair.kind, form, listWritten(decision));
  const ignored = listIgnored(pair);
  const validForMs = findValidForMs(pair.kind, pair.desired);
  return {
    desired: form.normal,
    ...(Object.keys(sent).length > 0 && { sent }),
    ...(ignored.length > 0 && { ignored }),
    ...(validForMs !== undefined && { validForMs }),
  };
}

/** Attached modules have no mark that could tell. */
function listIgnored({ kind, desired }: Decision['pair']): readonly string[] {
  const names = kind.specFields.map(([name]) => name);
  return kind.role === 'owned' ? names.filter((name) => desired?.lifecycle.ignore.includes(name)) : [];
}

/** The fields whose values are sent. */
function listWritten(decision: Decision): ReadonlySet<string> {
  const { kind } = decision.pair;
  const fields = kind.specFields;
  if (isMade(decision)) return new Set(fields.map(([name]) => name));
  const always = fields.filter(([, field]) => field.alwaysSent).map(([name]) => name);
  return new Set([...always, ...listChangedFields(kind, decision)]);
}

function isMade({ action }: Decision): boolean {
  return action === 'create' || action === 'replace';
}

function toStart(live: LiveResource, isTouched: boolean): ChangeStart {
  const { id, spec, mark } = live;
  return {
    id,
    // Made when it is asked for: of what stays as it is nobody asks but who keeps the plan.
    get digest() {
      return computeLiveDigest(live);
    },
    ...(isTouched && { spec }),
    ...(mark !== undefined && { mark: toComparedMark(mark) }),
  };
}

/**
 * The digest of what a plan knows of a live resource. Whether it has moved is told field by field; the digest is for those who keep plans. It is the same
 * whether the service shows that a field is empty or leaves it out.
 */
export function computeLiveDigest({ kind, spec, mark }: Pick<LiveResource, 'kind' | 'spec' | 'mark'>): string {
  return toDigest({
    spec: fillAllLeftOut(getKind(kind), spec),
    mark: mark === undefined ? null : { ...toComparedMark(mark) },
  });
}
