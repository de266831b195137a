import type { OffsetRange } from './place.ts';

/** Finds one secret in texts, in each notation in which a format or a program may write it. */

/** Minimum length of a secret. A shorter value, such as `dev`, would also match in ordinary words. */
export const MIN_SECRET_LENGTH = 12;

export interface SecretMatcher {
  /** Returns the first position of the secret, in UTF-16 units. `undefined` if the text does not contain it. */
  readonly search: (text: string) => number | undefined;
  /** Returns the text with each match replaced. Matches that overlap are replaced as one. */
  readonly replace: (text: string, standIn: string) => string;
}

/**
 * Matches a whole secret, also with what Markdown and HTML insert between its characters. A secret of fewer than
 * `MIN_SECRET_LENGTH` characters matches only as a separate word, and not in base64 or as codes.
 */
export function createSecretMatcher(secret: string): SecretMatcher {
  if (secret.length < MIN_SECRET_LENGTH) {
    const word = createWholePattern(listCharacters(secret));
    return createPatternMatcher([new RegExp(`(?<![A-Za-z0-9])${word}(?![A-Za-z0-9])`, 'g')]);
  }
  const notations = listParts(secret).flatMap(listNotations);
  return createPatternMatcher(notations.map((units) => new RegExp(createWholePattern(units), 'g')));
}

/**
 * Matches each part of a secret that has at least `length` letters and digits in one notation. Ignores case, line
 * breaks, and all characters that are not letters or digits.
 */
export function createPieceMatcher(secret: string, length: number): SecretMatcher {
  const notations = listParts(secret).flatMap(listNotations);
  const withLetters = notations.filter((units) => units.some(({ isLetter }) => isLetter));
  return createPatternMatcher(
    withLetters.map((units) => new RegExp(createTreePattern(listPieces(units, length).map(listPiecePatterns)), 'gi')),
  );
}

/**
 * Maximum number of characters of a secret in one regular expression. Longer expressions compile slowly or not at all.
 */
const MAX_PATTERN_LENGTH = 1024;

/** Splits a secret into parts of about equal length, each short enough for one regular expression. */
function listParts(secret: string): readonly string[] {
  const count = Math.ceil(secret.length / MAX_PATTERN_LENGTH);
  const length = Math.ceil(secret.length / count);
  return Array.from({ length: count }, (_, index) => secret.slice(index * length, (index + 1) * length));
}

function createPatternMatcher(expressions: readonly RegExp[]): SecretMatcher {
  return {
    search: (text) => {
      const found = expressions.map((expression) => text.search(expression)).filter((index) => index >= 0);
      return found.length === 0 ? undefined : Math.min(...found);
    },
    replace: (text, standIn) => {
      const ranges = expressions.flatMap((expression) => listRanges(text, expression));
      let replaced = '';
      let end = 0; // index after the last character that was copied or replaced
      for (const range of ranges.sort((a, b) => a.start - b.start)) {
        if (range.start >= end) replaced += text.slice(end, range.start) + standIn;
        end = Math.max(end, range.end);
      }
      return replaced + text.slice(end);
    },
  };
}

/** Lists all matches, also those that overlap. */
function listRanges(text: string, expression: RegExp): readonly OffsetRange[] {
  const ranges: OffsetRange[] = [];
  expression.lastIndex = 0;
  for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
    ranges.push({ start: match.index, end: expression.lastIndex });
    expression.lastIndex = match.index + 1;
  }
  return ranges;
}

/** A character of a notation. */
interface Unit {
  readonly isLetter: boolean;
  /** Matches the character as it is. */
  readonly pattern: string;
  /** Patterns for the character in an escaped form. */
  readonly escapes: readonly string[];
}

/** What Markdown and HTML escapes insert between two characters. */
const MARKUP = '(?:\\\\|&#8203;|<wbr>)*';

function createWholePattern(units: readonly Unit[]): string {
  return units.map(({ pattern, escapes }) => toAlternatives([pattern, ...escapes])).join(MARKUP);
}

/** Lists all sequences of units that begin and end with a letter and have `length` letters, or as many as there are. */
function listPieces(units: readonly Unit[], length: number): readonly (readonly Unit[])[] {
  const letters = units.flatMap(({ isLetter }, index) => (isLetter ? [index] : []));
  const last = Math.max(0, letters.length - length);
  return letters
    .slice(0, last + 1)
    .map((start, at) => units.slice(start, (letters[at + length - 1] ?? letters.at(-1) ?? start) + 1));
}

