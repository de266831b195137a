import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { OPERATIONS } from '../../src/kinds/operations.ts';
import { createManifestJsonSchema } from '../../src/schemas/manifest.ts';
import { createOpenApiDocument } from '../../src/schemas/openapi.ts';
import { getObject } from '../server/caller.ts';
import { INVENTED_KINDS } from './tables.ts';

const DOCUMENTS = parseAllDocuments(readFileSync(new URL('manifests.yaml', import.meta.url), 'utf8')).map((document) =>
  getObject(document.toJS()),
);
const IN_MANIFESTS = INVENTED_KINDS.filter(({ role }) => role !== 'submitted').map(({ name }) => name);

function createCheck(kind?: string): (document: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  return ajv.compile(createManifestJsonSchema(kind));
}

describe('the published documents of invented kinds', () => {
  it.each([undefined, ...IN_MANIFESTS])('contain a schema of manifests that accepts valid ones (%s)', (name) => {
    const isManifest = createCheck(name);
    for (const document of DOCUMENTS) {
      const isOfKind = name === undefined || document['kind'] === name;
      expect(isManifest(document)).toBe(isOfKind);
      if (isOfKind) expect(isManifest({ ...document, spec: { ...getObject(document['spec']), depth: 1 } })).toBe(false);
    }
  });

  it('contain every operation in the OpenAPI document', () => {
    const paths = getObject(createOpenApiDocument()['paths']);
    const operations = OPERATIONS.filter(({ kind }) => INVENTED_KINDS.includes(kind));
    expect(new Set(operations.map(({ action }) => action)).size).toBe(8);
    for (const { path, method, id } of operations)
      expect(getObject(getObject(paths[path])[method.toLowerCase()])['operationId']).toBe(id);
  });
});
