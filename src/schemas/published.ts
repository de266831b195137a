import type { JsonObject } from '../model/json.ts';
import { createManifestJsonSchema } from './manifest.ts';
import { createOpenApiDocument } from './openapi.ts';
import { createOpenApi30Document } from './openapi-3.0.ts';
import { createResultJsonSchema } from './results.ts';
import { createFaultsJsonSchema } from './seed.ts';

/**
 * The files in `schemas/`, and the functions that create their content. `edgewise schema KIND` prints those of single kinds.
 *
 * @example
 * const files = PUBLISHED_SCHEMAS.map(({ file }) => file);
 */
export const PUBLISHED_SCHEMAS: readonly PublishedSchema[] = [
  {
    name: 'manifest',
    file: 'manifest.schema.json',
    about: 'manifests of all kinds',
    toSchema: createManifestJsonSchema,
  },
  {
    name: 'result',
    file: 'result.schema.json',
    about: 'results as JSON, and plan files',
    toSchema: createResultJsonSchema,
  },
  { name: 'faults', file: 'faults.schema.json', about: 'faults files of `serve`', toSchema: createFaultsJsonSchema },
  {
    name: 'openapi',
    file: 'openapi.json',
    about: 'the API of the bundled server',
    toSchema: createOpenApiDocument,
  },
  {
    name: 'openapi3.0',
    file: 'openapi-3.0.json',
    about: 'the same, for tools that do not read OpenAPI 3.1',
    toSchema: createOpenApi30Document,
  },
];

/** A document that is published in `schemas/`. */
export interface PublishedSchema {
  readonly name: string;
  /** File name in `schemas/`. */
  readonly file: string;
  /** The files that the schema describes, as a phrase that follows "the schema of". */
  readonly about: string;
  readonly toSchema: () => JsonObject;
}
