/**
 * How much is tried. `npm test` is for a person who waits: a quarter of the random tries, and no long tests. EDGEWISE_FULL=1 is everything.
 * With EDGEWISE_TRIES=few, as `.ci/run` sets it, it is everything but three quarters of the random tries.
 */
export const IS_FULL = process.env['EDGEWISE_FULL'] === '1';

/**
 * Whether a quarter of the random tries is enough, though everything else runs. The tests of mutants (`test/simulation/mutants.test.ts`,
 * `test/stranger/mutants.test.ts`) show that other tests than the walks notice each known mutant with a quarter. EDGEWISE_TRIES=all makes all.
 */
const HAS_FEW_TRIES = process.env['EDGEWISE_TRIES'] === 'few';

/** How often something random is tried, that is tried so often in full. */
export function toTries(inFull: number): number {
  return HAS_FEW_TRIES ? Math.ceil(inFull / 4) : toCases(inFull);
}

/** How many cases are tried of a list that was written down or is complete, of so many: all with EDGEWISE_FULL=1. */
export function toCases(inFull: number): number {
  return IS_FULL ? inFull : Math.ceil(inFull / 4);
}
