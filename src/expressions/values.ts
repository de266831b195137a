import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { TextRange } from '../model/place.ts';

/** A type with fields. The library identifies it by the constructor of its values. */
export interface CelObjectType {
  readonly name: string;
  readonly fields: CelFieldTypes;
  readonly ctor: new (fields: Readonly<Record<string, unknown>>) => object;
}

/** Creates a type that can be registered in the library's environment. */
export function defineType(name: string, fields: CelFieldTypes): CelObjectType {
  const ctor = class {
    constructor(values: Readonly<Record<string, unknown>>) {
      Object.assign(this, values);
    }
  };
  return { name, fields, ctor };
}

/** The types with fields, by name, and the paths of the fields that are doubles. */
export interface CelValueTypes {
  readonly objects: ReadonlyMap<string, CelObjectType>;
  readonly doubles: ReadonlySet<string>;
}

/**
 * Converts a value to the library's representation of the declared type. A value of another type is converted as `dyn`,
 * so an expression that relies on the declared type fails. `path`: of the value in its variable, without indices.
 */
export function toCelValue(
  type: string,
  value: Json | Date | undefined,
  { types, path = '' }: { readonly types: CelValueTypes; readonly path?: string },
): unknown {
  if (value === undefined || value instanceof Date) return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) && !types.doubles.has(path) ? BigInt(value) : value;
  if (isJsonArray(value)) {
    const [, member = 'dyn'] = /^list<(.+)>$/.exec(toNonNullableType(type)) ?? [];
    return value.map((one) => toCelValue(member, one, { types, path }));
  }
  if (!isJsonObject(value)) return value;
  const [, of = 'dyn'] = /^map<string, (.+)>$/.exec(type) ?? [];
  const object = types.objects.get(type);
  const members = Object.entries(value).flatMap(([name, one]): (readonly [string, unknown])[] => {
    const declared = object === undefined ? of : object.fields[name];
    const inner = path === '' ? name : `${path}.${name}`;
    return declared === undefined ? [] : [[name, toCelValue(declared, one, { types, path: inner })]];
  });
  return object === undefined ? new Map(members) : new object.ctor(Object.fromEntries(members));
}

/** Converts the result of an expression to JSON. A value without a JSON form becomes a string or null. */
export function toJson(value: unknown): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
      return value;
    case 'bigint':
      return Number(value);
    default:
      return toObjectJson(value);
  }
}

function toObjectJson(value: unknown): Json {
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, one]) => [String(key), toJson(one)] as const));
  const isPlain = Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null;
  if (!isPlain && Object.hasOwn(Object.getPrototypeOf(value), 'toString')) return String(value);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toJson(one)] as const));
}

/**
 * The variables of expressions and their types. A type is a CEL type, a type declared here, or a list or map of such
 * types: `string`, `list<Danger>`, `map<string, int>`, `dyn`. The type of a nullable field ends in `?`.
 */
export interface CelDeclarations {
  /** Maps the name of each declared type to the types of its fields. */
  readonly types: Readonly<Record<string, CelFieldTypes>>;
  readonly variables: Readonly<Record<string, string>>;
  /** The dotted paths of fields of type `dyn` whose numbers are doubles. All other whole numbers are ints. */
  readonly doubles: ReadonlySet<string>;
}

export type CelFieldTypes = Readonly<Record<string, string>>;

export function isNullable(type: string): boolean {
  return type.endsWith('?');
}

export function toNonNullableType(type: string): string {
  return isNullable(type) ? type.slice(0, -1) : type;
}

/** Finds the first use of a name in an expression. Skips occurrences inside longer names. */
export function findNameInExpression(text: string, name: string): TextRange | undefined {
  for (let start = text.indexOf(name); start >= 0; start = text.indexOf(name, start + 1)) {
    const isInside = /[\w.]/.test(text.charAt(start - 1)) || /\w/.test(text.charAt(start + name.length));
    if (!isInside) return { of: text, start, end: start + name.length };
  }
  return undefined;
}
