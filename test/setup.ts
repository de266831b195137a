import { resolve } from 'node:path';
import fc from 'fast-check';
import { SEED } from './laws/properties.ts';
import { toTries } from './tries.ts';

/**
 * Every property is tried with the same random data each time, so that a test that passes passes again: EDGEWISE_SEED says otherwise.
 * One that does not say how often is tried so often.
 */
fc.configureGlobal({ seed: SEED, numRuns: toTries(100) });

/** Compiling the sources takes half of the time of a short process: each leaves what it compiled to the next one. */
export const COMPILED = { NODE_COMPILE_CACHE: resolve('node_modules/.cache/edgewise') };
Object.assign(process.env, COMPILED);
