import {
  computeUtf8ByteLength,
  isJsonArray,
  isJsonObject,
  type Json,
  parseJson,
  toCanonicalJson,
} from '../model/json.ts';
import type { Field } from './field.ts';

/**
 * The one comparison of texts for people by their spelling. Services trim, escape or cut such texts, and nothing
 * remembers how. So what two spellings have in common must be as good as the text itself: another word, one more digit or
 * an empty text is never a spelling.
 */

/**
 * Whether a live description or metadata is the desired one in another spelling: other white space, line ends or case,
 * another form of Unicode, escaped entities; metadata by its value as JSON. The live description may also be a beginning
 * of the desired one. Both values are in normal form.
 */
export function isSpellingOf({ type, mayBeSpelledOtherwise }: Field, live: Json, desired: Json): boolean {
  if (!mayBeSpelledOtherwise) return false;
  if (type.type === 'metadata') return foldMetadata(live) === foldMetadata(desired);
  if (typeof live !== 'string' || typeof desired !== 'string') return false;
  if (foldProse(live) === foldProse(desired)) return true;
  // A service counts the bytes of the form that it stores.
  return isBeginningOf(live, desired) || isBeginningOf(live, desired.normalize());
}

/** A description that is cut before this many bytes may have lost a word that matters. Services keep at least as many. */
const MIN_CUT_BYTES = 32;

/** Whether a live text is the start of a text, cut after MIN_CUT_BYTES or more bytes, perhaps within a character. */
function isBeginningOf(live: string, text: string): boolean {
  const starts = new Set([live, live.replace(/\ufffd+$/, '')].map(foldProse));
  starts.delete('');
  let bytes = 0;
  let start = '';
  for (const character of text) {
    bytes += computeUtf8ByteLength(character);
    if (bytes > MIN_CUT_BYTES && starts.has(foldProse(start))) return true;
    start += character;
  }
  return false;
}

/** What all spellings of a text have in common, unless its end is cut. */
export function foldProse(text: string): string {
  // Some letters have two lower-case forms, and one upper-case form.
  return foldText(foldText(text).toUpperCase().toLowerCase());
}

function foldText(text: string): string {
  return decodeEntities(text)
    .normalize('NFKC')
    .replace(/[\s\u0085]+/g, ' ')
    .trim();
}

/** An entity of HTML. An ampersand may be escaped several times: `&amp;amp;lt;`. */
const ENTITY = /&(?:(?:amp|#0*38|#x0*26);)*(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/gi;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  return text.replace(ENTITY, (entity, name: string | undefined, decimal: string | undefined, hex = '') => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= MAX_CODE_POINT ? String.fromCodePoint(code) : entity;
  });
}

const MAX_CODE_POINT = 0x10_ff_ff;

function foldMetadata(user: Json): string {
  const value = typeof user === 'string' && user.trimStart().startsWith('{') ? (parseJson(user) ?? user) : user;
  const folded = toCanonicalJson(foldJson(value));
  return folded === EMPTY_OBJECT ? NO_METADATA : folded;
}

const [LIST, OBJECT] = ['list', 'object'];
const EMPTY_OBJECT = toCanonicalJson([OBJECT]);
const NO_METADATA = toCanonicalJson('');

/**
 * Without nulls, and with numbers like their text. An object becomes the sorted list of its members, because two of its
 * names may be spellings of one.
 */
function foldJson(value: Json): Json {
  if (typeof value === 'string') return foldText(value);
  if (typeof value === 'number') return String(value);
  if (isJsonArray(value)) return [LIST, ...value.map(foldJson)];
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === null ? [] : [[foldText(name), foldJson(member)]],
  );
  return [OBJECT, ...members.sort((left, right) => (toCanonicalJson(left) < toCanonicalJson(right) ? -1 : 1))];
}
