import { breakSource, MUTANT_VARIABLE } from './broken-source.ts';
import { MUTANTS } from './invented-kinds/mutants.ts';
import { BROKEN_PROMISES } from './promises/breaks.ts';
import { SOURCE_MUTANTS } from './simulation/source-mutants.ts';

/** Loaded first, it breaks the source that a variable names. */
const mutant = process.env[MUTANT_VARIABLE] ?? '';
const broken = { ...SOURCE_MUTANTS, ...BROKEN_PROMISES, ...MUTANTS }[mutant];
if (broken !== undefined) breakSource(broken);
else if (mutant !== '') throw new Error(`There is no mutant ${mutant}`);
