import type { LintCode } from '../model/diagnostic.ts';
import type { Finding } from '../model/finding.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { FieldPath } from '../model/state.ts';
import type { TextFormat } from './formats.ts';

/**
 * The field vocabulary of the kind tables. Everything else about a field (manifest schema, JSON Schema, OpenAPI,
 * request bodies, comparison, references, the server's checks) is derived from these values.
 */

/**
 * `immutable`: a change replaces the resource. `computed`: only the service sets it. `one-time`: only the response to
 * the creation contains it.
 */
export type FieldLifecycle = 'mutable' | 'immutable' | 'computed' | 'one-time';

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
  | JsonObjectType
  /** The metadata field, whose value is text. A manifest may contain a mapping instead. */
  | { readonly type: 'metadata'; readonly maxBytes: number };

export interface TextType {
  readonly type: 'text';
  readonly maxBytes?: number;
  readonly format?: TextFormat;
  /** Whether a manifest may contain `{ file: path }` instead. The content of that file is then the value. */
  readonly orFile?: boolean;
  /** The variables of the CEL expression in the text, such as `conn.geo.*`. Absent if the text is not an expression. */
  readonly cel?: readonly string[];
  /** Values that are known to work. The service stores other values too. */
  readonly known?: readonly string[];
  /** Whether texts are equal that differ only in white space at their end. */
  readonly ignoresFinalSpace?: boolean;
  /**
   * Whether the text may be a secret. A manifest may then name it by `${secret:NAME}`, and no output shows a live value
   * that manifests do not have in clear.
   */
  readonly mayBeSecret?: boolean;
}

interface EnumType {
  readonly type: 'enum';
  readonly values: readonly string[];
}

export interface NumberType {
  readonly type: 'number';
  /** Whether the number is whole. Other numbers are equal if they are the same 32-bit float. */
  readonly integer: boolean;
  readonly min: number;
  readonly max: number;
}

/**
 * The id of another resource. In a manifest, it may also be `Kind/name`. In responses, it is a Ref (`{ id, uri }`) if
 * `isRefInResponse` is true.
 */
export interface ReferenceType {
  readonly type: 'reference';
  /** Allowed id prefixes, without the underscore. */
  readonly prefixes: readonly string[];
  readonly isRefInResponse: boolean;
}

export interface ListType {
  readonly type: 'list';
  readonly of: FieldType;
  /** Whether lists are compared as sets, because the order has no meaning. */
  readonly unordered: boolean;
  readonly minItems: number;
  /** Whether a single value is accepted and equals a list with one member. */
  readonly orSingle: boolean;
  /** A member that makes the list equal to an empty list, such as `*`. `undefined` if there is no such member. */
  readonly unrestricted: string | undefined;
}

export interface MapType {
  readonly type: 'map';
  readonly keys: TextType | ReferenceType;
  readonly of: FieldType;
  /** The types of the values of some keys, in lower case if case does not count. All other values have the type `of`. */
  readonly valueTypes: Readonly<Record<string, FieldType>>;
  /** Whether keys that differ only in case are the same key. */
  readonly caseInsensitive: boolean;
  /** Whether the values are shares of a total. */
  readonly isShares: boolean;
  readonly findMistakes: FindMistakes | undefined;
}

/**
 * An object with any JSON, or with `isAny` any JSON at all, which is sent as written. `lists` has the members that are
 * sets, with the type of each set's members. Members at any depth whose names look like those of secrets (`isNameOfSecret`), and all below, may be secret, as in `mayBeSecret`.
 */
export interface JsonObjectType {
  readonly type: 'json';
  readonly lists: Readonly<Record<string, FieldType>>;
  readonly isAny: boolean;
}

export interface ObjectType {
  readonly type: 'object';
  readonly fields: Readonly<Record<string, Field>>;
  /** What each member is that is not in `fields`, such as a phase of a newer service. Absent: no other is allowed. */
  readonly others: Field | undefined;
  /** A display name, such as `policy rule`, for a type that occurs in several places. */
  readonly title: string | undefined;
  /** Whether the object is a module: it has `enabled`, and is set and removed as a whole. */
  readonly module: boolean;
  readonly findMistakes: FindMistakes | undefined;
  /** What the object does to access, if its restricting fields do not say it one by one. */
  readonly judgeAccess: JudgeAccess | undefined;
}

