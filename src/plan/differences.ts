import { readSwitch } from '../access/restrictions.ts';
import {
  canonical,
  getNormalUnsetFieldValue,
  isDefault,
  listFieldsWithDigest,
  normalizeField,
  toCanonicalValue,
} from '../kinds/canonical.ts';
import { diff } from '../kinds/diff.ts';
import { isValueHidden, like, likeEmpty } from '../kinds/evidence.ts';
import { type Field, listFields } from '../kinds/field.ts';
import { computeManagedDigest, isIgnoredInPart, listIgnoredInMark, omitIgnoredParts } from '../kinds/ignored-parts.ts';
import { isModule, isRotatable, type Kind } from '../kinds/kind.ts';
import { isSpellingOf } from '../kinds/spelling.ts';
import { type Address, getAddressName } from '../model/address.ts';
import type { Change, Difference, DifferenceCause, OtherSpelling } from '../model/change.ts';
import { formatPath } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json } from '../model/json.ts';
import {
  findRefusedCreation,
  IGNORED_FIELD_DIGEST,
  isCopiedMark,
  type Mark,
  type MarkDraft,
  type RefusedCreation,
  toFieldDigest,
} from '../model/mark.ts';
import { containsConcealed } from '../model/secret-value.ts';
import type { FieldPath, LiveResource, Spec } from '../model/state.ts';
import { containsUnknownId } from './desired-form.ts';
import { diffNoLongerSetFields, type LiveResourceToCompare } from './unset-fields.ts';
import { listValidityDifference } from './validity.ts';

/** Everything from which the differences of a resource are computed, in a plan and in the check of a plan file. */
export interface ComparedResource extends LiveResourceToCompare {
  readonly live: Pick<LiveResource, 'id' | 'spec' | 'mark'>;
  readonly address: Address;
  /** The stack that owns the resource after the apply. */
  readonly stack: string;
  /** The desired spec in normal form. */
  readonly normal: Spec;
  readonly protect: boolean;
}

/**
 * All differences: fields of the spec in the order of the kind's table, then the length of the validity, then the mark.
 */
export function listFieldDifferences(compared: ComparedResource): readonly Difference[] {
  const { kind } = compared;
  return [
    ...listSpecDifferences(compared),
    ...listValidityDifference(compared),
    ...(kind.role === 'owned' ? listMarkDifferences(compared) : []),
  ];
}

/** A difference in a spec field. All differences in one field have the same origin. */
export type FieldDifference = Difference & { readonly field: string };

/**
 * The differences in spec fields. A field that the service does not show is assumed to be as last applied. Modules have
 * no mark that shows what was last applied: a part that the manifest sets is written each time, as a hidden difference.
 */
export function listSpecDifferences(compared: ComparedResource): readonly FieldDifference[] {
  const { kind, normal } = compared;
  const live = { ...compared.live, spec: alignSpellings(compared) };
  const spec = assumeApplied(compared, live, normal);
  const inSpec = diff(kind, spec, normal).map((difference) => {
    const sides = {
      desired: normal,
      live: spec,
      mark: live.mark,
      refused: isRotatable(kind) ? findRefusedCreation(compared.live) : undefined,
    };
    return { ...difference, origin: computeOrigin(kind, difference.field, sides) };
  });
  const hidden = kind.role === 'attached' ? listHiddenDifferences(compared) : [];
  return [...inSpec, ...hidden, ...diffNoLongerSetFields(compared, normal)];
}

/** The parts of modules that the manifest sets, to a value neither empty nor the default, and the service does not show. */
function listHiddenDifferences({ kind, live, normal, ignored }: ComparedResource): readonly FieldDifference[] {
  const managed = omitIgnoredParts(ignored, normal);
  return kind.specFields.flatMap(([name, field]) => {
    const shown = live.spec[name];
    if (shown === undefined) return [];
    return listHiddenParts(field, { live: shown, desired: managed[name], path: [name] }).map(
      ({ path, value }): FieldDifference => ({
        field: name,
        path: formatPath(path),
        to: value,
        origin: 'unknown',
        forcesReplace: false,
        isHidden: true,
      }),
    );
  });
}

interface HiddenPart {
  readonly path: FieldPath;
  readonly value: Json;
}

interface ComparedValue {
  readonly live: Json | undefined;
  readonly desired: Json | undefined;
  readonly path: FieldPath;
}

function listHiddenParts(field: Field, { live, desired, path }: ComparedValue): readonly HiddenPart[] {
  const { type } = field;
  if (desired === undefined) return [];
  if (live === undefined) return isEmptyOrDefault(field, desired) ? [] : [{ path, value: desired }];
  if (type.type === 'list' && isJsonArray(live) && isJsonArray(desired))
    return live.flatMap((member, index) =>
      listHiddenParts(
        { ...field, type: type.of, default: undefined },
        { live: member ?? undefined, desired: desired[index], path: [...path, index] },
      ),
    );
  if (type.type !== 'object' || !isJsonObject(live) || !isJsonObject(desired)) return [];
  return listFields(type, live, desired).flatMap(([name, inner]) =>
    listHiddenParts(inner, { live: live[name], desired: desired[name], path: [...path, name] }),
  );
}

