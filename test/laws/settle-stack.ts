import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { listClaims } from '../../src/kinds/claims.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { mapReferences, type Reference } from '../../src/kinds/references.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { findMetadataFinding } from '../../src/manifest/metadata.ts';
import { parseAddress, toAddress } from '../../src/model/address.ts';
import { assertDefined } from '../../src/model/errors.ts';
import { isJsonArray, isJsonObject, type Json } from '../../src/model/json.ts';
import type { FieldPath, Spec } from '../../src/model/state.ts';
import { listExternalIds, listLiteralPrefixes } from './known-ids.ts';
import { STACK_NAME, type TestResource, type TestStack } from './stack.ts';

/**
 * Makes independent resources a valid stack: the first resource keeps an address or a claim, and each reference gets an existing target. A
 * valid stack does not change.
 */
export function settleStack(resources: TestStack): TestStack {
  const taken: Taken = new Map();
  const named = new Map(
    resources.map((resource) => [toAddress(resource.kind, resource.name), resource] as const).toReversed(),
  );
  const first = resources.filter((resource) => named.get(toAddress(resource.kind, resource.name)) === resource);
  const known = settle(first, (resource) => settleReferences(resource, new Set(named.keys())));
  const settled = settle(known, settleFields).flatMap((resource) => settleClaims(resource, taken));
  return settled.length === resources.length ? settled : settleStack(settled);
}

function settle(stack: TestStack, toSettled: (resource: TestResource) => TestResource): TestStack {
  return stack.map(toSettled);
}

function settleReferences(resource: TestResource, addresses: ReadonlySet<string>): TestResource {
  const kind = getKind(resource.kind);
  const isTarget = ({ path }: Reference) => kind.role === 'attached' && path[0] === 'id';
  const spec = mapReferences(kind, resource.spec, (reference) => {
    const { value } = reference;
    const target = parseAddress(value)?.kind;
    const isKept = target === undefined || target === 'External' || (addresses.has(value) && !isTarget(reference));
    return isKept ? value : toLiteral(reference);
  });
  return { ...resource, spec: { ...resource.spec, ...dropSameKeys(kind, spec) } };
}

function toLiteral({ type, value }: Reference): string {
  const ids = listExternalIds(assertDefined(listLiteralPrefixes(type)[0], 'an id that may stand here'));
  return assertDefined(ids[value.length % ids.length], 'an id');
}

/** Drops equal keys of a map: `External/…` and its id, and names that differ only in case. */
function dropSameKeys(kind: Kind, spec: Spec): Spec {
  return Object.fromEntries(
    Object.entries(spec).map(([name, value]) => [name, withoutSameKeys(value, kind.fields[name]?.type)]),
  );
}

type Type = Kind['fields'][string]['type'];

function withoutSameKeys(value: Json, type: Type | undefined): Json {
  if (!isJsonObject(value)) return value;
  if (type?.type === 'object')
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        withoutSameKeys(member, Object.hasOwn(type.fields, name) ? type.fields[name]?.type : undefined),
      ]),
    );
  if (type?.type !== 'map') return value;
  const toKey = (key: string) => (type.caseInsensitive ? key.toLowerCase() : toExternalId(key));
  return Object.fromEntries([...new Map(Object.entries(value).map((entry) => [toKey(entry[0]), entry])).values()]);
}

/** Returns the id of `External/ipp-0`, and any other value unchanged. */
export function toExternalId(value: string): string {
  const [, prefix = '', index] = /^External\/(\w+)-(\d)$/.exec(value) ?? [];
  return index === undefined ? value : assertDefined(listExternalIds(prefix)[Number(index)], value);
}

/** Drops fields of one spec that contradict each other, and metadata with our mark. */
function settleFields(resource: TestResource): TestResource {
  const kind = getKind(resource.kind);
  let { spec } = resource;
  for (let [problem] = kind.check(spec); problem !== undefined; [problem] = kind.check(spec))
    spec = without(spec, problem.path) as Spec; // an object without one of its members
  const { name } = resource;
  const lifecycle = { ...resource.lifecycle, settings: settleSettings(kind, resource, spec) };
  const marked = {
    kind,
    stack: STACK_NAME,
    name,
    lifecycle: { adopt: undefined, ...lifecycle },
    isValid: true,
  };
  const { metadata: _, ...rest } = spec;
  return { ...resource, lifecycle, spec: findMetadataFinding({ ...marked, spec }) === undefined ? spec : rest };
}

/** Drops settings that contradict each other or the spec. */
function settleSettings(kind: Kind, { lifecycle }: TestResource, spec: Spec): Spec {
  let { settings = {} } = lifecycle;
  for (let [problem] = kind.checkLifecycle(settings, spec); problem !== undefined; ) {
    settings = without(settings, problem.path) as Spec; // an object without one of its members
    [problem] = kind.checkLifecycle(settings, spec);
  }
  return settings;
}

function without(value: Json, [step, ...rest]: FieldPath): Json {
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([key]) => key !== step || rest.length > 0);
  return Object.fromEntries(entries.map(([key, member]) => [key, key === step ? without(member, rest) : member]));
}

/** Drops claimed values: the member of a list, or the resource. */
function settleClaims(resource: TestResource, taken: Taken): TestStack {
  const kind = getKind(resource.kind);
  const resolved = mapReferences(kind, resource.spec, ({ value }) => toExternalId(value));
  const free = kind.specFields.flatMap(([name, field]): [string, Json][] => {
    const value = resource.spec[name];
    if (value === undefined) return [];
    if (!field.unique) return [[name, value]];
    const members = isJsonArray(value) ? value : [resolved[name] ?? value];
    const kept = members.filter((member) => claimAll(resource, name, member, taken));
    return isJsonArray(value) ? [[name, kept]] : kept.map(() => [name, value]);
  });
  const isWhole = kind.specFields.every(([name, { required }]) => !required || free.some(([key]) => key === name));
  return isWhole ? [{ ...resource, spec: Object.fromEntries(free) }] : [];
}

/** The owner of each unique value, by the key of the claim. */
type Taken = Map<string, string>;

function claimAll(resource: TestResource, name: string, value: Json, taken: Taken): boolean {
  const kind = getKind(resource.kind);
  const isList = kind.fields[name]?.type.type === 'list';
  const claims = listClaims(kind, canonical(kind, { [name]: isList ? [value] : value }, AS_WRITTEN));
  const keys = claims.filter(({ field }) => field === name).map(({ key }) => key);
  const address = toAddress(resource.kind, resource.name);
  if (keys.some((key) => (taken.get(key) ?? address) !== address)) return false;
  for (const key of keys) taken.set(key, address);
  return true;
}
