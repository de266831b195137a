/**
 * How much is tried. `npm test` is for a person who waits: a quarter of what is random, and no long journeys. EDGEWISE_FULL=1, as
 * `.ci/run` sets it, is everything.
 */
export const IS_FULL = process.env['EDGEWISE_FULL'] === '1';

/** How often something random is tried, that is tried so often in full. */
export function toTries(inFull: number): number {
  return IS_FULL ? inFull : Math.ceil(inFull / 4);
}
