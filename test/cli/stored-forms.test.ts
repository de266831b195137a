import { describe, expect, it } from 'vitest';
import type { FaultRule, StoredForm } from '../../src/model/server-faults.ts';
import { type Transport, toSend } from '../../src/model/transport.ts';
import { withFaults } from '../../src/server/index.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from './workspace.ts';

/** Services that store and show values in forms of their own. */

const EDGE_ID = 'edghts_2k9XLTJrEKpUhfwyWqZzQNvMbcA';
const ROUTE_ID = 'edghtsrt_2k9XLTJrEKpUhfwyWqZzQNvMbcA';

function toRoute(modules: object): string {
  return `${STACK}${toManifest('HTTPSEdgeRoute', 'api', { edge_id: EDGE_ID, id: ROUTE_ID, ...modules })}`;
}

type Habit<Name extends FaultRule['fault']> = Omit<Extract<FaultRule, { fault: Name }>, 'on' | 'fault'>;

/** Runs command lines against the workspace's service, which leaves out fields. */
function withHabit(workspace: Workspace, habit: Habit<'left_out'>) {
  return withRule(workspace, { on: '*', fault: 'left_out', ...habit });
}

/** Runs command lines against the workspace's service, which stores values in forms of its own. */
function withForms(workspace: Workspace, ...forms: readonly StoredForm[]) {
  return withRule(workspace, { on: '*', fault: 'normalise', forms });
}

function withRule({ edgewise, recorder, server }: Workspace, rule: FaultRule) {
  const { handle: transport } = withFaults(
    server.behind(() => toSend(recorder.transport)),
    { rules: [rule] },
  );
  return (line: string) => edgewise(line, { transport });
}

describe('a part of a module that the service leaves out', () => {
  it('is written once the manifest sets it, and matches from then on', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': toRoute({ user_agent_filter: { allow: ['curl'] } }) });
    const edgewise = withHabit(workspace, {});
    expect((await edgewise('apply --yes --no-rehearsal')).exitCode).toBe(0);
    await workspace.write({ 'edgewise.yaml': toRoute({ user_agent_filter: { allow: ['curl'], deny: ['^bad'] } }) });
    const plan = await edgewise('plan');
    expect(plan.stdout).toContain(
      'user_agent_filter.deny: cannot be compared: the service does not show it\n      + "^bad"',
    );
    expect(plan.stdout).toContain('1 to update');
    expect(plan.stdout).not.toContain('Nothing to do');
    expect((await edgewise('apply --yes')).stdout).toContain('1 write applied');
    expect(workspace.server.snapshot().resources['HTTPSEdgeRoute']).toMatchObject([
      { user_agent_filter: { allow: ['curl'], deny: ['^bad'] } },
    ]);
    expect((await edgewise('plan --detailed-exitcode')).exitCode).toBe(0);
    expect((await edgewise('apply --yes')).stdout).toContain('Nothing to do');
  });

  it('is written by each apply if it is never shown, and is neither a change nor drift', async () => {
    const filter = { user_agent_filter: { allow: ['curl'], deny: ['^bad'] } };
    const workspace = await createWorkspace({ 'edgewise.yaml': toRoute(filter) });
    const edgewise = withHabit(workspace, { fields: ['deny'] });
    await edgewise('apply --yes');
    for (let times = 0; times < 2; times += 1)
      expect((await edgewise('apply --yes')).stdout).toContain('1 write applied');
    const plan = await edgewise('plan --detailed-exitcode');
    expect(plan.exitCode).toBe(0);
    expect(plan.stdout).toContain('user_agent_filter.deny: cannot be compared');
    expect((await edgewise('drift')).exitCode).toBe(0);
    const saved = await edgewise('plan -o plan.json --format json');
    expect(saved.exitCode).toBe(0);
    expect((await edgewise('apply plan.json --yes')).exitCode).toBe(0);
  });

  it('stays alone if the manifest does not ask for it', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': toRoute({ user_agent_filter: { allow: ['curl'], deny: [] } }),
    });
    const edgewise = withHabit(workspace, { fields: ['deny'] });
    await edgewise('apply --yes');
    expect((await edgewise('apply --yes')).stdout).toContain('Nothing to do');
  });

  it('counts as a change beside one that can be compared', async () => {
    const filter = { user_agent_filter: { allow: ['curl'], deny: ['^bad'] } };
    const workspace = await createWorkspace({ 'edgewise.yaml': toRoute(filter) });
    const edgewise = withHabit(workspace, { fields: ['deny'] });
    await edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': toRoute({ user_agent_filter: { allow: [], deny: ['^bad'] } }) });
    expect((await edgewise('plan --detailed-exitcode')).exitCode).toBe(2);
    expect((await edgewise('drift')).exitCode).toBe(2);
  });
});

