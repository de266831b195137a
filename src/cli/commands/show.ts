import type { Command } from 'commander';
import { EXIT } from '../exit-code.ts';
import type { FormatFlags } from '../output/present.ts';
import { publish } from '../output/publish.ts';
import { toSavedCommand } from '../reconcile/apply-command.ts';
import { readPlanFile } from '../reconcile/plan-file.ts';
import type { Act } from './act.ts';
import { addExamples, addExitCodes, addPlanFormatOptions } from './options.ts';

/** `edgewise show`. */
export function defineShow(program: Command, act: Act): void {
  const command = program
    .command('show')
    .summary('show a saved plan')
    .description('Show a saved plan. Sends no request.')
    .argument('<plan>', 'a file that edgewise plan -o wrote');
  addExitCodes(command, [EXIT.done, EXIT.invalid]);
  addExamples(addPlanFormatOptions(command), [
    ['edgewise show plan.json', 'read a plan before it is applied'],
    ['edgewise show plan.json --verbose', 'with its API calls, and the fields of what it deletes'],
  ]).action((file: string, flags: FormatFlags) =>
    act(flags, async (context) => {
      const plan = await readPlanFile(file, context.cwd);
      const applyCommand = toSavedCommand(file);
      const report = { about: 'plan', plan, standing: plan.violations } as const;
      return publish(report, { flags, applyCommand, exitCode: EXIT.done }, context);
    }),
  );
}
