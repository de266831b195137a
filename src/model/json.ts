import { getBuiltinModule } from 'node:process';
import stringify from 'fast-json-stable-stringify';

/** Any JSON value. Source: RFC 8259. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object. Keys may be user data: never rename them, and build such objects with `Object.fromEntries`. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for a JSON array. */
export function isJsonArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** The one text of a JSON value: object keys sorted at every level, no white space. Equal values give equal texts. */
export function toCanonicalJson(value: Json): string {
  return stringify(value);
}

/** A JSON document for people and for files: indented, keys sorted, a line break at its end. Equal documents give equal bytes. */
export function renderStableJson(document: object): string {
  return `${JSON.stringify(JSON.parse(stringify(document)), null, 2)}\n`;
}

/** A digest of a JSON value: `length` characters of base64url (6 bits each) of the SHA-256 of its canonical text. */
export function toDigest(value: Json, length = 43): string {
  return hashSha256(toCanonicalJson(value), 'base64url').slice(0, length);
}

/** The SHA-256 of a text in UTF-8, or of bytes. What makes it is loaded when the first is asked for: CPU of 5 ms at each start, a tenth of `--version`. */
export function hashSha256(data: string | Uint8Array, encoding: 'base64' | 'base64url' | 'hex'): string {
  return getBuiltinModule('node:crypto').hash('sha256', data, encoding);
}

/** Whether two JSON values are the same value, whatever the order of their keys. */
export function isSameJson(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (isJsonArray(left)) return isJsonArray(right) && isSameArray(left, right);
  return isJsonObject(left) && isJsonObject(right) && isSameObject(left, right);
}

function isSameArray(left: readonly Json[], right: readonly Json[]): boolean {
  return left.length === right.length && left.every((member, at) => isSameJson(member, right[at] ?? null));
}

function isSameObject(left: JsonObject, right: JsonObject): boolean {
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && isSameJson(left[name] ?? null, right[name] ?? null));
}

/** The deepest nesting that is read in manifests, plan files and requests. */
export const MAX_DEPTH = 100;

/** Whether a JSON value is nested deeper than so many levels. */
export function isDeeper(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  return Object.values(value).some((member) => isDeeper(member, depth - 1));
}

/** The length of a text in UTF-8 bytes, as the service counts it. */
export function toByteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** Values of a JSON file that are read: a plan of ten thousand changes has a quarter of them. */
export const MAX_VALUES = 2_000_000;

/** Why a JSON text is not read, before anything is made of it: it has too many values, or is nested deeper than a plan of the deepest manifest. */
export function checkJsonLimits(text: string): string | undefined {
  let [values, depth, isQuoted] = [1, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) isQuoted = !isQuoted;
    else if (isQuoted) at += unit === BACKSLASH ? 1 : 0;
    else if (unit === COMMA) values += 1;
    else if (unit === BRACKET || unit === BRACE) [values, depth] = [values + 1, depth + 1];
    else if (unit === BRACKET_END || unit === BRACE_END) depth -= 1;
    if (depth > MAX_FILE_DEPTH) return `is nested more than ${MAX_FILE_DEPTH} levels deep`;
    if (values > MAX_VALUES) return `has more than ${MAX_VALUES.toLocaleString('en')} values`;
  }
  return undefined;
}

const MAX_FILE_DEPTH = 2 * MAX_DEPTH;
const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE, BRACKET_END, BRACE_END] = [34, 92, 44, 91, 123, 93, 125];

/** The value of a JSON text; `undefined` when it is none. The parser's own message is dropped: it quotes the text. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
