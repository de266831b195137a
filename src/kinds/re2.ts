import { RE2JS, RE2JSException, RE2JSSyntaxException, RE2Set } from 're2js';

/** A compiled RE2 pattern. Matching takes time linear in the length of the text and in `size`. */
interface Re2Pattern {
  /** Number of instructions of the compiled pattern. */
  readonly size: number;
  readonly isFoundIn: (text: string) => boolean;
}

/**
 * Compiles a pattern, or returns why it is invalid. Compiling may be slow: `estimateRe2Cost` returns an upper bound of
 * its steps.
 */
export function compileRe2(pattern: string): Re2Pattern | { readonly finding: string } {
  try {
    const compiled = RE2JS.compile(pattern);
    return { size: compiled.programSize(), isFoundIn: (text) => compiled.matcher(text).find() };
  } catch (error) {
    if (error instanceof Error) return { finding: error.message };
    throw error;
  }
}

/** Returns why a pattern is invalid, or `undefined`. Takes time linear in the length of the pattern. */
export function checkRe2(pattern: string): string | undefined {
  const light = simplifyPattern(pattern);
  try {
    new RE2Set().add(light); // parses without compiling: a pattern of 7 KB may compile to a million instructions
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // `message` quotes the simplified pattern, which the user did not write. The description quotes nothing.
    return error instanceof RE2JSSyntaxException && light !== pattern ? error.getDescription() : error.message;
  }
}

/**
 * Whether a pattern is found in every text that is not empty, as far as texts of many kinds show. False if the pattern
 * is too large to compile here.
 */
export function matchesEveryText(pattern: string): boolean {
  if (estimateRe2Cost(pattern) > MAX_COST) return false;
  const compiled = compileRe2(pattern);
  return 'isFoundIn' in compiled && TEXTS.every(compiled.isFoundIn);
}

const MAX_COST = 20_000;
const TEXTS = ['a', 'Z', '0', '-', ' ', '/', 'é', '🛰', 'curl/8.5.0', 'Mozilla/5.0 (X11; Linux x86_64)', 'qz 7', '…\t~'];

/** Upper bound of the steps for compiling a pattern. A step takes about half a microsecond. */
export function estimateRe2Cost(pattern: string): number {
  const classes = pattern.match(/\\p/gi)?.length ?? 0;
  const ranges = /\(\?[a-z]*i/i.test(pattern) ? (pattern.match(/-(?:\\x\{|[^\0-\x7f])/gu)?.length ?? 0) : 0;
  return pattern.length * countRepetitions(pattern) + classes * CLASS_STEPS + ranges * RANGE_STEPS;
}

/**
 * `CLASS_STEPS`: for a Unicode class, which has hundreds of ranges. `RANGE_STEPS`: for a range with the flag `i`, which
 * may have 100,000 letters.
 */
const CLASS_STEPS = 1000;
const RANGE_STEPS = 30_000;

/**
 * Returns the factor by which repetitions enlarge a compiled pattern. Nested repetitions multiply, up to 1000 in RE2.
 */
function countRepetitions(pattern: string): number {
  const counts = Array.from(pattern.matchAll(/\{(\d{1,4})(?:,(\d{0,4}))?\}/g), ([, from, to]) => Number(to || from));
  return Math.min(
    MAX_REPETITIONS,
    counts.reduce((product, count) => product * Math.max(1, count), 2),
  );
}

/** RE2 allows 1000 repetitions. Twice as many, because the count above starts at 2. */
const MAX_REPETITIONS = 2000;

/**
 * Replaces parts that are slow to parse by parts that are valid in the same positions:
 * - `{0,1000}`, which would become a thousand nested expressions, by `{1000}`;
 * - a Unicode class by `\d`;
 * - the flag `i` by `m`, except before `-i`: in a class such as `[(?i-i)]`, `i-i` is a valid range and `m-i` is not;
 * - `[:` without a later `:]` by `[\:`, because the library would search for the end each time.
 */
function simplifyPattern(pattern: string): string {
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
    '\\\\x\\{', // the start of a code point, no repetition
    '\\\\.',
    '\\{(0|[1-9]\\d{0,3}),([1-9]\\d{0,3})\\}',
    '\\(\\?[imsU]+(?=[:)]|-[msU])',
    '\\[:',
  ].join('|'),
  'gsu',
);

function isUnicodeClass(token: string): boolean {
  try {
    new RE2Set().add(token);
  } catch (error) {
    if (error instanceof RE2JSException) return false;
    throw error;
  }
  return true;
}
