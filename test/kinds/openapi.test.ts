import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../src/kinds/operations.ts';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { createOpenApiDocument } from '../../src/schemas/openapi.ts';
import { createServer } from '../../src/server/server.ts';
import { getObject } from '../server/caller.ts';
import { checkSchema } from '../server/conformance.ts';

const DOCUMENT = createOpenApiDocument();
const SCHEMAS = Object.keys(getObject(getObject(DOCUMENT['components'])['schemas']));

/** Finds every object with the key in a value. */
function findAll(value: Json, key: string): readonly JsonObject[] {
  if (isJsonArray(value)) return value.flatMap((member) => findAll(member, key));
  if (!isJsonObject(value)) return [];
  const inner = Object.values(value).flatMap((member) => findAll(member, key));
  return key in value ? [value, ...inner] : inner;
}

function resolve(pointer: string): Json | undefined {
  const steps = pointer.split('/').slice(1);
  return steps.reduce<Json | undefined>((inner, step) => (isJsonObject(inner) ? inner[step] : undefined), DOCUMENT);
}

function getOperation(path: string, method: string): JsonObject {
  return getObject(getObject(getObject(DOCUMENT['paths'])[path])[method]);
}

/** The operations of the API. */
const INTERFACE = [
  'POST /edges/tcp',
  'GET /edges/tcp',
  'GET /edges/tcp/{id}',
  'PATCH /edges/tcp/{id}',
  'DELETE /edges/tcp/{id}',
  'PUT /edges/tcp/{id}/backend',
  'GET /edges/tcp/{id}/backend',
  'DELETE /edges/tcp/{id}/backend',
  'PUT /edges/tcp/{id}/ip_restriction',
  'GET /edges/tcp/{id}/ip_restriction',
  'DELETE /edges/tcp/{id}/ip_restriction',
  'POST /backends/weighted',
  'GET /backends/weighted',
  'GET /backends/weighted/{id}',
  'PATCH /backends/weighted/{id}',
  'DELETE /backends/weighted/{id}',
  'POST /ip_restrictions',
  'GET /ip_restrictions',
  'GET /ip_restrictions/{id}',
  'PATCH /ip_restrictions/{id}',
  'DELETE /ip_restrictions/{id}',
  'POST /agent_ingresses',
  'GET /agent_ingresses',
  'GET /agent_ingresses/{id}',
  'PATCH /agent_ingresses/{id}',
  'DELETE /agent_ingresses/{id}',
  'POST /credentials',
  'GET /credentials',
  'GET /credentials/{id}',
  'PATCH /credentials/{id}',
  'DELETE /credentials/{id}',
  'POST /ssh_user_certificates',
  'GET /ssh_user_certificates',
  'GET /ssh_user_certificates/{id}',
  'PATCH /ssh_user_certificates/{id}',
  'DELETE /ssh_user_certificates/{id}',
  'PUT /edges/https/{id}/mutual_tls',
  'GET /edges/https/{id}/mutual_tls',
  'DELETE /edges/https/{id}/mutual_tls',
  'PUT /edges/https/{edge_id}/routes/{id}/circuit_breaker',
  'GET /edges/https/{edge_id}/routes/{id}/circuit_breaker',
  'DELETE /edges/https/{edge_id}/routes/{id}/circuit_breaker',
  'PUT /edges/https/{edge_id}/routes/{id}/request_headers',
  'GET /edges/https/{edge_id}/routes/{id}/request_headers',
  'DELETE /edges/https/{edge_id}/routes/{id}/request_headers',
  'PUT /edges/https/{edge_id}/routes/{id}/user_agent_filter',
  'GET /edges/https/{edge_id}/routes/{id}/user_agent_filter',
  'DELETE /edges/https/{edge_id}/routes/{id}/user_agent_filter',
  'POST /abuse_reports',
  'GET /abuse_reports/{id}',
  'GET /openapi.json',
];

