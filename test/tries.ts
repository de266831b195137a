/** The number of random tries: a quarter of `all`. EDGEWISE_TRIES=all tries all, as the nightly run does, and a number tries that many. */
export function toTries(all: number): number {
  if (TRIES === 'few') return Math.ceil(all / 4);
  return TRIES === 'all' ? all : Number(TRIES);
}

const TRIES = process.env['EDGEWISE_TRIES'] ?? 'few';

/** Whether nothing is left out, as in the nightly run. */
export const HAS_ALL_TRIES = TRIES === 'all';

if (!/^(few|all|[1-9]\d*)$/.test(TRIES)) throw new Error('EDGEWISE_TRIES is few, all or a number');

/** The seed of random data, which EDGEWISE_SEED changes. A failure prints the seed and the path of the smallest counterexample. */
export const SEED = Number(process.env['EDGEWISE_SEED'] ?? 20_260_301);

/** The timeout of a test of properties. Generous, because shrinking a failure is slow. */
export const LONG = { timeout: 600_000 } as const;

/** Selects cases evenly: a quarter of `most`, or the number in EDGEWISE_TRIES. */
export function selectEvenly<T>(cases: readonly T[], most: number = cases.length): readonly T[] {
  const step = cases.length / toTries(Math.min(most, cases.length));
  // A step that is not a whole number does not always select the same place of a repeating pattern.
  return cases.filter((_, index) => index === 0 || Math.floor(index / step) > Math.floor((index - 1) / step));
}
