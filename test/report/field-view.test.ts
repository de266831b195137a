import { expect, test } from 'vitest';
import type { Difference, DifferenceCause } from '../../src/model/change.ts';
import type { Json } from '../../src/model/json.ts';
import type { Spec } from '../../src/model/state.ts';
import { renderPlanText } from './render.ts';
import { createChange, createDifference, createLiveChange, createPlan, PLAIN, toNormal } from './sample-plans.ts';

/** The indented lines of a plan with one change, without their first four columns. */
function renderFields(change: Parameters<typeof createPlan>[0]): string {
  const lines = renderPlanText(createPlan(change), { ...PLAIN, width: 0 }).split('\n');
  return lines.flatMap((line) => (line.startsWith('    ') ? [line.slice(4)] : [])).join('\n');
}

function renderUpdate(kind: string, ...differences: readonly Difference[]): string {
  return renderFields({ changes: [createLiveChange(`${kind}/one`, 'update', { id: 'id_1', differences })] });
}

function renderCreate(kind: string, spec: Spec): string {
  const address = `${kind}/one` as const;
  return renderFields({ changes: [createChange(address, 'create', { desired: toNormal(address, spec) })] });
}

test('quotes free text, and no words that their kind checks', () => {
  expect(renderUpdate('TCPEdge', createDifference('description', { from: 'deploy', to: 'to "all"' }))).toBe(
    'description: "deploy" → "to \\"all\\""',
  );
  expect(renderUpdate('IPRestriction', createDifference('type', { from: 'api', to: 'agent' }))).toBe(
    'type: api → agent',
  );
  expect(renderUpdate('SSHUserCertificate', createDifference('valid_until', { to: '2026-01-31T12:00:00Z' }))).toBe(
    'valid_until: (none) → 2026-01-31T12:00:00Z',
  );
});

test('shows what differs between texts that look the same', () => {
  const [composed, decomposed] = ['gr\u00fcn é', 'gru\u0308n é'];
  expect(renderUpdate('TCPEdge', createDifference('metadata', { from: composed, to: decomposed }))).toBe(
    String.raw`metadata: "gr\u00fcn é" → "gru\u0308n é"`,
  );
  const lists = createDifference('hostports', { from: [composed], to: [decomposed] });
  expect(renderUpdate('TCPEdge', lists)).toBe(
    ['hostports:', String.raw`  - "gr\u00fcn é"`, String.raw`  + "gru\u0308n é"`].join('\n'),
  );
  expect(renderUpdate('TCPEdge', createDifference('metadata', { from: composed, to: 'grün' }))).toBe(
    'metadata: "grün é" → "grün"',
  );
});

test('quotes a checked word that is ambiguous', () => {
  const difference = createDifference('principals', { from: ['-x'], to: ['(none)', 'ünïcode'] });
  expect(renderUpdate('SSHUserCertificate', difference)).toBe(
    ['principals:', '  - "-x"', '  + "(none)"', '  + "ünïcode"'].join('\n'),
  );
});

test('is known after apply only at a reference', () => {
  const pool = 'WeightedBackend/pool';
  expect(renderUpdate('TCPEdge', createDifference('backend.backend_id', { from: 'bkdwd_2a', to: pool }))).toBe(
    'backend.backend_id: bkdwd_2a → WeightedBackend/pool (known after apply)',
  );
  expect(renderUpdate('TCPEdge', createDifference('description', { from: 'x', to: pool }))).toBe(
    'description: "x" → "WeightedBackend/pool"',
  );
  expect(renderUpdate('TCPEdge', createDifference('metadata.pool', { to: pool }))).toBe(
    'metadata.pool: (none) → "WeightedBackend/pool"',
  );
});

test('is known after apply inside of the configuration of an action', () => {
  const policy = {
    inbound: [{ actions: [{ type: 'restrict-ips', config: { ip_policies: ['External/a'], allow: ['a/b'] } }] }],
  };
  expect(renderCreate('TCPEdge', { policy })).toMatchInlineSnapshot(`
    "policy.inbound:
      + • actions:
      +     • type: "restrict-ips"
      +       config:
      +         allow:
      +           • a/b
      +         ip_policies:
      +           • External/a (known after apply)"
  `);
  const difference = createDifference('policy.inbound[0].actions[0].config.ip_policies', {
    from: [],
    to: ['External/a'],
  });
  expect(renderUpdate('TCPEdge', difference)).toContain('+ External/a (known after apply)');
});

