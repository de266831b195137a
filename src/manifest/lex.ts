import { Lexer, type Parser } from 'yaml';
import { MAX_DEPTH } from '../model/json.ts';

/** How much YAML is read, so that no input takes more than some seconds and some hundred megabytes. */
export interface YamlLimits {
  /** Keys, values and lists of one document. */
  readonly parts: number;
  /** Words and signs of all files together. */
  readonly words: number;
  /** Characters of one key or value. */
  readonly text: number;
}

/** Three times the manifests of ten thousand resources; a `List` of ten thousand; what a request may have. */
export const YAML_LIMITS: YamlLimits = { parts: 300_000, words: 2_000_000, text: 1_048_576 };

/** What is left of the limits for the files that are still to be read. */
export interface YamlAllowance {
  readonly limits: YamlLimits;
  words: number;
}

/** A new allowance, for all files of a run. */
export function createAllowance(limits: YamlLimits = YAML_LIMITS): YamlAllowance {
  return { limits, words: limits.words };
}

/** A text that has more than is read. */
export class YamlExcess extends Error {
  override readonly name = 'YamlExcess';
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

/** The syntax of a text, document by document. Throws `YamlExcess` before more is built than the limits allow. */
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
    if (lexeme.length > limits.text) throw toTextExcess(limits);
    if (parts > limits.parts * PART) throw toPartsExcess(limits);
    if (allowance.words < 0) throw toWordsExcess(limits);
    // Nearly every word completes nothing.
    for (const token of parser.next(lexeme)) yield token;
    if (parser.stack.length > MAX_OPEN) throw toDepthExcess();
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

function toTextExcess({ text }: YamlLimits): YamlExcess {
  return new YamlExcess(
    `this text is longer than ${count(text)} characters`,
    'Shorten it: no field of a manifest is as long.',
  );
}

function toPartsExcess({ parts }: YamlLimits): YamlExcess {
  return new YamlExcess(
    `this document has more than ${count(parts)} keys and values`,
    'Divide it into several documents.',
  );
}

function toWordsExcess({ words }: YamlLimits): YamlExcess {
  const message = `the manifests are too long: up to here they have more than ${count(words)} words and signs`;
  return new YamlExcess(message, 'Divide them into several stacks, or check that this file was meant.');
}

function toDepthExcess(): YamlExcess {
  return new YamlExcess(TOO_DEEP, NOT_AS_DEEP);
}

function count(number: number): string {
  return number.toLocaleString('en');
}

/** The message about nesting that is too deep for a syntax tree. */
export const TOO_DEEP = 'this is nested too deeply';

/** What to do about nesting that goes too deep. */
export const NOT_AS_DEEP = 'No field of a manifest is nested as deeply.';
