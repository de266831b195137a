// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders of manifests look like that
import { describe, expect, it } from 'vitest';
import { type LintOptions, lintManifests } from '../../src/lint/lint.ts';
import { LINT_RULES } from '../../src/lint/rules.ts';
import { type Diagnostic, LINT_RULE_IDS, limitWarningsPerLintRule } from '../../src/model/diagnostic.ts';
import { toMarked, validate } from '../manifest/explain.ts';

const NOW = new Date('2026-03-01T12:00:00Z');

type Marked = Diagnostic & { readonly marked: string };

/** Lists the diagnostics of lint about a document of a kind, with the texts above their carets. `more`: text before it. */
function lint(kind: string, body: string, more = '', options: Partial<LintOptions> = {}): readonly Marked[] {
  const document = `apiVersion: edgewise/v1\nkind: ${kind}\nmetadata: { name: it }\n${body}\n`;
  const { state, diagnostics, quoted } = validate(more === '' ? document : `${more}---\n${document}`);
  expect(diagnostics).toEqual([]);
  const found = state === undefined ? [] : lintManifests(state, { now: NOW, ...options });
  return found.map((one) => ({ ...one, marked: toMarked(one.place ? quoted.reports.render(one.place) : '') }));
}

/** Lists the code of each diagnostic, and the text above its caret. */
function listFindings(...args: Parameters<typeof lint>): readonly string[] {
  return lint(...args).map(({ code, marked }) => `${code} ${marked}`);
}

const toStack = (settings: string): string =>
  `apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: test }\nspec: { lint: { ${settings} } }\n`;
const toExternal = (id: string): string =>
  `apiVersion: edgewise/v1\nkind: External\nmetadata: { name: office }\nspec: { id: ${id} }\n`;
const toEdge = (policy: string): string => `spec:\n  backend: { backend_id: bkdhr_a }\n  policy: ${policy}`;
const toRule = (expression: string, action = 'deny'): string =>
  toEdge(`{ inbound: { expressions: [${JSON.stringify(expression)}], actions: { type: ${action} } } }`);
const toCertificate = (rest: string): string =>
  `spec: { public_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L", ssh_certificate_authority_id: sshca_a, ${rest}`;
const toBreaker = (fields: string): string =>
  `spec:\n  edge_id: edghts_a\n  id: edghtsrt_a\n  circuit_breaker: { ${fields} }`;
const toFilter = (lists: string): string =>
  `spec:\n  edge_id: edghts_a\n  id: edghtsrt_a\n  user_agent_filter: { ${lists} }`;
const toActions = (actions: string): string => toEdge(`{ inbound: { actions: [${actions}] } }`);
const toIps = (config: string): string => toActions(`{ type: restrict-ips, config: { ${config} } }`);
const toExtensions = (extensions: string): string => toCertificate(`principals: [a], extensions: { ${extensions} } }`);
const toMetadata = (members: string): string => `spec:\n  backend: { backend_id: bkdhr_a }\n  metadata: { ${members} }`;
const BREAKER = 'tripped_duration: 1, rolling_window: 1, num_buckets: 1';

