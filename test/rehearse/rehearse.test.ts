import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toManifest } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';

const POOL = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_blue: 1 } });
const BACKEND = { backend: { backend_id: 'WeightedBackend/pool' } };

/** Returns the findings and figures of a plan. */
function readPlan(stdout: string) {
  const { diagnostics, rehearsal, writes, violations } = readOnlyStack(stdout);
  const findings: readonly { code: string; severity: string; message: string }[] = diagnostics;
  return {
    rehearsal,
    violations: violations.map(({ rule, message }: Record<string, string>) => `${rule}: ${message}`),
    writes: writes.length,
    findings: findings
      .filter(({ code }) => code.startsWith('rehearsal-'))
      .map(({ code, severity, message }) => `${severity} ${code}: ${message}`),
  };
}

/** The gaps of a plan, each with the address of its change. */
function listGaps(stdout: string) {
  const changes: readonly { address: string; dangers?: readonly { danger: string }[] }[] =
    readOnlyStack(stdout).changes;
  return changes.flatMap(({ address, dangers = [] }) =>
    dangers.filter(({ danger }) => danger === 'gap').map((gap) => [address, gap]),
  );
}

/** Applies a stack, and plans other manifests of it. */
async function planChange(before: string, after: string) {
  const workspace = await createWorkspace({ 'edgewise.yaml': STACK + before });
  expect(await workspace.edgewise('apply --yes --token-directory tokens')).toMatchObject({ exitCode: 0 });
  await workspace.write({ 'edgewise.yaml': STACK + after });
  workspace.recorder.take();
  return workspace;
}

