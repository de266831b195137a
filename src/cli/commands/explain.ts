import { type Command, Option } from 'commander';
import { findExampleManifest } from '../../explain/example.ts';
import { createTopicsPage, explain } from '../../explain/explain.ts';
import { listSettingRows } from '../../explain/list-settings.ts';
import { renderPageJson, renderPageText } from '../../explain/render-page.ts';
import type { JsonObject } from '../../model/json.ts';
import { InvalidManifests, StackError } from '../../model/user-errors.ts';
import { renderSettingsJson } from '../../report/machine/json.ts';
import { renderSettingsText } from '../../report/text/lists.ts';
import { DOCUMENT_KINDS } from '../../schemas/document.ts';
import { createManifestJsonSchema } from '../../schemas/manifest.ts';
import { PUBLISHED_SCHEMAS } from '../../schemas/published.ts';

import { readManifests } from '../../stack/read-manifests.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import { type FormatFlags, getTextOptions, TEXT_ONLY_FORMAT_FLAGS } from '../output/present.ts';
import { addToCommand, CONNECTION_OPTIONS, createFormatOptions, EXAMPLE_KINDS, READ_LIMIT_OPTIONS } from './options.ts';

interface ExplainCommandFlags extends FormatFlags {
  readonly example?: boolean;
}

export function configureExplainCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description(
      'Explain a diagnostic code, a kind, or a field of a kind. Or list the settings of a run, and where each is set. Sends no request.',
    )
    .argument(
      '[topic]',
      'a code, such as bad-field; a kind; a field, with its kind or alone; or settings (default: list all)',
    )
    .argument('[paths...]', 'for settings: the manifests, as for plan (default: the current folder)');
  addToCommand(command, {
    options: [
      new Option('--example', 'print a whole manifest of the kind instead, as YAML'),
      ...READ_LIMIT_OPTIONS,
      ...CONNECTION_OPTIONS,
      ...createFormatOptions(),
    ],
    exitCodes: [EXIT.success, EXIT.invalid],
    examples: [
      ['edgewise explain duplicate-claim', 'what it means, an example, and how to fix it'],
      [`edgewise explain ${EXAMPLE_KINDS[0]}`, 'the fields of a kind'],
      [`edgewise explain ${EXAMPLE_KINDS[0]} --example`, 'a whole manifest'],
      [`edgewise explain ${EXAMPLE_KINDS[0]}.description`, 'everything about a field; its name alone is enough'],
      ['edgewise explain Stack.api.rate_limit', 'a setting'],
      ['edgewise explain settings live/payments', 'the settings of that stack, and where each is set'],
    ],
  }).action((topic: string | undefined, paths: string[], flags: ExplainCommandFlags) =>
    act(flags, (context) =>
      topic === 'settings' ? printSettings(paths, flags, context) : explainTopic(topic, { ...flags, paths }, context),
    ),
  );
}

async function printSettings(paths: readonly string[], flags: FormatFlags, context: Context): Promise<ExitCode> {
  const { state, diagnostics } = await readManifests(paths, context);
  if (state === undefined) throw new InvalidManifests(diagnostics);
  const rows = listSettingRows({ flags, env: context.env, layers: state.stack.layers });
  context.stdout.write(
    flags.format === 'json'
      ? renderSettingsJson(rows)
      : renderSettingsText(rows, getTextOptions(context.stdout, context, flags)),
  );
  return EXIT.success;
}

/** Loads the explanations on demand, because most commands do not need them. */
async function explainTopic(
  topic: string | undefined,
  { paths, ...flags }: ExplainCommandFlags & { readonly paths: readonly string[] },
  context: Context,
): Promise<ExitCode> {
  if (paths.length > 0)
    throw new StackError(`edgewise explain ${topic} reads no manifests, so it takes no path.`, {
      reason: 'invalid',
      remedy: 'Leave out the path. For the settings of a stack, run edgewise explain settings PATH.',
    });
  if (flags.example === true) return printExample(topic, flags, context);
  const page = topic === undefined ? createTopicsPage() : explain(topic);
  if ('message' in page)
    throw new StackError(page.message, {
      reason: 'invalid',
      remedy: page.remedy,
    });
  const options = getTextOptions(context.stdout, context, flags);
  context.stdout.write(flags.format === 'json' ? renderPageJson(page) : renderPageText(page, options));
  return EXIT.success;
}

function printExample(topic: string | undefined, { format }: FormatFlags, context: Context): ExitCode {
  const example = topic === undefined ? undefined : findExampleManifest(topic);
  if (example === undefined || format !== 'text')
    throw new StackError('--example prints a manifest of one kind, as YAML.', {
      reason: 'invalid',
      remedy: `Name a kind, such as edgewise explain ${EXAMPLE_KINDS[0]} --example, without --format. The kinds are ${DOCUMENT_KINDS.join(', ')}.`,
    });
  context.stdout.write(example);
  return EXIT.success;
}

export function configureSchemaCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Print a JSON Schema of manifests, of one kind, or of another format that edgewise reads or writes.')
    .argument('[name]', `a kind, such as ${EXAMPLE_KINDS[0]} or Stack; or one of those below (default: manifest)`)
    .addHelpText('after', `\nSchemas:\n${listPublished().join('\n')}`);
  addToCommand(command, {
    exitCodes: [EXIT.success, EXIT.invalid],
    examples: [
      ['edgewise schema > manifest.schema.json', 'for an editor'],
      [`edgewise schema ${EXAMPLE_KINDS[0]}`, 'one kind only'],
    ],
  }).action((name: string | undefined) =>
    act(TEXT_ONLY_FORMAT_FLAGS, async (context) => {
      context.stdout.write(`${JSON.stringify(createNamedSchema(name), null, 2)}\n`);
      return EXIT.success;
    }),
  );
}

function listPublished(): readonly string[] {
  return PUBLISHED_SCHEMAS.map(({ name, about }) => `  ${name.padEnd(10)}  ${about}`);
}

function createNamedSchema(name = 'manifest'): JsonObject {
  if (DOCUMENT_KINDS.includes(name)) return createManifestJsonSchema(name);
  const published = PUBLISHED_SCHEMAS.find((schema) => schema.name === name);
  if (published !== undefined) return published.toSchema();
  throw new StackError(`There is no schema ${name}.`, {
    reason: 'invalid',
    remedy: `Name a kind (${DOCUMENT_KINDS.join(', ')}) or one of: ${PUBLISHED_SCHEMAS.map((schema) => schema.name).join(', ')}.`,
  });
}
