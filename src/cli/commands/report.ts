import type { Command } from 'commander';
import { FORM_NAMES, listFormNames } from '../../report/forms.ts';
import { toCount } from '../../report/view/wording.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { readResults } from '../many/read-results.ts';
import { toGravest } from '../many/stacks-run.ts';
import type { FormatFlags } from '../output/present.ts';
import { publishStacks } from '../output/publish.ts';
import type { Act } from './act.ts';
import { addExamples, addExitCodes, addPlanFormatOptions } from './options.ts';

/** `edgewise report`. */
export function defineReport(command: Command, act: Act): void {
  command
    .description(
      'Join the JSON results of several runs, such as those of shards, into one report in any form. Sends no request, and ends with the gravest of their exit codes.',
    )
    .argument('<file...>', 'files of --report json=FILE, of runs over many stacks or over one each');
  addExitCodes(command, Object.values(EXIT));
  addExamples(addPlanFormatOptions(command, listFormNames('drift')), [
    ['edgewise report shard-*.json', 'what all shards came to'],
    ['edgewise report shard-*.json --report markdown=plan.md', 'as one comment'],
  ]).action((files: string[], flags: FormatFlags) => act(flags, (context) => report(files, flags, context)));
}

async function report(files: readonly string[], flags: FormatFlags, context: Context): Promise<ExitCode> {
  const { command, root, parts } = readResults(files, context);
  refuseForms(command, flags);
  const selection = `${toCount(parts.length, 'stack')} in ${toCount(files.length, 'result')}.`;
  const exitCode = toGravest(parts.map((part) => part.exitCode));
  return publishStacks({ command, root, selection, parts }, { flags, exitCode }, context);
}

/** Metrics are those of a drift: of another result they would say that nothing could be compared. */
function refuseForms(command: string, { format, report: reports = [] }: FormatFlags): void {
  const special = [format, ...reports.map((one) => one.form)].find((name) => !FORM_NAMES.includes(name));
  if (special === undefined || command === 'drift') return;
  throw new CommandError(`There are no ${special} of the results of ${command}.`, {
    exitCode: EXIT.invalid,
    remedy: 'Join results of drift, or choose another form.',
    isUnreported: true,
  });
}
