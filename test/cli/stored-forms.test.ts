import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FaultRule, StoredForm } from '../../src/model/server-faults.ts';
import { type Transport, toSend } from '../../src/model/transport.ts';
import { withFaults } from '../../src/server/index.ts';
import { changeByHand, createWorkspace, STACK, toManifest, type Workspace } from './workspace.ts';

/** Services that store and show values in forms of their own. */

const EDGE_ID = 'edghts_2k9XLTJrEKpUhfwyWqZzQNvMbcA';
const ROUTE_ID = 'edghtsrt_2k9XLTJrEKpUhfwyWqZzQNvMbcA';

function toRoute(modules: object): string {
  return `${STACK}${toManifest('HTTPSEdgeRoute', 'api', { edge_id: EDGE_ID, id: ROUTE_ID, ...modules })}`;
}

type Habit<Name extends FaultRule['fault']> = Omit<Extract<FaultRule, { fault: Name }>, 'on' | 'fault'>;

/** Runs command lines against the workspace's service, which leaves out fields. */
function withLeftOutFields(workspace: Workspace, habit: Habit<'left_out'>) {
  return withFaultRule(workspace, { on: '*', fault: 'left_out', ...habit });
}

/** Runs command lines against the workspace's service, which stores values in other forms. */
function withStoredForms(workspace: Workspace, ...forms: readonly StoredForm[]) {
  return withFaultRule(workspace, { on: '*', fault: 'normalise', forms });
}

function withFaultRule({ edgewise, recorder, server }: Workspace, rule: FaultRule) {
  const { handle: transport } = withFaults(
    server.behind(() => toSend(recorder.transport)),
    { rules: [rule] },
  );
  return (line: string) => edgewise(line, { transport });
}

describe('a part of a module that the service leaves out', () => {
  it('is written once the manifest sets it, and matches after that', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': toRoute({ user_agent_filter: { allow: ['curl'] } }) });
    const edgewise = withLeftOutFields(workspace, {});
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
    const edgewise = withLeftOutFields(workspace, { fields: ['deny'] });
    await edgewise('apply --yes');
    for (let times = 0; times < 2; times += 1)
      expect((await edgewise('apply --yes')).stdout).toContain('1 write applied');
    const plan = await edgewise('plan --detailed-exitcode');
    expect(plan.exitCode).toBe(0);
    expect(plan.stdout).toContain('user_agent_filter.deny: cannot be compared');
    expect((await edgewise('drift')).exitCode).toBe(0);
    const saved = await edgewise('plan -o plan.json --format json');
    expect(saved.exitCode).toBe(0);
    expect((await edgewise('apply --approved plan.json --yes')).exitCode).toBe(0);
  });

  it('is left alone if the manifest does not set it', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': toRoute({ user_agent_filter: { allow: ['curl'], deny: [] } }),
    });
    const edgewise = withLeftOutFields(workspace, { fields: ['deny'] });
    await edgewise('apply --yes');
    expect((await edgewise('apply --yes')).stdout).toContain('Nothing to do');
  });

  it('counts as a change beside a part that can be compared', async () => {
    const filter = { user_agent_filter: { allow: ['curl'], deny: ['^bad'] } };
    const workspace = await createWorkspace({ 'edgewise.yaml': toRoute(filter) });
    const edgewise = withLeftOutFields(workspace, { fields: ['deny'] });
    await edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': toRoute({ user_agent_filter: { allow: [], deny: ['^bad'] } }) });
    expect((await edgewise('plan --detailed-exitcode')).exitCode).toBe(2);
    expect((await edgewise('drift')).exitCode).toBe(2);
  });
});