/**
 * Lists what is valid in a value and probably a mistake, such as a field because of which it has no effect: lint reports
 * it. `path` is that of the cause, from the value; the subject of `message` is the value. `undefined` in a type: it has no
 * such check.
 */
export type FindMistakes = (value: JsonObject) => readonly Finding[];

/**
 * What a value does to access.
 *
 * - `restricts`: it keeps some callers out.
 * - `none`: it asks for no restriction: it is not set, switched off, or about something else.
 * - `open`: it should restrict, and admits everyone.
 * - `unknown`: whether it restricts cannot be known.
 */
export type AccessEffect =
  | { readonly effect: 'restricts' | 'none' }
  /** `why` is a clause. `path`: its cause, below the value. */
  | { readonly effect: 'open' | 'unknown'; readonly why: string; readonly path: FieldPath };

/**
 * Judges an object in normal form. A field is `undefined` if the service does not show it. `readCondition`: what is
 * known of a CEL expression.
 */
export type JudgeAccess = (value: JsonObject, readCondition: ReadCondition) => AccessEffect;

export type ReadCondition = (expression: string) => 'always' | 'never' | 'depends' | 'invalid' | 'unreadable';

/** The lint finding for a field that is empty or false, or for a disabled module. */
interface UnsetAdvice {
  readonly code: LintCode;
  /** The reason, without the address of the resource. */
  readonly message: string;
  readonly remedy: string;
}

/**
 * How a value restricts access. It decides which changes are dangers. `access/restrictions.ts` says whether a value does.
 *
 * - `while-on`: restricts while it is true, or set and not disabled.
 * - `by-each`: each member is a restriction, or the whole value if it has no members. Removing one admits more callers.
 * - `allow-list`: each member allows a caller. Adding one admits more callers.
 * - `allow-list-or-all`: like `allow-list`, but an empty list allows every caller.
 * - `by-rules`: a list of rules. Each rule may admit callers or keep them out.
 * - `unproven`: access is decided elsewhere, so only the fact of a change is known.
 * - `unknown`: nothing is known of the value but that it may restrict.
 */
export type AccessRestrictionMode =
  | 'while-on'
  | 'by-each'
  | 'allow-list'
  | 'allow-list-or-all'
  | 'by-rules'
  | 'unproven'
  | 'unknown';

/**
 * How a value carries traffic.
 *
 * - `by-each`: each member is an address that is served, or the whole value if it has no members.
 * - `while-on`: traffic is forwarded while the value is set and not disabled.
 * - `by-share`: a map member gets traffic in proportion to its number. 0 means no traffic.
 */
export type TrafficRole = 'by-each' | 'while-on' | 'by-share';

/** Describes a resource in a clause: a text such as `listens on`, followed by the values of the field. */
interface SummaryClause {
  readonly prefix: string;
  /** Replaces the clause if the field has no values or is switched off. If absent, no clause is shown then. */
  readonly unset?: string;
}

