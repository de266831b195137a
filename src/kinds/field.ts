import type { LintCode } from '../model/diagnostic.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { TextFormat } from './formats.ts';

/**
 * The field vocabulary of the kind tables. Everything else about a field (manifest schema, JSON Schema, OpenAPI,
 * request bodies, comparison, references, the server's checks) is derived from these values.
 */

/**
 * `immutable`: a change replaces the resource. `computed`: only the service sets it. `one-time`: only the response to
 * the creation contains it.
 */
export type Lifecycle = 'mutable' | 'immutable' | 'computed' | 'one-time';

/** The type of a value. A closed union: each derivation is a switch on `type` that ends in `assertNever`. */
export type FieldType =
  | TextType
  | EnumType
  | { readonly type: 'boolean' }
  | NumberType
  | { readonly type: 'timestamp' }
  | ReferenceType
  | ListType
  | MapType
  | ObjectType
  | JsonType
  /** The metadata field: text. A manifest may give a mapping instead. */
  | { readonly type: 'metadata'; readonly maxBytes: number };

export interface TextType {
  readonly type: 'text';
  readonly maxBytes?: number;
  readonly format?: TextFormat;
  /** A manifest may give `{ file: path }` instead. The content of that file is then the value. */
  readonly orFile?: boolean;
  /**
   * The text is a CEL expression that may use these variables: `conn.client_ip`, `conn.geo.*`. Absent: no expression.
   */
  readonly cel?: readonly string[];
  /** Values that are known to work. The service stores other values too. */
  readonly known?: readonly string[];
  /** The path of a file, relative to the folder of the manifest. */
  readonly isPath?: boolean;
}

interface EnumType {
  readonly type: 'enum';
  readonly values: readonly string[];
}

export interface NumberType {
  readonly type: 'number';
  readonly integer: boolean;
  readonly min: number;
  readonly max: number;
}

/** The id of another resource. In a manifest it may be `Kind/name`. In a response it is a Ref if `asRef` is true. */
export interface ReferenceType {
  readonly type: 'reference';
  /** Allowed id prefixes, without the underscore. */
  readonly prefixes: readonly string[];
  readonly asRef: boolean;
}

export interface ListType {
  readonly type: 'list';
  readonly of: FieldType;
  /** The order has no meaning: lists are compared as sets. */
  readonly unordered: boolean;
  readonly minItems: number;
  /** A single value counts as a list of one. */
  readonly orSingle: boolean;
  /** A member that makes the list equal to an empty list, such as `*`. `undefined`: none. */
  readonly unrestricted: string | undefined;
}

export interface MapType {
  readonly type: 'map';
  readonly keys: TextType | ReferenceType;
  readonly of: FieldType;
  /** Keys that differ only in case are the same key. */
  readonly caseInsensitive: boolean;
  /** The values are shares of a total. */
  readonly isShares: boolean;
}

/** An object of any JSON, kept unchanged except for known lists of references. */
export interface JsonType {
  readonly type: 'json';
  readonly references: Readonly<Record<string, ReferenceType>>;
}

export interface ObjectType {
  readonly type: 'object';
  readonly fields: Readonly<Record<string, Field>>;
  /** The same fields as a list, for loops over all of them. */
  readonly namedFields: readonly NamedField[];
  /** A name for people if the type occurs in several places: `policy rule`. */
  readonly title: string | undefined;
  /** Whether it is a module: it has `enabled`, and is set and removed as a whole. */
  readonly module: boolean;
  /** Lists reasons why an object has no effect. `undefined`: not checked. */
  readonly findIdle: ((value: JsonObject) => readonly InactiveReason[]) | undefined;
}

/** A reason why an object has no effect. `field`: the field that causes it. */
export interface InactiveReason {
  readonly code: LintCode;
  readonly field: string;
  readonly message: string;
}

/** The lint finding for a field that is empty or false, or for a disabled module. */
interface UnsetAdvice {
  readonly code: LintCode;
  /** The reason, without the address. */
  readonly message: string;
}

