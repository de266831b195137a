import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments, parseDocument, stringify } from 'yaml';
import { type Field, type FieldType, objectOf } from '../../src/kinds/field.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';
import { LINT_CODES, LINT_RULE_IDS } from '../../src/model/diagnostic.ts';
import { DOCUMENT_KINDS, LIST_MEMBER_KINDS } from '../../src/schemas/document.ts';
import { type LanguageServer, startLanguageServer, type TextPlace } from './language-server.ts';

/** How an editor uses the published schema: it completes, explains, and marks mistakes. */

const MODELINE = '# yaml-language-server: $schema=schemas/manifest.schema.json\n';
const EVERYTHING = readFileSync('test/manifest/fixtures/everything.yaml', 'utf8');

let server: LanguageServer;
beforeAll(async () => {
  server = await startLanguageServer(process.cwd());
});
afterAll(() => server.close());

/** Lists the proposals at `▮` in a text. */
function complete(text: string): Promise<ReadonlyMap<string, string>> {
  const lines = `${MODELINE}${text}`.split('\n');
  const line = lines.findIndex((content) => content.includes('▮'));
  const place = { line, character: lines[line]?.indexOf('▮') ?? 0 };
  return server.complete(lines.join('\n').replace('▮', ''), place);
}

const toHead = (kind: string) => `apiVersion: edgewise/v1\nkind: ${kind}\nmetadata:\n  name: a\n`;

describe.each(MANIFEST_KINDS.map((kind) => [kind.name, kind] as const))('a manifest of %s', (name, kind) => {
  const fields = Object.fromEntries(kind.specFields);

  it.each(listMappings(objectOf(fields), '  ').map((mapping) => [mapping.path || 'spec', mapping] as const))(
    'completes its fields in %s, each with a description',
    async (_, { lines, inner }) => {
      const offered = await complete(`${toHead(name)}spec:\n${lines}▮`);
      const explained = Object.entries(inner).map(([field]) => [field, offered.get(field)]);
      expect(explained).toEqual(Object.entries(inner).map(([field, { description }]) => [field, description]));
    },
  );

  it('describes each field that it contains', async () => {
    const stated = listSetFields(kind);
    expect(stated.map(({ path }) => path)).toEqual(
      expect.arrayContaining(Object.keys(fields).map((field) => `.${field}`)),
    );
    const said = stated.map(async ({ text, place, path, field }) => {
      const hover = (await server.hover(text, place)).replaceAll('\\', '');
      return hover.includes(field.description) ? [] : [`${path}: ${hover}`];
    });
    expect((await Promise.all(said)).flat()).toEqual([]);
  });

  it('completes its lifecycle and its lint', async () => {
    const lifecycle = await complete(`${toHead(name)}lifecycle:\n  ▮`);
    expect([...lifecycle.keys()]).toEqual(expect.arrayContaining(['ignore', ...Object.keys(kind.lifecycle)]));
    const rules = await complete(`${toHead(name)}lint:\n  allow:\n    ▮`);
    expect([...rules.keys()]).toEqual(LINT_RULE_IDS.filter((id) => id !== 'suppression-unused'));
    expect(rules.get('no-backend')).toContain(LINT_CODES['no-backend']);
  });
});

it.each(LIST_MEMBER_KINDS)(
  'an editor reports an unknown field, an unknown setting and a wrong name in a manifest of %s',
  async (kind) => {
    const text = `${MODELINE}${toHead(kind).replace('name: a', 'name: A b')}zork: 1\nspec:\n  hostport: 1\n`;
    expect(await server.diagnose(text)).toEqual(
      expect.arrayContaining([
        // A Defaults document has no name.
        ...(kind === 'Defaults' ? [] : [expect.stringMatching(/^5:9 A name has 1 to 63 lower-case letters/)]),
        '6:1 Property zork is not allowed.',
        '8:3 Property hostport is not allowed.',
      ]),
    );
  },
);