describe('restriction rules that the service shows without their empty parts', () => {
  const toEdge = (description: string, more: object = {}): string =>
    `${STACK}${toManifest('TCPEdge', 'a', { description, policy: { inbound: [{ actions: [{ type: 'deny' }] }] } }, more)}`;

  it('are equal in the dangers of an update and of an adoption', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': toEdge('one') });
    const edgewise = withLeftOutFields(workspace, { fields: ['config', 'expressions', 'name', 'outbound'] });
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
  it('matches after one apply, which names the live numbers', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': toRoute({ circuit_breaker: { error_threshold_percentage: 0.25 } }),
    });
    const edgewise = withStoredForms(workspace, 'defaults', 'float32');
    expect((await edgewise('apply --yes')).exitCode).toBe(0);
    const plan = await edgewise('plan --detailed-exitcode');
    expect(plan.exitCode, plan.stdout).toBe(0);
    expect(plan.stdout).toContain(
      'HTTPSEdgeRoute/api: left to the service, and live: circuit_breaker.tripped_duration (10), circuit_breaker.rolling_window (10), circuit_breaker.num_buckets (10), circuit_breaker.volume_threshold (10)',
    );
  });

  it('keeps them if another part changes, and takes those that are set', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': toRoute({ circuit_breaker: { tripped_duration: 30, error_threshold_percentage: 0.25 } }),
    });
    const edgewise = withStoredForms(workspace, 'defaults');
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
    const edgewise = withStoredForms(workspace, 'backdated', 'times');
    for (const expected of ['1 write applied', 'Nothing to do'])
      expect((await edgewise('apply --yes')).stdout).toContain(expected);
    expect((await edgewise('drift')).exitCode).toBe(0);
    expect(workspace.server.snapshot().resources['SSHUserCertificate']).toHaveLength(1);
  });

  it('shows no longer validity if something else replaces it', async () => {
    const times = { valid_after: '2026-03-01T00:00:00Z', valid_until: '2027-01-01T00:00:00Z' };
    const workspace = await createWorkspace({ 'edgewise.yaml': toCertificate(times) });
    const edgewise = withStoredForms(workspace, 'backdated');
    await edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': toCertificate({ ...times, principals: ['bob'] }) });
    const { stdout } = await edgewise('plan');
    expect(stdout).toContain('1 to replace');
    expect(stdout).not.toMatch(/valid_until|longer/);
  });

  it('gets no start if the manifest does not set one', async () => {
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

describe('a description or metadata that the service spells otherwise', () => {
  const toPool = (description: string, more: object = {}): string =>
    `${STACK}${toManifest('WeightedBackend', 'pool', { description, backends: { bkdhr_2k9XLTJrEKpUhfwyWqZzQNvMbcA: 1 }, ...more })}`;
  const toWrites = (workspace: Workspace): readonly string[] =>
    workspace.recorder
      .take()
      .filter(({ method }) => method !== 'GET')
      .map(({ method, body }) => `${method} ${Object.keys(JSON.parse(body)).sort().join(' ')}`);

  it('is reported once, listed after that, and not counted', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': toPool(' Blue pool', { metadata: { team: ' data ' } }),
    });
    const edgewise = withStoredForms(workspace, 'trimmed', 'lower_case');
    const first = await edgewise('apply --yes');
    expect(first.exitCode, first.stdout).toBe(0);
    expect(first.stdout + first.stderr).toContain(
      'warning[shown-otherwise]: WeightedBackend/pool: description is spelled differently at the service: " Blue pool" was sent, "blue pool" came back',
    );
    expect(first.stdout + first.stderr).toContain('{"team":" data "} was sent, {"team":"data"} came back');
    expect(toWrites(workspace)).toEqual(['POST backends description metadata']);
    const listed =
      'WeightedBackend/pool: spelled differently at the service: description (live: "blue pool", in the manifest: " Blue pool"), metadata (live: {"team":"data"}, in the manifest: {"team":" data "})';
    for (let times = 0; times < 2; times += 1) {
      const again = await edgewise('apply --yes');
      expect(again.stdout).toContain('Nothing to do');
      expect(again.stdout).toContain(listed);
      expect(again.stdout + again.stderr).not.toContain('shown-otherwise');
    }
    const plan = await edgewise('plan --detailed-exitcode --report json=plan.json');
    expect(plan.exitCode, plan.stdout).toBe(0);
    expect(
      JSON.parse(await readFile(join(workspace.folder, 'plan.json'), 'utf8')).stacks[0].plan.changes[0].otherSpellings,
    ).toEqual([
      { path: 'description', from: 'blue pool', to: ' Blue pool' },
      { path: 'metadata', from: { team: 'data' }, to: { team: ' data ' } },
    ]);
    const drift = await edgewise('drift');
    expect(drift.exitCode).toBe(0);
    expect(drift.stdout).toContain(listed);
    expect(toWrites(workspace)).toEqual([]);
  });

  it('stays so if another field changes, without another request or warning', async () => {
    const metadata = { team: ' data ' };
    const workspace = await createWorkspace({ 'edgewise.yaml': toPool('Blue', { metadata }) });
    const edgewise = withStoredForms(workspace, 'lower_case', 'trimmed');
    await edgewise('apply --yes');
    toWrites(workspace);
    const backends = { bkdhr_2k9XLTJrEKpUhfwyWqZzQNvMbcA: 2 };
    await workspace.write({ 'edgewise.yaml': toPool('Blue', { backends, metadata }) });
    const { stdout, stderr, exitCode } = await edgewise('apply --yes');
    expect(exitCode, stdout).toBe(0);
    expect(stdout).toContain('spelled differently at the service: description (live: "blue", in the manifest: "Blue")');
    expect(stdout + stderr).not.toContain('shown-otherwise');
    expect(toWrites(workspace)).toEqual(['PATCH backends metadata']);
    expect((await edgewise('plan --detailed-exitcode')).exitCode).toBe(0);
  });

  it('is sent once if the manifest spells it otherwise than before', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': toPool('Blue') });
    const edgewise = withStoredForms(workspace, 'lower_case');
    await edgewise('apply --yes');
    toWrites(workspace);
    await workspace.write({ 'edgewise.yaml': toPool('BLUE') });
    expect((await edgewise('plan --detailed-exitcode')).exitCode).toBe(2);
    expect((await edgewise('apply --yes')).exitCode).toBe(0);
    expect(toWrites(workspace)).toEqual(['PATCH backends description metadata']);
    expect((await edgewise('apply --yes')).stdout).toContain('Nothing to do');
    expect(toWrites(workspace)).toEqual([]);
  });

  it('is a difference if no mark says that the text was applied', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': toPool('blue') });
    await workspace.edgewise('apply --yes');
    const [pool] = workspace.server.snapshot().resources['WeightedBackend'] ?? [];
    await workspace.edgewise('release WeightedBackend/pool --yes');
    const more = { lifecycle: { adopt: pool?.['id'] } };
    const backends = { bkdhr_2k9XLTJrEKpUhfwyWqZzQNvMbcA: 1 };
    await workspace.write({
      'edgewise.yaml': `${STACK}${toManifest('WeightedBackend', 'pool', { description: 'Blue', backends }, more)}`,
    });
    expect((await workspace.edgewise('plan')).stdout).toContain('description: "blue" → "Blue"');
    expect((await workspace.edgewise('apply --yes')).exitCode).toBe(0);
    expect(workspace.server.snapshot().resources['WeightedBackend']).toMatchObject([{ description: 'Blue' }]);
  });

  it('differs again after a change of the manifest, and after a change at the service', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': toPool('Blue') });
    const edgewise = withStoredForms(workspace, 'lower_case');
    await edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': toPool('Green') });
    expect((await edgewise('plan')).stdout).toMatch(
      /description: +"?blue"? → "?Green"? +\(changed here and drifted\)$/m,
    );
    await workspace.write({ 'edgewise.yaml': toPool('Blue') });
    await changeByHand(workspace, 'WeightedBackend/pool', { description: 'by hand' });
    const drift = await edgewise('drift');
    expect(drift.exitCode).toBe(2);
    expect(drift.stdout).toContain('changed at the service');
    expect((await edgewise('apply --yes')).exitCode).toBe(0);
    expect((await edgewise('plan --detailed-exitcode')).exitCode).toBe(0);
  });

  it.each([
    ['Credential', { description: 'Agent', acl: ['bind:*.example.com'] }, {}, ['PATCH metadata']],
    ['SSHUserCertificate', { ...CERTIFICATE, description: 'Alice' }, { lifecycle: { valid_for: '30d' } }, []],
  ])('of a %s leaves one resource, which is delivered', async (kind, spec, more, after) => {
    const tokens = 'spec: { tokens: { default: { directory: tokens } } }\n';
    const workspace = await createWorkspace({
      'edgewise.yaml': `${STACK}${tokens}${toManifest(kind, 'a', spec, more)}`,
    });
    const edgewise = withStoredForms(workspace, 'lower_case');
    const first = await edgewise('apply --yes');
    expect(first.exitCode, first.stdout).toBe(0);
    expect((first.stdout + first.stderr).match(/^warning\[shown-otherwise\]/gm)).not.toBeNull();
    expect(toWrites(workspace).slice(1)).toEqual(after);
    expect((await edgewise('apply --yes')).stdout).toContain('Nothing to do');
    expect(workspace.server.snapshot().resources[kind]).toHaveLength(1);
  });

  it('does not make a partly applied saved plan stale', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': toPool('Blue') });
    const edgewise = withStoredForms(workspace, 'lower_case');
    await edgewise('plan -o plan.json');
    expect((await edgewise('apply --approved plan.json --yes')).exitCode).toBe(0);
    const again = await edgewise('apply --approved plan.json --yes');
    expect(again.exitCode, again.stdout + again.stderr).toBe(0);
    expect(again.stdout).toContain('Nothing to do');
  });
});

