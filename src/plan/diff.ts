import deepDiff from 'deep-diff';
import type { Field, FieldType, NamedField } from '../kinds/field.ts';
import { takeIgnoredParts } from '../kinds/ignored-parts.ts';
import type { Kind } from '../kinds/kind.ts';
import { normalizeSpec } from '../kinds/normalize.ts';
import { alignLiveSpec } from '../kinds/read-response.ts';
import type { Difference } from '../model/change.ts';
import { formatPath } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject, toCanonicalJson } from '../model/json.ts';
import { IGNORED_FIELD_DIGEST, type Mark, toFieldDigest } from '../model/mark.ts';
import type { FieldPath, LiveResource, Spec } from '../model/state.ts';

/** A difference whose origin is not computed yet. `field` is the top-level field that contains it. */
interface FieldDiff extends Omit<Difference, 'origin' | 'isHidden'> {
  readonly field: string;
}

/**
 * The differences between two specs in normal form, in the order of the kind's table. Skips fields that the desired
 * spec does not contain.
 */
export function diffSpecs(kind: Kind, live: Spec, desired: Spec): readonly FieldDiff[] {
  const found: FieldDiff[] = [];
  for (const [name, field] of kind.specFields) {
    const from = live[name];
    const to = desired[name];
    if (to === undefined || (from !== undefined && isSameJson(from, to))) continue;
    found.push(...diffField(name, field, from ?? null, to));
  }
  return found;
}

/**
 * Whether the resource must be replaced, because an immutable field differs or is no longer set. Skips ignored fields
 * and fields that the service does not show.
 */
export function mustReplaceResource(described: LiveResourceToCompare, desired: Spec): boolean {
  const { kind, live, ignored } = described;
  const normal = normalizeSpec(kind, takeIgnoredParts(ignored, desired, live.spec));
  const known = alignLiveSpec(kind, live.spec, normal);
  if (needsReplaceForServiceDefault(described, normal)) return true;
  return kind.specFields.some(([name, field]) => {
    const to = normal[name];
    if (field.lifecycle !== 'immutable' || to === undefined || ignored.includes(name)) return false;
    return !isSameJson(known[name] ?? null, to);
  });
}

function diffField(name: string, field: Field, from: Json, to: Json): readonly FieldDiff[] {
  const found = from === null || to === null ? [[]] : listDifferencePaths(field.type, from, to);
  return found.map((steps) => ({
    field: name,
    path: formatPath([name, ...steps]),
    ...pickSide('from', findValueAtPath(from, steps), steps.length === 0),
    ...pickSide('to', findValueAtPath(to, steps), steps.length === 0),
    forcesReplace: field.lifecycle === 'immutable',
  }));
}

/**
 * Returns one side of a difference. Empty if the value is absent or null, or if the value of a whole field is an empty
 * string. Inside a map, an empty string is a value.
 */
function pickSide<Side extends 'from' | 'to'>(
  side: Side,
  value: Json | undefined,
  isWhole: boolean,
): { readonly [key in Side]?: Json } {
  const isNothing = value === undefined || value === null || (isWhole && value === '');
  return isNothing ? {} : ({ [side]: value } as { readonly [key in Side]: Json }); // TypeScript widens a computed key
}

/** The paths inside a field at which two values differ. `toComparable` limits their depth. */
function listDifferencePaths(type: FieldType, from: Json, to: Json): readonly FieldPath[] {
  const found = deepDiff(toComparableMembers(type, from), toComparableMembers(type, to)) ?? [];
  return found.map(({ path = [] }): FieldPath => path.map((key) => JSON.parse(key)));
}

/** Input of the `deep-diff` package: strings, and objects whose keys are path steps encoded as JSON. */
type Comparable = string | { readonly [step: string]: Comparable };

/**
 * Converts a value for `deep-diff`. A set or a list of plain values becomes one string, because reports show it as a
 * whole. A list of objects becomes an object by index. Keys are encoded as JSON, because `deep-diff` skips empty keys.
 * Fields have the order of the table and other keys are sorted, because `deep-diff` keeps the order of keys.
 */