/** For each rule: a document with a finding, with the text above its caret, and a similar one without. */
const CASES: readonly (readonly [rule: string, kind: string, bad: string, marked: string, good: string])[] = [
  ['expression-syntax', 'TCPEdge', toRule('conn.client_ip =='), '=', toRule("conn.client_ip == 'x'")],
  [
    'traffic-policy',
    'TCPEdge',
    toRule('conn.`client-ip` == ""'),
    '"conn.`client-ip` == \\"\\""',
    toRule('conn.client_ip == ""'),
  ],
  ['traffic-policy', 'TCPEdge', toRule('req.url == ""'), '"req.url == \\"\\""', toRule('conn.geo.city == ""')],
  [
    'traffic-policy',
    'TCPEdge',
    toRule("conn.geo.contry_code == 'x'"),
    'conn.geo.contry_code',
    toRule('conn.geo.country_code == ""'),
  ],
  [
    'restricts-nothing',
    'HTTPSEdgeRoute',
    toFilter('allow: [bot]'),
    '{ allow: [bot] }',
    toFilter('allow: [bot], deny: [".*"]'),
  ],
  [
    'restricts-nothing',
    'HTTPSEdgeRoute',
    toFilter('allow: [a, b], deny: [b]'),
    '[b]',
    toFilter('allow: [a], deny: [b]'),
  ],
  [
    'module-without-effect',
    'HTTPSEdgeRoute',
    toFilter('allow: [a, b], deny: [b, c]'),
    'b',
    toFilter('allow: [a], deny: [b, c]'),
  ],
  [
    'restricts-nothing',
    'HTTPSEdgeRoute',
    toFilter('allow: [a, "(x|.*)"], deny: [b]'),
    '[a, "(x|.*)"]',
    toFilter('allow: ["a.*", "[a-z]+/[0-9]"], deny: [b]'),
  ],
  [
    'restricts-nothing',
    'HTTPSEdge',
    'spec: { id: edghts_a, mutual_tls: { certificate_authority_ids: [] } }',
    '[]',
    'spec: { id: edghts_a, mutual_tls: { enabled: false, certificate_authority_ids: [] } }',
  ],
  ['restricts-nothing', 'TCPEdge', toEdge('{}'), '{}', toActions('{ type: log }')],
  [
    'restricts-nothing',
    'TCPEdge',
    toEdge('{ inbound: [] }'),
    '{ inbound: [] }',
    toEdge('{ enabled: false, inbound: [] }'),
  ],
  [
    'restricts-nothing',
    'TCPEdge',
    toRule('conn.client_ip == "x" && false'),
    '"conn.client_ip == \\"x\\" && false"',
    toRule('true'),
  ],
  ['restricts-nothing', 'TCPEdge', toIps('allow: [203.0.113.7/0]'), '[203.0.113.7/0]', toIps('allow: [203.0.113.7/1]')],
  [
    'restricts-nothing',
    'TCPEdge',
    toIps('allow: ["8000::/1", "::/1"]'),
    '["8000::/1", "::/1"]',
    toIps('allow: ["8000::/1", "::/2", 0.0.0.0/1]'),
  ],
  [
    'restricts-nothing',
    'TCPEdge',
    toIps('deny: [192.0.2.0/24], allow: [192.0.2.7/24]'),
    '[192.0.2.0/24]',
    toIps('deny: [192.0.2.0/24], allow: [0.0.0.0/0]'),
  ],
  ['restricts-nothing', 'TCPEdge', toIps('enforce: true'), '{ enforce: true }', toIps('ip_policies: [ipp_a]')],
  [
    'restricts-nothing',
    'Credential',
    'spec: { acl: ["bind:a.test", "bind:*"] }',
    '["bind:a.test", "bind:*"]',
    'spec: { acl: ["bind:*=*"] }',
  ],
  [
    'restricts-nothing',
    'SSHUserCertificate',
    toCertificate('principals: [a], critical_options: { source-address: "192.0.2.1,0.0.0.0/0" } }'),
    '"192.0.2.1,0.0.0.0/0"',
    toCertificate('principals: [a], critical_options: { source-address: "0.0.0.0/1,::/1" } }'),
  ],
  ['module-without-effect', 'HTTPSEdgeRoute', toFilter('deny: [""]'), '""', toFilter('deny: [x]')],
  [
    'restricts-nothing',
    'HTTPSEdgeRoute',
    toFilter('allow: [""], deny: [x]'),
    '[""]',
    toFilter('enabled: false, allow: [x]'),
  ],
  [
    'traffic-policy',
    'TCPEdge',
    toIps('enforced: true, deny: [192.0.2.1]'),
    'true',
    toIps('enforce: true, deny: [192.0.2.1]'),
  ],
  ['traffic-policy', 'TCPEdge', toIps('enforce: "yes"'), '"yes"', toIps('enforce: false')],
  [
    'traffic-policy',
    'TCPEdge',
    toIps('allow: [192.0.2.1, 192.0.2.300]'),
    '192.0.2.300',
    toIps('allow: [192.0.2.1, 2001:db8::/32]'),
  ],
  ['traffic-policy', 'TCPEdge', toIps('deny: [example.com]'), 'example.com', toIps('deny: [192.0.2.0/24]')],
  [
    'traffic-policy',
    'TCPEdge',
    toActions('{ type: deny }, { type: log }'),
    '{ type: log }',
    toActions('{ type: log }, { type: deny }'),
  ],
  [
    'traffic-policy',
    'TCPEdge',
    toActions('{ type: deny, config: { status: 403 } }'),
    '403',
    toActions('{ type: deny, config: {} }'),
  ],
  [
    'certificate-extensions',
    'SSHUserCertificate',
    toExtensions('permit-pty: "", permit-pyt: ""'),
    '""',
    toExtensions('permit-pty: "", "login@github.com": x'),
  ],
  [
    'certificate-extensions',
    'SSHUserCertificate',
    toExtensions('permit-user-rc: ""'),
    '{ permit-user-rc: "" }',
    toCertificate('principals: [a] }'),
  ],
  [
    'certificate-ended',
    'SSHUserCertificate',
    toCertificate('principals: [a], valid_until: 2026-03-01T11:59:59Z }'),
    '2026-03-01T11:59:59Z',
    toCertificate('principals: [a], valid_until: 2026-03-01T12:00:01Z }'),
  ],
  [
    'certificate-ended',
    'SSHUserCertificate',
    toCertificate('principals: [a], valid_after: 2026-02-28T11:00:00Z }'),
    '2026-02-28T11:00:00Z',
    toCertificate('principals: [a], valid_after: 2026-02-28T13:00:00Z }'),
  ],
  ...['*', 'web-*', 'web-?', '!root'].map(
    (pattern) =>
      [
        'principal-pattern',
        'SSHUserCertificate',
        toCertificate(`principals: [a, "${pattern}"] }`),
        `"${pattern}"`,
        toCertificate('principals: [a, web-all] }'),
      ] as const,
  ),
  [
    'number-rewritten',
    'TCPEdge',
    toMetadata('a: { b: [1, 1.10] }'),
    '1.10',
    toMetadata('a: { b: [1, 1.1, -2, "1.10"] }'),
  ],
  ['number-rewritten', 'TCPEdge', toMetadata('mask: 0x1F'), '0x1F', toMetadata('mask: 31')],
  [
    'number-rewritten',
    'TCPEdge',
    toMetadata('account: 012345678901'),
    '012345678901',
    toMetadata('account: 12345678901'),
  ],
  [
    'number-rewritten',
    'WeightedBackend',
    'spec: { backends: { bkdhr_a: 010 } }',
    '010',
    'spec: { backends: { bkdhr_a: 10, bkdhr_b: +1 } }',
  ],
  [
    'number-rewritten',
    'HTTPSEdgeRoute',
    toBreaker(
      `${BREAKER.replace('num_buckets: 1', 'num_buckets: 0x10')}, volume_threshold: 1, error_threshold_percentage: 0.5`,
    ),
    '0x10',
    toBreaker(`${BREAKER}, volume_threshold: 1, error_threshold_percentage: 0.50`),
  ],
  [
    'unknown-placeholder',
    'TCPEdge',
    toMetadata('env: "on ${ENVIRONMENT}"'),
    '"on ${ENVIRONMENT}"',
    toMetadata('env: "$${ENVIRONMENT} ${1} $HOME"'),
  ],
  ['traffic-policy', 'TCPEdge', toRule('true', 'add-headers'), 'add-headers', toRule('true', 'log')],
  [
    'no-backend',
    'WeightedBackend',
    'spec: { backends: { bkdhr_a: 0 } }',
    '{ bkdhr_a: 0 }',
    'spec: { backends: { bkdhr_a: 1 } }',
  ],
  [
    'placeholder-in-shell',
    'Stack',
    'spec: { tokens: { default: { command: [bin/sh.exe, -c, "store {id}"] } } }',
    '"store {id}"',
    'spec: { tokens: { default: { command: [sh, -c, "store $EDGEWISE_ID"] } } }',
  ],
  ['no-backend', 'WeightedBackend', 'spec: {}', '{}', 'spec: { backends: { bkdhr_a: 0, bkdhr_b: 1 } }'],
  ['no-backend', 'TCPEdge', 'spec: {}', '{}', 'spec: { backend: { backend_id: bkdhr_a } }'],
  [
    'no-backend',
    'TCPEdge',
    'spec: { backend: { enabled: false, backend_id: bkdhr_a } }',
    '{ enabled: false, backend_id: bkdhr_a }',
    'spec: {}\nlifecycle: { ignore: [backend] }',
  ],
  ['unrestricted-access', 'Credential', 'spec: {}', '{}', 'spec: { acl: ["bind:*.example.com"] }'],
  [
    'unrestricted-access',
    'Credential',
    'spec: { acl: ["bind:a.example.com", "*"] }',
    '["bind:a.example.com", "*"]',
    'spec: { acl: ["bind:a=*"] }',
  ],
  [
    'unrestricted-access',
    'SSHUserCertificate',
    toCertificate('principals: [] }'),
    '[]',
    toCertificate('principals: [alice] }'),
  ],
  [
    'certificate-too-long',
    'SSHUserCertificate',
    `${toCertificate('principals: [alice] }')}\nlifecycle: { valid_for: 91d }`,
    '91d',
    `${toCertificate('principals: [alice] }')}\nlifecycle: { valid_for: 90d }`,
  ],
  [
    'certificate-too-long',
    'SSHUserCertificate',
    toCertificate('principals: [alice], valid_until: 2027-01-01T00:00:00Z }'),
    '2027-01-01T00:00:00Z',
    toCertificate('principals: [alice], valid_after: 2026-12-01T00:00:00Z, valid_until: 2027-01-01T00:00:00Z }'),
  ],
  [
    'restriction-not-enforced',
    'IPRestriction',
    'spec: { type: endpoints, enforced: false, ip_policy_ids: [ipp_a] }',
    'false',
    'spec: { type: endpoints, enforced: true, ip_policy_ids: [ipp_a] }',
  ],
  [
    'restriction-locks-out',
    'IPRestriction',
    'spec:\n  type: api\n  enforced: true\n  ip_policy_ids: [ipp_a]',
    'spec',
    'spec: { type: endpoints, enforced: true, ip_policy_ids: [ipp_a] }',
  ],
  [
    'module-without-effect',
    'HTTPSEdgeRoute',
    toBreaker(`${BREAKER}, volume_threshold: 0`),
    '0',
    toBreaker(`${BREAKER}, volume_threshold: 0, error_threshold_percentage: 0.5`),
  ],
  [
    'module-without-effect',
    'HTTPSEdgeRoute',
    toBreaker('tripped_duration: 1, rolling_window: 1, num_buckets: 0, volume_threshold: 1'),
    '0',
    toBreaker(`enabled: false, ${BREAKER}, volume_threshold: 0`),
  ],
  [
    'left-to-service',
    'HTTPSEdgeRoute',
    toBreaker(BREAKER),
    `{ ${BREAKER} }`,
    toBreaker(`${BREAKER}, volume_threshold: 1`),
  ],
  [
    'repeated-value',
    'TCPEdge',
    'spec: { backend: { backend_id: bkdhr_a }, hostports: ["a.example.com:1", "A.example.com:1"] }',
    '"A.example.com:1"',
    'spec: { backend: { backend_id: bkdhr_a }, hostports: ["a.example.com:1", "a.example.com:2"] }',
  ],
];

