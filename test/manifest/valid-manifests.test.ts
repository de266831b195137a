import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { assertDefined } from '../../src/model/errors.ts';
import type { DesiredState } from '../../src/model/state.ts';
import { getDocumentSetting } from '../../src/settings/resolve.ts';
import { type Files, toMarked, validate } from './explain.ts';

const EVERYTHING = readFileSync(new URL('fixtures/everything.yaml', import.meta.url), 'utf8');

function toState(files: Files, env: Readonly<Record<string, string>> = {}): DesiredState {
  const { state, diagnostics } = validate(files, { env: { variables: env, offered: Object.keys(env) } });
  expect(diagnostics).toEqual([]);
  return assertDefined(state, 'state');
}

function toSpec(state: DesiredState, address: string) {
  return [...state.resources.values()].find((resource) => resource.address === address)?.spec;
}

const STACK_ONLY = 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: test }\n';
const DAY_MS = 86_400_000;

describe('valid manifests', () => {
  it('have the resources of every kind, in the order of the files', () => {
    expect([...toState(EVERYTHING).resources.keys()]).toEqual([
      'TCPEdge/postgres',
      'WeightedBackend/pool',
      'IPRestriction/api',
      'AgentIngress/ingress',
      'Credential/agent',
      'SSHUserCertificate/alice',
      'HTTPSEdge/web',
      'HTTPSEdgeRoute/web-root',
    ]);
  });

  it('have references to known ids replaced, and keep addresses whose id the service gives', () => {
    const state = toState(EVERYTHING);
    expect(toSpec(state, 'TCPEdge/postgres')).toMatchObject({
      backend: { backend_id: 'WeightedBackend/pool' },
      ip_restriction: { ip_policy_ids: ['ipp_office', 'ipp_home'] },
      policy: { inbound: { actions: { config: { enforce: true, ip_policies: ['ipp_office'] } } } },
    });
    expect(toSpec(state, 'WeightedBackend/pool')?.['backends']).toEqual({ bkdhr_child: 90, bkdtg_other: 10 });
    expect(toSpec(state, 'HTTPSEdgeRoute/web-root')).toMatchObject({ edge_id: 'edghts_web', id: 'edghtsrt_root' });
  });

  it('have the name and the place of each document, whatever precedes it', () => {
    const named = (name: string, labels = '{}') => `kind: TCPEdge\nmetadata: { name: ${name}, labels: ${labels} }\n`;
    const header = 'apiVersion: edgewise/v1\n';
    const list = `---\n${header}kind: List\nitems:\n  - { apiVersion: edgewise/v1, kind: TCPEdge, metadata: { name: inner } }\n`;
    const text = `# a\n\n---\n${header}${named('first', '{ team: data }')}--- # b\n\n# c\n${header}${named('next')}${list}`;
    const { resources } = toState({ 'stack.yaml': STACK_ONLY, 'a/edges.yaml': text });
    expect([...resources.values()].map(({ name, labels, locate }) => ({ name, labels, ...locate() }))).toEqual([
      { name: 'first', labels: { team: 'data' }, file: 'a/edges.yaml', line: 4, column: 1 },
      { name: 'next', labels: {}, file: 'a/edges.yaml', line: 10, column: 1 },
      { name: 'inner', labels: {}, file: 'a/edges.yaml', line: 17, column: 5 },
    ]);
  });

  it('have the id of each External, at the end of its chain', () => {
    expect([...toState(EVERYTHING).externals]).toEqual([
      ['External/office', 'ipp_office'],
      ['External/office-alias', 'ipp_office'],
      ['External/child', 'bkdhr_child'],
    ]);
  });

  it('have variables filled in, with defaults and escapes', () => {
    const text = EVERYTHING.replace('Postgres for', () => '${' + 'env:TEAM:-Postgres} for');
    const describedAs = (env: Readonly<Record<string, string>>) =>
      toSpec(toState(text, env), 'TCPEdge/postgres')?.['description'];
    expect(describedAs({ TEAM: '' })).toBe('Postgres for ${' + 'env:TEAM}');
    expect(describedAs({ TEAM: 'Data' })).toBe('Data for ${' + 'env:TEAM}');
  });

  it('keep the values of metadata as they are written', () => {
    const metadata = toSpec(toState(EVERYTHING), 'TCPEdge/postgres')?.['metadata'];
    expect(JSON.stringify(metadata)).toBe('{"team":"data","nested":{"a":[1,true,null]}}');
  });

  it('have the lifecycle of a resource', () => {
    const { resources } = toState(EVERYTHING);
    expect(resources.get('TCPEdge/postgres')?.lifecycle).toEqual({
      protect: true,
      ignore: ['policy'],
      adopt: 'edgtcp_2fmn',
      settings: {},
    });
    expect(resources.get('HTTPSEdge/web')?.lifecycle).toEqual({
      protect: false,
      ignore: ['mutual_tls'],
      adopt: undefined,
      settings: {},
    });
    expect(resources.get('Credential/agent')?.lifecycle).toEqual({
      protect: false,
      ignore: [],
      adopt: undefined,
      settings: {},
    });
  });

  it('have the settings of their Stack', () => {
    expect(toState(EVERYTHING).stack).toEqual({
      name: 'production',
      layers: [expect.objectContaining({ by: 'Stack' })],
      guard: { maxDeletes: 2, maxDeleteShare: 0.5 },
      tokens: { default: { directory: 'tokens' }, credentials: {} },
      lint: { severities: {}, maxValidityMs: 90 * DAY_MS, celVariables: [] },
      labels: { team: 'data' },
      annotations: { note: 'kept by tools' },
      policies: [],
    });
  });

  it('have defaults for what a Stack does not set, and no name without one', () => {
    const defaults = {
      guard: { maxDeletes: 5, maxDeleteShare: 0.3 },
      tokens: { default: undefined, credentials: {} },
      lint: { severities: {}, maxValidityMs: 90 * DAY_MS, celVariables: [] },
      labels: {},
      annotations: {},
      policies: [],
    };
    const stack = 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: s }\n';
    expect(toState(stack).stack).toEqual({ name: 's', layers: [expect.objectContaining({ spec: {} })], ...defaults });
    expect(toState(`${stack}spec: { tokens: {} }\n`).stack.tokens).toEqual({ default: undefined, credentials: {} });
    expect(toState('').stack).toEqual({ name: '', layers: [], ...defaults });
  });

  it('have a token command with its time limit for one credential', () => {
    const stack = `apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: s }\n`;
    const tokens = `spec: { tokens: { credentials: { agent: { command: [vault, '{name}'], test: [vault, status], timeout: 2m } } } }\n`;
    expect(toState(`${stack}${tokens}`).stack.tokens).toEqual({
      default: undefined,
      credentials: { agent: { command: ['vault', '{name}'], test: ['vault', 'status'], timeoutMs: 120_000 } },
    });
  });

  it.each(['https://api.example.net/v2', 'http://127.0.0.1:4750', 'embedded:', 'embedded:state.json'])(
    'accept the base URL %s',
    (url) => {
      const stack = `apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: s }\nspec: { api: { base_url: "${url}" } }\n`;
      expect(getDocumentSetting('baseUrl', toState(stack).stack.layers)).toBe(url);
    },
  );

  it('have the files that they were read from, with the digest of their bytes', () => {
    const files = { 'b.yaml': '# b\n', 'a.yaml': EVERYTHING };
    const toDigest = (text: string) => createHash('sha256').update(text).digest('hex');
    expect(toState(files).inputs).toEqual([
      { file: 'b.yaml', digest: toDigest('# b\n') },
      { file: 'a.yaml', digest: toDigest(EVERYTHING) },
    ]);
  });

  it('are accepted as JSON, with a byte order mark, and with any line ends', () => {
    const json = JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'TCPEdge', metadata: { name: 'a' }, spec: {} });
    expect([...toState({ 'a.json': json }).resources.keys()]).toEqual(['TCPEdge/a']);
    const windows = 'apiVersion: edgewise/v1\r\nkind: TCPEdge\r\nmetadata: { name: a }\r\n';
    const state = toState(`\uFEFF${windows}---\r\n${windows.replace('name: a', 'name: b')}`);
    expect([...state.resources.keys()]).toEqual(['TCPEdge/a', 'TCPEdge/b']);
    expect(state.resources.get('TCPEdge/a')?.locate(['kind'])).toMatchObject({ line: 2, column: 7 });
  });

  it('are accepted with aliases and anchors, tags of YAML itself, and block texts', () => {
    const state = toState(
      [
        'apiVersion: edgewise/v1',
        'kind: Credential',
        'metadata: { name: a }',
        'spec:',
        '  description: &text !!str "5"',
        '  metadata: { a: *text, b: *text }',
        '  acl: [!!str "*"]',
      ].join('\n'),
    );
    expect(toSpec(state, 'Credential/a')).toEqual({ description: '5', metadata: { a: '5', b: '5' }, acl: ['*'] });
  });

  it('are YAML 1.2 whatever a %YAML line says', () => {
    const text =
      '%YAML 1.1\n---\napiVersion: edgewise/v1\nkind: Credential\nmetadata: { name: a }\nspec: { description: yes }\n';
    expect(toSpec(toState(text), 'Credential/a')).toEqual({ description: 'yes' });
  });

  it('keep keys that mean something to JavaScript as data', () => {
    const text =
      'apiVersion: edgewise/v1\nkind: Credential\nmetadata: { name: a }\nspec: { metadata: { __proto__: { x: 1 }, 1: a, true: b } }\n';
    expect(JSON.stringify(toSpec(toState(text), 'Credential/a'))).toBe(
      '{"metadata":{"1":"a","__proto__":{"x":1},"true":"b"}}',
    );
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  });
});

