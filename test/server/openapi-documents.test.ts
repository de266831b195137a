import { describe, expect, it } from 'vitest';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { createOpenApiDocument } from '../../src/schemas/openapi.ts';
import { createOpenApi30Document } from '../../src/schemas/openapi-3.0.ts';
import { getObject } from './caller.ts';

const [DOCUMENT, DOCUMENT_30] = [createOpenApiDocument(), createOpenApi30Document()];

/** Every object in a document, but those that map names to schemas. */
function listObjects(value: Json): readonly JsonObject[] {
  if (isJsonArray(value)) return value.flatMap(listObjects);
  if (!isJsonObject(value)) return [];
  const members = Object.entries(value).flatMap(([name, member]) =>
    name === 'properties' && isJsonObject(member) ? Object.values(member).flatMap(listObjects) : listObjects(member),
  );
  return [value, ...members];
}

const listSchemas = (document: JsonObject): JsonObject => getObject(getObject(document['components'])['schemas']);

describe('the OpenAPI document', () => {
  it('has no alternatives but null, so that generators make no unions', () => {
    const objects = listObjects(DOCUMENT);
    expect(objects.filter((one) => 'oneOf' in one)).toEqual([]);
    for (const { anyOf } of objects.filter((one) => isJsonArray(one['anyOf'])))
      expect(anyOf).toEqual([expect.objectContaining({ $ref: expect.any(String) }), { type: 'null' }]);
    const types = objects.flatMap(({ type }) => (isJsonArray(type) ? [type] : []));
    expect(types.filter((type) => type.length !== 2 || type[1] !== 'null')).toEqual([]);
  });

  it('names the body of each replacement of a module', () => {
    const bodies = Object.values(getObject(DOCUMENT['paths'])).flatMap((item) => {
      const put = getObject(item)['put'];
      return put === undefined ? [] : JSON.stringify(getObject(put)['requestBody']).match(/schemas\/(\w+)/)?.[1];
    });
    expect(bodies.sort()).toEqual([
      'HTTPSEdgeMutualTlsMutate',
      'HTTPSEdgeRouteCircuitBreakerMutate',
      'HTTPSEdgeRouteRequestHeadersMutate',
      'HTTPSEdgeRouteUserAgentFilterMutate',
      'TCPEdgeBackendMutate',
      'TCPEdgeIpRestrictionMutate',
    ]);
    expect(Object.keys(listSchemas(DOCUMENT))).toEqual(expect.arrayContaining([...bodies, 'Version']));
  });
});

describe('the document in OpenAPI 3.0', () => {
  it('has the same operations and schemas', () => {
    expect(DOCUMENT_30['openapi']).toBe('3.0.3');
    expect(Object.keys(getObject(DOCUMENT_30['paths']))).toEqual(Object.keys(getObject(DOCUMENT['paths'])));
    expect(Object.keys(listSchemas(DOCUMENT_30))).toEqual(Object.keys(listSchemas(DOCUMENT)));
  });

  it('has no keyword of 3.1', () => {
    const objects = listObjects(DOCUMENT_30);
    expect(objects.filter(({ type }) => isJsonArray(type) || type === 'null')).toEqual([]);
    expect(objects.filter((one) => ['const', 'examples', 'propertyNames'].some((name) => name in one))).toEqual([]);
    expect(objects.filter((one) => '$ref' in one && Object.keys(one).length > 1)).toEqual([]);
  });

  it('says what may be null', () => {
    const nullable = listObjects(DOCUMENT_30).filter((one) => one['nullable'] === true);
    const nullable31 = listObjects(DOCUMENT).filter(
      ({ type, anyOf }) => (isJsonArray(type) && type.includes('null')) || isJsonArray(anyOf),
    );
    expect(nullable.length).toBe(nullable31.length);
  });
});
