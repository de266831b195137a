import { minimizeValue } from '../export/minimize.ts';
import { AS_WRITTEN, isUnset, normalizeField, toCanonicalValue } from '../kinds/canonical.ts';
import { type Field, type FieldType, listFields, type MapType, type ObjectType } from '../kinds/field.ts';
import { mapReferencesIn } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { findMemberType } from '../kinds/walk.ts';
import type { Difference } from '../model/change.ts';
import type { DriftedChange } from '../model/drift.ts';
import { parsePath } from '../model/field-path.ts';
import { findMember, isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject } from '../model/json.ts';
import { pairMembers } from '../model/pair-members.ts';
import type { FieldPath, Spec } from '../model/state.ts';

/**
 * Live values as a manifest would write them. Whatever already means what is live stays as it is written: its spelling, its
 * order, and its names for other resources.
 */

/** The names and ids of the resources that a manifest may refer to. */
export interface ReferenceNames {
  /** Returns the id of an address, or the text itself. */
  readonly toId: (written: string) => string;
  /** Returns the address of an id, or the id itself if the stack has no name for it. */
  readonly toName: (id: string) => string;
}

/**
 * Returns the fields of `spec` that change so that these differences of a resource are none. `undefined`: the manifest no
 * longer has the field.
 */
export function writeLiveFields(
  { kind: name, desired = {}, live }: DriftedChange,
  { written, differences }: { readonly written: Spec; readonly differences: readonly Difference[] },
  names: ReferenceNames,
): ReadonlyMap<string, Json | undefined> {
  const kind = getKind(name);
  const fields = new Map<string, Json | undefined>();
  for (const [field, own] of Map.groupBy(differences, (difference) => difference.field ?? '')) {
    const table = kind.fields[field];
    if (table === undefined) continue;
    fields.set(
      field,
      alignField(table, findMember(written, field), takeLive(desired[field] ?? null, own, live?.spec ?? {}), names),
    );
  }
  return fields;
}

/** Returns a desired value with the live side of the differences in it. All are in normal form. */
function takeLive(desired: Json, differences: readonly Difference[], live: Spec): Json {
  const parts = differences.map(({ path, from }) => {
    const steps = parsePath(path) ?? [];
    // A difference does not tell a live null, which free JSON may have, from nothing.
    return { path: steps.slice(1), from: from ?? (isNullAt(live, steps) ? null : undefined) };
  });
  const set = parts.filter(({ from }) => from !== undefined);
  // From the last to the first, so that no index changes before it is used.
  const removed = parts.filter(({ from }) => from === undefined).toReversed();
  return [...set, ...removed].reduce((value, { path, from }) => setAt(value, path, from), desired);
}

function isNullAt(value: Json, path: FieldPath): boolean {
  const found = path.reduce<Json | undefined>(
    (parent, step) => (isJsonArray(parent) ? parent[Number(step)] : findMember(parent, String(step))),
    value,
  );
  return found === null;
}

function setAt(value: Json, [step, ...rest]: FieldPath, to: Json | undefined): Json {
  if (step === undefined) return to ?? null;
  if (isJsonArray(value)) {
    const index = Number(step);
    if (rest.length === 0 && to === undefined) return value.toSpliced(index, 1);
    return value.toSpliced(index, 1, setAt(value[index] ?? null, rest, to));
  }
  const members = new Map(Object.entries(isJsonObject(value) ? value : {}));
  if (rest.length === 0 && to === undefined) members.delete(String(step));
  else members.set(String(step), setAt(members.get(String(step)) ?? null, rest, to));
  return Object.fromEntries(members);
}

function alignField(
  field: Field,
  written: Json | undefined,
  live: Json | undefined,
  names: ReferenceNames,
): Json | undefined {
  if (isSameJson(normalizeField(field, resolve(field.type, written ?? null, names)), live ?? null)) return written;
  if (isNothing(live) && !field.required) return undefined;
  return alignValue(field.type, written, live ?? null, names);
}

/** Whether the lack of a field says the same. */
function isNothing(live: Json | undefined): live is undefined {
  if (isUnset(live)) return true;
  return (
    typeof live === 'object' &&
    (isJsonArray(live) ? live.length === 0 : isJsonObject(live) && Object.keys(live).length === 0)
  );
}

/** Returns a written value with ids in place of addresses. */
function resolve(type: FieldType, written: Json, { toId }: ReferenceNames): Json {
  return mapReferencesIn(type, written, ({ value }) => toId(value));
}

