import type { TextRange } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';

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

export interface DeclaredCelTypes {
  readonly messages: ReadonlyMap<string, CelObjectType>;
  readonly records: CelDeclarations['records'];
}

/**
 * Converts a value to the library's representation of the declared type. A value of another type is converted as `dyn`,
 * so an expression that relies on the declared type fails.
 */
export function toCelValue(declared: string, value: Json | Date | undefined, types: DeclaredCelTypes): unknown {
  if (value === undefined || value instanceof Date) return value;
  const type = toNonNullableType(declared);
  const [, member] = /^list<(.+)>$/.exec(type) ?? [];
  if (member !== undefined && isJsonArray(value)) return value.map((one) => toCelValue(member, one, types));
  if (isJsonObject(value)) return convertObject(type, value, types);
  return type === 'double' && typeof value === 'number' ? value : toDynamic(value);
}

type Members = Readonly<Record<string, Json>>;

function convertObject(type: string, value: Members, types: DeclaredCelTypes): unknown {
  const message = types.messages.get(type);
  if (message !== undefined) return createMessage(message, value, types);
  const fields = Object.hasOwn(types.records, type) ? (types.records[type] ?? {}) : {};
  const [, of = 'dyn'] = /^map<string, (.+)>$/.exec(type) ?? [];
  const toType = (name: string): string => (Object.hasOwn(fields, name) ? (fields[name] ?? of) : of);
  return new Map(Object.entries(value).map(([name, one]) => [name, toCelValue(toType(name), one, types)]));
}

function createMessage({ fields, ctor }: CelObjectType, value: Members, types: DeclaredCelTypes): object {
  const known = Object.entries(fields).filter(([name]) => Object.hasOwn(value, name));
  return new ctor(Object.fromEntries(known.map(([name, type]) => [name, toCelValue(type, value[name], types)])));
}

function toDynamic(value: Json): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (isJsonArray(value)) return value.map(toDynamic);
  return isJsonObject(value) ? new Map(Object.entries(value).map(([key, one]) => [key, toDynamic(one)])) : value;
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
  /** Like `types`. In addition, a value of these types is accepted wherever a map is expected. */
  readonly records: Readonly<Record<string, CelFieldTypes>>;
  /** Maps the name of a union to the types that its values can have. */
  readonly unions: Readonly<Record<string, readonly string[]>>;
  readonly variables: Readonly<Record<string, string>>;
}

export type CelFieldTypes = Readonly<Record<string, string>>;

export function toNonNullableType(type: string): string {
  return type.endsWith('?') ? type.slice(0, -1) : type;
}

/** Replaces each name in a type. For example, `list<Rule>` contains the names `list` and `Rule`. */
export function replaceNamesInType(type: string, toName: (name: string) => string): string {
  return type.replace(/[\w.]+/g, toName);
}

/** Finds the first use of a name in an expression. Skips occurrences inside longer names. */
export function findNameInExpression(text: string, name: string): TextRange | undefined {
  for (let start = text.indexOf(name); start >= 0; start = text.indexOf(name, start + 1)) {
    const isInside = /[\w.]/.test(text.charAt(start - 1)) || /\w/.test(text.charAt(start + name.length));
    if (!isInside) return { of: text, start, length: name.length };
  }
  return undefined;
}
