import { Lexer, type Parser } from 'yaml';
import type { Diagnostic, DiagnosticCode } from '../model/diagnostic.ts';
import { MAX_DEPTH } from '../model/json.ts';

/** How much YAML is read, so that no input takes more than some seconds and some hundred megabytes. */
interface YamlLimits {
  /** Keys, values and lists of one document. */
  readonly parts: number;
  /** Words and signs of all files together. */
  readonly words: number;
  /** Characters of one key or value. */
  readonly text: number;
}

/** Three times the manifests of ten thousand resources; a `List` of ten thousand; what a request may have. */
export const YAML_LIMITS: YamlLimits = { parts: 300_000, words: 2_000_000, text: 1_048_576 };

/** The remaining limits for the files that are not read yet. */
export interface YamlAllowance {
  readonly limits: YamlLimits;
  words: number;
}

/** A new allowance, for all files of a run. */
export function createAllowance(limits: YamlLimits = YAML_LIMITS): YamlAllowance {
  return { limits, words: limits.words };
}

/** A text that has more than is read. */
export class YamlLimitError extends Error {
  override readonly name = 'YamlLimitError';
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

/** Nothing in the syntax tree of a manifest that can be read has as many open parts: a key and its value are two. */
const MAX_OPEN = 3 * MAX_DEPTH;

/** A document costs more than a word. */
const DOCUMENT_WORDS = 10;

/** The syntax of a text, document by document. Throws `YamlLimitError` before more is built than the limits allow. */
export function* parseWithin(parser: Parser, text: string, allowance: YamlAllowance): ReturnType<Parser['parse']> {
  const { limits } = allowance;
  let parts = 0;
  let before = '';
  for (const lexeme of new Lexer().lex(text)) {
    const isMarker = lexeme === '---' && before !== SCALAR;
    if (isMarker) parts = 0;
    parts += countParts(lexeme, before);
    allowance.words -= isMarker ? DOCUMENT_WORDS : 1;
    before = lexeme;
    if (lexeme.length > limits.text) throw toTextLimitError(limits);
    if (parts > limits.parts * PART) throw toPartsLimitError(limits);
    if (allowance.words < 0) throw toWordsLimitError(limits);
    // Nearly every word completes nothing.
    for (const token of parser.next(lexeme)) yield token;
    if (parser.stack.length > MAX_OPEN) throw toDepthLimitError();
  }
  yield* parser.end();
}

/** What the lexer puts before a plain scalar and the text of a block. */
const SCALAR = '\u001f';

/** What a key or value takes. Lists, maps and aliases take twice the room, and lines half of it. */
const PART = 4;
const OTHERS = toTable({
  '"': PART,
  "'": PART,
  '&': PART,
  '!': PART,
  '-': PART,
  '?': PART,
  '#': PART,
  '*': 2 * PART,
  '[': 2 * PART,
  '{': 2 * PART,
  '\n': 2,
});

function countParts(lexeme: string, before: string): number {
  return before === SCALAR ? PART : (OTHERS[lexeme.charCodeAt(0)] ?? 0);
}

/** By the code of the character: every word of every manifest is looked up. */
function toTable(parts: Readonly<Record<string, number>>): Uint8Array {
  const table = new Uint8Array(0x80);
  for (const [sign, count] of Object.entries(parts)) table[sign.charCodeAt(0)] = count;
  return table;
}

function toTextLimitError({ text }: YamlLimits): YamlLimitError {
  return new YamlLimitError(
    `this text is longer than ${count(text)} characters`,
    'Shorten it: no field of a manifest is as long.',
  );
}

function toPartsLimitError({ parts }: YamlLimits): YamlLimitError {
  return new YamlLimitError(
    `this document has more than ${count(parts)} keys and values`,
    'Divide it into several documents.',
  );
}

function toWordsLimitError({ words }: YamlLimits): YamlLimitError {
  const message = `the manifests are too long: up to here they have more than ${count(words)} words and signs`;
  return new YamlLimitError(message, 'Divide them into several stacks, or check that this file was meant.');
}

function toDepthLimitError(): YamlLimitError {
  return new YamlLimitError(TOO_DEEP, NESTING_REMEDY);
}

function count(number: number): string {
  return number.toLocaleString('en');
}

/** The message about nesting that is too deep for a syntax tree. */
export const TOO_DEEP = 'this is nested too deeply';

/** The remedy for values that are nested too deeply. */
export const NESTING_REMEDY = 'No field of a manifest is nested as deeply.';

/** Diagnostics of one code in one document that are shown; the others are only counted. */
const MAX_ALIKE = 20;

/** Diagnostics of all manifests that are shown. */
const MAX_SHOWN = 1000;

/** Items of which the first few of each code are shown. */
interface Cut<T> {
  readonly told: readonly T[];
  /** The omitted items of each code: the first, and their number. */
  readonly more: readonly { readonly first: T; readonly count: number }[];
}

/** Limits the diagnostics of one document to a number that a person reads. */
export function limitPerCode<T extends { readonly code: DiagnosticCode }>(items: Iterable<T>): Cut<T> {
  const counts = new Map<DiagnosticCode, number>();
  const firsts = new Map<DiagnosticCode, T>();
  const told: T[] = [];
  for (const item of items) {
    const count = (counts.get(item.code) ?? 0) + 1;
    counts.set(item.code, count);
    if (count <= MAX_ALIKE) told.push(item);
    else if (count === MAX_ALIKE + 1) firsts.set(item.code, item);
  }
  const more = [...firsts].map(([code, first]) => ({ first, count: (counts.get(code) ?? 0) - MAX_ALIKE }));
  return { told, more };
}

/** The diagnostic that replaces the omitted ones. */
export function describeOmitted(
  code: DiagnosticCode,
  count: number,
): { readonly message: string; readonly remedy: string } {
  return {
    message: `and ${count.toLocaleString('en')} more ${code}, from here on`,
    remedy: AGAIN,
  };
}

const AGAIN = 'Correct the ones above, and run the command again.';

/** Counts the diagnostics of a run, because locating one takes longer than finding it. */
export interface DiagnosticCounter {
  /** Whether one more is shown. */
  readonly admit: (code: DiagnosticCode) => boolean;
  /** The diagnostic that replaces all omitted ones, if any. */
  readonly listRest: () => readonly Diagnostic[];
}

/** A tally with nothing shown yet. */
export function createDiagnosticCounter(): DiagnosticCounter {
  let told = 0;
  let first: DiagnosticCode | undefined;
  return {
    admit: (code) => {
      told += 1;
      if (told > MAX_SHOWN) first ??= code;
      return told <= MAX_SHOWN;
    },
    listRest: () => {
      if (first === undefined) return [];
      const message = `and ${(told - MAX_SHOWN).toLocaleString('en')} more errors`;
      return [{ code: first, severity: 'error', message, remedy: AGAIN }];
    },
  };
}
