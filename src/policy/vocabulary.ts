import type { CelDeclarations } from '../expressions/values.ts';
import { type Field, type FieldType, getNestedFields, objectOf } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Difference, PublishedTotals } from '../model/change.ts';
import type { Danger } from '../model/danger.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';

/**
 * The names that policy expressions may use, with their types. The names are the same as in the JSON of a plan. A value
 * that may be absent in the JSON is empty in expressions, so that a rule need not test its presence. Only the fields of
 * `before` and `after` can be absent, because a resource may lack them.
 */

/** The fields of the object types that do not depend on the kinds of a policy. */
export const KIND_INDEPENDENT_POLICY_TYPES = {
  Difference: {
    field: 'string',
    path: 'string',
    from: 'dyn',
    to: 'dyn',
    origin: 'string',
    forcesReplace: 'bool',
    isHidden: 'bool',
  } satisfies Readonly<Record<keyof Difference, string>>,
  Danger: {
    group: 'string',
    danger: 'string',
    path: 'string',
    from: 'dyn',
    to: 'dyn',
    writes: 'int',
    limitMs: 'int',
    consequence: 'string',
  } satisfies Readonly<Record<keyof Danger, string>>,
  Change: {
    address: 'string',
    kind: 'string',
    name: 'string',
    id: 'string',
    duplicateOf: 'string',
    retiresAt: 'string',
    action: 'string',
    reason: 'string',
    origin: 'string',
    protect: 'bool',
    validForMs: 'int',
    dangers: 'list<Danger>',
    differences: 'list<Difference>',
    notes: 'list<string>',
    place: 'Place',
  },
  Place: {
    file: 'string',
    line: 'int',
    column: 'int',
  },
  Totals: {
    create: 'int',
    update: 'int',
    replace: 'int',
    withhold: 'int',
    delete: 'int',
    takeOver: 'int',
    adopt: 'int',
    release: 'int',
    unchanged: 'int',
  } satisfies Readonly<Record<keyof PublishedTotals, 'int'>>,
  Made: {
    at: 'string',
    commit: 'string',
  },
  Plan: {
    mode: 'string',
    baseUrl: 'string',
    targets: 'list<string>',
    totals: 'Totals',
    made: 'Made',
  },
  Stack: {
    name: 'string',
    labels: 'map<string, string>',
    annotations: 'map<string, string>',
  },
} as const;

type TypeName = keyof typeof KIND_INDEPENDENT_POLICY_TYPES;

const VARIABLES = {
  change: 'Change',
  before: 'Spec',
  after: 'Spec',
  labels: 'map<string, string>',
  annotations: 'map<string, string>',
  plan: 'Plan',
  stack: 'Stack',
  now: 'google.protobuf.Timestamp',
} as const;

/** Adds the fields that an object lacks, with the empty value of each field's type. */
export function addMissingPolicyFields(type: TypeName, given: JsonObject): JsonObject {
  const fields = Object.entries(KIND_INDEPENDENT_POLICY_TYPES[type]);
  return Object.fromEntries(fields.map(([name, of]) => [name, fillInValue(of, given[name])]));
}

/** Lists the fields of `value` that are not in `fields`, as dotted paths. `at`: the path of `value`. */
export function listFieldsMissingFromVocabulary(
  at: string,
  fields: Readonly<Record<string, string>>,
  value: JsonObject,
): readonly string[] {
  return Object.entries(value).flatMap(([name, member]): readonly string[] => {
    const type = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (type === undefined) return [`${at}.${name}`];
    const [, of = type] = /^list<(.+)>$/.exec(type) ?? [];
    if (!isTypeName(of)) return [];
    const members = isJsonArray(member) ? member : [member];
    return members
      .filter(isJsonObject)
      .flatMap((one) => listFieldsMissingFromVocabulary(`${at}.${name}`, KIND_INDEPENDENT_POLICY_TYPES[of], one));
  });
}

