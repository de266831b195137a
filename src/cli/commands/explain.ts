import type { Command } from 'commander';
import { MANIFEST_KINDS } from '../../kinds/tables/registry.ts';
import type { JsonObject } from '../../model/json.ts';
import { toManifestJsonSchema } from '../../schemas/manifest.ts';
import { PUBLISHED_SCHEMAS } from '../../schemas/published.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import type { CommandAction } from '../output/present.ts';
import { type FormatFlags, PLAIN, toTextOptions } from '../output/present.ts';
import { addExamples, addExitCodes, addFormatOptions, EXAMPLE_KINDS } from './options.ts';

/** `edgewise explain`. */
export function defineExplain(command: Command, act: CommandAction): void {
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
  const { explain, listTopics } = await import('../../explain/explain.ts');
  const { renderPageJson, renderPageText } = await import('../../explain/render-page.ts');
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

/** `edgewise schema`. */
export function defineSchema(command: Command, act: CommandAction): void {
  command
    .description('Print a JSON Schema of manifests, of one kind, or of another format that edgewise reads or writes.')
    .argument('[name]', `a kind, such as ${EXAMPLE_KINDS[0]} or Stack; or one of those below (default: manifest)`)
    .addHelpText('after', `\nSchemas:\n${listPublished().join('\n')}`);
  addExitCodes(command, [EXIT.done, EXIT.invalid]);
  addExamples(command, [
    ['edgewise schema > manifest.schema.json', 'for an editor'],
    [`edgewise schema ${EXAMPLE_KINDS[0]}`, 'one kind only'],
    ['edgewise schema events', 'a line of an apply that a program follows'],
  ]).action((name: string | undefined) =>
    act(PLAIN, async (context) => {
      context.stdout.write(`${JSON.stringify(toSchema(name), null, 2)}\n`);
      return EXIT.done;
    }),
  );
}

function listPublished(): readonly string[] {
  return PUBLISHED_SCHEMAS.map(({ name, about }) => `  ${name.padEnd(10)}  ${about}`);
}

function toSchema(name = 'manifest'): JsonObject {
  const kinds = [...MANIFEST_KINDS.map((kind) => kind.name), 'External', 'Stack'];
  if (kinds.includes(name)) return toManifestJsonSchema(name);
  const published = PUBLISHED_SCHEMAS.find((schema) => schema.name === name);
  if (published !== undefined) return published.toSchema();
  throw new CommandError(`There is no schema ${name}.`, {
    exitCode: EXIT.invalid,
    remedy: `Known: the kinds ${kinds.join(', ')}; and ${PUBLISHED_SCHEMAS.map((schema) => schema.name).join(', ')}.`,
  });
}