describe('policy rules that the service shows without their empty parts', () => {
  const toEdge = (description: string, more: object = {}): string =>
    `${STACK}${toManifest('TCPEdge', 'a', { description, policy: { inbound: [{ actions: [{ type: 'deny' }] }] } }, more)}`;

  it('are the same rules in the dangers of an update and of an adoption', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': toEdge('one') });
    const edgewise = withHabit(workspace, { fields: ['config', 'expressions', 'name', 'outbound'] });
    await edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': toEdge('two') });
    const update = await edgewise('plan');
    expect(update.stdout).toContain('1 to update');
    expect(update.stdout).not.toMatch(/rule|danger/);
    const [edge] = workspace.server.snapshot().resources['TCPEdge'] ?? [];
    await edgewise('release TCPEdge/a --yes');
    await workspace.write({ 'edgewise.yaml': toEdge('two', { lifecycle: { adopt: edge?.['id'] } }) });
    const adopt = await edgewise('plan');
    expect(adopt.stdout).toContain('1 to adopt');
    expect(adopt.stdout).not.toMatch(/rule|danger/);
  });
});

describe('a circuit breaker whose numbers the service chooses', () => {
  it('matches after one apply, which names the numbers that are live', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': toRoute({ circuit_breaker: { error_threshold_percentage: 0.25 } }),
    });
    const edgewise = withForms(workspace, 'defaults', 'float32');
    expect((await edgewise('apply --yes')).exitCode).toBe(0);
    const plan = await edgewise('plan --detailed-exitcode');
    expect(plan.exitCode, plan.stdout).toBe(0);
    expect(plan.stdout).toContain(
      'HTTPSEdgeRoute/api: left to the service, and live: circuit_breaker.tripped_duration (10), circuit_breaker.rolling_window (10), circuit_breaker.num_buckets (10), circuit_breaker.volume_threshold (10)',
    );
  });

  it('keeps them when another part changes, and takes those that are set', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': toRoute({ circuit_breaker: { tripped_duration: 30, error_threshold_percentage: 0.25 } }),
    });
    const edgewise = withForms(workspace, 'defaults');
    await edgewise('apply --yes');
    await workspace.write({
      'edgewise.yaml': toRoute({ circuit_breaker: { num_buckets: 5, error_threshold_percentage: 0.5 } }),
    });
    const plan = await edgewise('plan');
    expect(plan.stdout).not.toContain('tripped_duration:');
    await edgewise('apply --yes');
    expect(workspace.server.snapshot().resources['HTTPSEdgeRoute']).toMatchObject([
      { circuit_breaker: { tripped_duration: 30, num_buckets: 5, error_threshold_percentage: 0.5 } },
    ]);
    expect((await edgewise('plan --detailed-exitcode')).exitCode).toBe(0);
  });
});

const CERTIFICATE = {
  public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L',
  ssh_certificate_authority_id: 'sshca_2k9XLTJrEKpUhfwyWqZzQNvMbcA',
  principals: ['alice'],
};

function toCertificate(spec: object, lifecycle: object = {}): string {
  return `${STACK}${toManifest('SSHUserCertificate', 'alice', { ...CERTIFICATE, ...spec }, { lifecycle })}`;
}

describe('a certificate that the service backdates', () => {
  it.each([
    ['with valid_for', {}, { valid_for: '30d' }],
    ['with both times', { valid_after: '2026-03-01T00:00:00Z', valid_until: '2027-01-01T00:00:00Z' }, {}],
    ['with an end', { valid_until: '2027-01-01T00:00:00.5Z' }, {}],
    ['without times', {}, {}],
  ])('is created once, %s', async (_, spec, lifecycle) => {
    const workspace = await createWorkspace({ 'edgewise.yaml': toCertificate(spec, lifecycle) });
    const edgewise = withForms(workspace, 'backdated', 'times');
    for (const expected of ['1 write applied', 'Nothing to do'])
      expect((await edgewise('apply --yes')).stdout).toContain(expected);
    expect((await edgewise('drift')).exitCode).toBe(0);
    expect(workspace.server.snapshot().resources['SSHUserCertificate']).toHaveLength(1);
  });

  it('shows no longer validity when something else replaces it', async () => {
    const times = { valid_after: '2026-03-01T00:00:00Z', valid_until: '2027-01-01T00:00:00Z' };
    const workspace = await createWorkspace({ 'edgewise.yaml': toCertificate(times) });
    const edgewise = withForms(workspace, 'backdated');
    await edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': toCertificate({ ...times, principals: ['bob'] }) });
    const { stdout } = await edgewise('plan');
    expect(stdout).toContain('1 to replace');
    expect(stdout).not.toMatch(/valid_until|longer/);
  });

  it('gets no start if the manifest leaves the start to others', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': toCertificate({}, { valid_for: '30d', ignore: ['valid_after'] }),
    });
    await workspace.edgewise('apply --yes');
    const [sent] = workspace.recorder.take().filter(({ method }) => method === 'POST');
    expect(sent?.body).toContain('"valid_until"');
    expect(sent?.body).not.toContain('"valid_after"');
  });

  it('fails if it ends much earlier, and names both times', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': toCertificate({ valid_until: '2027-01-01T00:00:00Z' }),
    });
    const capped: Transport = async (request) => {
      const response = await workspace.recorder.transport(request);
      const text = await response.text();
      return new Response(text.replaceAll('2027-01-01T00:00:00Z', '2026-12-31T23:54:59Z'), response);
    };
    const { exitCode, stdout } = await workspace.edgewise('apply --yes', {
      transport: (request) => (request.method === 'POST' ? capped(request) : workspace.recorder.transport(request)),
    });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('"2027-01-01T00:00:00Z" was sent, "2026-12-31T23:54:59Z" came back');
  });
});
