import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Kind } from '../../src/kinds/kind.ts';
import { CREDENTIAL } from '../../src/kinds/tables/credential.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { sendByHand } from '../by-hand.ts';
import { toStack } from '../repository/tree.ts';
import { CREATED_KINDS, createStackOf, toJsonObject } from './creations.ts';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from './workspace.ts';

/** What a service does to the metadata of a request before it stores it, and to that of a response. */
interface Habit {
  readonly store?: (metadata: string, method: string) => string;
  readonly show?: (metadata: string, method: string) => string;
}

/** A service with a habit. */
function withHabit({ recorder }: Workspace, { store, show }: Habit): Transport {
  const change = (json: Json, map: (metadata: string) => string): Json => {
    if (isJsonArray(json)) return json.map((one) => change(one, map));
    if (!isJsonObject(json)) return json;
    const changed = Object.entries(json).map(([name, value]): [string, Json] => [
      name,
      isJsonArray(value) ? change(value, map) : value,
    ]);
    const { metadata } = json;
    return { ...Object.fromEntries(changed), ...(typeof metadata === 'string' && { metadata: map(metadata) }) };
  };
  return async (request) => {
    const { method } = request;
    const text = await request.clone().text();
    const body =
      text === '' || store === undefined ? undefined : change(toJsonObject(text), (one) => store(one, method));
    const response = await recorder.transport(
      body === undefined ? request : new Request(request, { body: JSON.stringify(body) }),
    );
    if (show === undefined || response.status === 204) return response;
    const shown = change(toJsonObject(await response.text()), (one) => show(one, method));
    return Response.json(shown, { status: response.status, headers: response.headers });
  };
}

/** The beginning of a text of ASCII. */
const cut = (bytes: number) => (text: string) => text.slice(0, bytes);
const HABITS: readonly (readonly [string, Habit])[] = [
  ['drops metadata', { store: () => '' }],
  ['cuts metadata', { store: cut(60) }],
  ['cuts metadata that is a little longer than that of a new resource', { store: cut(130) }],
  ['shows no metadata', { show: () => '' }],
];

/** A service that keeps the mark of a creation, and drops that of an update. */
const DROPS_AT_UPDATE: Habit = { store: (metadata, method) => (method === 'PATCH' ? '' : metadata) };
const WITH_TOKENS = `${STACK}spec: { tokens: { default: { directory: tokens } } }\n`;

const UNMANAGEABLE = 'This service cannot be managed: it does not keep the metadata of resources';

function listIds({ server }: Workspace, { name }: Kind): readonly string[] {
  return (server.snapshot().resources[name] ?? []).map(({ id }) => String(id));
}

describe.each(CREATED_KINDS)('a service that does not keep the mark of a resource of the kind %s', (_, kind) => {
  it.each(HABITS)('gets it back if it %s, four times', async (__, habit) => {
    const workspace = await createStackOf(kind);
    const before = listIds(workspace, kind);
    const transport = withHabit(workspace, habit);
    for (const run of [1, 2, 3, 4]) {
      const { exitCode, stdout } = await workspace.edgewise('apply --yes', { transport });
      expect({ run, exitCode }).toEqual({ run, exitCode: 1 });
      expect(stdout).toContain('which this run created, was then deleted');
      expect(stdout).toContain(UNMANAGEABLE);
      expect(listIds(workspace, kind)).toEqual(before);
    }
    if (kind.oneTimeFields.length > 0) expect(await readdir(join(workspace.folder, 'tokens'))).toEqual([]);
  });
});

/** Answers each DELETE with 403. */
function withoutDeletes(transport: Transport): Transport {
  return async (request) =>
    request.method === 'DELETE' ? Response.json({ msg: 'not yours' }, { status: 403 }) : transport(request);
}

const UNTAKEN: readonly (readonly [string, Habit])[] = [
  ...HABITS,
  ['shows metadata only in the answer to a creation', { show: (text, method) => (method === 'POST' ? text : '') }],
];

describe.each(CREATED_KINDS)('what cannot be taken back of the kind %s', (_, kind) => {
  it.each(UNTAKEN)('is named by each later plan if the service %s, and no other is created', async (__, habit) => {
    const workspace = await createStackOf(kind);
    const transport = withoutDeletes(withHabit(workspace, habit));
    await workspace.edgewise('apply --yes', { transport });
    const [id = ''] = listIds(workspace, kind).filter((one) => !one.endsWith('aaa'));
    workspace.recorder.take();
    for (const line of ['plan', 'apply --yes', 'apply --yes', 'apply --yes']) {
      const { exitCode, stdout } = await workspace.edgewise(line, { transport });
      expect({ line, exitCode }).toEqual({ line, exitCode: expect.toSatisfy((code) => code === 3 || code === 5) });
      expect(stdout).toContain(id);
      expect(stdout).toMatch(/lost its mark|cannot be managed/);
    }
    expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(listIds(workspace, kind)).toHaveLength(2);
  });
});

