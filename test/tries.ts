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
