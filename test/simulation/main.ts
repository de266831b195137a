import { parseArgs } from 'node:util';
import { breakSource } from '../broken-source.ts';
import { MUTANTS, NO_MUTANT } from './mutants.ts';
import { type FailedApply, renderFailedApplies } from './predicted-failures.ts';
import { SOURCE_MUTANTS } from './source-mutants.ts';

/**
 * `npm run simulate -- --seeds N --from S`: runs walks one after another until one fails. With `--from 6 --step 6`, those with several stacks.
 * `--trace` prints every walk, `--keep-going` continues after a failure, `--mutant NAME` breaks edgewise.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1200' },
    from: { type: 'string', default: '1' },
    step: { type: 'string', default: '1' },
    mutant: { type: 'string', default: '' },
    trace: { type: 'boolean', default: false },
    'keep-going': { type: 'boolean', default: false },
  },
});
const [from, seeds, step] = [Number(values.from), Number(values.seeds), Number(values.step)];
const broken = SOURCE_MUTANTS[values.mutant];
if (broken !== undefined) breakSource(broken);
const mutant = values.mutant === '' || broken !== undefined ? NO_MUTANT : MUTANTS[values.mutant]?.mutant;
// A source is broken before it is loaded.
const { runWalk } = await import('./walk.ts');
if (![from, seeds, step].every(Number.isInteger)) throw new Error('--seeds, --from and --step are whole numbers');
if (mutant === undefined)
  throw new Error(`Known mutants: ${Object.keys({ ...MUTANTS, ...SOURCE_MUTANTS }).join(', ')}`);
/** Walks between two lines of progress. */
const PROGRESS = 100;
const start = performance.now();
const failed: number[] = [];
const failures: FailedApply[] = [];
for (let walked = 1; walked <= seeds; walked += 1) {
  const seed = from + (walked - 1) * step;
  const { violations, trace, failures: own } = await runWalk(seed, mutant);
  failures.push(...own);
  if (values.trace) process.stdout.write(`walk ${seed}\n${trace.join('\n')}\n\n`);
  if (violations.length > 0) {
    failed.push(seed);
    const shown = values['keep-going'] ? [] : trace;
    process.stdout.write(`${[...shown, `seed ${seed}:`, ...violations].join('\n')}\n`);
    if (!values['keep-going']) break;
  }
  if (walked % PROGRESS === 0) {
    const rate = walked / ((performance.now() - start) / 1000);
    process.stderr.write(`${walked} walks, ${rate.toFixed(1)} a second\n`);
  }
}
const took = ((performance.now() - start) / 1000).toFixed(1);
process.stdout.write(
  failed.length === 0
    ? `${seeds} walks from ${from} in ${took} s: all is well\n`
    : `failed: ${failed.join(' ')} (${took} s)\n`,
);
process.stdout.write(renderFailedApplies(failures));
process.exitCode = failed.length === 0 ? 0 : 1;
