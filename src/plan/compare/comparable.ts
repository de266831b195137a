import type { FieldType } from '../../kinds/field.ts';
import { type Kind, toSpecType } from '../../kinds/kind.ts';
import { mapReferencesIn } from '../../kinds/references.ts';
import { sortSetsIn } from '../../kinds/sort-sets.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { findInnerType } from '../../kinds/walk.ts';
import type { Difference } from '../../model/change.ts';
import { parsePath, toPathText } from '../../model/field-path.ts';
import type { Json } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import type { FieldPath, Spec } from '../../model/state.ts';

/** Addresses by the ids that their resources have: the id of a resource of the stack may be another one in each plan. */
export type IdNames = ReadonlyMap<string, string>;

/** The ids of what the stack owns. Those that users write (of what is attached, of externals) are compared as they are. */
export function listNames({ changes }: Plan): IdNames {
  return new Map(
    changes.flatMap(({ kind, live, address, duplicateOf }) =>
      live === undefined || duplicateOf !== undefined || getKind(kind).role !== 'owned' ? [] : [[live.id, address]],
    ),
  );
}

/** A spec with addresses for the ids of what the stack owns. */
export function toComparableSpec(kind: Kind, spec: Spec, names: IdNames): Spec {
  const fields = Object.entries(spec).map(([name, value]) => [
    name,
    toComparableValue(kind.fields[name]?.type, value, names),
  ]);
  return Object.fromEntries(fields);
}

/** A difference with addresses for the ids of what the stack owns, in its path too. */
export function toComparableDifference(kind: Kind, difference: Difference, names: IdNames): Difference {
  const { path, from, to } = difference;
  const steps = parsePath(path) ?? [path];
  const type = findTypeAt(kind, steps);
  return {
    ...difference,
    path: toPathText(toComparablePath(kind, steps, names)),
    ...(from !== undefined && { from: toComparableValue(type, from, names) }),
    ...(to !== undefined && { to: toComparableValue(type, to, names) }),
  };
}

function toComparableValue(type: FieldType | undefined, value: Json, names: IdNames): Json {
  if (type === undefined) return value;
  return sortSetsIn(
    type,
    mapReferencesIn(type, value, ({ value: id }) => names.get(id) ?? id),
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
  return path.reduce<FieldType | undefined>(findInnerType, toSpecType(kind));
}
