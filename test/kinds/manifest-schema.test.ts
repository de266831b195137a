import { globSync, readFileSync } from 'node:fs';
import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { assertDefined } from '../../src/model/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { DOCUMENT_KINDS, findDocumentSchema } from '../../src/schemas/document.ts';
import { checkAgainstSchema } from '../../src/schemas/findings.ts';
import { createManifestJsonSchema } from '../../src/schemas/manifest.ts';
import { inlineDefs } from '../../src/schemas/text.ts';
import { listVariants } from './variants.ts';

/** The examples have a document of every kind. */
const FILES = [
  'test/manifest/fixtures/everything.yaml',
  ...globSync('examples/{everything,policies,quickstart}/*.yaml').sort(),
];
const EVERYTHING: readonly JsonObject[] = FILES.flatMap((file) => parseAllDocuments(readFileSync(file, 'utf8')))
  .map((document): unknown => document.toJS())
  .filter(isJsonObject)
  .flatMap((document) => [document, ...listItems(document)]);

function listItems({ items }: JsonObject): readonly JsonObject[] {
  return Array.isArray(items) ? items.filter(isJsonObject) : [];
}

function createCheck(kind?: string, options: Options = {}): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, ...options });
  addFormats.default(ajv);
  return ajv.compile(createManifestJsonSchema(kind));
}

/** The first document of a kind in the fixture, with other values for some parts. */
function withParts(kind: string, parts: JsonObject): JsonObject {
  return { ...EVERYTHING.find((document) => document['kind'] === kind), ...parts };
}

const SSH = { ssh_certificate_authority_id: 'sshca_1' };
const ROUTE = { edge_id: 'edghts_1', id: 'edghtsrt_1' };

const isManifest = createCheck();

/** Finds every error, not only the first one. */
const explainManifest = createCheck(undefined, { allErrors: true });

