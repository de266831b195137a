import fc from 'fast-check';
import { toCases, toTries } from '../tries.ts';

/**
 * How often properties are tried, and from which seed: EDGEWISE_SEED and EDGEWISE_RUNS say otherwise than what usual runs do.
 * A failure prints the seed and the path of the smallest counterexample.
 */
export const SEED = Number(process.env['EDGEWISE_SEED'] ?? 20_260_301);
const RUNS = process.env['EDGEWISE_RUNS'];

/** Tries a property `numRuns` times in full, or as often as EDGEWISE_RUNS says. */
export async function holds<Values>(property: fc.IAsyncProperty<Values>, numRuns: number): Promise<void> {
  await fc.assert(property, {
    seed: SEED,
    numRuns: RUNS === undefined ? toTries(numRuns) : Number(RUNS),
    maxSkipsPerRun: 1000,
  });
}

/** How long a test may take that tries properties. Generous: what is slow here is shrinking a failure. */
export const LONG = { timeout: RUNS === undefined ? 120_000 : 24 * 3_600_000 } as const;

/** Of the cases of a test, evenly spread: all of them with EDGEWISE_FULL=1, and else a quarter, or as many as EDGEWISE_RUNS says. */
export function thinOut<T>(cases: readonly T[]): readonly T[] {
  return spread(cases, toCases(cases.length));
}

/** The same of so many combinations that trying each is like trying at random: as many as are tried of `most` that is random. */
export function thinOutLikeRandom<T>(cases: readonly T[], most: number = cases.length): readonly T[] {
  return spread(cases, toTries(Math.min(most, cases.length)));
}

function spread<T>(cases: readonly T[], count: number): readonly T[] {
  const step = cases.length / Number(RUNS ?? count);
  // A step that is no whole number does not always hit the same place of what repeats itself.
  return cases.filter((_, index) => index === 0 || Math.floor(index / step) > Math.floor((index - 1) / step));
}
