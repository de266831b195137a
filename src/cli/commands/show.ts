import type { Command } from 'commander';
import { EXIT } from '../exit-code.ts';
import type { FormatFlags } from '../output/present.ts';
import { publish } from '../output/publish.ts';
import { findShownCommand } from '../reconcile/apply-command.ts';
import { readPlanFile, toPlanLocate } from '../reconcile/plan-file.ts';
import type { Act } from './act.ts';
import { addExamples, addExitCodes, addPlanFormatOptions, repeatable } from './options.ts';

interface Flags extends FormatFlags {
  readonly stack: readonly string[];
}

/** `edgewise show`. */
export function defineShow(command: Command, act: Act): void {
  command
    .description('Show a saved plan. Sends no request.')
    .argument('<plan>', 'a file that edgewise plan -o wrote')
    .addOption(
      repeatable(
        '--stack <path>',
        'the manifests that it was made of, for the command that applies it in markdown and html',
      ),
    );
  addExitCodes(command, [EXIT.done, EXIT.invalid]);
  addExamples(addPlanFormatOptions(command), [
    ['edgewise show plan.json', 'read a plan before it is applied'],
    ['edgewise show plan.json --verbose', 'with its API calls, and the fields of what it deletes'],
    ['edgewise show plan.json --stack manifests --format markdown', 'as a comment, with the command that applies it'],
  ]).action((file: string, flags: Flags) =>
    act(flags, async (context) => {
      const plan = await readPlanFile(file, context);
      const applyCommand = findShownCommand(file, plan, { stack: flags.stack, env: context.env });
      const report = { about: 'plan', plan, standing: plan.violations } as const;
      const publication = { flags, exitCode: EXIT.done, locate: toPlanLocate(file) };
      return publish(report, { ...publication, ...(applyCommand !== undefined && { applyCommand }) }, context);
    }),
  );
}
