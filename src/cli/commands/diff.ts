import type { Command } from 'commander';
import { isSamePlan } from '../../model/plan-comparison.ts';
import { comparePlans } from '../../plan/compare/compare-plans.ts';
import { EXIT } from '../exit-code.ts';
import type { FormatFlags } from '../output/present.ts';
import { publish } from '../output/publish.ts';
import { readPlanFile, toPlanLocate } from '../reconcile/plan-file.ts';
import type { Act } from './act.ts';
import { addExamples, addExitCodes, addPlanFormatOptions } from './options.ts';

/** `edgewise diff`. */
export function defineDiff(command: Command, act: Act): void {
  command
    .description(
      'Compare what two saved plans do. Ids that the service gives and the order of things mean nothing. Sends no request.',
    )
    .argument('<before>', 'a file that edgewise plan -o wrote')
    .argument('<after>', 'another one, usually of the same manifests at a later time');
  addExitCodes(command, [EXIT.done, EXIT.changes, EXIT.invalid]);
  addExamples(addPlanFormatOptions(command), [
    ['edgewise diff approved.json plan.json', 'what the later plan does that the earlier one did not'],
    ['edgewise diff approved.json plan.json --format json', 'for programs: `within` says whether it does no more'],
  ]).action((before: string, after: string, flags: FormatFlags) =>
    act(flags, async (context) => {
      const comparison = comparePlans(await readPlanFile(before, context), await readPlanFile(after, context));
      const report = { about: 'comparison', command: 'diff', comparison, names: { before, after } } as const;
      const exitCode = isSamePlan(comparison) ? EXIT.done : EXIT.changes;
      return publish(report, { flags, exitCode, locate: toPlanLocate(after) }, context);
    }),
  );
}
