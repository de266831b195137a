import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';

/**
 * What the expressions of a policy may name, with its type. The names are those of a plan's JSON. What may be absent there is empty
 * here, so that a rule need not ask first; only the fields of `before` and `after` may be absent, as they may be of a resource.
 */

/** Fields of the types that every policy sees alike. */
export const TYPES = {
  Difference: {
    field: 'string',
    path: 'string',
    from: 'dyn',
    to: 'dyn',
    origin: 'string',
    forcesReplace: 'bool',
  },
  Danger: {
    danger: 'string',
    path: 'string',
    how: 'string',
    from: 'string',
    to: 'string',
    loses: 'list<string>',
    gap: 'int',
  },
  Change: {
    address: 'string',
    kind: 'string',
    name: 'string',
    id: 'string',
    duplicateOf: 'string',
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
  },
  Totals: {
    create: 'int',
    update: 'int',
    replace: 'int',
    delete: 'int',
    adopt: 'int',
    release: 'int',
    unchanged: 'int',
  },
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

/** The name of such a type. */
export type TypeName = keyof typeof TYPES;

/** The variables of an expression. */
export const VARIABLES = {
  change: 'Change',
  before: 'Spec',
  after: 'Spec',
  labels: 'map<string, string>',
  annotations: 'map<string, string>',
  plan: 'Plan',
  stack: 'Stack',
  now: 'google.protobuf.Timestamp',
} as const;

/** A value of a type whose missing fields are empty. */
export function fillIn(type: TypeName, given: JsonObject): JsonObject {
  const fields = Object.entries(TYPES[type]);
  return Object.fromEntries(fields.map(([name, of]) => [name, fillInValue(of, given[name])]));
}

/** The fields of a value that its type does not have, each with the way to it. */
export function findUnknown(
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
    return members.filter(isJsonObject).flatMap((one) => findUnknown(`${at}.${name}`, TYPES[of], one));
  });
}

function fillInValue(type: string, value: Json | undefined): Json {
  const [, member] = /^list<(.+)>$/.exec(type) ?? [];
  if (isTypeName(type)) return fillIn(type, isJsonObject(value) ? value : {});
  if (member !== undefined && isTypeName(member) && isJsonArray(value))
    return value.map((one) => (isJsonObject(one) ? fillIn(member, one) : one));
  if (value !== undefined || type === 'dyn') return value ?? null;
  return EMPTY[type] ?? (member === undefined ? {} : []);
}

function isTypeName(name: string): name is TypeName {
  return Object.hasOwn(TYPES, name);
}

const EMPTY: Readonly<Record<string, Json>> = { string: '', int: 0, bool: false };