function toComparableMembers(type: FieldType | undefined, value: Json): Comparable {
  if (type?.type === 'list' && type.of.type === 'object' && isJsonArray(value))
    return toComparableSteps(value.map((member, index) => [index, toComparableMembers(type.of, member)]));
  if (!isJsonObject(value)) return toCanonicalJson(value);
  switch (type?.type) {
    case 'map':
      return toComparableSteps(
        listComparedKeys({}, value).map((key) => [key, toComparableMembers(type.of, value[key] ?? null)]),
      );
    case 'object':
      return toComparableSteps(
        listComparedKeys(type.fields, value).map((key) => {
          const field = Object.hasOwn(type.fields, key) ? type.fields[key] : undefined;
          return [key, toComparableMembers(field?.type, value[key] ?? null)];
        }),
      );
    case 'json':
    case 'metadata':
      return toComparableSteps(listComparedKeys({}, value).map((key) => [key, toCanonicalJson(value[key] ?? null)]));
    default:
      return toCanonicalJson(value);
  }
}

function toComparableSteps(members: readonly (readonly [step: string | number, member: Comparable])[]): Comparable {
  return Object.fromEntries(members.map(([step, member]) => [JSON.stringify(step), member]));
}

function listComparedKeys(fields: Readonly<Record<string, Field>>, value: JsonObject): readonly string[] {
  const known = Object.keys(fields).filter((key) => Object.hasOwn(value, key));
  const others = Object.keys(value).filter((key) => !Object.hasOwn(fields, key));
  return [...known, ...others.sort()];
}

function findValueAtPath(value: Json | undefined, path: FieldPath): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (isJsonArray(value)) return findValueAtPath(value[Number(step)], rest);
  return isJsonObject(value) && Object.hasOwn(value, step) ? findValueAtPath(value[step], rest) : undefined;
}

/** A live resource, and the settings of its manifest that affect the comparison. */
export interface LiveResourceToCompare {
  readonly kind: Kind;
  readonly live: Pick<LiveResource, 'spec' | 'mark'>;
  /** Paths in `lifecycle.ignore`: fields, and parts of fields. */
  readonly ignored: readonly string[];
  /** `lifecycle.valid_for` in milliseconds. `undefined` if the manifest does not set it. */
  readonly validForMs: number | undefined;
}

/**
 * Returns a difference for each field that the manifest no longer sets although the mark shows that the last apply set
 * it. Includes only fields whose default the service chooses. A difference forces a replace if the service chooses the
 * default only for a new resource. `normal`: the desired spec in normal form.
 */
export function diffNoLongerSetFields(
  described: LiveResourceToCompare,
  normal: Spec,
): readonly (Difference & { readonly field: string })[] {
  const { live } = described;
  return listUnsetFields(described, normal).map(([name, field]) => {
    const from = live.spec[name];
    const isDrifted = from !== undefined && field.earlierByMs === 0 && toFieldDigest(from) !== live.mark?.fields[name];
    return {
      field: name,
      path: name,
      from,
      origin: isDrifted ? 'both' : 'manifest',
      forcesReplace: needsReplace(described, name, field),
    };
  });
}

/** Whether the manifest no longer sets a field whose value the service chooses only for a new resource. */
export function needsReplaceForServiceDefault(described: LiveResourceToCompare, normal: Spec): boolean {
  return listUnsetFields(described, normal).some(([name, field]) => needsReplace(described, name, field));
}

function listUnsetFields({ kind, ignored, live }: LiveResourceToCompare, normal: Spec): readonly NamedField[] {
  const isOurs = (name: string) => isStated(live.mark, name) && !ignored.includes(name);
  return listChosenFields(kind).filter(([name]) => normal[name] === undefined && isOurs(name));
}

/** The fields whose value the service chooses if a request omits them. */
function listChosenFields(kind: Kind): readonly NamedField[] {
  return kind.specFields.filter(([, { serviceDefault }]) => serviceDefault);
}

function isStated(mark: Mark | undefined, name: string): boolean {
  return (mark?.fields[name] ?? IGNORED_FIELD_DIGEST) !== IGNORED_FIELD_DIGEST;
}

/**
 * Whether a change of the field requires a new resource. False for the times of a certificate if the manifest sets
 * `lifecycle.valid_for`, because then the length of the validity is compared instead.
 */
function needsReplace({ kind, validForMs }: LiveResourceToCompare, name: string, field: Field): boolean {
  const isTime = kind.validity?.after === name || kind.validity?.until === name;
  const isCovered = isTime && validForMs !== undefined;
  return field.lifecycle === 'immutable' && !field.keepsLiveValue && !isCovered;
}