/** Whether a value in normal form asks for nothing. */
function isEmptyOrDefault(field: Field, value: Json): boolean {
  const isZero = value === false || value === 0;
  return isDefault(field, value) || (field.default === undefined && isZero);
}

/** Differences in ownership, name, id and protection. A resource without a mark can differ only in protection. */
function listMarkDifferences({ address, stack, live, protect }: ComparedResource): readonly Difference[] {
  const { mark } = live;
  const owned =
    mark === undefined
      ? []
      : [
          ...listPlainDifference('mark.stack', mark.stack, stack),
          ...listPlainDifference('mark.name', mark.name, getAddressName(address)),
          ...(isCopiedMark(live) ? listPlainDifference('mark.id', mark.id ?? '', live.id) : []),
        ];
  return [...owned, ...listPlainDifference('lifecycle.protect', mark?.protect ?? false, protect)];
}

/** A difference that says only what is and what will be. None if both are equal. */
export function listPlainDifference(path: string, from: Json, to: Json): readonly Difference[] {
  return from === to ? [] : [{ path, from, to, origin: 'manifest', forcesReplace: false }];
}

interface OriginInput {
  readonly desired: Spec;
  readonly live: Spec;
  readonly mark: Mark | undefined;
  readonly refused: RefusedCreation | undefined;
}

/**
 * The origin of a difference in a field. The mark contains the digest of the last applied value. If the desired value
 * has a different digest, the manifest changed; if the live value has a different digest, the field drifted. A value
 * that the service does not show counts as not drifted. A desired value that waits for an id always has a different
 * digest, so in a field that has drifted, such a value does not count as a change of the manifest. Parts that were
 * ignored when the mark was written are not in the digest.
 */
function computeOrigin(kind: Kind, name: string, { desired, live, mark, refused }: OriginInput): DifferenceCause {
  if (mark === undefined) return 'unknown';
  const applied = mark.fields[name] ?? findFieldDefaultDigest(kind, name);
  if (applied === undefined) return 'manifest';
  if (applied === IGNORED_FIELD_DIGEST) return 'unknown';
  const ignored = listIgnoredInMark(mark);
  const value = desired[name] ?? null;
  const digest = computeManagedDigest(kind, { name, value }, ignored);
  // A creation that the service did not store as asked: nothing changed since.
  if (refused?.fields.includes(name) === true && digest === applied) return 'manifest';
  const isDrifted = hasDrifted(kind, name, { live, mark, applied });
  const isChanged = digest !== applied && !(isDrifted && containsUnknownId(kind, { [name]: value }));
  // A digest depends on the name of a secret, whose value may have changed. A hidden value may be the one last applied.
  if (containsConcealed(value) || (isChanged && containsConcealed(live[name]))) return 'unknown';
  if (isChanged) return isDrifted ? 'both' : 'manifest';
  return isDrifted || !isIgnoredInPart(ignored, name) ? 'drift' : 'unknown';
}

/** Whether a live value is not the one that was applied last. */
function hasDrifted(
  kind: Kind,
  name: string,
  { live, mark, applied }: { readonly live: Spec; readonly mark: Mark; readonly applied: string },
): boolean {
  const value = live[name];
  const field = kind.fields[name];
  // A time that the service may store earlier has another digest. The API cannot change it afterwards.
  if (field === undefined || value === undefined || field.earlierByMs > 0) return false;
  if (isValueHidden(field.type, value) && !isOfUnknownState(field, value)) return false;
  return applied !== computeManagedDigest(kind, { name, value }, listIgnoredInMark(mark));
}

/**
 * Computes the digests that a mark records after the spec `normal` is applied. They do not contain what is `ignored`: the
 * paths in `lifecycle.ignore`.
 * `pending`: the values whose digest can be computed only when an id is known.
 */
export function computeMarkDigests(
  kind: Kind,
  normal: Spec,
  ignored: readonly string[],
): Pick<MarkDraft, 'fields' | 'pending'> {
  const fields: Record<string, string> = {};
  const pending: Record<string, Json> = {};
  for (const name of listFieldsWithDigest(kind, normal)) {
    if (ignored.includes(name)) continue;
    const value = normal[name] ?? null;
    const part = omitIgnoredParts(ignored, { [name]: value });
    if (containsUnknownId(kind, part)) Object.assign(pending, part);
    else fields[name] = computeManagedDigest(kind, { name, value }, ignored);
  }
  for (const name of ignored) fields[name] = IGNORED_FIELD_DIGEST;
  return { fields, pending };
}

/** The digest of a field's default value. `undefined` if the service chooses the default. */
function findFieldDefaultDigest(kind: Kind, name: string): string | undefined {
  const field = kind.fields[name];
  return field === undefined || field.serviceDefault ? undefined : toFieldDigest(getNormalUnsetFieldValue(field));
}

