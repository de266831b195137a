import { type Command, Option } from 'commander';
import { EXIT } from '../exit-code.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import { type PlanStacksFlags, runPlan } from '../reconcile/run-stacks.ts';
import {
  addToCommand,
  CONNECTION_OPTIONS,
  createDetailedReportOptions,
  EXAMPLE_ADDRESS,
  PLAN_OPTIONS,
  RECURSIVE_OPTIONS,
  refuseFiltersWithoutRecursive,
  SHOW_SECRETS,
} from './options.ts';

export function configurePlanCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Show what apply would do. Sends GET requests only.')
    .argument('[paths...]', 'files, folders, or - for standard input (default: the current folder)');
  const { success, failed, changes, invalid, authentication, refused } = EXIT;
  addToCommand(command, {
    options: [
      new Option('-o, --out <file>', 'also write the plan to a file, for apply --approved'),
      new Option('--detailed-exitcode', 'exit with 2 when an apply would write'),
      ...RECURSIVE_OPTIONS,
      ...PLAN_OPTIONS,
      ...createDetailedReportOptions(),
      SHOW_SECRETS,
      ...CONNECTION_OPTIONS,
    ],
    exitCodes: [success, failed, changes, invalid, authentication, refused],
    examples: [
      ['edgewise plan', 'show what would change'],
      ['edgewise plan manifests -o plan.json', 'save it, for apply'],
      ['edgewise plan manifests --report markdown=plan.md', 'and write a comment'],
      [`edgewise plan --target ${EXAMPLE_ADDRESS}`, 'only one resource'],
      ['edgewise plan -R live --changed-since origin/main', 'what a branch touches'],
      ['edgewise plan --detailed-exitcode', '2 when there are changes'],
    ],
  }).action((paths: string[], flags: PlanStacksFlags) =>
    act({ ...flags, planFile: flags.recursive === true ? undefined : flags.out }, (context) => {
      refuseFiltersWithoutRecursive(flags);
      return runPlan(paths, flags, context);
    }),
  );
}
