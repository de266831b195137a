/**
 * How much is tried. `npm test` is for a person who waits: a quarter of what is random, and no long journeys. EDGEWISE_FULL=1, as
 * `.ci/run` sets it, is everything.
 */
export const IS_FULL = process.env['EDGEWISE_FULL'] === '1';

/** Whether little is tried of what is random, though everything else is: where what differs is the Node, which nothing random touches. */
const HAS_FEW_TRIES = process.env['EDGEWISE_TRIES'] === 'few';

/** How often something random is tried, that is tried so often in full. */
export function toTries(inFull: number): number {
  return IS_FULL && !HAS_FEW_TRIES ? inFull : Math.ceil(inFull / 4);
}