describe('a description or metadata that the service stores as another text', () => {
  const toEdge = (text: object, lifecycle: object = {}): string =>
    `${STACK}${toManifest('TCPEdge', 'a', { hostports: ['1.tcp.example.net:20001'], ...text }, { lifecycle })}`;
  /** A service that shows another text in each response. */
  const replacing =
    ({ recorder }: Workspace, from: string, to: string): Transport =>
    async (request) => {
      const response = await recorder.transport(request);
      return new Response((await response.text()).replaceAll(from, to), response);
    };
  const toMethods = ({ recorder }: Workspace): readonly string[] =>
    recorder.take().flatMap(({ method }) => (method === 'GET' ? [] : [method]));

  it.each([
    ['description', { description: 'Shop' }, ['"Shop"', '"Bank"'], '"Shop" was sent, "Bank"'],
    ['description', { description: 'Shop' }, ['"Shop"', '""'], '"Shop" was sent, ""'],
    ['metadata', { metadata: { team: 'a' } }, ['team\\":\\"a', 'team\\":\\"b'], '{"team":"a"} was sent, {"team":"b"}'],
  ] as const)('is a difference and a failure without a second write: %s', async (name, text, change, said) => {
    const workspace = await createWorkspace({ 'edgewise.yaml': toEdge(text) });
    const [from, to] = change;
    const transport = replacing(workspace, from, to);
    const edgewise = (line: string) => workspace.edgewise(line, { transport });
    for (const writes of [['POST'], ['PATCH'], ['PATCH']]) {
      const { exitCode, stdout } = await edgewise('apply --yes');
      expect(exitCode).toBe(1);
      expect(stdout).toContain(`the service stores another ${name}: ${said} came back`);
      expect(stdout).toContain(`To leave the field to the service, set lifecycle.ignore: [${name}]`);
      expect(toMethods(workspace)).toEqual(writes);
      expect((await edgewise('plan --detailed-exitcode')).exitCode).toBe(2);
      expect((await edgewise('drift')).exitCode).toBe(2);
    }
    await workspace.write({ 'edgewise.yaml': toEdge(text, { ignore: [name] }) });
    expect((await edgewise('apply --yes')).exitCode).toBe(0);
    toMethods(workspace);
    expect((await edgewise('apply --yes')).stdout).toContain('Nothing to do');
    expect(toMethods(workspace)).toEqual([]);
  });

  it('stops nothing that depends on it, and no token', async () => {
    const tokens = 'spec: { tokens: { default: { directory: tokens } } }\n';
    const workspace = await createWorkspace({
      'edgewise.yaml': `${STACK}${tokens}${toManifest('WeightedBackend', 'pool', { description: 'Shop', backends: { bkdhr_2k9XLTJrEKpUhfwyWqZzQNvMbcA: 1 } })}${toManifest('TCPEdge', 'a', { hostports: ['1.tcp.example.net:20001'], backend: { backend_id: 'WeightedBackend/pool' } })}${toManifest('Credential', 'agent', { description: 'Shop', acl: ['bind:a.example.com'] })}`,
    });
    const transport = replacing(workspace, '"description":"Shop"', '"description":"Bank"');
    const edgewise = (line: string) => workspace.edgewise(line, { transport });
    const { exitCode, stdout } = await edgewise('apply --yes');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('2 writes applied, 2 failed, 0 skipped');
    expect(toMethods(workspace).toSorted()).toEqual(['PATCH', 'POST', 'POST', 'POST']);
    const { resources } = workspace.server.snapshot();
    expect(resources['TCPEdge']).toHaveLength(1);
    const [credential] = resources['Credential'] ?? [];
    expect(await readFile(join(workspace.folder, 'tokens/agent.token'), 'utf8')).not.toBe('');
    expect(String(credential?.['metadata'])).toContain('"delivered":true');
    // The next apply tries the texts again, and nothing else.
    expect((await edgewise('apply --yes')).exitCode).toBe(1);
    expect(toMethods(workspace)).toEqual(['PATCH', 'PATCH']);
    expect(workspace.server.snapshot().resources['Credential']).toMatchObject([{ id: credential?.['id'] }]);
  });
});