describe('a resource', () => {
  const { state, quoted } = validate({ 'dir/all.yaml': EVERYTHING });
  const { resources } = assertDefined(state, 'state');
  const locate = (address: string, path: readonly (string | number)[] | undefined) => {
    const resource = [...resources.values()].find((candidate) => candidate.address === address);
    const place = assertDefined(resource, address).locate(path);
    return `${place.file}:${place.line}:${place.column} ${toMarked(quoted.reports.render(place))}`;
  };

  it.each<[string, readonly (string | number)[] | undefined, string]>([
    ['the start of its document', undefined, 'dir/all.yaml:28:1 apiVersion'],
    ['a scalar', ['spec', 'backend', 'backend_id'], 'dir/all.yaml:35:41 WeightedBackend/pool'],
    ['a member of a list', ['spec', 'hostports', 1], 'dir/all.yaml:34:42 "2.tcp.example.net:20001"'],
    ['a block that starts on the next line by its key', ['spec', 'policy'], 'dir/all.yaml:37:3 policy'],
    ['a member of a block list by its first key', ['spec', 'policy', 'outbound', 0], 'dir/all.yaml:44:9 actions'],
    [
      'the member of a list that is written as a single value',
      ['spec', 'policy', 'inbound', 0, 'actions', 0, 'type'],
      'dir/all.yaml:42:24 restrict-ips',
    ],
    ['the innermost part that is there', ['spec', 'policy', 'inbound', 'x', 'y'], 'dir/all.yaml:39:5 inbound'],
    ['a field of the lifecycle', ['lifecycle', 'adopt'], 'dir/all.yaml:48:10 edgtcp_2fmn'],
  ])('has the place of %s', (_, path, expected) => {
    expect(locate('TCPEdge/postgres', path)).toBe(expected);
  });

  it('has its places inside of a list of documents', () => {
    expect(locate('WeightedBackend/pool', undefined)).toBe('dir/all.yaml:54:5 apiVersion');
    expect(locate('WeightedBackend/pool', ['spec', 'backends', 'bkdtg_other'])).toBe('dir/all.yaml:60:52 10');
    expect(locate('WeightedBackend/pool', ['spec', 'backends', 'bkdhr_child'])).toContain('dir/all.yaml:60:17 {');
  });

  it('has the place of the target of an alias', () => {
    const text =
      'apiVersion: edgewise/v1\nkind: Credential\nmetadata: { name: &n a }\nspec:\n  acl: &acl ["*"]\n  metadata: { rules: *acl, name: *n }\n';
    const place = toState(text).resources.get('Credential/a');
    expect(place?.locate(['spec', 'metadata', 'name'])).toMatchObject({ line: 6, column: 34 });
    expect(place?.locate(['spec', 'metadata', 'rules', 0])).toMatchObject({ line: 5, column: 14 });
  });
});

