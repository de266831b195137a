import { Lexer, type Parser } from 'yaml';
import type { Diagnostic, DiagnosticCode } from '../model/diagnostic.ts';
import { MAX_DEPTH } from '../model/json.ts';
import { StackError } from '../model/user-errors.ts';
import { createTagToken, type TagToken } from './tags.ts';

/** Limits on YAML, so that reading takes at most a few seconds and a few hundred megabytes. */
interface YamlLimits {
  /** Keys, values and lists in one document. */
  readonly nodes: number;
  /** YAML lexemes in all files together. */
  readonly lexemes: number;
  /** Characters in one key or value. */
  readonly text: number;
}

/** `nodes` allows a `List` of 10,000 resources, `lexemes` about 25,000 resources. `text` is the largest request size. */
export const YAML_LIMITS: YamlLimits = { nodes: 300_000, lexemes: 2_000_000, text: 1_048_576 };

/** The limits that remain for the files that are not read yet. */
export interface RemainingYamlBudget {
  readonly limits: YamlLimits;
  lexemes: number;
}

/** Creates the limits for all files of a run. */
export function createYamlBudget(limits: YamlLimits = YAML_LIMITS): RemainingYamlBudget {
  return { limits, lexemes: limits.lexemes };
}

/** The limit for open nodes. A manifest within MAX_DEPTH needs fewer: each level opens two, a key and a value. */
const MAX_OPEN = 3 * MAX_DEPTH;

/** The number of lexemes that a document counts as, because a document costs more than a lexeme. */
const DOCUMENT_WORDS = 10;

/**
 * Yields parser tokens, one document at a time. Throws a `StackError` before the syntax tree exceeds the limits. Appends
 * the tags to `tags`.
 */
export function* parseYamlTokensWithinBudget(
  parser: Parser,
  text: string,
  { allowance, tags }: { readonly allowance: RemainingYamlBudget; readonly tags: TagToken[] },
): ReturnType<Parser['parse']> {
  const { limits } = allowance;
  let parts = 0;
  let before = '';
  for (const lexeme of new Lexer().lex(text)) {
    const isMarker = lexeme === '---' && before !== SCALAR;
    if (isMarker) parts = 0;
    parts += countParts(lexeme, before);
    allowance.lexemes -= isMarker ? DOCUMENT_WORDS : 1;
    if (lexeme.startsWith('!') && before !== SCALAR) tags.push(createTagToken(lexeme, parser));
    before = lexeme;
    if (lexeme.length > limits.text) throw createTextLimitError(limits);
    if (parts > limits.nodes * PART_COST) throw createPartsLimitError(limits);
    if (allowance.lexemes < 0) throw createWordsLimitError(limits);
    // Most lexemes yield no token, because a token is usually a whole document.
    for (const token of parser.next(lexeme)) yield token;
    if (parser.stack.length > MAX_OPEN) throw createLimitError(TOO_DEEP_MESSAGE, NESTING_REMEDY);
  }
  yield* parser.end();
}

/** The control character that the lexer puts before a plain scalar and before the text of a block. */
const SCALAR = '\u001f';

/**
 * How much a key or value counts towards the limit `nodes`, in quarters of a node. Flow lists, flow maps and aliases
 * count double, line breaks half.
 */
const PART_COST = 4;
const PARTS_BY_CHARACTER: Readonly<Record<string, number>> = {
  '"': PART_COST,
  "'": PART_COST,
  '&': PART_COST,
  '!': PART_COST,
  '-': PART_COST,
  '?': PART_COST,
  '#': PART_COST,
  '*': 2 * PART_COST,
  '[': 2 * PART_COST,
  '{': 2 * PART_COST,
  '\n': 2,
};

function countParts(lexeme: string, before: string): number {
  return before === SCALAR ? PART_COST : (PARTS_BY_CHARACTER[lexeme.charAt(0)] ?? 0);
}