describe('a manifest', () => {
  it('reports no mistake if every kind has every field', async () => {
    const found = splitDocuments().map(async ({ text }) => server.diagnose(text));
    expect(await Promise.all(found)).toEqual(found.map(() => []));
  });

  it('completes the kinds, and the words of a field', async () => {
    expect([...(await complete('apiVersion: edgewise/v1\nkind: ▮')).keys()]).toEqual(DOCUMENT_KINDS);
    const types = await complete(`${toHead('IPRestriction')}spec:\n  type: ▮`);
    expect([...types.keys()]).toEqual(['dashboard', 'api', 'agent', 'endpoints']);
    const severities = await complete(`${toHead('Stack')}spec:\n  lint:\n    no-backend: ▮`);
    expect([...severities.keys()]).toEqual(['"off"', 'warning', 'error']);
  });

  it('completes known actions, and examples of hostports', async () => {
    const rule = 'spec:\n  policy:\n    inbound:\n      - actions:\n          - ';
    expect([...(await complete(`${toHead('TCPEdge')}${rule}type: ▮`)).keys()]).toEqual(['deny', 'log', 'restrict-ips']);
    const hostports = await complete(`${toHead('TCPEdge')}spec:\n  hostports:\n    - ▮`);
    expect([...hostports.keys()]).toEqual(['1.tcp.example.net:20001']);
    const binds = await complete(`${toHead('Credential')}spec:\n  acl:\n    - ▮`);
    expect([...binds.keys()]).toEqual(['bind:*.example.com']);
  });

  it('describes what several schemas share by its place', async () => {
    const text = `${MODELINE}${toHead('TCPEdge')}lint:\n  allow: { no-backend: none }\n`;
    expect(await server.hover(text, { line: 5, character: 1 })).toContain('Exemptions from lint rules.');
    expect(await server.hover(text, { line: 4, character: 3 })).toContain('Name, unique among');
    const stack = `${MODELINE}${toHead('Stack')}spec:\n  lint: { no-backend: off }\n`;
    expect(await server.hover(stack, { line: 6, character: 11 })).toContain(LINT_CODES['no-backend']);
  });

  it.each<[string, string, readonly string[]]>([
    ['TCPEdge', 'spec: { hostport: [] }', ['6:9 Property hostport is not allowed.']],
    ['TCPEdge', 'spec: { backend: {} }', ['6:9 Missing property "backend_id".']],
    ['TCPEdge', 'spec: { policy: { inbound: { name: 1 } } }', ['6:36 Incorrect type. Expected one of string, null.']],
    ['TCPEdge', 'spec: { policy: { inbound: [{ nam: x }] } }', ['6:31 Property nam is not allowed.']],
    ['TCPEdge', 'spec: { policy: { outbound: [{ actions: [{}] }] } }', ['6:42 Missing property "type".']],
    ['TCPEdge', `spec: { description: ${'x'.repeat(256)} }`, ['6:22 String is longer than the maximum length of 255.']],
    ['TCPEdge', `spec: { description: "\${env:D}${'x'.repeat(256)}" }`, []],
    ['TCPEdge', 'spec: { hostports: [1.tcp.example.net] }', [`6:21 ${HOSTPORT}`]],
    ['TCPEdge', 'spec: { hostports: ["a.example.net:0"] }', [`6:21 ${HOSTPORT}`]],
    ['TCPEdge', 'spec: { hostports: ["a.example.net:65536"] }', [`6:21 ${HOSTPORT}`]],
    ['TCPEdge', `spec: { hostports: ["a.example.net:65535", "a.example.net:1", "\${env:A}:1"] }`, []],
    ['Credential', 'spec: { acl: ["bind:a.example.net:65535"] }', []],
    ['Credential', 'spec: { acl: ["bind:a.example.net:65536"] }', [`6:15 ${BIND}`]],
    ['TCPEdge', 'spec: { policy: { inbound: [{ actions: [{ type: denny }] }] } }', [`6:43 ${ACTION}`]],
    ['TCPEdge', 'spec: { policy: { inbound: [{ actions: { type: denny } }] } }', [`6:42 ${ACTION}`]],
    ['TCPEdge', `spec: { policy: { inbound: [{ actions: [{ type: "\${env:A}" }, { type: log }] }] } }`, []],
    ['TCPEdge', 'lint: { allow: { no-wait: because } }', ['6:18 Property no-wait is not allowed.']],
    ['TCPEdge', 'lifecycle: { ignore: [hostport] }', ['6:23 Value is not accepted.']],
    ['IPRestriction', 'spec: { type: dashbord, ip_policy_ids: [ipp_1] }', ['6:15 Value is not accepted.']],
    ['IPRestriction', `spec: { type: "\${env:TYPE}", ip_policy_ids: [ipp_1] }`, []],
    ['WeightedBackend', 'spec: { backends: { bkdhr_1: 10001 } }', ['6:30 Value is above the maximum of 10000.']],
    ['Stack', 'spec: { lint: { no-backend: fatal } }', ['6:29 Value is not accepted.']],
  ])('reports in a %s the mistake %s', async (kind, line, expected) => {
    const found = await server.diagnose(`${MODELINE}${toHead(kind)}${line}\n`);
    expect(found.map((message) => message.replace(/(?<=Value is not accepted\.).*/, ''))).toEqual(expected);
  });
});

