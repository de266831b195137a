import type { Command } from 'commander';
import { toCount } from '../../report/view/wording.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
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
  addExamples(addPlanFormatOptions(command), [
    ['edgewise report shard-*.json', 'what all shards came to'],
    ['edgewise report shard-*.json --report markdown=plan.md', 'as one comment'],
  ]).action((files: string[], flags: FormatFlags) => act(flags, (context) => report(files, flags, context)));
}

async function report(files: readonly string[], flags: FormatFlags, context: Context): Promise<ExitCode> {
  const { command, root, parts } = readResults(files, context);
  const selection = `${toCount(parts.length, 'stack')} in ${toCount(files.length, 'result')}.`;
  const exitCode = toGravest(parts.map((part) => part.exitCode));
  return publishStacks({ command, root, selection, parts }, { flags, exitCode }, context);
}