/** Returns a live value as a manifest writes it that has nothing in its place yet. */
function writeNew(type: FieldType, live: Json, { toName }: ReferenceNames): Json {
  return mapReferencesIn(type, minimizeValue(type, live), ({ value }) => toName(value));
}

function normalizeAs(type: FieldType, written: Json, names: ReferenceNames): Json {
  return toCanonicalValue(type, resolve(type, written, names), AS_WRITTEN);
}

function alignValue(type: FieldType, written: Json | undefined, live: Json, names: ReferenceNames): Json {
  if (written === undefined || written === null) return writeNew(type, live, names);
  if (isSameJson(normalizeAs(type, written, names), live)) return written;
  switch (type.type) {
    case 'object':
      return isJsonObject(written) && isJsonObject(live)
        ? alignObject(type, written, live, names)
        : writeNew(type, live, names);
    case 'map':
      return isJsonObject(written) && isJsonObject(live)
        ? alignMap(type, written, live, names)
        : writeNew(type, live, names);
    case 'list':
      return isJsonArray(live) ? alignList(type, written, live, names) : writeNew(type, live, names);
    case 'json':
    case 'metadata':
      return alignJson(type, written, live, names);
    default:
      return writeNew(type, live, names);
  }
}

function alignObject(type: ObjectType, written: JsonObject, live: JsonObject, names: ReferenceNames): Json {
  const members = new Map(Object.entries(written));
  for (const [name, field] of listFields(type, written, live)) {
    const aligned = alignField(field, findMember(written, name), findMember(live, name), names);
    if (aligned === undefined) members.delete(name);
    else members.set(name, aligned);
  }
  // An empty mapping would look like a missing value.
  return members.size === 0 ? writeNew(type, live, names) : Object.fromEntries(members);
}

function alignMap(type: MapType, written: JsonObject, live: JsonObject, names: ReferenceNames): Json {
  const rest = new Map(Object.entries(live));
  const kept = Object.entries(written).flatMap(([key, value]): [string, Json][] => {
    const normal = normalizeAs(type, { [key]: value }, names);
    const [id = key] = isJsonObject(normal) ? Object.keys(normal) : [];
    const to = rest.get(id);
    if (to === undefined) return [];
    rest.delete(id);
    return [[key, alignValue(findMemberType(type, id) ?? type.of, value, to, names)]];
  });
  const added = writeNew(type, Object.fromEntries(rest), names);
  return Object.fromEntries([...kept, ...Object.entries(isJsonObject(added) ? added : {})]);
}

function alignList(
  type: Extract<FieldType, { readonly type: 'list' }>,
  written: Json,
  live: readonly Json[],
  names: ReferenceNames,
): Json {
  const members = isJsonArray(written) ? written : [written];
  const normal = members.map((member) => normalizeAs(type.of, member, names));
  const aligned = type.unordered
    ? alignSet(type.of, { members, normal, live }, names)
    : pairMembers(normal, live, isSameJson).flatMap(({ from, to }): readonly Json[] => {
        if (to === undefined) return [];
        return [alignValue(type.of, from === undefined ? undefined : members[from], live[to] ?? null, names)];
      });
  const [only] = aligned;
  return !isJsonArray(written) && aligned.length === 1 && only !== undefined ? only : aligned;
}

/** Keeps the members of a set that are live, in their order, and adds the others. */
function alignSet(
  of: FieldType,
  { members, normal, live }: Readonly<Record<'members' | 'normal' | 'live', readonly Json[]>>,
  names: ReferenceNames,
): readonly Json[] {
  const isIn = (all: readonly Json[], member: Json): boolean => all.some((one) => isSameJson(one, member));
  return [
    ...members.filter((_, index) => isIn(live, normal[index] ?? null)),
    ...live.filter((member) => !isIn(normal, member)).map((member) => writeNew(of, member, names)),
  ];
}

/** Keeps the members of free JSON that mean what is live. */
function alignJson(type: FieldType, written: Json, live: Json, names: ReferenceNames): Json {
  const wanted = writeNew(type, live, names);
  if (!isJsonObject(written) || !isJsonObject(wanted)) return wanted;
  const kept = Object.entries(written).flatMap(([key, value]): [string, Json][] => {
    const to = findMember(wanted, key);
    if (to === undefined) return [];
    const inner = findMemberType(type, key);
    return [[key, inner === undefined ? to : alignValue(inner, value, to, names)]];
  });
  const added = Object.entries(wanted).filter(([key]) => !Object.hasOwn(written, key));
  return Object.fromEntries([...kept, ...added]);
}