/**
 * How a value restricts access, and so which effect a change of it has.
 *
 * - `while-on`: restricts while it is true, or set and not disabled.
 * - `by-each`: each member (or the text) is a restriction. Removing one admits more callers.
 * - `but-each`: each member allows a caller. Adding one admits more callers.
 * - `but-each-or-all`: like `but-each`, but an empty list allows every caller.
 * - `by-rules`: a list of rules. Each rule may admit callers or keep them out.
 * - `unproven`: access is decided elsewhere, so only the fact of a change is known.
 */
export type AccessRestriction = 'while-on' | 'by-each' | 'but-each' | 'but-each-or-all' | 'by-rules' | 'unproven';

/**
 * How a value carries traffic.
 *
 * - `by-each`: each member (or the text) is an address that is served.
 * - `while-on`: traffic is forwarded while the value is set and not disabled.
 * - `by-share`: a map member gets traffic in proportion to its number. 0 means no traffic.
 */
export type TrafficRole = 'by-each' | 'while-on' | 'by-share';

/** A clause that describes a resource: a text such as `listens on`, followed by the values of the field. */
interface SummaryClause {
  /** Text before the values. */
  readonly said: string;
  /** The whole clause if the field has no values or is switched off. Absent: no clause. */
  readonly unset?: string;
}

/** A field of a kind, or of an object in a field. */
export interface Field {
  readonly description: string;
  readonly type: FieldType;
  readonly lifecycle: Lifecycle;
  /** A manifest must set it. */
  readonly required: boolean;
  /**
   * The value, in normal form, if a manifest leaves the field out. `undefined`: the empty value of its type (null, or
   * an empty text, list or map).
   */
  readonly default: Json | undefined;
  /** If a manifest leaves it out, the service chooses the value, and the field is not compared. */
  readonly serviceDefault: boolean;
  /**
   * The service's default depends on the caller. So if a manifest unsets the field, the live value is kept and the
   * resource is not replaced.
   */
  readonly staysWhenLeftOut: boolean;
  /** Its name in responses, if different. */
  readonly responseName: string | undefined;
  /** Every PATCH contains it, changed or not, because some services clear it otherwise. */
  readonly alwaysSent: boolean;
  /**
   * How a value is removed: `'null'` and `'disable'` by a PATCH, `'delete'` by a DELETE on its own path. `undefined`:
   * by a PATCH with the default or the empty value of its type.
   */
  readonly clear: 'delete' | 'null' | 'disable' | undefined;
  /** It has its own path below the path of the resource, and is read, replaced and deleted there. */
  readonly hasPath: boolean;
  /** At most one resource of the kind can have a value, or a member of the list. */
  readonly unique: boolean;
  /** Responses contain null if it is not set. For other fields of its type they contain an empty value. */
  readonly nullWhenUnset: boolean;
  /** Responses may leave it out if it has its default. Any other field that a response leaves out is unknown. */
  readonly absentWhenDefault: boolean;
  /** How it restricts access. `undefined`: not at all. Decides which changes of it are dangers to access. */
  readonly protects: AccessRestriction | undefined;
  /** How it carries traffic. `undefined`: not at all. Decides which changes of it are dangers to traffic. */
  readonly carries: TrafficRole | undefined;
  /** What follows if the service chooses another value, or the value is removed: `delegate the domain again`. */
  readonly whenReplaced: string | undefined;
  /**
   * The user's task after the resource is created, as text before the computed values: `set the NS records of its
   * domain to`.
   */
  readonly whenCreated: string | undefined;
  /** Only a caption of the object that contains it. A change of it does not affect access. */
  readonly isCaption: boolean;
  /** A clause about the resource for people who approve plans. `undefined`: none. */
  readonly tells: SummaryClause | undefined;
  /** What lint reports if the field is unset. `undefined`: nothing. */
  readonly whenUnset: UnsetAdvice | undefined;
}

type FieldOptions = Partial<Omit<Field, 'description' | 'type'>>;

