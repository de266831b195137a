import fc from 'fast-check';
import { SEED, toTries } from '../tries.ts';

/** Checks a property with a quarter of `numRuns` values, or as many as EDGEWISE_TRIES says. */
export async function holds<Values>(property: fc.IAsyncProperty<Values>, numRuns: number): Promise<void> {
  await fc.assert(property, { seed: SEED, numRuns: toTries(numRuns), maxSkipsPerRun: 1000 });
}