/** What replaces each part of a document in turn; `undefined` leaves it out. */
const VALUES: readonly (Json | undefined)[] = [
  ...[undefined, null, true, 0, 1, 1.5, 70_000, '', 'a', 'a b', [], [1], ['a'], {}, { a: 1 }, { 'a b': 'c' }],
  ...['External/x', 'ipp_1', '2h', 'https://a.test', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.5+02:00'],
];

describe('the JSON Schema of manifests', () => {
  it('accepts a document of every kind with every field', () => {
    expect(EVERYTHING.map((document) => [document['kind'], isManifest(document)])).toEqual(
      EVERYTHING.map((document) => [document['kind'], true]),
    );
    expect(new Set(EVERYTHING.map((document) => document['kind']))).toContain('List');
  });

  it.each<[string, JsonObject]>([
    ['an unknown kind', withParts('TCPEdge', { kind: 'UDPEdge' })],
    ['another apiVersion', withParts('TCPEdge', { apiVersion: 'edgewise/v2' })],
    ['an unknown field', withParts('TCPEdge', { spec: { hostport: [] } })],
    ['a value of another type', withParts('TCPEdge', { spec: { hostports: 'a:1' } })],
    ['a missing field', withParts('TCPEdge', { spec: { backend: {} } })],
    ['a missing spec', { apiVersion: 'edgewise/v1', kind: 'IPRestriction', metadata: { name: 'a' } }],
    [
      'a word that is not in the list',
      withParts('IPRestriction', { spec: { type: 'dashbord', ip_policy_ids: ['ipp_1'] } }),
    ],
    ['a number out of range', withParts('Stack', { spec: { api: { page_size: 101 } } })],
    [
      'an empty list where a value is needed',
      withParts('TCPEdge', { spec: { ip_restriction: { ip_policy_ids: [] } } }),
    ],
    ['an id with another prefix', withParts('TCPEdge', { spec: { backend: { backend_id: 'ipp_1' } } })],
    ['what is no hostport', withParts('TCPEdge', { spec: { hostports: ['nope'] } })],
    ['what is no ACL rule', withParts('Credential', { spec: { acl: ['bind'] } })],
    ['what is no public key', withParts('SSHUserCertificate', { spec: { ...SSH, public_key: 'ssh-dss AAAA' } })],
    ['a reference to another kind', withParts('TCPEdge', { spec: { backend: { backend_id: 'TCPEdge/x' } } })],
    ['a key that refers to another kind', withParts('WeightedBackend', { spec: { backends: { 'TCPEdge/x': 1 } } })],
    [
      'a key that is no header name',
      withParts('HTTPSEdgeRoute', { spec: { ...ROUTE, request_headers: { add: { 'a b': 'c' } } } }),
    ],
    ['a bad name', withParts('TCPEdge', { metadata: { name: 'Postgres' } })],
    ['a lifecycle on what is not managed', withParts('External', { lifecycle: {} })],
    ['protection of what has no life of its own', withParts('HTTPSEdge', { lifecycle: { protect: true } })],
    ['ignoring a field that there is not', withParts('TCPEdge', { lifecycle: { ignore: ['backends'] } })],
    [
      'a bad member of a list',
      { apiVersion: 'v1', kind: 'List', items: [withParts('TCPEdge', { spec: { hostport: [] } })] },
    ],
  ])('refuses %s', (_, document) => {
    expect(isManifest(document)).toBe(false);
  });

  it('accepts a variable of the environment where a text is limited', () => {
    const variable = `\${env:NAME}`;
    expect(isManifest(withParts('TCPEdge', { metadata: { name: variable }, spec: { description: variable } }))).toBe(
      true,
    );
    const edge = { hostports: [`${variable}:80`], backend: { backend_id: `WeightedBackend/${variable}` } };
    expect(isManifest(withParts('TCPEdge', { spec: edge }))).toBe(true);
    const restriction = withParts('IPRestriction', { spec: { type: variable, ip_policy_ids: [variable] } });
    expect(isManifest(restriction)).toBe(true);
  });

  // Each member of a List is checked as a document of its own.
  it.each(DOCUMENT_KINDS.filter((kind) => kind !== 'List'))(
    'accepts each variant of %s that edgewise accepts',
    (kind) => {
      const schema = assertDefined(findDocumentSchema(kind), 'schema');
      const variants = VALUES.flatMap((value) => listVariants(withParts(kind, {}), value));
      const accepted = variants.filter((variant) => checkAgainstSchema(schema, variant).length === 0);
      expect(accepted).not.toEqual([]);
      expect(accepted.filter((variant) => !isManifest(variant))).toEqual([]);
    },
  );

  it.each<[string, JsonObject]>([
    ['/spec/hostports/0', withParts('TCPEdge', { spec: { hostports: ['nope'] } })],
    ['/spec/backend/backend_id', withParts('TCPEdge', { spec: { backend: { backend_id: 'TCPEdge/x' } } })],
    [
      '/spec/policy/inbound/0/expressions',
      withParts('TCPEdge', { spec: { policy: { inbound: [{ expressions: 1 }] } } }),
    ],
    ['/spec/policy/inbound/name', withParts('TCPEdge', { spec: { policy: { inbound: { name: 1 } } } })],
    ['/spec/type', withParts('IPRestriction', { spec: { type: 'x', ip_policy_ids: ['ipp_1'] } })],
    ['/spec/api/page_size', withParts('Stack', { spec: { api: { page_size: 101 } } })],
    ['/kind', withParts('TCPEdge', { kind: 'UDPEdge' })],
    ['/apiVersion', withParts('TCPEdge', { apiVersion: 'v1' })],
    [
      '/items/0/spec/hostports/0',
      { apiVersion: 'v1', kind: 'List', items: [withParts('TCPEdge', { spec: { hostports: ['nope'] } })] },
    ],
  ])('reports the one wrong field %s, and nothing else', (path, document) => {
    expect(explainManifest(document)).toBe(false);
    // ajv also reports the failed condition on the kind; editors do not.
    const told = (explainManifest.errors ?? []).filter(({ keyword }) => keyword !== 'if');
    expect([...new Set(told.map(({ instancePath }) => instancePath))]).toEqual([path]);
  });

  it('lists the kinds if none is set yet, so that an editor can complete it', () => {
    expect(createManifestJsonSchema()['properties']).toMatchObject({ kind: { enum: DOCUMENT_KINDS } });
    expect(isManifest({ apiVersion: 'edgewise/v1' })).toBe(false);
  });

  it('describes every kind and every field for editors', () => {
    const bare = listProperties(inlineDefs(createManifestJsonSchema())).filter(
      ({ schema }) => typeof schema['description'] !== 'string',
    );
    expect(bare.map(({ name }) => name)).toEqual([]);
    const kinds = createManifestJsonSchema()['allOf'];
    expect(JSON.stringify(kinds).match(/"title":/g)).toHaveLength(DOCUMENT_KINDS.length);
  });

  it('contains the default of a field', () => {
    const enabled = listProperties(inlineDefs(createManifestJsonSchema('TCPEdge'))).filter(
      ({ name }) => name === 'enabled',
    );
    expect(enabled.map(({ schema }) => schema['default'])).toEqual([true, true, true]);
  });

  it.each(DOCUMENT_KINDS)('exists for %s alone, and refuses other kinds', (kind) => {
    const isOfKind = createCheck(kind);
    const documents = EVERYTHING.filter((document) => document['kind'] === kind);
    expect(documents.length).toBeGreaterThan(0);
    for (const document of EVERYTHING) expect(isOfKind(document)).toBe(documents.includes(document));
    expect(isOfKind({ apiVersion: 'edgewise/v1', kind: 'Other', metadata: { name: 'a' } })).toBe(false);
  });
});

/** Lists every property of every object schema, at any depth. */
function listProperties(schema: Json): readonly { readonly name: string; readonly schema: JsonObject }[] {
  if (Array.isArray(schema)) return schema.flatMap(listProperties);
  if (!isJsonObject(schema)) return [];
  const properties = isJsonObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  const own = properties.flatMap(([name, inner]) => (isJsonObject(inner) ? [{ name, schema: inner }] : []));
  const inner = Object.entries(schema).flatMap(([key, member]) => (key === 'if' ? [] : listProperties(member)));
  return [...own, ...inner];
}
