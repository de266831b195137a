import { breakSource, MUTANT_VARIABLE } from '../broken-source.ts';
import { BROKEN_PROMISES, type BrokenPromise } from './breaks.ts';

/** The program with the broken promise that a variable names. */
const broken = new Map<string, BrokenPromise>(Object.entries(BROKEN_PROMISES)).get(process.env[MUTANT_VARIABLE] ?? '');
if (broken !== undefined) breakSource(broken);
await import('../../src/cli/main.ts');