describe.each(CREATED_KINDS)(
  'a service that answers each DELETE with success and deletes nothing, of the kind %s',
  (_, kind) => {
    it('is said to have kept what it should have given back, and the next plan creates no other', async () => {
      const workspace = await createStackOf(kind);
      const dropping = withHabit(workspace, { store: () => '' });
      const transport: Transport = async (request) =>
        request.method === 'DELETE' ? new Response(null, { status: 204 }) : dropping(request);
      const { exitCode, stdout } = await workspace.edgewise('apply --yes', { transport });
      const [id = ''] = listIds(workspace, kind).filter((one) => !one.endsWith('aaa'));
      expect(exitCode).toBe(1);
      expect(stdout).toContain(`${id}, which this run created, is still there`);
      expect(stdout).not.toContain('was then deleted');
      const again = await workspace.edgewise('apply --yes', { transport });
      expect(again.exitCode).not.toBe(0);
      expect(again.stdout).toContain(id);
      expect(listIds(workspace, kind)).toHaveLength(2);
    });
  },
);

describe('a resource with the fields of a new one and no metadata', () => {
  const POOL = { backends: { bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt: 1 } };
  const CERTIFICATE = {
    public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIgWaFLqDdQFyqH7tDdMVOPQkYvUOJsqxY8h6OuHfC9C',
    ssh_certificate_authority_id: 'sshca_2k9XLN4QSRa2CXSGdTMwZDWQXjk',
    principals: ['alice'],
  };

  it('stops no creation with another description, as the plan says', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + toManifest('WeightedBackend', 'pool', POOL) });
    await sendByHand(workspace, 'POST', '/backends/weighted', POOL);
    const plan = await workspace.edgewise('plan');
    expect(plan.exitCode).toBe(3);
    expect(plan.stdout).toContain('If it is another one, set a `description` that it does not have');
    await workspace.write({
      'edgewise.yaml': STACK + toManifest('WeightedBackend', 'pool', { ...POOL, description: 'ours' }),
    });
    expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['2026-02-01T00:00:00Z', '2026-02-02T00:00:00Z', 0],
    ['2026-03-01T00:00:00Z', '2026-03-08T00:00:00Z', 0],
    ['2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', 3],
  ])(
    'stops a certificate only if it is valid now, and for as long: from %s until %s',
    async (after, until, exitCode) => {
      const manifest = toManifest('SSHUserCertificate', 'alice', CERTIFICATE, { lifecycle: { valid_for: '24h' } });
      const workspace = await createWorkspace({ 'edgewise.yaml': STACK + manifest });
      const spec = { ...CERTIFICATE, valid_after: after, valid_until: until };
      await sendByHand(workspace, 'POST', '/ssh_user_certificates', spec);
      expect(await workspace.edgewise('plan')).toMatchObject({ exitCode });
    },
  );
});

describe('a service that does not keep marks', () => {
  it('gets no further writes', async () => {
    const stack = `${STACK}spec: { api: { concurrency: 1 } }\n`;
    const edges = ['a', 'b', 'c', 'd'].map((name, index) => toEdge(name, 20_010 + index));
    const workspace = await createWorkspace({ 'edgewise.yaml': stack + edges.join('') });
    const transport = withHabit(workspace, { store: () => '' });
    const { exitCode, stdout } = await workspace.edgewise('apply --yes', { transport });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('3 writes were not started, because the service cannot be managed.');
    expect(stdout).not.toContain('Run apply again');
    const writes = workspace.recorder.take().filter(({ method }) => method !== 'GET');
    expect(writes.map(({ method }) => method)).toEqual(['POST', 'DELETE']);
  });

  it('is written to for no other stack of the run', async () => {
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': toStack('a') + toEdge('one', 20_001),
      'live/b/edgewise.yaml': toStack('b') + toEdge('two', 20_002),
    });
    const transport = withHabit(workspace, { store: () => '' });
    const { exitCode, stdout } = await workspace.edgewise('apply -R live --yes', { transport });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('the service cannot be managed, as the apply of a has found');
    const writes = workspace.recorder.take().filter(({ method }) => method !== 'GET');
    expect(writes.map(({ method }) => method)).toEqual(['POST', 'DELETE']);
  });
});

