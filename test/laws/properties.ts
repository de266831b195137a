import fc from 'fast-check';
import { toTries } from '../tries.ts';

/** Where random data starts: EDGEWISE_SEED changes it. A failure prints the seed and the path of the smallest counterexample. */
export const SEED = Number(process.env['EDGEWISE_SEED'] ?? 20_260_301);

/** Checks a property with a quarter of `numRuns` values, or as many as EDGEWISE_TRIES says. */
export async function holds<Values>(property: fc.IAsyncProperty<Values>, numRuns: number): Promise<void> {
  await fc.assert(property, { seed: SEED, numRuns: toTries(numRuns), maxSkipsPerRun: 1000 });
}

/** The timeout of a test that checks properties. Generous: what is slow here is to shrink a failure. */
export const LONG = { timeout: 600_000 } as const;

/** Cases, evenly spread: a quarter of `most`, or as many as EDGEWISE_TRIES says. */
export function selectEvenly<T>(cases: readonly T[], most: number = cases.length): readonly T[] {
  const step = cases.length / toTries(Math.min(most, cases.length));
  // A step that is not a whole number does not always meet the same place of a repeating pattern.
  return cases.filter((_, index) => index === 0 || Math.floor(index / step) > Math.floor((index - 1) / step));
}
