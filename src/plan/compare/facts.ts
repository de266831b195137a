import { canonical } from '../../kinds/canonical.ts';
import { diff } from '../../kinds/diff.ts';
import { AS_IF_COMPLETE } from '../../kinds/evidence.ts';
import type { FieldType } from '../../kinds/field.ts';
import type { Kind } from '../../kinds/kind.ts';
import { mapReferencesIn } from '../../kinds/references.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { findMemberType } from '../../kinds/walk.ts';
import { toRequestValue } from '../../kinds/written-form.ts';
import type { Address } from '../../model/address.ts';
import { type Change, type Difference, isCreation, isRemoval } from '../../model/change.ts';
import { formatPath, parsePath, pathsOverlap } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json } from '../../model/json.ts';
import { type ExtraField, listKnownIds, type Plan } from '../../model/plan.ts';
import { withoutHiddenNumbers } from '../../model/secret-value.ts';
import type { FieldPath, Spec } from '../../model/state.ts';

/**
 * The facts of a change: paths with the value before and the value after, in a form in which equal values are equal. A
 * plan refers to a resource that it creates by its address, and a later plan by its id: facts have the address.
 */

/** Maps ids to the addresses by which the other plan refers to the same resources. */
export type IdNames = ReadonlyMap<string, string>;

export const NO_NAMES: IdNames = new Map();

/** Maps the ids of the stack's resources that `other` creates and that did not exist when it was made. */
export function collectNames({ changes }: Plan, other: Plan): IdNames {
  const known = listKnownIds(other);
  const created = new Set<Address>(other.changes.filter(isCreation).map(({ address }) => address));
  return new Map(
    changes.flatMap(({ live, address, duplicateOf }) =>
      live === undefined || duplicateOf !== undefined || !created.has(address) || known.has(live.id)
        ? []
        : [[live.id, address]],
    ),
  );
}

/** A change, with its values in a form in which equal values are equal. */
export interface Facts {
  readonly change: Change;
  readonly kind: Kind;
  readonly differences: readonly Fact[];
  /** What the manifests ask for. */
  readonly desired: Spec;
  /** What is live. Omitted fields are set to empty, because an omitted field equals an empty one. */
  readonly live: Spec;
}

/** A path of a resource, with the value before and the value after. */
export interface Fact extends Pick<Difference, 'path' | 'from' | 'to'> {
  /** As in the plan. */
  readonly difference: Difference;
  /** The value before. What a response omitted equals an empty value. */
  readonly start: Json | undefined;
}

/** Replaces ids by addresses, sorts sets, and removes the numbers of hidden values, which differ from run to run. */
export function toFacts(change: Change, names: IdNames): Facts {
  const kind = getKind(change.kind);
  const { desired = {}, live: { spec } = {} } = change;
  const live = spec === undefined ? {} : toComparableSpec(kind, canonical(kind, spec, AS_IF_COMPLETE), names);
  const differences = change.differences.map((difference): Fact => {
    const steps = parsePath(difference.path) ?? [difference.path];
    const type = findTypeAt(kind, steps);
    const path = formatPath(
      steps.map((step, at) => toComparableStep(step, findTypeAt(kind, steps.slice(0, at)), names)),
    );
    const from = difference.from && toComparableValue(type, difference.from, names);
    const to = difference.to && toComparableValue(type, difference.to, names);
    const start = from === undefined ? findValueAt(live, path) : findStart(kind, path, from);
    return { path, from, to, start, difference };
  });
  return { change, kind, differences, desired: toComparableSpec(kind, desired, names), live };
}

/** The old value of a difference, with what a response left out in a part of it. */
function findStart(kind: Kind, path: string, from: Json): Json | undefined {
  return Object.hasOwn(kind.fields, path) ? findValueAt(canonical(kind, { [path]: from }, AS_IF_COMPLETE), path) : from;
}

function toComparableSpec(kind: Kind, spec: Spec, names: IdNames): Spec {
  const fields = Object.entries(spec);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, toComparableValue(kind.fields[name]?.type, value, names)]),
  );
}

function toComparableValue(type: FieldType | undefined, value: Json, names: IdNames): Json {
  const shown = withoutHiddenNumbers(value);
  if (type === undefined) return shown;
  return toRequestValue(
    type,
    mapReferencesIn(type, shown, ({ value: id }) => names.get(id) ?? id),
  );
}

/** A step of a path. The keys of some maps are ids. */
function toComparableStep<T extends string | number>(
  step: T,
  holder: FieldType | undefined,
  names: IdNames,
): T | string {
  const isReference = holder?.type === 'map' && holder.keys.type === 'reference';
  return isReference && typeof step === 'string' ? (names.get(step) ?? step) : step;
}

function findTypeAt(kind: Kind, path: FieldPath): FieldType | undefined {
  return path.reduce<FieldType | undefined>(findMemberType, kind.type);
}

/** The value at a path of a spec, as a difference shows it: absent if it is null or, for a whole field, empty text. */
export function findValueAt(spec: Spec, path: string): Json | undefined {
  const steps = parsePath(path) ?? [path];
  let value: Json | undefined = spec;
  for (const step of steps) {
    if (isJsonArray(value)) value = value[Number(step)];
    else value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value === null || (steps.length === 1 && value === '') ? undefined : value;
}

/** Whether two values are equal, or both are absent. Symmetrical. */
export function isSame(left: Json | undefined, right: Json | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return isSameJson(left, right);
}

/**
 * Compares all values of what both changes delete, or of what both create. A delete has only old values, a creation only
 * new ones.
 */
export function diffWhole(approved: Facts, now: Facts): readonly ExtraField[] {
  const isRemoved = isRemoval(now.change);
  if (!isRemoved && !isCreation(now.change)) return [];
  const [earlier, later] = isRemoved ? [approved.live, now.live] : [approved.desired, now.desired];
  const missing = Object.keys(earlier).filter((name) => later[name] === undefined);
  const whole = { ...later, ...Object.fromEntries(missing.map((name) => [name, null])) };
  const side = isRemoved ? 'from' : 'to';
  return diff(now.kind, earlier, whole).map(({ from, to, ...rest }) => ({
    difference: { ...rest, [side]: to, origin: 'manifest' },
    other: from === undefined ? {} : { [side]: from },
    changed: isRemoved ? 'live' : 'manifests',
  }));
}

/** Whether two paths are the same, or one is a part of the other. Symmetrical. */
export function isSamePart(left: string, right: string): boolean {
  return pathsOverlap(parsePath(left) ?? [left], parsePath(right) ?? [right]);
}