describe('a service that keeps the mark of a new credential, and drops that of its update', () => {
  it('keeps the delivered credential, and the next plan creates no other', async () => {
    const workspace = await createStackOf(CREDENTIAL);
    await sendByHand(workspace, 'DELETE', `/credentials/${workspace.other['id']}`);
    const transport = withHabit(workspace, DROPS_AT_UPDATE);
    const first = await workspace.edgewise('apply --yes', { transport });
    expect(first.exitCode).toBe(1);
    const [id = ''] = listIds(workspace, CREDENTIAL).filter((one) => !one.endsWith('aaa'));
    expect(first.stdout).toContain(`its token was delivered, so ${id} stays`);
    expect(first.stdout).toContain(UNMANAGEABLE);
    expect(await readdir(join(workspace.folder, 'tokens'))).toEqual(['one.token']);
    workspace.recorder.take();
    for (const line of ['plan', 'apply --yes', 'apply --yes', 'apply --yes']) {
      const { exitCode, stdout } = await workspace.edgewise(line, { transport });
      expect({ line, exitCode }).toEqual({ line, exitCode: 3 });
      expect(stdout).toContain(`Credential/one is not created: ${id}`);
    }
    expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});

describe('a delivered credential without any field that lost its mark', () => {
  it('is named by the next plan, and four applies leave one', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': WITH_TOKENS + toManifest('Credential', 'one', {}) });
    const transport = withHabit(workspace, DROPS_AT_UPDATE);
    expect(await workspace.edgewise('apply --yes', { transport })).toMatchObject({ exitCode: 1 });
    const [id = ''] = listIds(workspace, CREDENTIAL);
    const token = await readFile(join(workspace.folder, 'tokens/one.token'), 'utf8');
    for (const run of [2, 3, 4]) {
      const { exitCode, stdout } = await workspace.edgewise('apply --yes', { transport });
      expect({ run, exitCode }).toEqual({ run, exitCode: 1 });
      expect(stdout).toContain(`Credential/one would be created beside ${id}`);
      expect(stdout).toContain('the service dropped the mark when it was written for the second time');
      expect(stdout).toContain(UNMANAGEABLE);
    }
    expect(listIds(workspace, CREDENTIAL)).toEqual([id]);
    expect(await readFile(join(workspace.folder, 'tokens/one.token'), 'utf8')).toBe(token);
  });
});

describe('a credential without any field, in an account with another one', () => {
  it('is created by the first apply if the service keeps its mark, and its token is delivered', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': WITH_TOKENS + toManifest('Credential', 'one', {}) });
    await sendByHand(workspace, 'POST', '/credentials', {});
    const { exitCode, stdout } = await workspace.edgewise('apply --yes');
    expect(exitCode, stdout).toBe(0);
    expect(await readdir(join(workspace.folder, 'tokens'))).toEqual(['one.token']);
    expect(await workspace.edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });
});

/** Applies a stack four times. Before each apply, the description and the unique value change. Returns how many there are of the kind after each. */
async function applyChangesFourTimes(workspace: Workspace, kind: Kind): Promise<readonly number[]> {
  const transport = withHabit(workspace, DROPS_AT_UPDATE);
  const manifest = await readFile(join(workspace.folder, 'edgewise.yaml'), 'utf8');
  const counts: number[] = [];
  for (const run of [1, 2, 3, 4]) {
    const changed = manifest.replace('"spec":{', `"spec":{"description":"change ${run}",`);
    await workspace.write({ 'edgewise.yaml': changed.replaceAll('20001', `2001${run}`) });
    await workspace.edgewise('apply --yes', { transport });
    counts.push(listIds(workspace, kind).length);
  }
  return counts;
}

describe.each(CREATED_KINDS)(
  'a service that drops the mark of a resource when it is updated, of the kind %s',
  (_, kind) => {
    it('has one of it after four applies, although the manifest changes before each', async () => {
      const workspace = await createStackOf(kind);
      await sendByHand(workspace, 'DELETE', `${kind.path}/${workspace.other['id']}`);
      expect(await applyChangesFourTimes(workspace, kind)).toEqual([1, 1, 1, 1]);
    });

    it('has none of it if another resource of the kind may have lost its mark already', async () => {
      const workspace = await createStackOf(kind);
      expect(await applyChangesFourTimes(workspace, kind)).toEqual([1, 1, 1, 1]);
      expect(listIds(workspace, kind)).toEqual([workspace.other['id']]);
    });
  },
);

describe('the creations of a kind in which a mark may have been lost', () => {
  it('wait for the first one, whose mark is written twice', async () => {
    const pools = ['a', 'b', 'c'].map((name) =>
      toManifest('WeightedBackend', name, { description: name, backends: { bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt: 1 } }),
    );
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + pools.join('') });
    await sendByHand(workspace, 'POST', '/backends/weighted', { description: 'by hand' });
    const { stdout } = await workspace.edgewise('plan');
    expect(stdout).toContain('applying takes 3 writes and at least 2 look-ups');
    workspace.recorder.take();
    expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    const writes = workspace.recorder.take().filter(({ method }) => method !== 'GET');
    expect(writes.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST', 'POST']);
    expect(Object.keys(toJsonObject(writes[1]?.body ?? ''))).toEqual(['backends', 'metadata']);
    expect(await workspace.edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });
});

describe('the mark of a creation', () => {
  it.each(CREATED_KINDS)(
    'is at least as long as each later mark, and the next write leaves the filling out: %s',
    async (_, kind) => {
      const workspace = await createStackOf(kind);
      const sent: JsonObject[] = [];
      const transport: Transport = async (request) => {
        if (request.method === 'POST' || request.method === 'PATCH')
          sent.push(toJsonObject(await request.clone().text()));
        return workspace.recorder.transport(request);
      };
      await workspace.edgewise('apply --yes', { transport });
      const [created, ...later] = sent.map(({ metadata }) => String(metadata));
      expect(created).toMatch(/,"reserved":"-+"\}\}$/);
      for (const metadata of later) {
        expect(metadata).not.toContain('reserved');
        expect(metadata.length).toBeLessThanOrEqual(created?.length ?? 0);
      }
      expect(await workspace.edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
    },
  );
});
