import { isJsonArray, isJsonObject, type Json } from './json.ts';
import type { FieldPath } from './state.ts';

/** Control and format characters (C0, C1, bidi, zero-width), line and paragraph separators, lone surrogates, invisible fillers, noncharacters. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text on one line, each unprintable character escaped as JSON would: `\n`, `\u001b`, `\u202e`. Idempotent. */
export function toPrintable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => SHORT[character] ?? toEscape(character));
}

/** One escape for each UTF-16 unit, so that it means the same inside of a JSON text. */
function toEscape(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}

/** The texts without a NUL, as a regular expression. Lone surrogates need none: UTF-8 cannot encode them. */
export const STORABLE_PATTERN = '^[^\\x00]*$';

/** Why services cannot store a text unchanged; follows the name of its place in a message. `undefined`: they can. */
export function checkPrintable(text: string): string | undefined {
  if (text.includes('\0')) return 'contains a NUL character';
  return text.isWellFormed() ? undefined : 'contains half of a surrogate pair, which is no character';
}

/** A text inside of a value that cannot be stored, and why. */
interface TextFinding {
  readonly path: FieldPath;
  readonly isKey: boolean;
  readonly message: string;
}

/** Every text and key inside of a value that cannot be stored. The value is nested no deeper than the readers allow. */
export function listUnprintable(value: Json, path: FieldPath = []): readonly TextFinding[] {
  if (typeof value === 'string') return toFindings(value, path, false);
  if (isJsonArray(value)) return value.flatMap((member, index) => listUnprintable(member, [...path, index]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const at = [...path, key];
    return [...toFindings(key, at, true), ...listUnprintable(member, at)];
  });
}

function toFindings(text: string, path: FieldPath, isKey: boolean): readonly TextFinding[] {
  const message = checkPrintable(text);
  return message === undefined ? [] : [{ path, isKey, message }];
}