const HOSTPORT = 'Must be `host:port` with a port from 1 to 65535.';
const BIND =
  'Must be `*`, or `bind:` with a domain (`*.` may lead), `host:port`, `key=value` (`*` for either side) or `*`.';
const ACTION = 'Not known to have an effect. Known: `deny`, `log`, `restrict-ips`.';

/** A mapping in the table of a kind, with the lines that lead to it. */
interface Mapping {
  readonly path: string;
  readonly lines: string;
  readonly inner: Readonly<Record<string, Field>>;
}

function listMappings(type: FieldType, indent: string, path = '', lines = indent): readonly Mapping[] {
  if (type.type === 'list') return listMappings(type.of, `${indent}  `, `${path}[]`, `${lines}- `);
  if (type.type !== 'object') return [];
  const inner = Object.entries(type.fields).flatMap(([name, field]) =>
    listMappings(field.type, `${indent}  `, path === '' ? name : `${path}.${name}`, `${lines}${name}:\n${indent}  `),
  );
  return [{ path, lines, inner: type.fields }, ...inner];
}

/** The documents of the fixture in block style, each as a file of its own. */
function splitDocuments(): readonly { readonly kind: string; readonly text: string }[] {
  return parseAllDocuments(EVERYTHING).flatMap((document) => {
    const value = document.toJS();
    if (value === null) return [];
    const members: readonly unknown[] = value.kind === 'List' ? value.items : [value];
    return members.map((member) => ({
      kind: String(Object(member).kind),
      text: `${MODELINE}${stringify(member, { lineWidth: 0 })}`,
    }));
  });
}

/** A field at its position in a document that sets it. */
interface Stated {
  readonly text: string;
  readonly place: TextPlace;
  readonly path: string;
  readonly field: Field;
}

function listSetFields(kind: Kind): readonly Stated[] {
  return splitDocuments()
    .filter((document) => document.kind === kind.name)
    .flatMap(({ text }) => {
      const lines = new LineCounter();
      const spec = parseDocument(text, { lineCounter: lines }).get('spec', true);
      return listFields(kind.type, spec, '').map(({ offset, path, field }) => {
        const { line, col } = lines.linePos(offset);
        return { text, place: { line: line - 1, character: col - 1 }, path, field };
      });
    });
}

interface FieldNode {
  readonly offset: number;
  readonly path: string;
  readonly field: Field;
}

function listFields(type: FieldType, node: unknown, path: string): readonly FieldNode[] {
  const inner = type.type === 'list' ? type.of : type;
  if (isSeq(node)) return node.items.flatMap((item) => listFields(inner, item, `${path}[]`));
  if (!isMap(node) || inner.type !== 'object') return [];
  return node.items.flatMap(({ key, value }): readonly FieldNode[] => {
    const field = isScalar(key) ? inner.fields[String(key.value)] : undefined;
    if (field === undefined || !isScalar(key)) return [];
    const at = `${path}.${key.value}`;
    return [{ offset: key.range?.[0] ?? 0, path: at, field }, ...listFields(field.type, value, at)];
  });
}
