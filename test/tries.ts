/**
 * How often something random is tried: a quarter of the given number. EDGEWISE_TRIES=all tries all of them, as the nightly run does, and a number
 * in its place that many.
 */
export function toTries(all: number): number {
  if (TRIES === 'few') return Math.ceil(all / 4);
  return TRIES === 'all' ? all : Number(TRIES);
}

const TRIES = process.env['EDGEWISE_TRIES'] ?? 'few';

/** Whether nothing is left out, as in the nightly run. */
export const HAS_ALL_TRIES = TRIES === 'all';

if (!/^(few|all|[1-9]\d*)$/.test(TRIES)) throw new Error('EDGEWISE_TRIES is few, all or a number');

/** Where random data starts: EDGEWISE_SEED changes it. A failure prints the seed and the path of the smallest counterexample. */
export const SEED = Number(process.env['EDGEWISE_SEED'] ?? 20_260_301);

/** The timeout of a test that checks properties. Generous: what is slow here is to shrink a failure. */
export const LONG = { timeout: 600_000 } as const;

/** Cases, evenly spread: a quarter of `most`, or as many as EDGEWISE_TRIES says. */
export function selectEvenly<T>(cases: readonly T[], most: number = cases.length): readonly T[] {
  const step = cases.length / toTries(Math.min(most, cases.length));
  // A step that is not a whole number does not always meet the same place of a repeating pattern.
  return cases.filter((_, index) => index === 0 || Math.floor(index / step) > Math.floor((index - 1) / step));
}