describe('the OpenAPI document', () => {
  it('has every operation of the interface', () => {
    const operations = Object.entries(getObject(DOCUMENT['paths'])).flatMap(([path, item]) =>
      Object.keys(getObject(item))
        .filter((name) => name !== 'parameters')
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations).toEqual(expect.arrayContaining(INTERFACE));
    const known = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    expect(operations).toEqual([...known, 'GET /openapi.json']);
  });

  it('names each operation once', () => {
    const ids = findAll(DOCUMENT, 'operationId').map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(OPERATIONS.length + 1);
    expect(ids).toEqual(
      expect.arrayContaining(['createTCPEdge', 'listTCPEdges', 'replaceHTTPSEdgeRouteCircuitBreaker']),
    );
  });

  it('has no dangling reference, and no unused component', () => {
    const references = new Set(findAll(DOCUMENT, '$ref').map(({ $ref }) => String($ref)));
    expect([...references].filter((reference) => resolve(reference) === undefined)).toEqual([]);
    const used = [...references].flatMap((reference) => reference.split('/schemas/')[1] ?? []);
    expect(SCHEMAS.filter((name) => !used.includes(name))).toEqual([]);
  });

  it.each(SCHEMAS)('has a valid JSON Schema, which does not accept everything, for %s', (name) => {
    const refused = name === 'StorableJson' ? [{ text: 'a\0' }] : [];
    expect(() => checkSchema(`#/components/schemas/${name}`, refused, 'A list')).toThrow('does not conform');
  });

  it('lists the failures of each operation', () => {
    const failures = OPERATIONS.map(({ id, path, method }) => {
      const statuses = Object.keys(getObject(getOperation(path, method.toLowerCase())['responses']));
      return `${id}: ${statuses.filter((status) => status >= '400').join(' ')}`;
    });
    expect(
      failures.filter((line) => /TCPEdge|WeightedBackend|IPRestriction|AbuseReport|HTTPSEdgeMutual/.test(line)),
    ).toMatchInlineSnapshot(`
      [
        "createTCPEdge: 400 401 403 409 413 415 429 500 507",
        "listTCPEdges: 400 401 429 500",
        "getTCPEdge: 400 401 404 429 500",
        "updateTCPEdge: 400 401 403 404 409 413 415 429 500 507",
        "deleteTCPEdge: 400 401 403 404 429 500",
        "replaceTCPEdgeBackend: 400 401 403 404 413 415 429 500 507",
        "getTCPEdgeBackend: 400 401 404 429 500",
        "deleteTCPEdgeBackend: 400 401 403 404 429 500",
        "replaceTCPEdgeIpRestriction: 400 401 403 404 413 415 429 500 507",
        "getTCPEdgeIpRestriction: 400 401 404 429 500",
        "deleteTCPEdgeIpRestriction: 400 401 403 404 429 500",
        "createWeightedBackend: 400 401 403 413 415 429 500 507",
        "listWeightedBackends: 400 401 429 500",
        "getWeightedBackend: 400 401 404 429 500",
        "updateWeightedBackend: 400 401 403 404 413 415 429 500 507",
        "deleteWeightedBackend: 400 401 403 404 409 429 500",
        "createIPRestriction: 400 401 403 409 413 415 429 500 507",
        "listIPRestrictions: 400 401 429 500",
        "getIPRestriction: 400 401 404 429 500",
        "updateIPRestriction: 400 401 403 404 413 415 429 500 507",
        "deleteIPRestriction: 400 401 403 404 429 500",
        "replaceHTTPSEdgeMutualTls: 400 401 403 404 413 415 429 500 507",
        "getHTTPSEdgeMutualTls: 400 401 404 429 500",
        "deleteHTTPSEdgeMutualTls: 400 401 403 404 429 500",
        "createAbuseReport: 400 401 403 413 415 429 500 507",
        "getAbuseReport: 400 401 404 429 500",
      ]
    `);
  });

  it('has every id of a path, and the version, as a parameter of the path', () => {
    const lacking = OPERATIONS.filter(({ path }) => {
      const parameters = JSON.stringify(getObject(getObject(DOCUMENT['paths'])[path])['parameters']);
      const ids = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => `"name":"${name}","in":"path"`);
      return ![...ids, '#/components/parameters/version'].every((part) => parameters.includes(part));
    });
    expect(lacking).toEqual([]);
  });

  it('has one component for each repeated part', () => {
    const parts = findAll(
      { paths: DOCUMENT['paths'] ?? null, components: DOCUMENT['components'] ?? null },
      'properties',
    );
    const objects = parts.filter(({ properties }) => Object.keys(getObject(properties)).length > 1);
    const texts = objects.map((schema) => JSON.stringify(schema));
    expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([]);
  });

  it('requires the version in the header that is configured', () => {
    const { parameters } = getObject(createOpenApiDocument({ versionHeader: 'Acme-Version' })['components']);
    expect(getObject(getObject(parameters)['version'])).toMatchObject({
      name: 'Acme-Version',
      in: 'header',
      required: true,
      schema: { $ref: '#/components/schemas/Version' },
    });
  });

  it('describes paging, and only for lists', () => {
    const paged = OPERATIONS.filter(({ path, method }) => {
      const { parameters = [] } = getOperation(path, method.toLowerCase());
      return JSON.stringify(parameters).includes('before_id');
    });
    expect(paged.map(({ action }) => action)).toEqual(paged.map(() => 'list'));
    expect(paged).toHaveLength(OWNED_KINDS.length);
  });

  it('describes a response down to its last field', () => {
    const edge = getObject(getObject(getObject(DOCUMENT['components'])['schemas'])['IPRestriction']);
    expect(edge).toMatchInlineSnapshot(`
      {
        "additionalProperties": false,
        "properties": {
          "created_at": {
            "description": "When it was created.",
            "format": "date-time",
            "type": "string",
          },
          "description": {
            "description": "Free text for people. At most 255 bytes.",
            "type": "string",
          },
          "enforced": {
            "description": "True: the restriction is enforced. False: only warnings are issued.",
            "type": "boolean",
          },
          "id": {
            "description": "Id, assigned by the service.",
            "type": "string",
          },
          "ip_policies": {
            "description": "The IP policies used to enforce the restriction. At least one.",
            "items": {
              "$ref": "#/components/schemas/Ref",
            },
            "type": "array",
          },
          "metadata": {
            "description": "Your own data: text, or a mapping that is stored as JSON. At most 4096 bytes, including the mark that edgewise stores there.",
            "type": "string",
          },
          "type": {
            "description": "Which traffic is restricted. One restriction per type.",
            "enum": [
              "dashboard",
              "api",
              "agent",
              "endpoints",
            ],
            "type": "string",
          },
          "uri": {
            "description": "URI of the resource in the API.",
            "type": "string",
          },
        },
        "required": [
          "id",
          "uri",
          "created_at",
          "description",
          "metadata",
          "enforced",
          "type",
          "ip_policies",
        ],
        "type": "object",
      }
    `);
  });

  it('accepts nulls of known fields, and lists modules in one form', () => {
    checkSchema('#/components/schemas/TCPEdgeUpdate', { description: 'x', backend: null }, 'An update');
    expect(() =>
      checkSchema('#/components/schemas/TCPEdgeBackendMutate', { module: { backend_id: 'bkdtg_1' } }, 'A PUT'),
    ).toThrow('module');
    checkSchema('#/components/schemas/TCPEdgeBackendMutate', { backend_id: 'bkdtg_1' }, 'A PUT');
    expect(() => checkSchema('#/components/schemas/TCPEdgeUpdate', { nobody: 1 }, 'An update')).toThrow('nobody');
  });

  it('gives the body of every request types, without alternatives beside its fields', () => {
    const bodies = SCHEMAS.filter((name) => /(Create|Update)$/.test(name));
    const schemas = bodies.map((name) => getObject(resolve(`#/components/schemas/${name}`) ?? null));
    expect(schemas.length).toBeGreaterThan(OWNED_KINDS.length);
    expect(schemas.filter((schema) => 'anyOf' in schema || schema['type'] !== 'object')).toEqual([]);
  });

  it('has the same free configuration of an action in requests and responses', () => {
    const of = (name: string) =>
      getObject(getObject(resolve(`#/components/schemas/${name}/properties`) ?? null)['config']);
    expect(of('PolicyActionMutate')).toEqual(of('PolicyAction'));
    expect(of('PolicyAction')).toMatchObject({ type: ['object', 'null'], additionalProperties: {} });
  });

  it('has no property that can only be null, and no `not`, because generators stop at them', () => {
    const text = JSON.stringify(getObject(resolve('#/components/schemas') ?? null));
    expect(text).not.toMatch(/"not":/);
    const alone = (value: Json): readonly Json[] => {
      if (isJsonArray(value)) return value.flatMap(alone);
      if (!isJsonObject(value)) return [];
      const own = Object.entries(getObject(value['properties'] ?? {})).filter(
        ([, schema]) => isJsonObject(schema) && schema['type'] === 'null',
      );
      return [...own.map(([name]) => name), ...Object.values(value).flatMap(alone)];
    };
    expect(alone(resolve('#/components/schemas') ?? null)).toEqual([]);
  });

  it('describes an update without fields as a change of nothing', () => {
    const check = (body: JsonObject) => () => checkSchema('#/components/schemas/AgentIngressUpdate', body, 'An update');
    expect(check({})).toThrow('must NOT have fewer than 1 properties');
    expect(check({ certificate_management_policy: null })).not.toThrow();
    expect(check({ description: '' })).not.toThrow();
  });

  it('names operations with words', () => {
    expect(OPERATIONS.map(({ id }) => id)).toContain('listAgentIngresses');
    expect(OPERATIONS.map(({ id }) => id).filter((id) => id.endsWith('sss'))).toEqual([]);
  });

  it('is served without a key, with the name of the version header', async () => {
    const { handle } = createServer({ versionHeader: 'Acme-Version' });
    const response = await handle(new Request('http://localhost/openapi.json'));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.json()).toEqual(createOpenApiDocument({ versionHeader: 'Acme-Version' }));
  });
});
