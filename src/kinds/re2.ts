import { RE2JS, RE2JSException, RE2JSSyntaxException, RE2Set } from 're2js';

/** A pattern in RE2 syntax, which is matched in a time that grows with the text and the size of the pattern only. */
interface Re2Pattern {
  /** Instructions of the compiled pattern. */
  readonly size: number;
  /** Whether a part of the text matches. */
  readonly isFoundIn: (text: string) => boolean;
}

/** Compiles a pattern, or returns the reason why it is invalid. It may take long: `weighRe2` returns an upper bound. */
export function compileRe2(pattern: string): Re2Pattern | { readonly finding: string } {
  try {
    const compiled = RE2JS.compile(pattern);
    return { size: compiled.programSize(), isFoundIn: (text) => compiled.matcher(text).find() };
  } catch (error) {
    if (error instanceof Error) return { finding: error.message };
    throw error;
  }
}

/** Why a pattern is invalid, in a time linear in its length. */
export function checkRe2(pattern: string): string | undefined {
  const light = toLightPattern(pattern);
  try {
    new RE2Set().add(light); // parses, and leaves compiling for later: a pattern of 7 KB may have a million instructions
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // The message quotes what was parsed.
    return error instanceof RE2JSSyntaxException && light !== pattern ? error.getDescription() : error.message;
  }
}

/** Steps that compiling takes at most, of about half a microsecond. */
export function weighRe2(pattern: string): number {
  const classes = pattern.match(/\\p/gi)?.length ?? 0;
  const ranges = /\(\?[a-z]*i/i.test(pattern) ? (pattern.match(/-(?:\\x\{|[^\0-\x7f])/gu)?.length ?? 0) : 0;
  return pattern.length * countRepetitions(pattern) + classes * CLASS_STEPS + ranges * RANGE_STEPS;
}

/** A class of Unicode has hundreds of ranges, and without regard to case a range is a hundred thousand letters. */
const CLASS_STEPS = 1000;
const RANGE_STEPS = 30_000;

/** What counted repetitions make of a pattern before anything is matched: RE2 allows them, in each other, up to a thousand. */
function countRepetitions(pattern: string): number {
  const counts = Array.from(pattern.matchAll(/\{(\d{1,4})(?:,(\d{0,4}))?\}/g), ([, from, to]) => Number(to || from));
  return Math.min(
    MAX_REPETITIONS,
    counts.reduce((product, count) => product * Math.max(1, count), 2),
  );
}

const MAX_REPETITIONS = 2000;

/**
 * Replaces parts that are slow to parse by parts that are valid in the same positions:
 * - `{0,1000}`, which would be so many nested expressions, by `{1000}`;
 * - a class of Unicode by `\d`;
 * - the flag `i` by `m`, except before `-i`, so that in a class `[(?i-s)]` remains a range;
 * - `[:` without a later `:]`, for which the library would search each time, by `[\:`.
 */
function toLightPattern(pattern: string): string {
  const lastNameEnd = pattern.lastIndexOf(':]');
  return pattern.replaceAll(TOKENS, (token: string, from = '', to = '', offset = 0) => {
    if (token.startsWith('{')) return Number(from) <= Number(to) ? `{${to}}` : token;
    if (token.startsWith('(')) return token.replaceAll('i', 'm');
    if (token === '[:') return offset > lastNameEnd ? '[\\:' : token;
    return /^\\p/i.test(token) && isUnicodeClass(token) ? '\\d' : token;
  });
}

const TOKENS = new RegExp(
  [
    '\\\\Q.*?(?:\\\\E|$)', // quoted text
    '\\\\[pP](?:\\{[^}]{1,40}\\}|.)',
    '\\\\.',
    '\\{(0|[1-9]\\d{0,3}),([1-9]\\d{0,3})\\}',
    '\\(\\?[imsU]+(?=[:)]|-[msU])',
    '\\[:',
  ].join('|'),
  'gsu',
);

function isUnicodeClass(token: string): boolean {
  if (UNICODE_CLASSES.has(token)) return true;
  try {
    new RE2Set().add(token);
  } catch (error) {
    if (error instanceof RE2JSException) return false;
    throw error;
  }
  UNICODE_CLASSES.add(token);
  return true;
}

/** The classes that were found in patterns. There are some hundred. */
const UNICODE_CLASSES = new Set<string>();