function fillInValue(type: string, value: Json | undefined): Json {
  const [, member] = /^list<(.+)>$/.exec(type) ?? [];
  if (isTypeName(type)) return addMissingPolicyFields(type, isJsonObject(value) ? value : {});
  if (member !== undefined && isTypeName(member) && isJsonArray(value))
    return value.map((one) => (isJsonObject(one) ? addMissingPolicyFields(member, one) : one));
  if (value !== undefined || type === 'dyn') return value ?? null;
  return EMPTY[type] ?? (member === undefined ? {} : []);
}

function isTypeName(name: string): name is TypeName {
  return Object.hasOwn(KIND_INDEPENDENT_POLICY_TYPES, name);
}

const EMPTY: Readonly<Record<string, Json>> = { string: '', int: 0, bool: false };

/**
 * Declares the variables of a policy for these kinds. The fields of `before` and `after` may be null. Those inside of
 * modules have the type `dyn`, because a module may be used as a map.
 */
export function createPolicyDeclarations(kinds: readonly Kind[]): CelDeclarations {
  const fields = Map.groupBy(kinds.flatMap(listVisibleFields), ([name]) => name);
  const types = Array.from(
    fields,
    ([name, found]) => [name, mergeFieldTypes(found.map(([, { type }]) => type))] as const,
  );
  return {
    types: { ...KIND_INDEPENDENT_POLICY_TYPES, Spec: Object.fromEntries(types) },
    variables: VARIABLES,
    doubles: new Set(kinds.flatMap((kind) => listDoubles('', objectOf(Object.fromEntries(listVisibleFields(kind)))))),
  };
}

/** Returns the type of a field. If it differs between kinds: `dyn`. */
function mergeFieldTypes(types: readonly FieldType[]): string {
  const [type = 'dyn', ...others] = new Set(types.map(toCelType));
  return others.length > 0 || type === 'dyn' ? 'dyn' : `${type}?`;
}

function toCelType(type: FieldType): string {
  switch (type.type) {
    case 'text':
    case 'enum':
    case 'reference':
    case 'timestamp':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'list':
      return `list<${toCelType(type.of)}>`;
    default:
      return 'dyn';
  }
}

/** Lists the fields that expressions can use: all except secret ones. */
export function listVisibleFields(kind: Kind): readonly (readonly [string, Field])[] {
  return kind.specFields.filter(([, { lifecycle }]) => lifecycle !== 'one-time');
}

/** Lists the paths of the fields whose numbers may be fractions. */
function listDoubles(path: string, type: FieldType): readonly string[] {
  if (type.type === 'list') return listDoubles(path, type.of);
  if (type.type === 'number') return type.integer ? [] : [path];
  return Object.entries(getNestedFields(type)).flatMap(([name, field]) =>
    listDoubles(path === '' ? name : `${path}.${name}`, field.type),
  );
}

/** A field of `before` or `after` in an expression. */
interface NamedField {
  /** The name in the expression, such as `after.backend.enabled`. */
  readonly name: string;
  /** The path from `before` or `after`, such as `backend`, `enabled`. */
  readonly path: readonly string[];
}

export function pickBeforeAndAfterPaths(names: readonly string[]): readonly NamedField[] {
  return names.flatMap((name) => {
    const [variable, ...path] = name.split('.');
    return (variable === 'before' || variable === 'after') && path.length > 0 ? [{ name, path }] : [];
  });
}

/** Whether resources of a kind can have a value at a path of their spec. */
export function hasFieldPath(kind: Kind, path: readonly string[]): boolean {
  let type: FieldType | undefined = objectOf(Object.fromEntries(listVisibleFields(kind)));
  for (const name of path) {
    if (type.type === 'json' || type.type === 'metadata') return true;
    if (type.type === 'map') type = type.of;
    else if (type.type !== 'object' || !Object.hasOwn(type.fields, name)) return false;
    else type = type.fields[name]?.type;
    if (type === undefined) return false;
  }
  return true;
}
