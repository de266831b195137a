import type { TextPart } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';

/** A type with fields, as the library knows one: by the constructor of its values. */
export interface CelType {
  readonly name: string;
  /** Their types as they are declared. */
  readonly fields: CelFields;
  readonly ctor: new (fields: Readonly<Record<string, unknown>>) => object;
}

/** A type that the library can be given. */
export function defineType(name: string, fields: CelFields): CelType {
  const ctor = class {
    constructor(values: Readonly<Record<string, unknown>>) {
      Object.assign(this, values);
    }
  };
  return { name, fields, ctor };
}

/** The types that values can be of. */
export interface CelTypes {
  readonly messages: ReadonlyMap<string, CelType>;
  readonly records: CelDeclarations['records'];
}

/** A value as the library has those of a type. One that is not of the type stays as it is: using it is then an error. */
export function toCelValue(declared: string, value: Json | Date | undefined, types: CelTypes): unknown {
  if (value === undefined || value instanceof Date) return value;
  const type = toNonNullable(declared);
  const [, member] = /^list<(.+)>$/.exec(type) ?? [];
  if (member !== undefined && isJsonArray(value)) return value.map((one) => toCelValue(member, one, types));
  if (isJsonObject(value)) return toObject(type, value, types);
  return type === 'double' && typeof value === 'number' ? value : toDynamic(value);
}

type Members = Readonly<Record<string, Json>>;

function toObject(type: string, value: Members, types: CelTypes): unknown {
  const message = types.messages.get(type);
  if (message !== undefined) return toMessage(message, value, types);
  const fields = Object.hasOwn(types.records, type) ? (types.records[type] ?? {}) : {};
  const [, of = 'dyn'] = /^map<string, (.+)>$/.exec(type) ?? [];
  const toType = (name: string): string => (Object.hasOwn(fields, name) ? (fields[name] ?? of) : of);
  return new Map(Object.entries(value).map(([name, one]) => [name, toCelValue(toType(name), one, types)]));
}

function toMessage({ fields, ctor }: CelType, value: Members, types: CelTypes): object {
  const known = Object.entries(fields).filter(([name]) => Object.hasOwn(value, name));
  return new ctor(Object.fromEntries(known.map(([name, type]) => [name, toCelValue(type, value[name], types)])));
}

function toDynamic(value: Json): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (isJsonArray(value)) return value.map(toDynamic);
  return isJsonObject(value) ? new Map(Object.entries(value).map(([key, one]) => [key, toDynamic(one)])) : value;
}

/** What an expression came to, as JSON would say it. */
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
 * What expressions may name. A type is one of CEL, one that is declared here, or a list or a map of one: `string`, `list<Danger>`,
 * `map<string, int>`, `dyn`. The type of a field that may be null has a `?` behind it.
 */
export interface CelDeclarations {
  /** Fields by name, and their types, of each type that CEL does not have. */
  readonly types: Readonly<Record<string, CelFields>>;
  /** The same of types that are maps too: whatever takes a map takes one. */
  readonly records: Readonly<Record<string, CelFields>>;
  /** Types whose values are of one of several types. */
  readonly unions: Readonly<Record<string, readonly string[]>>;
  readonly variables: Readonly<Record<string, string>>;
}

/** Types by the names of fields. */
export type CelFields = Readonly<Record<string, string>>;

/** The type without the `?` behind it. */
export function toNonNullable(type: string): string {
  return type.endsWith('?') ? type.slice(0, -1) : type;
}

/** The same type with each name in it replaced: of `list<Rule>`, `list` and `Rule`. */
export function replaceNames(type: string, toName: (name: string) => string): string {
  return type.replace(/[\w.]+/g, toName);
}

/** Where an expression names something first, and not as a part of another name. */
export function findNamePart(text: string, name: string): TextPart | undefined {
  for (let start = text.indexOf(name); start >= 0; start = text.indexOf(name, start + 1)) {
    const isInside = /[\w.]/.test(text.charAt(start - 1)) || /\w/.test(text.charAt(start + name.length));
    if (!isInside) return { of: text, start, length: name.length };
  }
  return undefined;
}
