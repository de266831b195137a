import type { Command } from 'commander';
import { isSamePlan } from '../../model/plan.ts';
import { comparePlans } from '../../plan/compare/compare-plans.ts';
import { EXIT } from '../exit-code.ts';
import { outputReport } from '../output/output-report.ts';
import type { CommandBodyRunner, FormatFlags } from '../output/present.ts';
import { findPlanFileApplyCommand } from '../reconcile/apply-command.ts';
import { createLocateAtPlanFileStart, readPlanFile } from '../reconcile/plan-file.ts';
import { addToCommand, createDetailedReportOptions } from './options.ts';

export function configureShowCommand(command: Command, act: CommandBodyRunner): void {
  command.description('Show a saved plan. Sends no request.').argument('<plan>', 'a file that edgewise plan -o wrote');
  addToCommand(command, {
    options: createDetailedReportOptions(),
    exitCodes: [EXIT.success, EXIT.invalid],
    examples: [
      ['edgewise show plan.json', 'read a plan before it is applied'],
      ['edgewise show plan.json --verbose', 'with its API calls, and the fields of what it deletes'],
      ['edgewise show plan.json --format markdown', 'as a comment, with the command that applies it'],
    ],
  }).action((file: string, flags: FormatFlags) =>
    act(flags, async (context) => {
      const plan = await readPlanFile(file, context);
      const applyCommand = findPlanFileApplyCommand(file, plan, context);
      const report = { about: 'plan', plan, blocking: plan.violations } as const;
      const publication = { flags, exitCode: EXIT.success, locate: createLocateAtPlanFileStart(file) };
      return outputReport(report, { ...publication, applyCommand }, context);
    }),
  );
}

export function configureDiffCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description(
      'Compare the changes of two saved plans. Ignores the order of writes, and ids that the service assigns. Sends no request.',
    )
    .argument('<before>', 'a file that edgewise plan -o wrote')
    .argument('<after>', 'a second such file, usually of the same manifests at a later time');
  addToCommand(command, {
    options: createDetailedReportOptions(),
    exitCodes: [EXIT.success, EXIT.changes, EXIT.invalid],
    examples: [
      ['edgewise diff approved.json plan.json', 'what the later plan does that the earlier one did not'],
      [
        'edgewise diff approved.json plan.json --format json',
        'for programs: `covered` says whether the later plan does no more',
      ],
    ],
  }).action((before: string, after: string, flags: FormatFlags) =>
    act(flags, async (context) => {
      const comparison = comparePlans(await readPlanFile(before, context), await readPlanFile(after, context));
      const report = { about: 'comparison', command: 'diff', comparison, names: { before, after } } as const;
      const exitCode = isSamePlan(comparison) ? EXIT.success : EXIT.changes;
      return outputReport(report, { flags, exitCode, locate: createLocateAtPlanFileStart(after) }, context);
    }),
  );
}
