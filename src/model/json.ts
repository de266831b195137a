import { hash } from 'node:crypto';
import stringify from 'fast-json-stable-stringify';
import { type ConcealedValue, isConcealed } from './concealed-value.ts';
import { InvariantError } from './errors.ts';

/** Any JSON value (RFC 8259), and the values that stand for what no output shows. No text parses to one of those. */
export type Json = string | number | boolean | null | ConcealedValue | readonly Json[] | JsonObject;

/**
 * A JSON object. Its keys may be user data, so code must not rename them, and must build such objects with
 * `Object.fromEntries`: an assignment to the key `__proto__` would set the prototype.
 */
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isConcealed(value);
}

export function assertJsonObject(value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  throw new InvariantError('Expected an object');
}

export function isJsonArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/**
 * Serializes a value with sorted keys at every level and no white space. Equal values have equal texts, and others have
 * others: a concealed value stands in parentheses, where JSON has none. `show`: the text for it.
 */
export function toCanonicalJson(
  value: Json,
  show: (concealed: ConcealedValue) => string = (concealed) => `(${JSON.stringify(concealed)})`,
): string {
  if (isConcealed(value)) return show(value);
  if (isJsonArray(value)) return `[${value.map((member) => toCanonicalJson(member, show)).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${toCanonicalJson(member, show)}`);
  return `{${members.join(',')}}`;
}

/** Renders JSON for people and files: indented, sorted keys, a final line break. Equal documents have equal bytes. */
export function renderStableJson(document: Json): string {
  return `${JSON.stringify(JSON.parse(stringify(document)), null, 2)}\n`;
}

/** Returns the first `length` characters (6 bits each) of the base64url SHA-256 of the canonical text of a value. */
export function toDigest(value: Json, length = 43): string {
  return hashSha256(toCanonicalJson(value), 'base64url').slice(0, length);
}

/** Computes the SHA-256 of bytes, or of a text in UTF-8. */
export function hashSha256(data: string | Uint8Array, encoding: 'base64' | 'base64url' | 'hex'): string {
  return hash('sha256', data, encoding);
}

/** Whether two JSON values are equal. The order of keys does not matter. Symmetrical. */
export function isSameJson(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (isConcealed(left) || isConcealed(right))
    return isConcealed(left) && isConcealed(right) && isSameConcealed(left, right);
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (isJsonArray(left)) return isJsonArray(right) && isSameArray(left, right);
  return isJsonObject(left) && isJsonObject(right) && isSameObject(left, right);
}

function isSameConcealed(left: ConcealedValue, right: ConcealedValue): boolean {
  return left.template === right.template && left.number === right.number;
}

function isSameArray(left: readonly Json[], right: readonly Json[]): boolean {
  return left.length === right.length && left.every((member, at) => isSameJson(member, right[at] ?? null));
}

function isSameObject(left: JsonObject, right: JsonObject): boolean {
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && isSameJson(left[name] ?? null, right[name] ?? null));
}

/** Maximum nesting of manifests, plan files and requests: deeper than any field, and shallow enough for recursion. */
export const MAX_DEPTH = 100;

export function isDeeper(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null || isConcealed(value)) return false;
  if (depth === 0) return true;
  return Object.values(value).some((member) => isDeeper(member, depth - 1));
}

/** The length of a text in UTF-8 bytes. The length limits of the service count bytes, not characters. */
export function computeUtf8ByteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/**
 * Maximum size of one file, or of standard input. A plan file of ten thousand changes is half as large. No larger file is
 * written either, if edgewise must read it again.
 */
export const MAX_INPUT_BYTES = 32 * 1024 * 1024;

/** Maximum number of values in a JSON file. The plan file of ten thousand changes has a quarter as many. */
export const MAX_VALUES = 2_000_000;

/** How large a JSON text is. */
export interface JsonSize {
  /** In UTF-8. */
  readonly bytes: number;
  readonly values: number;
}