function createLimitError(message: string, remedy: string): StackError {
  return new StackError(message, { reason: 'invalid', remedy });
}

function createTextLimitError({ text }: YamlLimits): StackError {
  return createLimitError(
    `this text is longer than ${count(text)} characters`,
    'Shorten it: no field of a manifest allows this length.',
  );
}

function createPartsLimitError({ nodes }: YamlLimits): StackError {
  return createLimitError(
    `this document has more than ${count(nodes)} keys and values`,
    'Divide it into several documents.',
  );
}

function createWordsLimitError({ lexemes }: YamlLimits): StackError {
  const message = `the manifests are too long: up to here they have more than ${count(lexemes)} YAML tokens`;
  return createLimitError(message, 'Divide them into several stacks, or check that this is the right file.');
}

function count(number: number): string {
  return number.toLocaleString('en');
}

/** The message for a text whose nesting is too deep to build a syntax tree. */
export const TOO_DEEP_MESSAGE = 'this is nested too deeply';

export const NESTING_REMEDY = 'No field of a manifest is nested as deeply.';

/**
 * The maximum number of diagnostics of one code that are shown for a document. They probably have one cause. The others
 * are counted.
 */
const MAX_PER_CODE = 20;

/**
 * The maximum number of diagnostics that are shown for all manifests together: more than a user reads before the next
 * run.
 */
const MAX_SHOWN = 1000;

/** The first items of each code, and the number of the other items. */
interface LimitedItems<T> {
  readonly shown: readonly T[];
  /** For each code with omitted items: the first omitted item, and the number of omitted items. */
  readonly more: readonly { readonly first: T; readonly count: number }[];
}

/** Keeps the first MAX_PER_CODE diagnostics of each code in a document, and counts the others. */
export function limitDiagnosticsPerCode<T extends { readonly code: DiagnosticCode }>(
  items: Iterable<T>,
): LimitedItems<T> {
  const counts = new Map<DiagnosticCode, number>();
  const firsts = new Map<DiagnosticCode, T>();
  const shown: T[] = [];
  for (const item of items) {
    const count = (counts.get(item.code) ?? 0) + 1;
    counts.set(item.code, count);
    if (count <= MAX_PER_CODE) shown.push(item);
    else if (count === MAX_PER_CODE + 1) firsts.set(item.code, item);
  }
  const more = [...firsts].map(([code, first]) => ({ first, count: (counts.get(code) ?? 0) - MAX_PER_CODE }));
  return { shown, more };
}

/** Returns the text of the diagnostic that replaces omitted diagnostics of a code. */
export function describeOmittedDiagnostics(
  code: DiagnosticCode,
  count: number,
): { readonly message: string; readonly remedy: string } {
  return {
    message: `and ${count.toLocaleString('en')} more ${code} after this line`,
    remedy: RUN_AGAIN,
  };
}

const RUN_AGAIN = 'Correct the ones above, and run the command again.';

/** Limits the diagnostics of a run before they are located, because locating one takes longer than finding it. */
export interface DiagnosticLimiter {
  /** Counts a diagnostic. Returns whether it is shown. */
  readonly shouldShow: (code: DiagnosticCode) => boolean;
  /** Returns one diagnostic in place of all omitted ones. Empty if none was omitted. */
  readonly listRest: () => readonly Diagnostic[];
}

export function createDiagnosticLimiter(): DiagnosticLimiter {
  let counted = 0;
  let first: DiagnosticCode | undefined;
  return {
    shouldShow: (code) => {
      counted += 1;
      if (counted > MAX_SHOWN) first ??= code;
      return counted <= MAX_SHOWN;
    },
    listRest: () => {
      if (first === undefined) return [];
      const message = `and ${(counted - MAX_SHOWN).toLocaleString('en')} more errors`;
      return [{ code: first, severity: 'error', message, remedy: RUN_AGAIN }];
    },
  };
}