test('shows the address of an id of this plan', () => {
  const text = renderFields({
    changes: [
      createLiveChange('TCPEdge/edge', 'update', {
        id: 'edgtcp_2a',
        differences: [createDifference('backend.backend_id', { from: 'bkdwd_2a', to: 'bkdwd_2x' })],
      }),
      createLiveChange('WeightedBackend/pool', 'no-op', { id: 'bkdwd_2a' }),
    ],
  });
  expect(text).toBe('backend.backend_id: bkdwd_2a (WeightedBackend/pool) → bkdwd_2x');
});

test('lists the removed and added members, and counts the others', () => {
  const members = (...ports: readonly number[]) => ports.map((port) => `1.tcp.example.net:${port}`);
  const update = (from: readonly string[], to: readonly string[]) =>
    renderUpdate('TCPEdge', createDifference('hostports', { from, to }));
  expect(update(members(1, 2, 3, 4), members(2, 3, 4, 5))).toMatchInlineSnapshot(`
    "hostports:
      - 1.tcp.example.net:1
        … 3 unchanged
      + 1.tcp.example.net:5"
  `);
  expect(update(members(1, 2), members(1))).toMatchInlineSnapshot(`
    "hostports:
        1.tcp.example.net:1
      - 1.tcp.example.net:2"
  `);
  expect(update([], members(1))).toBe('hostports:\n  + 1.tcp.example.net:1');
});

test('shows the order of a list if its kind uses it', () => {
  const difference = createDifference('policy.inbound[0].expressions', { from: ['a', 'b', 'c'], to: ['c', 'a', 'b'] });
  expect(renderUpdate('TCPEdge', difference)).toMatchInlineSnapshot(`
    "policy.inbound[0].expressions:
      + "c"
        … 2 unchanged
      - "c""
  `);
});

test('shows an added or removed module without its defaults', () => {
  const circuit = { enabled: true, rolling_window: 60, error_threshold_percentage: 0 };
  expect(renderUpdate('HTTPSEdgeRoute', createDifference('circuit_breaker', { to: circuit }))).toBe(
    'circuit_breaker: added\n  + rolling_window: 60',
  );
  expect(renderUpdate('HTTPSEdgeRoute', createDifference('circuit_breaker', { from: circuit }))).toBe(
    'circuit_breaker: removed\n  - rolling_window: 60',
  );
});

test('shows a module with only defaults with them', () => {
  const policy = { authority: 'letsencrypt', private_key_type: 'rsa' };
  expect(
    renderCreate('AgentIngress', { domain: 'a.example.com', certificate_management_policy: policy }),
  ).toMatchInlineSnapshot(`
    "domain: a.example.com
    certificate_management_policy.authority: letsencrypt
    certificate_management_policy.private_key_type: rsa"
  `);
});

test('compares objects of both sides line by line, with unchanged lines folded', () => {
  const rule = (name: string): Json => ({ name, expressions: ['a', 'b', 'c', 'd', 'e'], actions: [{ type: 'deny' }] });
  const difference = createDifference('policy.inbound[0]', { from: rule('old'), to: rule('new') });
  expect(renderUpdate('TCPEdge', difference)).toMatchInlineSnapshot(`
    "policy.inbound[0]:
      - name: "old"
      + name: "new"
        expressions:
          • "a"
        … 6 unchanged"
  `);
});

test('compares text of several lines line by line', () => {
  const difference = createDifference('description', {
    from: 'one\ntwo\nthree\nfour\nfive',
    to: 'one\ntwo\nthree\n4\nfive',
  });
  expect(renderUpdate('TCPEdge', difference)).toMatchInlineSnapshot(`
    "description:
        one
        two
        three
      - four
      + 4
        five"
  `);
  expect(renderUpdate('TCPEdge', createDifference('description', { from: 'one', to: 'one\ntwo' }))).toBe(
    'description:\n    one\n  + two',
  );
});

test('shows text of several lines inside of an object as one block', () => {
  const metadata = { notes: { text: 'one\ntwo', list: ['a\nb'] } };
  expect(renderCreate('TCPEdge', { metadata })).toMatchInlineSnapshot(`
    "metadata:
      + notes:
      +   list:
      +     • |
      +         a
      +         b
      +   text: |
      +     one
      +     two"
  `);
});