describe('a Stack', () => {
  const edge = 'apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: a }\n';
  const diagnose = (text: string, requireStack: boolean | undefined) =>
    validate(text, requireStack === undefined ? {} : { requireStack }).diagnostics;

  it('is required unless disabled, with the lines that are missing', () => {
    expect(
      diagnose(edge, true).map(({ code, message, remedy }) => `${code}: ${message}\n${remedy}`),
    ).toMatchInlineSnapshot(`
      [
        "no-stack: the manifests have no Stack document
      Add these lines to one of the files, with a unique name:
      ---
      apiVersion: edgewise/v1
      kind: Stack
      metadata:
        name: production",
      ]
    `);
    expect(diagnose(edge, false)).toEqual([]);
    expect(validate(edge, { requireStack: true }).state).toBeUndefined();
  });

  it.each([
    ['it is there but invalid', 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: S }\n', 'bad-value'],
    ['its kind is misspelt', 'apiVersion: edgewise/v1\nkind: Stak\nmetadata: { name: s }\n', 'unknown-kind'],
    ['its document cannot be parsed', 'apiVersion: edgewise/v1\nkind: Stack\nspec: {', 'yaml-syntax'],
    ['a document that cannot be parsed may be one', '"', 'yaml-syntax'],
  ])('is not reported as missing if %s', (_, text, code) => {
    expect(diagnose(text, true).map((diagnostic) => diagnostic.code)).toEqual([code]);
  });
});