/** What may be between the letters of a piece. */
const OTHERS = '[^A-Za-z0-9]*';

/** Other characters than letters are optional. Their escaped forms are skipped too, because these contain letters. */
function listPiecePatterns(units: readonly Unit[]): readonly string[] {
  return units.flatMap(({ isLetter, pattern, escapes }, index) => {
    if (isLetter) return [index === units.length - 1 ? pattern : pattern + OTHERS];
    return escapes.length === 0 ? [] : [`(?:${toAlternatives(escapes)}${OTHERS})?`];
  });
}

/** Matches each of the sequences. What several begin with is stated once, so that a text is not compared with each. */
function createTreePattern(sequences: readonly (readonly string[])[]): string {
  if (sequences.some(({ length }) => length === 0)) return '';
  const groups = Map.groupBy(sequences, ([first = '']) => first);
  return toAlternatives(
    Array.from(groups, ([first, members]) => first + createTreePattern(members.map((member) => member.slice(1)))),
  );
}

function toAlternatives(patterns: readonly string[]): string {
  return patterns.length === 1 ? patterns.join() : `(?:${patterns.join('|')})`;
}

/** Lists the notations of a secret: as it is or escaped for a URL, JSON, HTML or Markdown, in base64, and as codes. */
function listNotations(secret: string): readonly (readonly Unit[])[] {
  const bytes = Buffer.from(secret, 'utf8');
  return [
    listCharacters(secret),
    ...[0, 1, 2].map((offset) => listBase64(bytes, offset)),
    listCodes(bytes, 16, 2),
    listCodes(bytes, 10, 1),
    listCodes(bytes, 8, 3),
  ];
}

function listCharacters(secret: string): readonly Unit[] {
  return Array.from(secret, (character) => {
    if (/^[A-Za-z0-9]$/.test(character)) return { isLetter: true, pattern: character, escapes: [] };
    return {
      isLetter: false,
      pattern: character.replace(/[^\p{L}\p{N}]/gu, '\\$&'),
      escapes: listEscapes(character),
    };
  });
}

const HTML_ENTITIES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

function listEscapes(character: string): readonly string[] {
  const code = character.codePointAt(0) ?? 0;
  const entity = HTML_ENTITIES[character];
  return [
    Array.from(Buffer.from(character, 'utf8'), (byte) => `%${toAnyCase(formatByteCode(byte, 16, 2))}`).join(''),
    `\\\\u0*${toAnyCase(code.toString(16))}`,
    `&#0*${code};`,
    `&#[xX]0*${toAnyCase(code.toString(16))};`,
    ...(entity === undefined ? [] : [`&${entity};`]),
  ];
}

/**
 * Returns the base64 characters that `bytes` produce inside a longer text, after `offset` other bytes, if the whole text
 * is encoded. Omits the characters that also depend on neighbouring bytes.
 */
function listBase64(bytes: Buffer, offset: number): readonly Unit[] {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  const text = padded.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((padded.length * 8) / 6));
  return Array.from(text, (character) => {
    if (character === '+') return { isLetter: false, pattern: '[+-]', escapes: ['%2[bB]'] };
    if (character === '/') return { isLetter: false, pattern: '[/_]', escapes: ['%2[fF]'] };
    return { isLetter: true, pattern: character, escapes: [] };
  });
}

/** What programs may write before the code of a byte, as in `\x6b`, `0x6b`, `\u006b` and `\u{6b}`. */
const CODE_PREFIX: Unit = { isLetter: false, pattern: '', escapes: ['0?x', 'u(?:00|\\{)?'] };

function listCodes(bytes: Buffer, radix: number, width: number): readonly Unit[] {
  return Array.from(bytes).flatMap((byte, index) => {
    const digits = Array.from(formatByteCode(byte, radix, width), toAnyCase);
    const units = digits.map((pattern) => ({ isLetter: true, pattern, escapes: [] }));
    return index === 0 ? units : [CODE_PREFIX, ...units];
  });
}

function formatByteCode(byte: number, radix: number, width: number): string {
  return byte.toString(radix).padStart(width, '0');
}

/** A pattern for hexadecimal digits in either case. */
function toAnyCase(digits: string): string {
  return digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}
