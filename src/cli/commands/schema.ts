import type { Command } from 'commander';
import { MANIFEST_KINDS } from '../../kinds/tables/registry.ts';
import type { JsonObject } from '../../model/json.ts';
import { toManifestJsonSchema } from '../../schemas/manifest.ts';
import { PUBLISHED_SCHEMAS } from '../../schemas/published.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { PLAIN } from '../output/present.ts';
import type { Act } from './act.ts';
import { EXAMPLE_KINDS } from './example-names.ts';
import { addExamples, addExitCodes } from './options.ts';

/** `edgewise schema`. */
export function defineSchema(command: Command, act: Act): void {
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
