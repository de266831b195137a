import type { JsonObject } from '../model/json.ts';
import { LIST_MEMBER_KINDS, MANIFEST_API_VERSION } from './document.ts';
import { createManifestJsonSchema } from './manifest.ts';
import { createOpenApiDocument } from './openapi.ts';
import { createPlanIndexJsonSchema, createPlanJsonSchema } from './plan.ts';
import { createEventsJsonSchema, createJournalJsonSchema } from './results.ts';
import { createFaultsJsonSchema } from './seed.ts';

/** The files in `schemas/`, and the functions that create their content. */
export const PUBLISHED_SCHEMAS: readonly PublishedSchema[] = [
  {
    name: 'manifest',
    file: 'manifest.schema.json',
    about: 'manifests of all kinds',
    toSchema: createManifestJsonSchema,
  },
  { name: 'plan', file: 'plan.schema.json', about: 'plan files', toSchema: createPlanJsonSchema },
  {
    name: 'plan-index',
    file: 'plan-index.schema.json',
    about: 'the index of a folder of plans',
    toSchema: createPlanIndexJsonSchema,
  },
  {
    name: 'events',
    file: 'events.schema.json',
    about: 'lines of `--format json-lines`',
    toSchema: createEventsJsonSchema,
  },
  { name: 'journal', file: 'journal.schema.json', about: 'lines of `--journal`', toSchema: createJournalJsonSchema },
  { name: 'faults', file: 'faults.schema.json', about: 'faults files of `serve`', toSchema: createFaultsJsonSchema },
  {
    name: 'openapi',
    file: 'openapi.json',
    about: 'the API of the bundled server',
    toSchema: createOpenApiDocument,
  },
];

/**
 * Maps a file name in `schemas/` to the function that creates the schema of one kind. kubeconform finds the file by the
 * template `{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json`. `List` has no file, because kubeconform splits
 * a `List` itself.
 */
export const KIND_SCHEMA_FILES: ReadonlyMap<string, () => JsonObject> = new Map(
  LIST_MEMBER_KINDS.map((kind) => [toKindFile(kind), () => createManifestJsonSchema(kind)]),
);

function toKindFile(kind: string): string {
  const [group, version] = MANIFEST_API_VERSION.split('/');
  return `${group}/${kind.toLowerCase()}_${version}.json`;
}

/** A document that is published in `schemas/`. */
export interface PublishedSchema {
  readonly name: string;
  /** File name in `schemas/`. */
  readonly file: string;
  /** The files that the schema describes, as a phrase that follows "the schema of". */
  readonly about: string;
  readonly toSchema: () => JsonObject;
}
