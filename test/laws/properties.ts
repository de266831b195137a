import fc from 'fast-check';
import { toTries } from '../tries.ts';

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

/** Of the cases of a test that tries all there are in full, as many as EDGEWISE_RUNS says, or a quarter; evenly spread. */
export function thinOut<T>(cases: readonly T[]): readonly T[] {
  const step = Math.ceil(cases.length / Number(RUNS ?? toTries(cases.length)));
  return cases.filter((_, index) => index % step === 0);
}