describe('diagnostics', () => {
  it('are sorted by file, line and column, with those without a place last', () => {
    const bad =
      'apiVersion: edgewise/v1\nkind: Credential\nmetadata: { name: NAME }\nspec: { b: 1, a: 1, owner_id: External/x }\n';
    const files = { 'z.yaml': bad.replace('NAME', 'a'), 'a.yaml': bad.replace('NAME', 'b') };
    const { diagnostics } = validate(files, { requireStack: true });
    expect(diagnostics.map(({ place }) => place && `${place.file}:${place.line}:${place.column}`)).toEqual([
      'z.yaml:4:9',
      'z.yaml:4:15',
      'z.yaml:4:31',
      'a.yaml:4:9',
      'a.yaml:4:15',
      'a.yaml:4:31',
      undefined,
    ]);
  });

  it('name the resource and show the line', () => {
    const { diagnostics, quoted } = validate(
      'apiVersion: edgewise/v1\nkind: Credential\nmetadata: { name: a }\nspec:\n  acl: ["bnd:x"]\n',
    );
    const [diagnostic] = diagnostics;
    expect(diagnostic).toMatchObject({ severity: 'error', address: 'Credential/a' });
    expect(diagnostic?.place && quoted.reports.render(diagnostic.place)).toMatchInlineSnapshot(`
      "4 | spec:
      5 |   acl: ["bnd:x"]
        |         ^^^^^^^"
    `);
  });

  it('quote no more of a text than a reader needs', () => {
    const { diagnostics } = validate(`apiVersion: edgewise/v1\nkind: ${'K'.repeat(100_000)}\n`);
    expect(diagnostics[0]?.message).toMatch(/^K{400}….*K is not a kind of edgewise$/);
  });

  it('propose no address if there are too many to read', () => {
    const documents = Array.from(
      { length: 102 },
      (_, index) =>
        `apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: e${index} }\nspec: { backend: { backend_id: WeightedBackend/pol } }\n`,
    );
    const pool = 'apiVersion: edgewise/v1\nkind: WeightedBackend\nmetadata: { name: pool }\n';
    const { diagnostics } = validate([...documents, pool].join('---\n'));
    const remedies = diagnostics.map(({ remedy }) => remedy);
    expect(remedies.filter((remedy) => remedy === 'Did you mean `WeightedBackend/pool`?')).toHaveLength(100);
    expect(remedies.at(-1)).toBe('Add a document that describes it.');
  });
});
