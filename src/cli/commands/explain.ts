import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { type FormatFlags, toTextOptions } from '../output/present.ts';
import type { Act } from './act.ts';
import { EXAMPLE_KINDS } from './example-names.ts';
import { addExamples, addExitCodes, addFormatOptions } from './options.ts';

/** `edgewise explain`. */
export function defineExplain(command: Command, act: Act): void {
  command
    .description('Explain a diagnostic code, a kind, or a field of one. Reads no file and sends no request.')
    .argument(
      '[topic]',
      'a code, such as unknown-field; a kind; or a field, with its kind or alone (default: list all)',
    );
  addExitCodes(command, [EXIT.done, EXIT.invalid]);
  addExamples(addFormatOptions(command), [
    ['edgewise explain duplicate-claim', 'what it means, an example, and how to fix it'],
    [`edgewise explain ${EXAMPLE_KINDS[0]}`, 'the fields of a kind'],
    [`edgewise explain ${EXAMPLE_KINDS[0]}.description`, 'everything about a field; its name alone is enough'],
    ['edgewise explain Stack.api.rate_limit', 'a setting'],
  ]).action((topic: string | undefined, flags: FormatFlags) =>
    act(flags, (context) => explainTopic(topic, flags, context)),
  );
}

/** The explanations are loaded here alone: no other command needs them. */
async function explainTopic(topic: string | undefined, flags: FormatFlags, context: Context): Promise<ExitCode> {
  const { explain, listTopics, renderPageJson, renderPageText } = await import('../../explain/index.ts');
  const page = topic === undefined ? listTopics() : explain(topic);
  if ('message' in page)
    throw new CommandError(page.message, {
      exitCode: EXIT.invalid,
      ...(page.remedy !== undefined && { remedy: page.remedy }),
    });
  const options = toTextOptions(context.stdout, context, flags);
  context.stdout.write(flags.format === 'json' ? renderPageJson(page) : renderPageText(page, options));
  return EXIT.done;
}