describe('lint', () => {
  it.each(CASES)('finds %s in a %s, at its position, and not in a correct one', (rule, kind, ...texts) => {
    const [bad, marked, good] = texts;
    expect(lint(kind, bad)).toMatchObject([{ code: rule, marked, message: expect.stringMatching(`^${kind}/it: \\S`) }]);
    expect(listFindings(kind, good)).toEqual([]);
  });

  it('finds literal-id if an External names the id, and only if the id is written out', () => {
    const toRestriction = (id: string) => `spec: { type: endpoints, enforced: true, ip_policy_ids: [${id}] }`;
    const [found, ...others] = lint('IPRestriction', toRestriction('ipp_a'), toExternal('ipp_a'));
    expect(others).toEqual([]);
    expect(found).toMatchObject({ code: 'literal-id', remedy: 'Write External/office.', place: { line: 9 } });
    expect(listFindings('IPRestriction', toRestriction('External/office'), toExternal('ipp_a'))).toEqual([]);
    expect(listFindings('IPRestriction', toRestriction('ipp_b'), toExternal('ipp_a'))).toEqual([]);
  });

  it('finds literal-id in the keys of maps and in the configuration of actions', () => {
    expect(listFindings('WeightedBackend', 'spec: { backends: { bkdhr_a: 1 } }', toExternal('bkdhr_a'))).toEqual([
      'literal-id 1',
    ]);
    const action = '{ type: restrict-ips, config: { ip_policies: [ipp_a] } }';
    expect(listFindings('TCPEdge', toEdge(`{ inbound: { actions: ${action} } }`), toExternal('ipp_a'))).toEqual([
      'literal-id ipp_a',
    ]);
  });

  it('names the document that attaches to the id for literal-id, and its place', () => {
    const edge = 'apiVersion: edgewise/v1\nkind: HTTPSEdge\nmetadata: { name: web }\nspec: { id: edghts_a }\n';
    const [found] = lint('HTTPSEdgeRoute', 'spec: { edge_id: edghts_a, id: edghtsrt_a }', edge);
    expect(found).toMatchObject({ code: 'literal-id', remedy: 'Write HTTPSEdge/web.', place: { line: 9 } });
    expect(found?.related).toMatchObject([{ place: { line: 4 } }]);
  });

  it('finds suppression-unused if a suppression has no effect', () => {
    expect(
      listFindings('Credential', 'spec: { acl: ["bind:a=b"] }\nlint: { allow: { unrestricted-access: why } }'),
    ).toEqual(['suppression-unused why']);
  });

  it('has a case for every rule', () => {
    const elsewhere = [
      ...['kept-by-annotation', 'literal-id', 'secret-in-manifest', 'suppression-unused', 'unfilled-value'],
    ];
    const tested = new Set([...CASES.map(([rule]) => rule), ...elsewhere]);
    expect([...tested].sort()).toEqual([...LINT_RULE_IDS].sort());
    expect(LINT_RULES.map(({ id }) => id)).toEqual(LINT_RULE_IDS);
  });
});

