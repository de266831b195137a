import type { Command } from 'commander';
import { toFaultsJsonSchema } from '../../kinds/faults-schema.ts';
import { toManifestJsonSchema } from '../../kinds/manifest-schema.ts';
import { toOpenApiDocument } from '../../kinds/openapi.ts';
import { toPlanJsonSchema } from '../../kinds/plan-schema.ts';
import { MANIFEST_KINDS } from '../../kinds/registry.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Act } from '../act.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { addExamples, addExitCodes } from '../options.ts';
import { PLAIN } from '../present.ts';

/** `edgewise schema`. */
export function defineSchema(program: Command, act: Act): void {
  const command = program
    .command('schema')
    .description(
      'Print the JSON Schema of manifests, of one kind, of plan files, of faults files, or the OpenAPI document of the API.',
    )
    .argument('[kind]', 'a kind, such as TCPEdge or Stack; `plan`; `faults`; or `openapi` (default: all manifests)');
  addExitCodes(command, [EXIT.done, EXIT.invalid]);
  addExamples(command, [
    ['edgewise schema > manifest.schema.json', 'for an editor'],
    ['edgewise schema TCPEdge', 'one kind only'],
    ['edgewise schema openapi', 'the API that the bundled server has'],
  ]).action((kind: string | undefined) =>
    act(PLAIN, async (context) => {
      context.stdout.write(`${JSON.stringify(toSchema(kind), null, 2)}\n`);
      return EXIT.done;
    }),
  );
}

function toSchema(kind: string | undefined): JsonObject {
  const kinds = [...MANIFEST_KINDS.map(({ name }) => name), 'External', 'Stack'];
  if (kind === undefined || kinds.includes(kind)) return toManifestJsonSchema(kind);
  if (kind === 'plan') return toPlanJsonSchema();
  if (kind === 'faults') return toFaultsJsonSchema();
  if (kind === 'openapi') return toOpenApiDocument();
  throw new CommandError(`There is no kind ${kind}.`, {
    exitCode: EXIT.invalid,
    remedy: `Known are ${kinds.join(', ')}, and plan, faults and openapi.`,
  });
}
