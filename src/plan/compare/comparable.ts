import type { FieldType } from '../../kinds/field.ts';
import { mapReferencesInIgnoredPath } from '../../kinds/ignored-parts.ts';
import type { Kind } from '../../kinds/kind.ts';
import { toRequestValue } from '../../kinds/normalize.ts';
import { fillOmittedFields } from '../../kinds/read-response.ts';
import { mapReferencesIn } from '../../kinds/references.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { findMemberType } from '../../kinds/walk.ts';
import type { Address } from '../../model/address.ts';
import type { Change, Difference } from '../../model/change.ts';
import { formatPath, parsePath } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json } from '../../model/json.ts';
import { listKnownIds, type Plan } from '../../model/plan.ts';
import { withoutHiddenNumbers } from '../../model/secret-value.ts';
import type { FieldPath, Spec } from '../../model/state.ts';

/**
 * Values of two plans in a form in which equal values are equal: a plan refers to a resource that it creates by its
 * address, and a later plan by its id.
 */

/** Maps ids to the addresses by which another plan refers to the same resources. */
export type IdNames = ReadonlyMap<string, string>;

/** Maps the ids of the stack's resources that `other` creates and that did not exist when it was made. */
export function collectIdNames({ changes }: Plan, other: Plan): IdNames {
  const known = listKnownIds(other);
  const created = new Set<Address>(other.changes.filter(isCreateOrReplace).map(({ address }) => address));
  return new Map(
    changes.flatMap(({ live, address, duplicateOf }) =>
      live === undefined || duplicateOf !== undefined || !created.has(address) || known.has(live.id)
        ? []
        : [[live.id, address]],
    ),
  );
}

export function isCreateOrReplace({ action }: Change): boolean {
  return action === 'create' || action === 'replace';
}

/** Replaces ids by addresses, sorts sets, and removes the numbers of hidden values, which differ from run to run. */
export function toComparableSpec(kind: Kind, spec: Spec, names: IdNames): Spec {
  const fields = Object.entries(spec).map(([name, value]) => [
    name,
    toComparableValue(kind.fields[name]?.type, value, names),
  ]);
  return Object.fromEntries(fields);
}

/** Replaces ids by addresses in the paths that a change leaves to others. */
export function toComparableIgnored(kind: Kind, { ignored = [] }: Change, names: IdNames): readonly string[] {
  return ignored.map((path) => mapReferencesInIgnoredPath(kind, path, ({ value: id }) => names.get(id) ?? id));
}

/** Replaces ids by addresses in the path and the values of a difference, and sorts sets. */
export function toComparableDifference(kind: Kind, difference: Difference, names: IdNames): Difference {
  const { path, from, to } = difference;
  const steps = parsePath(path) ?? [path];
  const type = findTypeAt(kind, steps);
  return {
    ...difference,
    path: formatPath(toComparablePath(kind, steps, names)),
    from: from === undefined ? undefined : toComparableValue(type, from, names),
    to: to === undefined ? undefined : toComparableValue(type, to, names),
  };
}

function toComparableValue(type: FieldType | undefined, value: Json, names: IdNames): Json {
  const shown = withoutHiddenNumbers(value);
  if (type === undefined) return shown;
  return toRequestValue(
    type,
    mapReferencesIn(type, shown, ({ value: id }) => names.get(id) ?? id),
  );
}

function toComparablePath(kind: Kind, path: FieldPath, names: IdNames): FieldPath {
  return path.map((step, at) => {
    const holder = findTypeAt(kind, path.slice(0, at));
    const isReference = holder?.type === 'map' && holder.keys.type === 'reference';
    return isReference && typeof step === 'string' ? (names.get(step) ?? step) : step;
  });
}

function findTypeAt(kind: Kind, path: FieldPath): FieldType | undefined {
  return path.reduce<FieldType | undefined>(findMemberType, kind.type);
}

/** The live spec. Omitted fields are set to empty, because an omitted field equals an empty one. */
export function fillLiveSpec({ kind, live }: Change): Spec | undefined {
  return live?.spec && fillOmittedFields(getKind(kind), live.spec);
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

export function isSame(left: Json | undefined, right: Json | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return isSameJson(withoutHiddenNumbers(left), withoutHiddenNumbers(right));
}