describe('severities', () => {
  it('are those of the Stack', () => {
    const [found] = lint('Credential', 'spec: {}', toStack('unrestricted-access: error'));
    expect(found).toMatchObject({ severity: 'error', code: 'unrestricted-access' });
    expect(lint('Credential', 'spec: {}', toStack('unrestricted-access: off'))).toEqual([]);
  });

  it('ignore a suppression whose rule is off', () => {
    const body = 'spec: { acl: ["bind:a=b"] }\nlint: { allow: { unrestricted-access: why } }';
    expect(lint('Credential', body, toStack('unrestricted-access: off'))).toEqual([]);
  });

  it('of an unknown rule are refused, and the right one is proposed', () => {
    const { diagnostics } = validate(toStack('no-bakcend: off'));
    expect(diagnostics).toMatchObject([{ code: 'bad-field', remedy: 'Did you mean `no-backend`?' }]);
  });
});

describe('settings of rules', () => {
  it('limit the validity of a certificate', () => {
    const body = `${toCertificate('principals: [alice] }')}\nlifecycle: { valid_for: 90d }`;
    expect(listFindings('SSHUserCertificate', body, toStack('max_validity: 30d'))).toEqual([
      'certificate-too-long 90d',
    ]);
  });

  it('add CEL variables, one by one or all below a name', () => {
    const expression = toRule('conn.tls.sni == conn.server_ip');
    expect(listFindings('TCPEdge', expression)).toHaveLength(2);
    expect(listFindings('TCPEdge', expression, toStack('cel_variables: [conn.tls.*, conn.server_ip]'))).toEqual([]);
    expect(validate(toStack('cel_variables: ["*"]')).diagnostics).toMatchObject([{ code: 'bad-value' }]);
  });
});

