import { toEventsJsonSchema } from '../src/kinds/events-schema.ts';
import { toFaultsJsonSchema } from '../src/kinds/faults-schema.ts';
import { toManifestJsonSchema } from '../src/kinds/manifest-schema.ts';
import { toOpenApiDocument } from '../src/kinds/openapi.ts';
import { toPlanJsonSchema } from '../src/kinds/plan-schema.ts';

/** The text of each file in schemas/, by its name there, as the sources say it must be. */
export function renderSchemaFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['manifest.schema.json', render(toManifestJsonSchema())],
    ['plan.schema.json', render(toPlanJsonSchema())],
    ['events.schema.json', render(toEventsJsonSchema())],
    ['faults.schema.json', render(toFaultsJsonSchema())],
    ['openapi.json', render(toOpenApiDocument())],
  ]);
}

function render(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