test('stacks values that are too long for one line, whole', () => {
  const [from, to] = ['old', 'new'].map((word) => `${word} ${'x'.repeat(100)}`);
  const difference = createDifference('description', { ...(from && { from }), ...(to && { to }), origin: 'drift' });
  expect(renderUpdate('TCPEdge', difference)).toBe(
    `description: reverts: changed at the service\n  - "${from}"\n  + "${to}"`,
  );
  expect(renderCreate('TCPEdge', { description: to ?? '' })).toBe(`description: "${to}"`);
});

test('moves notes below a value without room behind it', () => {
  const plan = createPlan({
    changes: [
      createLiveChange('TCPEdge/a', 'update', {
        id: 'edgtcp_2a',
        differences: [
          createDifference('description', { from: 'a'.repeat(20), to: 'b', origin: 'both', forcesReplace: true }),
        ],
      }),
    ],
  });
  expect(renderPlanText(plan, PLAIN).split('\n').slice(4, 6)).toEqual([
    `    description: "${'a'.repeat(20)}" → "b"`,
    '      (forces replacement, changed here and drifted)',
  ]);
});

test('shows nothing, null and empty lists as no value, and empty text as text', () => {
  const render = (to: Json) =>
    renderUpdate('SSHUserCertificate', createDifference('critical_options.force-command', { from: 'x', to }));
  expect(render(null)).toBe('critical_options.force-command: "x" → (none)');
  expect(render([])).toBe('critical_options.force-command: "x" → (none)');
  expect(render('')).toBe('critical_options.force-command: "x" → ""');
});

test('adds a note only to values that may have changed at the service', () => {
  const render = (origin: DifferenceCause) =>
    renderUpdate('TCPEdge', createDifference('description', { from: 'a', to: 'b', origin }));
  expect(render('manifest')).toBe('description: "a" → "b"');
  expect(render('both')).toBe('description: "a" → "b"  (changed here and drifted)');
  expect(render('unknown')).toBe('description: "a" → "b"  (changed here or drifted)');
});

test('quotes an invalid path, and a key that is no word', () => {
  expect(renderUpdate('TCPEdge', createDifference('a: 1 → 2, b', { to: 1 }))).toBe('"a: 1 → 2, b": (none) → 1');
  expect(renderCreate('TCPEdge', { metadata: { 'a: b': { 'c d': [1, null, true, {}] } } })).toMatchInlineSnapshot(`
    "metadata:
      + "a: b":
      +   "c d":
      +     • 1
      +     • (none)
      +     • true
      +     • (none)"
  `);
});

test('shows maps and modules of a create field by field', () => {
  expect(
    renderCreate('HTTPSEdgeRoute', {
      edge_id: 'edghts_2a',
      id: 'edghtsrt_2a',
      request_headers: { add: { 'X-A.B': 'x y', b: 'y' }, remove: [] },
    }),
  ).toMatchInlineSnapshot(`
    "edge_id:                      edghts_2a
    id:                           edghtsrt_2a
    request_headers.add.b:        y
    request_headers.add["x-a.b"]: "x y""
  `);
});

test('shows only the differences of an unknown kind', () => {
  const changes = [
    createChange('Unknown/a', 'create', { desired: { secret: 'x' } }),
    createLiveChange('Unknown/b', 'update', { id: 'x_1', differences: [createDifference('size', { from: 1, to: 2 })] }),
  ];
  expect(renderFields({ changes })).toBe('size: 1 → 2');
});

test('shows an empty map if leaving it out would mean another', () => {
  const spec = { public_key: 'ssh-ed25519 AAAA', ssh_certificate_authority_id: 'sshca_2a' };
  expect(renderCreate('SSHUserCertificate', { ...spec, extensions: {} })).toContain(
    'extensions:                   (none)',
  );
  expect(renderCreate('SSHUserCertificate', spec)).not.toContain('extensions');
});

test('shows a member of a map that is empty', () => {
  expect(renderCreate('TCPEdge', { metadata: { a: {}, b: null, c: 1 } })).toBe(
    ['metadata.a: (none)', 'metadata.b: (none)', 'metadata.c: 1'].join('\n'),
  );
});