/**
 * Checks a JSON text before it is parsed, and before it is written to be read again. Returns the reason if the text is too
 * large, has too many values, or is nested deeper than any plan can be. `undefined` if the text is accepted. In a message,
 * the reason follows the name of the file.
 */
export function checkJsonLimits(text: string): string | undefined {
  const bytes = computeUtf8ByteLength(text);
  if (bytes > MAX_INPUT_BYTES) return findJsonLimit({ bytes, values: 0 });
  const { values, depth } = measureJson(text);
  if (depth > MAX_FILE_DEPTH) return `is nested more than ${MAX_FILE_DEPTH} levels deep`;
  return findJsonLimit({ bytes, values });
}

/** Returns which limit a JSON text of this size exceeds, like `checkJsonLimits`. */
export function findJsonLimit({ bytes, values }: JsonSize): string | undefined {
  if (bytes > MAX_INPUT_BYTES) return `is larger than ${MAX_INPUT_BYTES / 1024 / 1024} MiB`;
  return values > MAX_VALUES ? `has more than ${MAX_VALUES.toLocaleString('en')} values` : undefined;
}

export function measureJsonSize(text: string): JsonSize {
  return { bytes: computeUtf8ByteLength(text), values: measureJson(text).values };
}

export function addJsonSize(left: JsonSize, right: JsonSize, sign: 1 | -1 = 1): JsonSize {
  return { bytes: left.bytes + sign * right.bytes, values: left.values + sign * right.values };
}

/** Counts the values in a JSON text, and its levels, without parsing it. */
function measureJson(text: string): { readonly values: number; readonly depth: number } {
  let [values, depth, deepest, isQuoted] = [1, 0, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) isQuoted = !isQuoted;
    else if (isQuoted) at += unit === BACKSLASH ? 1 : 0;
    else if (unit === COMMA) values += 1;
    else if (unit === BRACKET || unit === BRACE) {
      [values, depth] = [values + 1, depth + 1];
      deepest = Math.max(deepest, depth);
    } else if (unit === BRACKET_END || unit === BRACE_END) depth -= 1;
  }
  return { values, depth: deepest };
}

/** A plan file contains specs of manifests, each up to MAX_DEPTH deep, inside levels of its own. */
const MAX_FILE_DEPTH = 2 * MAX_DEPTH;
const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE, BRACKET_END, BRACE_END] = [34, 92, 44, 91, 123, 93, 125];

/** `undefined` if the text is not JSON. Drops the error message of the parser, because the message quotes the text. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns the members that are not undefined: JSON has no others. */
export function omitUndefined<T extends object>(value: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members) as ReturnType<typeof omitUndefined<T>>; // `Object.entries` loses the names
}

/** The members of an array. Empty for any other value. */
export function toJsonList(value: Json | undefined): readonly Json[] {
  return isJsonArray(value) ? value : [];
}

/** An own member of an object. `undefined` if there is none, and for any other value. */
export function findMember(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Returns the new value of a member. `at`: its key or index. */
type VisitMember = (member: Json, at: string | number) => Json;

/** Maps the members of a list or an object. Returns the same value if none changes, or if it has none. */
export function mapMembers(value: Json, visit: VisitMember, toKey?: (key: string) => string): Json {
  if (isJsonObject(value)) return mapObjectMembers(value, visit, toKey);
  if (!isJsonArray(value)) return value;
  const members = value.map(visit);
  return members.every((member, at) => member === value[at]) ? value : members;
}

export function mapObjectMembers(
  value: JsonObject,
  visit: VisitMember,
  toKey: (key: string) => string = (key) => key,
): JsonObject {
  const before = Object.entries(value);
  const after = before.map(([key, member]) => [toKey(key), visit(member, key)] as const);
  const isSame = after.every(([key, member], at) => key === before[at]?.[0] && member === before[at]?.[1]);
  return isSame ? value : Object.fromEntries(after);
}

/** A string. Empty for any other value. */
export function toJsonText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