/**
 * The texts that are live in another spelling than in the manifest, whose text was applied last. They are no
 * differences: to send them again would change nothing. So a mark, which anybody may have written, can hide a spelling
 * and nothing else.
 */
export function listOtherSpellings({
  kind,
  live: { spec, mark },
  normal,
}: Pick<ComparedResource, 'kind' | 'live' | 'normal'>): readonly OtherSpelling[] {
  if (mark === undefined) return [];
  const ignored = listIgnoredInMark(mark);
  return kind.specFields.flatMap(([name, field]): readonly OtherSpelling[] => {
    const [from, to] = [spec[name], normal[name]];
    if (from === undefined || to === undefined || isSameJson(from, to) || !isSpellingOf(field, from, to)) return [];
    const applied = mark.fields[name] ?? findFieldDefaultDigest(kind, name);
    return applied === computeManagedDigest(kind, { name, value: to }, ignored) ? [{ path: name, from, to }] : [];
  });
}

/** Returns the live spec with the texts of the manifest in place of their other spellings. */
function alignSpellings(compared: ComparedResource): Spec {
  const { spec } = compared.live;
  const found = listOtherSpellings(compared);
  return found.length === 0 ? spec : { ...spec, ...Object.fromEntries(found.map(({ path, to }) => [path, to])) };
}

/**
 * The live spec as a plan compares it. Values that the service does not show are filled in as last applied, according
 * to the digests in the mark. If the manifest has changed such a field since then, the parts that are not shown are
 * omitted, so that it is written in any case.
 */
function assumeApplied(subject: Subject, live: Live, normal: Spec): Spec {
  const { kind } = subject;
  const aligned = canonical(kind, live.spec, like(normal));
  if (kind.role === 'attached') return aligned;
  const hidden = kind.specFields.filter(
    ([name, field]) => normal[name] !== undefined && isValueHidden(field.type, live.spec[name]),
  );
  const changed = hidden.flatMap(([name, field]) => {
    const [wanted, shown] = [normal[name] ?? null, live.spec[name]];
    const isDefault =
      !isOfUnknownState(field, shown) && isSameJson(aligned[name] ?? null, normalizeField(field, shown));
    return isHiddenFieldChanged({ ...subject, live, name, field, wanted, isDefault }) ? [name] : [];
  });
  return Object.fromEntries(
    Object.entries(aligned).flatMap(([name, value]): [string, Json][] => {
      if (!changed.includes(name)) return [[name, value]];
      const field = kind.fields[name];
      const shown = live.spec[name];
      if (field === undefined || shown === undefined) return [];
      // Of such a module, only the switch differs.
      if (isOfUnknownState(field, shown)) return [[name, withoutSwitch(value)]];
      const known = toCanonicalValue(field.type, shown, likeEmpty(normal[name]));
      return isSameJson(known, normal[name] ?? null) ? [] : [[name, known]];
    }),
  );
}

function withoutSwitch(module: Json): Json {
  if (!isJsonObject(module)) return module;
  const { enabled: _, ...rest } = module;
  return rest;
}

/** Whether a module is set, and the service does not show whether it is on. */
function isOfUnknownState(field: Field, shown: Json | undefined): boolean {
  return isModule(field) && shown !== undefined && readSwitch(shown) === 'unknown';
}

interface Subject {
  readonly kind: Kind;
  /** Paths in `lifecycle.ignore`: fields, and parts of fields. */
  readonly ignored: readonly string[];
}

type Live = Pick<LiveResource, 'spec' | 'mark'>;

interface HiddenField extends Subject {
  readonly live: Live;
  readonly name: string;
  readonly field: Field;
  readonly wanted: Json;
  /** Whether `wanted` is the default, which a field is assumed to have if the service does not show it. */
  readonly isDefault: boolean;
}

/**
 * Whether to write a field that the service does not show. True if the manifest changed the field since the last apply.
 * If the mark does not show whether the manifest changed, true only if the value is not the default and the write needs
 * no new resource.
 */
function isHiddenFieldChanged({ kind, ignored, live, name, field, wanted, isDefault }: HiddenField): boolean {
  if (ignored.includes(name)) return false;
  // A read contained the switch, and this one does not: it may have been changed.
  if (isOfUnknownState(field, live.spec[name]) && live.mark?.switches?.includes(name) === true) return true;
  const applied =
    live.mark === undefined ? IGNORED_FIELD_DIGEST : (live.mark.fields[name] ?? findFieldDefaultDigest(kind, name));
  if (applied === IGNORED_FIELD_DIGEST) return !isDefault && field.lifecycle !== 'immutable';
  const digest = computeManagedDigest(kind, { name, value: wanted }, listIgnoredInMark(live.mark));
  return containsUnknownId(kind, { [name]: wanted }) || digest !== applied;
}

/** Top-level fields with a difference, each once, in the order of the kind's table. */
export function listChangedFields(kind: Kind, { differences }: Pick<Change, 'differences'>): readonly string[] {
  const changed = new Set(differences.map(({ field }) => field));
  return kind.specFields.map(([name]) => name).filter((name) => changed.has(name));
}