/** A field of a kind, or of an object in a field. */
export interface Field {
  readonly description: string;
  readonly type: FieldType;
  readonly lifecycle: FieldLifecycle;
  /** Whether a manifest must set the field. */
  readonly required: boolean;
  /**
   * The value, in normal form, if a manifest does not set the field. `undefined` means the empty value of its type:
   * null, or an empty text, list or map.
   */
  readonly default: Json | undefined;
  /**
   * Whether the service chooses the value if a manifest does not set the field. The field is then not compared. Inside
   * a module, a request keeps the live value.
   */
  readonly serviceDefault: boolean;
  /**
   * Whether the field is a text for people, which a service may show in another spelling (`spelling.ts`). If that text
   * was applied, the other spelling is no change.
   */
  readonly mayBeSpelledOtherwise: boolean;
  /** A service may store the time up to this many milliseconds earlier than a request sets it. 0: at the same second. */
  readonly earlierByMs: number;
  /**
   * Whether the live value is kept if a manifest no longer sets the field. True for a field whose default in the service
   * depends on the caller, such as `owner_id`.
   */
  readonly keepsLiveValue: boolean;
  /** The name of the field in responses. `undefined` if it is the same as in requests. */
  readonly responseName: string | undefined;
  /** Whether every PATCH contains the field, even if it is unchanged, because some services clear it otherwise. */
  readonly alwaysSent: boolean;
  /**
   * The request that unsets the field: `'null'` is a PATCH with null, `'disable'` a PATCH with `enabled: false`,
   * `'delete'` a DELETE of the field's own path. `undefined` is a PATCH with the default or the empty value of the
   * type.
   */
  readonly clear: 'delete' | 'null' | 'disable' | undefined;
  /** Whether the field has its own path below the path of the resource, where it is read, replaced and deleted. */
  readonly hasPath: boolean;
  /** Whether at most one resource of the kind can have a given value, or a given member of the list. */
  readonly unique: boolean;
  /** Whether responses contain null if the field is not set. Otherwise they contain the empty value of the type. */
  readonly nullWhenUnset: boolean;
  /** Whether a field left out of a response has its default. If false, `ObservedResponseFields` decides what the absence means. */
  readonly absentWhenDefault: boolean;
  /** How the field restricts access. Decides which changes are dangers. `undefined` if it does not restrict access. */
  readonly restriction: AccessRestrictionMode | undefined;
  /** How the field carries traffic. Decides which changes are dangers. `undefined` if it does not carry traffic. */
  readonly carries: TrafficRole | undefined;
  /** The consequence of a changed or removed value, as a clause: `agents with the old token are disconnected`. */
  readonly replacedConsequence: string | undefined;
  /** The user's task after the creation, completed by the field's values: `set the NS records of its domain to`. */
  readonly createdTask: string | undefined;
  /** Whether the field is only a caption of its object. Changing a caption does not affect access. */
  readonly isCaption: boolean;
  /** A clause that describes the resource to people who approve plans. `undefined` if there is none. */
  readonly summary: SummaryClause | undefined;
  /** The lint finding if the field is unset. `undefined` if lint accepts an unset field. */
  readonly whenUnset: UnsetAdvice | undefined;
}

/** Fields by name. */
export type Fields = Readonly<Record<string, Field>>;

type FieldOptions = Partial<Omit<Field, 'description' | 'type'>>;

/** Creates a field, which is mutable and optional unless `options` say otherwise. */
export function field(type: FieldType, description: string, options: FieldOptions = {}): Field {
  return {
    description,
    type,
    lifecycle: 'mutable',
    required: false,
    default: undefined,
    serviceDefault: false,
    mayBeSpelledOtherwise: false,
    earlierByMs: 0,
    keepsLiveValue: false,
    responseName: undefined,
    alwaysSent: false,
    clear: undefined,
    hasPath: false,
    unique: false,
    nullWhenUnset: false,
    absentWhenDefault: false,
    restriction: undefined,
    carries: undefined,
    replacedConsequence: undefined,
    createdTask: undefined,
    isCaption: false,
    summary: undefined,
    whenUnset: undefined,
    ...options,
  };
}

/** Creates a text type. `maxBytes` counts UTF-8 bytes. */
export function text(options: Omit<TextType, 'type'> = {}): TextType {
  return { type: 'text', ...options };
}

export function textOfFormat(format: TextFormat): TextType {
  return { type: 'text', format };
}

export const boolean: FieldType = { type: 'boolean' };
export const timestamp: FieldType = { type: 'timestamp' };

/** Creates the type of an object with any JSON. `lists` has the members that are sets, with the type of each set's members. */
export function jsonWithLists(lists: JsonObjectType['lists'] = {}): JsonObjectType {
  return { type: 'json', lists, isAny: false };
}

/** Any JSON, which is sent and compared as written. */
export const anyJson: JsonObjectType = { type: 'json', lists: {}, isAny: true };

export function oneOf(...values: readonly string[]): EnumType {
  return { type: 'enum', values };
}

/** Creates the type of a whole number from `min` to `max`, inclusive. */
export function integer(min: number, max: number): NumberType {
  return { type: 'number', integer: true, min, max };
}