describe('suppressions', () => {
  it('silence their rule, and no other', () => {
    const body = `${toCertificate('}')}\nlifecycle: { valid_for: 1000d }\nlint: { allow: { certificate-too-long: a test } }`;
    expect(lint('SSHUserCertificate', body).map(({ code }) => code)).toEqual(['unrestricted-access']);
  });

  it.each([
    ['an empty reason', 'no-backend: " "', 'bad-value'],
    ['a rule that does not exist', 'no-such-rule: why', 'bad-field'],
    ['no reason at all', 'no-backend:', 'bad-value'],
  ])('are refused with %s', (_, allow, code) => {
    const text = `apiVersion: edgewise/v1\nkind: Credential\nmetadata: { name: it }\nlint:\n  allow:\n    ${allow}\n`;
    expect(validate(text).diagnostics).toMatchObject([{ code, place: { line: 6 } }]);
  });
});

describe('expressions', () => {
  it.each([
    ["['a'].exists(x, x == conn.client_ip)"],
    ["conn.geo['country'] == 'CH' && has(conn.geo.city)"],
    ['[1, 2].map(x, x > 1, x * 2).all(y, type(y) == int)'],
    ["conn.client_ip.startsWith('10.') || inRange(conn.ClientIP, r'\\d')"],
    ['cel.bind(ip, conn.client_ip, ip + ip).size() > 1u'],
    ['conn.geo.?city.orValue("") in ["x"]'],
    [`conn.client_ip in [${Array.from({ length: 5000 }, (_, index) => `'${index}'`).join()}]`],
  ])('are accepted: %s', (expression) => {
    expect(listFindings('TCPEdge', toRule(expression))).toEqual([]);
  });

  it.each([
    ["!(conn.geo.country_code in ['CH']"],
    ["conn.client_ip == 'a')"],
    ["conn.client_ip == 'a"],
    ["conn.client_ip = 'a'"],
    ["conn.client_ip == 'a' and true"],
    ["not conn.client_ip == 'a'"],
    ["conn.client_ip == 'a' | true"],
    ["conn.client_ip == '\\q'"],
    ['conn.client_ip == ‘a’'],
    ['conn..client_ip == ""'],
    ['conn.`client-ip` = ""'],
    ['__proto__ && ('],
  ])('that no parser of CEL accepts are an error: %s', (expression) => {
    expect(lint('TCPEdge', toRule(expression))).toMatchObject([{ code: 'expression-syntax', severity: 'error' }]);
  });

  it.each([
    ['conn.`client-ip` == ""'],
    ['.conn.client_ip == ""'],
    ['conn.client_ip in .conn.geo'],
    ['conn.geo.latitude > .5'],
    ['[?conn.geo.city] == [] || {?"a": conn.geo.city} == {}'],
    ['google.protobuf.Duration{seconds: 1} == conn.geo.city'],
    ['conn.client_ip == rb"a"'],
    ['conn.client_ip == r"\\"'],
    ['conn.client_ip\f== ""'],
    ['conn.geo.all(conn.x, true)'],
    ['__proto__'],
    ['prototype.a == conn.geo.city'],
    [`${'('.repeat(300)}true${')'.repeat(300)}`],
  ])('that only edgewise does not know are a warning that says so: %s', (expression) => {
    const found = lint('TCPEdge', toRule(expression));
    expect(found).toMatchObject([{ code: 'traffic-policy', severity: 'warning' }]);
    expect(found[0]?.message).toContain('edgewise does not know this part of CEL');
  });

  it.each([
    ["conn.client_ip = 'a'", '=='],
    ["conn.client_ip == 'a' and true", '&&'],
    ["conn.client_ip == 'a' or true", '||'],
    ["not conn.client_ip == 'a'", '!'],
    ["conn.client_ip == 'a' & true", '&&'],
  ])('name the operator to write: %s', (expression, operator) => {
    expect(lint('TCPEdge', toRule(expression))[0]?.remedy).toContain(`Write \`${operator}\` instead of `);
  });

  it('have their local names only where they are bound', () => {
    expect(lint('TCPEdge', toRule('[1].exists(x, x > 0) && x > 1'))).toMatchObject([{ code: 'traffic-policy' }]);
  });

  it.each([
    ['deeply nested', 'traffic-policy', '('.repeat(5000)],
    ['a long chain of signs', 'traffic-policy', '-'.repeat(100_000)],
    ['nothing', 'expression-syntax', ' '],
    ['control characters', 'expression-syntax', '\u001b[2J\u202e'],
    ['a long line', 'traffic-policy', 'a'.repeat(100_000)],
  ])('are found in %s (%s), and shortened', (_, code, expression) => {
    const found = lint('TCPEdge', toRule(expression));
    expect(found).toMatchObject([{ code }]);
    expect(found[0]?.message.length).toBeLessThan(1000);
  });

  it('are located by their name, and not by a part of another', () => {
    const text = 'conn.client_ip == conn.foo && foo == 1';
    const found = lint('TCPEdge', toRule(text), toStack('')).map(({ place, marked }) => [marked, place?.column]);
    const [line = ''] = toRule(text)
      .split('\n')
      .filter((candidate) => candidate.includes(text));
    expect(found).toEqual([
      ['conn.foo', line.indexOf('conn.foo') + 1],
      ['foo', line.indexOf('&& foo') + 4],
    ]);
  });

  it.each([
    ['a name', "conn.foo == 'x'", 'conn.foo'],
    ['what cannot be read', ') > 1', ')'],
  ])('are located on their line of a block: %s', (_, wrong, marked) => {
    const lines = ['|-', "  conn.client_ip != 'x' &&", '    // a note', `    ${wrong}`];
    const body = `spec:\n  policy:\n    inbound:\n      expressions:\n        - ${lines.join('\n          ')}\n`;
    const [found, ...others] = lint('TCPEdge', body, toStack('no-backend: "off"'));
    expect(others).toEqual([]);
    expect(found?.marked).toBe(marked);
    expect(found?.place?.column).toBe(15);
  });

  it('propose the nearest name', () => {
    const [found] = lint('TCPEdge', toRule("conn.cleint_ip == 'x'"));
    expect(found?.remedy).toContain('Did you mean `conn.client_ip`?');
  });

  it('can be a chain of any length', () => {
    expect(listFindings('TCPEdge', toRule(`${'1 + '.repeat(20_000)}1 > 0`))).toEqual([]);
  });
});