describe('a rehearsal', () => {
  it('lists the ids that it could not check: in no list, and not referred to by anything read', async () => {
    const edge = toManifest('TCPEdge', 'one', {
      backend: { backend_id: 'bkdtg_1' },
      ip_restriction: { ip_policy_ids: ['ipp_1', 'ipp_2'] },
    });
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': STACK + POOL });
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    await write({ 'edgewise.yaml': STACK + POOL + edge });
    expect(readPlan((await edgewise('plan --format json')).stdout).rehearsal).toMatchObject({
      unchecked: ['bkdtg_1', 'ipp_1', 'ipp_2'],
    });
    expect((await edgewise('plan')).stdout.replaceAll(/\s+/g, ' ')).toContain(
      'Rehearsed on a copy in memory of what was read: the write succeeded there, and a plan made afterwards would be empty. 3 ids could not be checked: the API has no list of tunnel-group backends and IP policies.',
    );
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    const other = toManifest('TCPEdge', 'two', { ip_restriction: { ip_policy_ids: ['ipp_2', 'ipp_3'] } });
    await write({ 'edgewise.yaml': STACK + POOL + edge + other });
    expect(readPlan((await edgewise('plan --format json')).stdout).rehearsal).toMatchObject({ unchecked: ['ipp_3'] });
    await write({ 'edgewise.yaml': STACK + POOL });
    expect(readPlan((await edgewise('plan --format json')).stdout).rehearsal).not.toHaveProperty('unchecked');
  });

  it('lists the ids of a kind that the stack does not read', async () => {
    const stack = STACK.replace('name: test', 'name: test\nspec:\n  kinds: [TCPEdge]');
    const edge = toManifest('TCPEdge', 'one', { backend: { backend_id: 'bkdwd_1' } });
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': stack + edge });
    expect((await edgewise('plan')).stdout.replaceAll(/\s+/g, ' ')).toContain(
      '1 id could not be checked: no WeightedBackend was read (spec.kinds).',
    );
  });

  it('keeps a saved plan valid if another user begins to refer to an unchecked id', async () => {
    const edge = toManifest('TCPEdge', 'one', { ip_restriction: { ip_policy_ids: ['ipp_1'] } });
    const { edgewise, server } = await createWorkspace({ 'edgewise.yaml': STACK + edge });
    await edgewise('plan -o plan.json');
    await sendByHand({ server }, 'POST', '/edges/tcp', {
      description: 'other',
      ip_restriction: { ip_policy_ids: ['ipp_1'] },
    });
    expect(await edgewise('apply edgewise.yaml --approved plan.json --yes')).toMatchObject({ exitCode: 0 });
  });

  it('shows how many writes and tokens there are, without a request', async () => {
    const { edgewise, recorder } = await createWorkspace({
      'edgewise.yaml': STACK + POOL + toManifest('TCPEdge', 'one', BACKEND) + toManifest('Credential', 'agent', {}),
    });
    const tried = await edgewise('plan --token-directory tokens --format json');
    const reads = recorder.take().map(({ method, path }) => `${method} ${path}`);
    const untried = await edgewise('plan --token-directory tokens --format json --no-rehearsal');
    expect(recorder.take().map(({ method, path }) => `${method} ${path}`)).toEqual(reads);
    expect(readPlan(tried.stdout)).toMatchObject({
      rehearsal: { writes: 4, rejected: 0, remaining: 0, tokens: 1 },
      findings: [],
    });
    expect(readPlan(untried.stdout).rehearsal).toBeUndefined();
  });

  it('is skipped if there is nothing to do', async () => {
    const { edgewise } = await planChange(POOL, POOL);
    expect(readPlan((await edgewise('plan --format json')).stdout).rehearsal).toBeUndefined();
  });

  it('reports a conflict with an unowned resource: a safety rule, and nothing is written without consent', async () => {
    const { edgewise, server, recorder } = await planChange(
      POOL + toManifest('TCPEdge', 'one', {}),
      toManifest('TCPEdge', 'one', {}),
    );
    const [pool] = server.snapshot().resources['WeightedBackend'] ?? [];
    await sendByHand({ server }, 'POST', '/edges/tcp', { backend: { backend_id: pool?.['id'] } });
    const { stdout, exitCode } = await edgewise('plan --format json');
    expect(exitCode).toBe(5);
    expect(readPlan(stdout)).toMatchObject({
      writes: 1,
      rehearsal: { writes: 1, rejected: 1, remaining: 1 },
      findings: [],
      violations: [
        expect.stringMatching(
          /^rejected-write: The service will reject the request to delete WeightedBackend\/pool: bkdwd_\w+ is in use by edgtcp_\w+\.$/,
        ),
      ],
    });
    recorder.take();
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 5 });
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(await edgewise('apply --yes --no-rehearsal')).toMatchObject({ exitCode: 1 });
  });

  it('only warns where services may differ', async () => {
    const late = {
      ssh_certificate_authority_id: 'sshca_one',
      public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L alice@example.com',
      principals: ['alice'],
      valid_after: '9999-12-31T12:00:00Z',
    };
    const { edgewise } = await createWorkspace({
      'edgewise.yaml': STACK + toManifest('SSHUserCertificate', 'late', late),
    });
    const { stdout, exitCode } = await edgewise('plan --format json');
    expect(exitCode).toBe(0);
    expect(readPlan(stdout)).toMatchObject({
      writes: 1,
      rehearsal: { rejected: 1 },
      findings: [expect.stringMatching(/^warning rehearsal-failed: .* may reject .*valid_after is too late/)],
    });
  });

  it('loads unowned resources unchanged, also if the bundled server would reject them', async () => {
    const { edgewise, server, recorder } = await createWorkspace({ 'edgewise.yaml': STACK + POOL });
    await sendByHand({ server }, 'POST', '/edges/tcp', { hostports: ['1.tcp.example.net:20001'] });
    const distort = async (request: Request) => {
      const response = await recorder.transport(request);
      if (!request.url.includes('/edges/tcp')) return response;
      const body = JSON.parse(await response.text());
      const [edge] = body.tcp_edges;
      const twin = { ...edge, id: 'edgtcp_twin', description: 'x'.repeat(4000), metadata: '{"edgewise":7}' };
      return Response.json({ ...body, tcp_edges: [edge, twin] });
    };
    const { stdout, exitCode } = await edgewise('plan --format json', { transport: distort });
    expect(exitCode).toBe(0);
    expect(readPlan(stdout)).toMatchObject({ rehearsal: { writes: 1, rejected: 0, remaining: 0 }, findings: [] });
  });

  it('does not check kinds that are not read, and accepts references to them', async () => {
    const kinds = 'spec: { kinds: [TCPEdge] }\n';
    const { edgewise } = await createWorkspace({
      'edgewise.yaml': STACK + kinds + toManifest('TCPEdge', 'one', { backend: { backend_id: 'bkdwd_elsewhere' } }),
    });
    const { stdout } = await edgewise('plan --format json');
    expect(readPlan(stdout)).toMatchObject({ rehearsal: { writes: 1, rejected: 0 }, findings: [] });
  });

  it.each([
    ['an edge', toManifest('TCPEdge', 'b', {})],
    ['a new edge', ''],
  ])('measures how long a hostport that moves to %s is not served', async (_, b) => {
    const port = { hostports: ['1.tcp.example.net:20001'] };
    const { edgewise } = await planChange(
      toManifest('TCPEdge', 'a', port) + b,
      toManifest('TCPEdge', 'a', {}) + toManifest('TCPEdge', 'b', port),
    );
    const { stdout } = await edgewise('plan --format json');
    expect(readPlan(stdout)).toMatchObject({ rehearsal: { writes: 2, rejected: 0, remaining: 0 }, findings: [] });
    expect(listGaps(stdout)).toMatchObject([
      [
        'TCPEdge/b',
        { group: 'traffic', danger: 'gap', path: 'hostports', from: ['1.tcp.example.net:20001'], writes: 1 },
      ],
    ]);
  });

  it('counts the writes of other resources in between', async () => {
    const port = { hostports: ['1.tcp.example.net:20001'] };
    const { edgewise } = await planChange(
      toManifest('TCPEdge', 'a', port) + POOL + toManifest('TCPEdge', 'z', {}),
      toManifest('TCPEdge', 'a', {}) +
        POOL.replace('"bkdhr_blue":1', '"bkdhr_blue":2') +
        toManifest('TCPEdge', 'z', { ...port, ...BACKEND }),
    );
    const { stdout } = await edgewise('plan --format json');
    expect(listGaps(stdout)).toMatchObject([['TCPEdge/z', { path: 'hostports', writes: 2 }]]);
  });

  it('measures how long a moving hostport is open, although both of its edges restrict it', async () => {
    const moved = '1.tcp.example.net:20001';
    const restricted = { ip_restriction: { ip_policy_ids: ['ipp_one'] } };
    const { edgewise } = await planChange(
      toManifest('TCPEdge', 'a', { hostports: [moved], ...restricted }) + toManifest('TCPEdge', 'b', restricted),
      toManifest('TCPEdge', 'a', {}) + toManifest('TCPEdge', 'b', { hostports: [moved], ...restricted }),
    );
    const gap = { danger: 'gap', from: [moved], writes: 1 };
    expect(listGaps((await edgewise('plan --format json')).stdout)).toMatchObject([
      ['TCPEdge/b', { ...gap, group: 'access', path: 'ip_restriction' }],
      ['TCPEdge/b', { ...gap, group: 'traffic', path: 'hostports' }],
    ]);
  });

  it('reports no finding for a stack with every field of every kind', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': STACK });
    const cwd = new URL('../..', import.meta.url).pathname;
    const { stdout } = await edgewise('plan --format json --token-directory tokens examples/everything', { cwd });
    const { rehearsal, findings, writes } = readPlan(stdout);
    expect(findings).toEqual([]);
    expect(rehearsal).toMatchObject({ writes, rejected: 0, remaining: 0 });
  });
});