/** Creates a field. Options that are left out get their defaults. */
export function field(type: FieldType, description: string, options: FieldOptions = {}): Field {
  return {
    description,
    type,
    lifecycle: 'mutable',
    required: false,
    default: undefined,
    serviceDefault: false,
    staysWhenLeftOut: false,
    responseName: undefined,
    alwaysSent: false,
    clear: undefined,
    hasPath: false,
    unique: false,
    nullWhenUnset: false,
    absentWhenDefault: false,
    protects: undefined,
    carries: undefined,
    whenReplaced: undefined,
    whenCreated: undefined,
    isCaption: false,
    tells: undefined,
    whenUnset: undefined,
    ...options,
  };
}

/** Text; `maxBytes` counts UTF-8 bytes. */
export function text(options: Omit<TextType, 'type'> = {}): TextType {
  return { type: 'text', ...options };
}

/** Text in a format that is checked. */
export function formatted(format: TextFormat): TextType {
  return { type: 'text', format };
}

export const boolean: FieldType = { type: 'boolean' };
export const timestamp: FieldType = { type: 'timestamp' };

/** An object of any JSON. `references`: the keys that contain lists of references. */
export function jsonWithReferences(references: JsonType['references'] = {}): JsonType {
  return { type: 'json', references };
}

export function oneOf(...values: readonly string[]): EnumType {
  return { type: 'enum', values };
}

/** A whole number in a closed range. */
export function integer(min: number, max: number): NumberType {
  return { type: 'number', integer: true, min, max };
}

/** A number in a closed range. */
export function number(min: number, max: number): NumberType {
  return { type: 'number', integer: false, min, max };
}

/** An id that is a plain string in responses too. */
export function idOf(...prefixes: readonly string[]): ReferenceType {
  return { type: 'reference', prefixes, asRef: false };
}

/** An id in requests that is a Ref in responses. */
export function refTo(...prefixes: readonly string[]): ReferenceType {
  return { type: 'reference', prefixes, asRef: true };
}

type ListOptions = Partial<Omit<ListType, 'type' | 'of' | 'unordered'>>;
const PLAIN_LIST = { minItems: 0, orSingle: false, unrestricted: undefined } as const;

/** A list whose order counts. */
export function listOf(of: FieldType, options: ListOptions = {}): ListType {
  return { type: 'list', of, unordered: false, ...PLAIN_LIST, ...options };
}

/** A list whose order has no meaning. */
export function setOf(of: FieldType, options: ListOptions = {}): ListType {
  return { type: 'list', of, unordered: true, ...PLAIN_LIST, ...options };
}

export function mapOf(
  keys: MapType['keys'],
  of: FieldType,
  options: { readonly caseInsensitive?: boolean; readonly isShares?: boolean } = {},
): MapType {
  const { caseInsensitive = false, isShares = false } = options;
  return { type: 'map', keys, of, caseInsensitive, isShares };
}

/** An object with fields. If not set, it is absent as a whole. */
export function objectOf(fields: Readonly<Record<string, Field>>, title?: string): ObjectType {
  return { ...createTable(fields), title, module: false, findIdle: undefined };
}

function createTable(fields: Readonly<Record<string, Field>>): Pick<ObjectType, 'type' | 'fields' | 'namedFields'> {
  return { type: 'object', fields: defineFields(fields), namedFields: Object.entries(fields) };
}

/** Creates a table without inherited keys, because a document may use a key such as `constructor`. */
export function defineFields(fields: Readonly<Record<string, Field>>): Readonly<Record<string, Field>> {
  return Object.assign(Object.create(null), fields);
}

/** An edge module: an object with `enabled`, which is true when unspecified. */
export function moduleOf(
  fields: Readonly<Record<string, Field>>,
  options: Partial<Pick<ObjectType, 'findIdle'>> = {},
): ObjectType {
  const enabled = field(boolean, 'True if the module is applied to traffic, false to disable it.', {
    default: true,
    absentWhenDefault: true,
  });
  return { ...createTable({ enabled, ...fields }), title: undefined, module: true, findIdle: undefined, ...options };
}

/** The fields of an object. For a list or map, the fields of its members. Empty for other types. */
export function listInnerFields(type: FieldType | undefined): Readonly<Record<string, Field>> {
  if (type?.type === 'list' || type?.type === 'map') return listInnerFields(type.of);
  return type?.type === 'object' ? type.fields : {};
}

export type NamedField = readonly [name: string, field: Field];