describe('lint for a plan', () => {
  const body = 'spec: { type: api, enforced: true, ip_policy_ids: [ipp_a] }';

  it('leaves out findings that the plan reports itself', () => {
    expect(lint('IPRestriction', body, '', { isForPlan: true })).toEqual([]);
  });

  it('stops the plan if the Stack makes that an error', () => {
    const found = lint('IPRestriction', body, toStack('restriction-locks-out: error'), { isForPlan: true });
    expect(found).toMatchObject([{ severity: 'error' }]);
  });

  it('counts a suppression as used if the plan reports it', () => {
    const suppressed = `${body}\nlint: { allow: { restriction-locks-out: the office is allowed } }`;
    expect(lint('IPRestriction', suppressed, '', { isForPlan: true })).toEqual([]);
  });

  it('shows ten warnings of a rule in any order of the files, and the number of the others', () => {
    const toDocument = (name: number): string =>
      `apiVersion: edgewise/v1\nkind: Credential\nmetadata: { name: c${name} }\n`;
    const texts = Array.from({ length: 13 }, (_, index) => toDocument(index + 10));
    const lintAll = (files: readonly string[], stack: string): readonly Diagnostic[] => {
      const { state } = validate([stack, ...files].join('---\n'));
      return state === undefined
        ? []
        : limitWarningsPerLintRule(lintManifests(state, { now: NOW, isForPlan: true }), state.inputs);
    };
    const shown = lintAll(texts, toStack(''));
    expect(shown.map(({ address }) => address)).toEqual([
      ...Array.from({ length: 10 }, (_, index) => `Credential/c${index + 10}`),
      undefined,
    ]);
    expect(shown.at(-1)?.message).toBe('3 more findings of this rule');
    const reversed = lintAll(texts.toReversed(), toStack('')).map(({ address }) => address);
    expect(new Set(reversed)).toEqual(new Set(shown.map(({ address }) => address)));
    expect(lintAll(texts, toStack('unrestricted-access: error'))).toHaveLength(13);
  });
});