/** Creates the type of a number from `min` to `max`, inclusive, with the precision of a 32-bit float. */
export function number(min: number, max: number): NumberType {
  return { type: 'number', integer: false, min, max };
}

/** Creates the type of an id that responses contain as plain text. */
export function idOf(...prefixes: readonly string[]): ReferenceType {
  return { type: 'reference', prefixes, isRefInResponse: false };
}

/** Creates the type of an id that responses contain as a Ref (`{ id, uri }`). */
export function refTo(...prefixes: readonly string[]): ReferenceType {
  return { type: 'reference', prefixes, isRefInResponse: true };
}

type ListOptions = Partial<Omit<ListType, 'type' | 'of' | 'unordered'>>;
const PLAIN_LIST = { minItems: 0, orSingle: false, unrestricted: undefined } as const;

/** Creates the type of a list whose order has a meaning. */
export function listOf(of: FieldType, options: ListOptions = {}): ListType {
  return { type: 'list', of, unordered: false, ...PLAIN_LIST, ...options };
}

/** Creates the type of a list that is compared as a set, because its order has no meaning. */
export function setOf(of: FieldType, options: ListOptions = {}): ListType {
  return { type: 'list', of, unordered: true, ...PLAIN_LIST, ...options };
}

const PLAIN_MAP = {
  type: 'map',
  caseInsensitive: false,
  isShares: false,
  valueTypes: {},
  findMistakes: undefined,
} as const;

export function mapOf(
  keys: MapType['keys'],
  of: FieldType,
  options: Partial<Omit<MapType, 'type' | 'keys' | 'of'>> = {},
): MapType {
  return { ...PLAIN_MAP, keys, of, ...options };
}

type ObjectOptions = Partial<Pick<ObjectType, 'findMistakes' | 'judgeAccess' | 'others'>>;
const PLAIN_OBJECT = { type: 'object', findMistakes: undefined, judgeAccess: undefined, others: undefined } as const;

/** Creates the type of an object that is not a module. */
export function objectOf(
  fields: Readonly<Record<string, Field>>,
  title?: string,
  options: ObjectOptions = {},
): ObjectType {
  return { ...PLAIN_OBJECT, fields: defineFields(fields), title, module: false, ...options };
}

/** Creates a table without inherited keys, because a document may use a key such as `constructor`. */
export function defineFields(fields: Readonly<Record<string, Field>>): Readonly<Record<string, Field>> {
  return Object.assign(Object.create(null), fields);
}

/** Creates the type of an edge module: an object with `enabled`, which is true by default. */
export function createModuleType(fields: Readonly<Record<string, Field>>, options: ObjectOptions = {}): ObjectType {
  const enabled = field(boolean, 'True if the module is applied to traffic, false to disable it.', {
    default: true,
  });
  return {
    ...PLAIN_OBJECT,
    fields: defineFields({ enabled, ...fields }),
    title: undefined,
    module: true,
    ...options,
  };
}

/** Returns the fields of an object, or of the members of a list or map. Empty for other types. */
export function getNestedFields(type: FieldType | undefined): Readonly<Record<string, Field>> {
  if (type?.type === 'list' || type?.type === 'map') return getNestedFields(type.of);
  return type?.type === 'object' ? type.fields : {};
}

export type NamedField = readonly [name: string, field: Field];

/** The field of a member. `undefined` if the object has no such member. Looks up own keys only: users choose names. */
export function findField({ fields, others }: ObjectType, name: string | number): Field | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : others;
}

/** The fields of an object: those of its table, and the members of these values that it does not list and that are set. */
export function listFields(type: ObjectType, ...values: readonly (Json | undefined)[]): readonly NamedField[] {
  const { fields, others } = type;
  const listed = Object.entries(fields);
  if (others === undefined) return listed;
  const set = values.flatMap((value) =>
    isJsonObject(value) ? Object.keys(value).filter((name) => !isEmptyJson(value[name])) : [],
  );
  const more = new Set(set.filter((name) => !Object.hasOwn(fields, name)));
  return [...listed, ...[...more].sort().map((name): NamedField => [name, others])];
}

/** Whether JSON means the same as no value. */
function isEmptyJson(value: Json | undefined): boolean {
  if (isJsonArray(value) || isJsonObject(value)) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === '';
}
