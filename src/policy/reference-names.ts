import type { Kind } from '../kinds/kind.ts';
import { sortByPrecedence } from '../kinds/precedence.ts';
import { mapReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { listSelfAndNestedTypes } from '../kinds/walk.ts';
import { toRequestSpec } from '../kinds/written-form.ts';
import { getAddressName } from '../model/address.ts';
import { formatChangeAddress } from '../model/change.ts';
import { formatPath, parsePath } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { isResourceOf, listOwned } from '../model/ownership.ts';
import type { Plan } from '../model/plan.ts';
import type { DesiredState, LiveState, Spec } from '../model/state.ts';

/**
 * What an expression sees in place of a reference, so that a rule has one result in `validate`, in the first plan and in
 * every later one: `Kind/name` for a resource of the stack, `STACK/Kind/name` for one of another stack that an `External`
 * names, and otherwise the id. The author of a manifest chooses the name of an `External`, so it is never shown.
 */
export type ReferenceNames = ReadonlyMap<string, string>;

/** Names what the manifests alone can name. */
export function nameCrossStackReferences({
  crossStackReferences = new Map(),
}: Pick<DesiredState, 'crossStackReferences'>): ReferenceNames {
  return new Map(
    Array.from(crossStackReferences, ([address, { stack, resource }]) => [address, `${stack}/${resource}`]),
  );
}

/**
 * Also names ids, as the plan and the live resources show whose they are. `desired`: with the ids of the resources of other
 * stacks.
 */
export function nameReferences({ stack, changes }: Plan, desired: DesiredState, live: LiveState): ReferenceNames {
  const names = new Map<string, string>();
  // A copy of a mark must not lend its name to another resource.
  const owned = listOwned(live, stack).filter((one) =>
    isResourceOf(one.live, { stack, name: getAddressName(one.address) }),
  );
  for (const [address, members] of Map.groupBy(owned, (one) => one.address)) {
    const [first] = members;
    const kind = first && getKind(first.live.kind);
    const all = members.map((one) => one.live);
    const [kept] = kind === undefined || all.length < 2 ? all : sortByPrecedence(kind, all);
    if (kept !== undefined) names.set(kept.id, address);
  }
  for (const change of changes)
    if (change.live !== undefined && getKind(change.kind).role === 'owned')
      names.set(change.live.id, formatChangeAddress(change));
  for (const [address, { stack: other, resource }] of desired.crossStackReferences ?? []) {
    const name = `${other}/${resource}`;
    names.set(address, name);
    const id = desired.externals.get(address);
    if (id !== undefined) names.set(id, name);
  }
  return names;
}

/** Replaces the references in a spec. The members of sets are sorted as the expression sees them. */
export function nameReferencesInSpec(kind: Kind, spec: Spec, names: ReferenceNames): Spec {
  return toRequestSpec(
    kind,
    mapReferences(kind, spec, ({ value }) => names.get(value) ?? value),
  );
}

/** Replaces the references in a difference or a danger: in its values, and in its path. */
export function nameReferencesInFinding(kind: Kind, finding: JsonObject, names: ReferenceNames): JsonObject {
  const path = parsePath(String(finding['path'] ?? '')) ?? [];
  const field = kind.fields[String(path[0])];
  const isReferring =
    field !== undefined && listSelfAndNestedTypes(field.type).some(({ type }) => type === 'reference');
  if (!isReferring) return finding;
  const { from, to } = finding;
  return {
    ...finding,
    path: formatPath(path.map((step) => (typeof step === 'string' ? (names.get(step) ?? step) : step))),
    ...(from !== undefined && { from: nameIds(from, names) }),
    ...(to !== undefined && { to: nameIds(to, names) }),
  };
}

function nameIds(value: Json, names: ReferenceNames): Json {
  if (typeof value === 'string') return names.get(value) ?? value;
  if (isJsonArray(value)) return value.map((member) => nameIds(member, names));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [names.get(key) ?? key, nameIds(member, names)]),
  );
}
