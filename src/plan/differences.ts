import type { Field } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import { getDefaultValue, listMarkedFields, normalizeField } from '../kinds/normalize.ts';
import { fillUnknown, isUnknown } from '../kinds/read-response.ts';
import { type Address, toName } from '../model/address.ts';
import type { Difference, Origin } from '../model/change.ts';
import { isSameJson, type Json } from '../model/json.ts';
import { type Mark, type MarkDraft, toFieldDigest, UNMANAGED_DIGEST } from '../model/mark.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import { waitsForId } from './desired-form.ts';
import { type DescribedResource, diffSpecs, diffUnsetFields } from './diff.ts';
import { listLengthDifference } from './validity.ts';

/** An existing resource and its desired form: everything from which its differences follow, in a plan and in the check of a plan file. */
export interface ComparedResource extends DescribedResource {
  readonly address: Address;
  /** The stack whose it will be. */
  readonly stack: string;
  /** What will be there, in normal form. */
  readonly normal: Spec;
  /** Fields that only drifted, and are left so. */
  readonly kept: readonly string[];
  readonly protect: boolean;
}

/** Everything that differs: fields of the spec in the order of the kind's table, then how long it is valid, then what its mark says. */
export function listDifferences(compared: ComparedResource): readonly Difference[] {
  const { kind, kept } = compared;
  return [
    ...listSpecDifferences(compared).filter(({ field }) => !kept.includes(field)),
    ...listLengthDifference(compared),
    ...(kind.role === 'owned' ? listMarkDifferences(compared) : []),
  ];
}

/** A difference of a field. All of one field have one origin. */
export type FieldDifference = Difference & { readonly field: string };

/** The differences of the fields of a spec. What the service does not show is taken to be as it was last applied. */
export function listSpecDifferences(compared: ComparedResource): readonly FieldDifference[] {
  const { kind, live, normal, ignored } = compared;
  const spec = assumeApplied({ kind, ignored }, live, normal);
  const stated = diffSpecs(kind, spec, normal).map((difference) => {
    const sides = { desired: normal, live: spec, mark: live.mark };
    return { ...difference, origin: toOrigin(kind, difference.field, sides) };
  });
  return [...stated, ...diffUnsetFields(compared, normal)];
}

/** Differences of ownership, name and protection. Getting a mark at all is what adopting means. */
function listMarkDifferences({ address, stack, live: { mark }, protect }: ComparedResource): readonly Difference[] {
  const moved =
    mark === undefined
      ? []
      : [...differ('mark.stack', mark.stack, stack), ...differ('mark.name', mark.name, toName(address))];
  return [...moved, ...differ('lifecycle.protect', mark?.protect ?? false, protect)];
}

function differ(path: string, from: Json, to: Json): readonly Difference[] {
  return from === to ? [] : [{ path, from, to, origin: 'manifest', forcesReplace: false }];
}

/** The input of a difference's origin. */
interface Sides {
  readonly desired: Spec;
  readonly live: Spec;
  readonly mark: Mark | undefined;
}

/**
 * The origin of a field's difference. The mark holds the digest of what was last applied: if desired differs from it, the manifest
 * changed; if live differs from it, live drifted. Unknown values count as not drifted. A value that waits for an id has no digest yet.
 */
function toOrigin(kind: Kind, name: string, { desired, live, mark }: Sides): Origin {
  if (mark === undefined) return 'unknown';
  const applied = mark.fields[name] ?? findDefaultDigest(kind, name);
  if (applied === undefined) return 'manifest';
  if (applied === UNMANAGED_DIGEST) return 'unknown';
  const isDrifted = live[name] !== undefined && toFieldDigest(live[name]) !== applied;
  const value = desired[name] ?? null;
  const isChanged = toFieldDigest(value) !== applied && !(isDrifted && waitsForId(kind, { [name]: value }));
  if (isChanged && isDrifted) return 'both';
  return isChanged ? 'manifest' : 'drift';
}

/** Fields whose recorded digest is not that of the applied value. */
interface FieldDigestOverrides {
  /** Fields in `lifecycle.ignore`. */
  readonly ignored: readonly string[];
  /** Those whose digest stays what it was; `undefined`: there was none. */
  readonly kept: ReadonlyMap<string, string | undefined>;
}

/** The digests that a mark holds once a spec in normal form is applied, and the fields whose digest waits for an id. */
export function computeDigests(
  kind: Kind,
  normal: Spec,
  { ignored, kept }: FieldDigestOverrides,
): Pick<MarkDraft, 'fields' | 'pending'> {
  const fields: Record<string, string> = {};
  const pending: Record<string, Json> = {};
  for (const name of listMarkedFields(kind, normal)) {
    if (ignored.includes(name)) continue;
    const value = normal[name] ?? null;
    if (waitsForId(kind, { [name]: value })) pending[name] = value;
    else if (!kept.has(name)) fields[name] = toFieldDigest(value);
  }
  for (const name of ignored) if (!kept.has(name)) fields[name] = UNMANAGED_DIGEST;
  for (const [name, digest] of kept) if (digest !== undefined) fields[name] = digest;
  return { fields, pending };
}

/** The digest of a field that the mark does not name; `undefined`: the service chose its value. */
export function findDefaultDigest(kind: Kind, name: string): string | undefined {
  const field = kind.fields[name];
  return field === undefined || field.serviceDefault ? undefined : toFieldDigest(getDefaultValue(field));
}

/**
 * The live spec as a plan compares it: in the place of what the service does not show what was last applied, by the digests of the mark. A field that the manifest
 * has otherwise since is left out, whole: it is to be written, whatever it is.
 */
function assumeApplied(subject: Subject, live: Live, normal: Spec): Spec {
  const { kind } = subject;
  if (isShown(kind, live.spec)) return live.spec;
  const filled = fillUnknown(kind, live.spec, normal);
  const hidden = kind.specFields.filter(
    ([name, field]) => normal[name] !== undefined && isUnknown(field.type, live.spec[name]),
  );
  const changed = hidden.flatMap(([name, field]) => {
    const wanted = normal[name] ?? null;
    const isDefault = isSameJson(filled[name] ?? null, normalizeField(field, live.spec[name]));
    return isChanged({ ...subject, live, name, field, wanted, isDefault }) ? [name] : [];
  });
  return Object.fromEntries(Object.entries(filled).filter(([name]) => !changed.includes(name)));
}

function isShown(kind: Kind, spec: Spec): boolean {
  return kind.specFields.every(([name, { type }]) => !isUnknown(type, spec[name]));
}

/** What the live spec is one of. */
interface Subject {
  readonly kind: Kind;
  /** Fields in `lifecycle.ignore`. */
  readonly ignored: readonly string[];
}

type Live = Pick<LiveResource, 'spec' | 'mark'>;

interface Hidden extends Subject {
  readonly live: Live;
  readonly name: string;
  readonly field: Field;
  readonly wanted: Json;
  /** A field that is not shown is assumed to have its default. */
  readonly isDefault: boolean;
}

/** A field is written only if the manifest is known to have changed or if no new resource is needed for it. */
function isChanged({ kind, ignored, live, name, field, wanted, isDefault }: Hidden): boolean {
  if (ignored.includes(name)) return false;
  const applied =
    live.mark === undefined ? UNMANAGED_DIGEST : (live.mark.fields[name] ?? findDefaultDigest(kind, name));
  if (applied === UNMANAGED_DIGEST) return !isDefault && kind.role !== 'attached' && field.lifecycle !== 'immutable';
  return waitsForId(kind, { [name]: wanted }) || toFieldDigest(wanted) !== applied;
}
