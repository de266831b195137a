import type { LintCode } from '../model/diagnostic.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { TextFormat } from './formats.ts';

/**
 * The field vocabulary of the kind tables. Everything else about a field (manifest schema, JSON Schema, OpenAPI, request bodies, comparison, references, the
 * server's checks) is derived from these values and repeated nowhere.
 */

/** `immutable`: a change replaces the resource. `computed`: the service's alone. `one-time`: only in the response to the creation. */
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
  /** The metadata field: text, or in a manifest a mapping. */
  | { readonly type: 'metadata'; readonly maxBytes: number };

export interface TextType {
  readonly type: 'text';
  readonly maxBytes?: number;
  readonly format?: TextFormat;
  /** A manifest may say `{ file: path }` instead; the text of that file is then the value. */
  readonly orFile?: boolean;
  /** It is a CEL expression, and these are the variables that it may name: `conn.client_ip`, `conn.geo.*`. */
  readonly cel?: readonly string[];
  /** Values that are known to work; others are stored all the same. */
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

/** An id of something else; `Kind/name` in a manifest, a Ref in a response when `asRef` says so. */
export interface ReferenceType {
  readonly type: 'reference';
  /** Id prefixes that may stand here, without the underscore. */
  readonly prefixes: readonly string[];
  readonly asRef: boolean;
}

export interface ListType {
  readonly type: 'list';
  readonly of: FieldType;
  /** The order means nothing: compared as a set. */
  readonly unordered: boolean;
  readonly minItems: number;
  /** A single value counts as a list of one. */
  readonly orSingle: boolean;
  /** A member that makes the whole list mean what an empty one means. */
  readonly unrestricted: string | undefined;
}

export interface MapType {
  readonly type: 'map';
  readonly keys: TextType | ReferenceType;
  readonly of: FieldType;
  /** Keys that differ only in case are the same key. */
  readonly caseInsensitive: boolean;
  /** Its values are shares of one whole. */
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
  /** The same fields as a list, for those who visit all of them. */
  readonly namedFields: readonly NamedField[];
  /** For people, where the type occurs in several places: `policy rule`. */
  readonly title: string | undefined;
  /** A module: has `enabled`, is set and removed as a whole. */
  readonly module: boolean;
  /** Reasons why parts of it have no effect, at paths inside of it. */
  readonly findIdle: ((value: JsonObject) => readonly IdleReason[]) | undefined;
}

/** A reason for which an object has no effect. */
export interface IdleReason {
  readonly code: LintCode;
  readonly field: string;
  readonly message: string;
}

/** What lint has against a field that is empty, false, or a module that is disabled. */
interface UnsetAdvice {
  readonly code: LintCode;
  /** The reason, without the address. */
  readonly message: string;
}

/**
 * How a value restricts access, and so what a change of it proves. `while-on`: it restricts while it is true, or set and not disabled. `by-each`: each member
 * (or the text) is a restriction; without it, more is let in. `but-each`: each member allows a caller; with it, more is let in. `but-each-or-all`: the same,
 * but without members every caller is allowed. `by-rules`: a list of rules, each of which may let in or keep out. `unproven`: access is decided elsewhere, so
 * only the fact of a change is known.
 */
export type AccessRestriction = 'while-on' | 'by-each' | 'but-each' | 'but-each-or-all' | 'by-rules' | 'unproven';

/**
 * How a value carries traffic. `by-each`: each member is an address that is served, or the text is. `while-on`: traffic is led on while it is set and not disabled.
 * `by-share`: a member gets traffic in proportion to its number, and 0 gets none.
 */
export type TrafficRole = 'by-each' | 'while-on' | 'by-share';

/** A clause about a resource: `listens on` before the values of the field. */
interface SummaryClause {
  /** Text before the values. */
  readonly said: string;
  /** Text instead, when there are no values or the field is switched off. Absent: none. */
  readonly unset?: string;
}

/** One field of a kind, or of an object inside of one. */
export interface Field {
  readonly description: string;
  readonly type: FieldType;
  readonly lifecycle: Lifecycle;
  /** A manifest must state it. */
  readonly required: boolean;
  /** What leaving it out means, in normal form. `undefined`: nothing (null, or the empty text, list or map). */
  readonly default: Json | undefined;
  /** Leaving it out lets the service choose: then it is not compared. */
  readonly serviceDefault: boolean;
  /** The service's default depends on the caller. So a value that the manifest unsets is kept, and the resource is not replaced. */
  readonly staysWhenLeftOut: boolean;
  /** Its name in responses, where that differs. */
  readonly responseName: string | undefined;
  /** Part of every PATCH, changed or not, because some services clear it otherwise. */
  readonly alwaysSent: boolean;
  /** What a PATCH sends to remove it. `undefined`: derived from the type. `'delete'`: a DELETE on its own path. */
  readonly clear: 'delete' | 'null' | 'disable' | undefined;
  /** Has a path of its own below the resource's, where it is read, replaced and deleted. */
  readonly hasPath: boolean;
  /** Each value, or each member of the list, belongs to one resource of the kind at a time. */
  readonly unique: boolean;
  /** Responses show null when it is not set; other fields of its type show an empty value. */
  readonly nullWhenUnset: boolean;
  /** Responses may leave it out while it has its default. Any other field that a response leaves out is unknown. */
  readonly absentWhenDefault: boolean;
  /** How it restricts access; absent: it does not. Decides when a change of it opens something. */
  readonly protects: AccessRestriction | undefined;
  /** How it carries traffic; absent: it does not. Decides when a change of it ends something. */
  readonly carries: TrafficRole | undefined;
  /** The consequence when the service chooses another value, or the value is removed: `delegate the domain again`. */
  readonly whenReplaced: string | undefined;
  /** The user's task with the computed value of a new resource: `set the NS records of its domain to`, before the values. */
  readonly whenCreated: string | undefined;
  /** Only a caption of the object that contains it: a change of it does not change any access restriction. */
  readonly isCaption: boolean;
  /** A clause about the resource for approvers; absent: the field does not characterize it. */
  readonly tells: SummaryClause | undefined;
  /** What to think of before leaving it unset. */
  readonly whenUnset: UnsetAdvice | undefined;
}

type FieldOptions = Partial<Omit<Field, 'description' | 'type'>>;

/** A field, with defaults for all that is not given. */
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

/** Text of a checked form. */
export function formatted(format: TextFormat): TextType {
  return { type: 'text', format };
}

export const boolean: FieldType = { type: 'boolean' };
export const timestamp: FieldType = { type: 'timestamp' };

/** An object of any JSON; `references` says under which keys it holds lists of references. */
export function jsonWith(references: JsonType['references'] = {}): JsonType {
  return { type: 'json', references };
}

/** One of some words. */
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

/** A list whose order means nothing. */
export function setOf(of: FieldType, options: ListOptions = {}): ListType {
  return { type: 'list', of, unordered: true, ...PLAIN_LIST, ...options };
}

/** A map. */
export function mapOf(
  keys: MapType['keys'],
  of: FieldType,
  options: { readonly caseInsensitive?: boolean; readonly isShares?: boolean } = {},
): MapType {
  const { caseInsensitive = false, isShares = false } = options;
  return { type: 'map', keys, of, caseInsensitive, isShares };
}

/** An object with fields of its own; absent as a whole when it is not set. */
export function objectOf(fields: Readonly<Record<string, Field>>, title?: string): ObjectType {
  return { ...toTable(fields), title, module: false, findIdle: undefined };
}

function toTable(fields: Readonly<Record<string, Field>>): Pick<ObjectType, 'type' | 'fields' | 'namedFields'> {
  return { type: 'object', fields: defineFields(fields), namedFields: Object.entries(fields) };
}

/** A table without inherited keys: a name from outside could be one that every object inherits. */
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
  return { ...toTable({ enabled, ...fields }), title: undefined, module: true, findIdle: undefined, ...options };
}

/** The fields inside of a value; for a list or a map, those of its members. Empty if the value is not an object with a table. */
export function listInnerFields(type: FieldType | undefined): Readonly<Record<string, Field>> {
  if (type?.type === 'list' || type?.type === 'map') return listInnerFields(type.of);
  return type?.type === 'object' ? type.fields : {};
}

/** A field, and the name that it has in its table. */
export type NamedField = readonly [name: string, field: Field];
