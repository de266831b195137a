import type { UncodedFinding } from './finding.ts';
import { isJsonArray, isJsonObject, type Json } from './json.ts';
import type { FieldPath } from './state.ts';

/** Control and format characters (C0, C1, bidi, zero-width), line and paragraph separators, lone surrogates, invisible fillers, noncharacters. */
const UNPRINTABLE =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800]/gu;
const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Returns the text on one line, with unprintable characters as JSON escapes: `\n`, `\u001b`, `\u202e`. Idempotent. */
export function toPrintable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => SHORT_ESCAPES[character] ?? escapeUnits(character));
}

/** Returns one escape for each UTF-16 unit, because JSON escapes units, not characters. */
function escapeUnits(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}

/**
 * Returns two texts that look the same, because only their forms in Unicode differ, with what differs as escapes:
 * `gr\u00fcn` and `gru\u0308n`. Returns other texts as they are.
 */
export function showUnicodeForms(left: string, right: string): readonly [left: string, right: string] {
  if (left === right || left.normalize() !== right.normalize()) return [left, right];
  return [escapeClusters(left, right), escapeClusters(right, left)];
}

/** Escapes each character, with its marks, that is not at the same position of the other text. */
function escapeClusters(text: string, other: string): string {
  const others = splitIntoClusters(other);
  const toEscapes = (cluster: string): string => cluster.replace(/[^\0-\x7f]/g, escapeUnits);
  return splitIntoClusters(text)
    .map((cluster, index) => (cluster === others[index] ? cluster : toEscapes(cluster)))
    .join('');
}

function splitIntoClusters(text: string): readonly string[] {
  return Array.from(new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text), ({ segment }) => segment);
}

/** A regular expression for texts without NUL. It need not exclude lone surrogates: UTF-8 cannot encode them. */
export const NO_NUL_PATTERN = '^[^\\x00]*$';

/**
 * Returns why the service cannot store a text, or `undefined` if it can. In a message, the reason follows the position.
 */
export function checkStorableText(text: string): string | undefined {
  if (text.includes('\0')) return 'contains a NUL character';
  return text.isWellFormed() ? undefined : 'contains half of a surrogate pair, which is not a character';
}

/** Returns every string and key that cannot be stored. Recursive, so the caller must limit the depth of the value. */
export function listUnstorableTexts(value: Json, path: FieldPath = []): readonly UncodedFinding[] {
  if (typeof value === 'string') return listUnprintable(value, path);
  if (isJsonArray(value)) return value.flatMap((member, index) => listUnstorableTexts(member, [...path, index]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const at = [...path, key];
    return [...listUnprintable(key, at), ...listUnstorableTexts(member, at)];
  });
}

function listUnprintable(text: string, path: FieldPath): readonly UncodedFinding[] {
  const message = checkStorableText(text);
  return message === undefined ? [] : [{ path, message }];
}
