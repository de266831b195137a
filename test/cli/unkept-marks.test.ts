import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Kind } from '../../src/kinds/kind.ts';
import { CREDENTIAL } from '../../src/kinds/tables/credential.ts';
import { WEIGHTED_BACKEND } from '../../src/kinds/tables/weighted-backend.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { sendByHand } from '../by-hand.ts';
import { selectTypical } from '../cases.ts';
import { toStack } from '../repository/tree.ts';
import { CREATED_KINDS, createStackOf, toId, toJsonObject } from './creations.ts';
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
  ['cuts metadata before the name of the stack', { store: cut(20) }],
  ['cuts metadata that is a little longer than that of a new resource', { store: cut(130) }],
  ['shows no metadata', { show: () => '' }],
];

/** A service that keeps the mark of a creation, and drops that of an update. */
const DROPS_AT_UPDATE: Habit = { store: (metadata, method) => (method === 'PATCH' ? '' : metadata) };
const CUTS_AT_UPDATE: Habit = { store: (text, method) => (method === 'PATCH' ? text.slice(0, 60) : text) };
const WITH_TOKENS = `${STACK}spec: { tokens: { default: { directory: tokens } } }\n`;

const UNMANAGEABLE = 'This service cannot be managed: it does not keep the metadata of resources';

function listIds({ server }: Workspace, { name }: Kind): readonly string[] {
  return (server.snapshot().resources[name] ?? []).map(({ id }) => String(id));
}

const TAKEN_BACK = CREATED_KINDS.flatMap(([name, kind]) =>
  HABITS.map(([title, habit]) => ({ name, kind, title, habit })),
);

describe('a service that does not keep the mark of a resource', () => {
  it.each(selectTypical(TAKEN_BACK, 'name', 'title'))(
    'gets it back if it $title, four times: $name',
    async ({ kind, habit }) => {
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
    },
  );
});

/** Answers each DELETE with an error. */
function withoutDeletes(transport: Transport, status = 403): Transport {
  return async (request) =>
    request.method === 'DELETE' ? Response.json({ msg: 'not now' }, { status }) : transport(request);
}

const UNTAKEN: readonly (readonly [string, Habit])[] = [
  ...HABITS,
  ['shows metadata only in the answer to a creation', { show: (text, method) => (method === 'POST' ? text : '') }],
];

/** A spec of a kind in which every field has another value in each run. */
function toSpec({ name }: Kind, run: number): JsonObject {
  const specs: Readonly<Record<string, JsonObject>> = {
    TCPEdge: { hostports: [`1.tcp.example.net:2001${run}`] },
    WeightedBackend: { backends: { bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt: run + 2 } },
    IPRestriction: { ...IP_RESTRICTION, type: run % 2 === 0 ? 'agent' : 'dashboard' },
    AgentIngress: { domain: `in${run}.example.com` },
    Credential: { acl: [`bind:in${run}.example.com`] },
    SSHUserCertificate: { ...CERTIFICATE, principals: [`alice${run}`] },
  };
  return specs[name] ?? {};
}

const IP_RESTRICTION = { ip_policy_ids: ['ipp_2k9XLN4QSRa2CXSGdTMwZDWQXjk'], enforced: false };
const CERTIFICATE = {
  public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIgWaFLqDdQFyqH7tDdMVOPQkYvUOJsqxY8h6OuHfC9C',
  ssh_certificate_authority_id: 'sshca_2k9XLN4QSRa2CXSGdTMwZDWQXjk',
  principals: ['alice'],
  valid_after: '2026-03-01T00:00:00Z',
  valid_until: '2026-03-02T00:00:00Z',
};

/** What a manifest contains in each run. */
type Edit = (kind: Kind, run: number) => JsonObject;
const STAYS: Edit = (kind) => toSpec(kind, 1);
const KEEPS_DESCRIPTION: Edit = (kind, run) => ({ description: 'ours', ...toSpec(kind, run) });
const CHANGES_DESCRIPTION: Edit = (kind, run) => ({ description: `change ${run}`, ...toSpec(kind, 1) });

/** Writes the manifest of a run. */
async function edit(workspace: Workspace, kind: Kind, spec: JsonObject): Promise<void> {
  await workspace.write({ 'edgewise.yaml': WITH_TOKENS + toManifest(kind.name, 'one', spec) });
}

const EDITS = [
  ['does not change', STAYS],
  ['changes before each but for its description', KEEPS_DESCRIPTION],
  ['changes its description before each', CHANGES_DESCRIPTION],
] as const;

/** A new resource of each kind that cannot be taken back, by each service, and whose manifest stays or is edited. */
const LEFT = CREATED_KINDS.flatMap(([name, kind]) => {
  const edits = EDITS.filter(([, how]) => how !== CHANGES_DESCRIPTION || kind.uniqueFields.length > 0);
  return UNTAKEN.flatMap(([habit, one]) => edits.map(([title, how]) => ({ name, kind, title, how, habit, one })));
});

describe('what cannot be taken back', () => {
  it.each(selectTypical(LEFT, 'name', 'habit', 'title'))(
    'is named by each later plan: $name, by a service that $habit, of a manifest that $title',
    async (row) => {
      const { kind, how, one } = row;
      const workspace = await createStackOf(kind);
      const transport = withoutDeletes(withHabit(workspace, one));
      await edit(workspace, kind, how(kind, 1));
      await workspace.edgewise('apply --yes', { transport });
      const [id = ''] = listIds(workspace, kind).filter((of) => !of.endsWith('aaa'));
      workspace.recorder.take();
      for (const [index, line] of ['plan', 'apply --yes', 'apply --yes', 'apply --yes'].entries()) {
        await edit(workspace, kind, how(kind, index + 2));
        const { exitCode, stdout } = await workspace.edgewise(line, { transport });
        expect({ line, exitCode }).toEqual({ line, exitCode: expect.toSatisfy((code) => code === 3 || code === 5) });
        expect(stdout).toContain(id);
      }
      expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
      expect(listIds(workspace, kind)).toHaveLength(2);
    },
  );

  it.each(
    selectTypical(
      CREATED_KINDS.flatMap(([name, kind]) => [403, 409, 500].map((status) => ({ name, kind, status }))),
      'name',
      'status',
    ),
  )(
    'is said to be there, and to have lost its mark: $name, if its DELETE is answered with $status',
    async ({ kind, status }) => {
      const workspace = await createStackOf(kind);
      const transport = withoutDeletes(withHabit(workspace, { store: () => '' }), status);
      const first = await workspace.edgewise('apply --yes', { transport });
      const [id = ''] = listIds(workspace, kind).filter((one) => !one.endsWith('aaa'));
      expect(first.exitCode).toBe(1);
      expect(first.stdout).toContain(`${id}, which this run created, could not be deleted`);
      expect(first.stdout).toContain(UNMANAGEABLE);
      const { stdout } = await workspace.edgewise('plan', { transport });
      expect(stdout).toContain(id);
      expect(stdout).toMatch(/lost its mark|cannot be managed/);
    },
  );
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
  const toBackends = (weight: number) => ({ bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt: weight });
  const POOL = { backends: toBackends(1) };

  it('stops no creation with another description, which the plan warns of, and whose mark is written twice', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + toManifest('WeightedBackend', 'pool', POOL) });
    await sendByHand(workspace, 'POST', '/backends/weighted', POOL);
    const plan = await workspace.edgewise('plan');
    expect(plan.exitCode).toBe(3);
    expect(plan.stdout).toContain('If it is another one, set a `description` that it does not have');
    await workspace.write({
      'edgewise.yaml': STACK + toManifest('WeightedBackend', 'pool', { ...POOL, description: 'ours' }),
    });
    workspace.recorder.take();
    const { exitCode, stdout } = await workspace.edgewise('apply --yes');
    expect(exitCode, stdout).toBe(0);
    expect(stdout).toContain('which has the same fields but for its description and no metadata');
    expect(stdout).toContain('applying takes 1 write and at least 2 look-ups');
    const writes = workspace.recorder.take().filter(({ method }) => method !== 'GET');
    expect(writes.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
    expect(Object.keys(toJsonObject(writes[1]?.body ?? ''))).toEqual(['backends', 'metadata']);
    expect(await workspace.edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['the description in another spelling', { description: '  THE pool &amp; more', backends: toBackends(7) }, 3],
    ['another description, and other fields', { description: 'a pool', backends: toBackends(7) }, 0],
    ['the description, and metadata of a user', { description: 'The pool & more', metadata: 'mine' }, 0],
    ['the description, and metadata that was cut', { description: 'The pool & more', metadata: '{"team":"da' }, 3],
  ])('stops a creation only if it has its description and no metadata: %s', async (_, byHand, exitCode) => {
    const pool = toManifest('WeightedBackend', 'pool', { ...POOL, description: 'The pool & more' });
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + pool });
    await sendByHand(workspace, 'POST', '/backends/weighted', byHand);
    expect(await workspace.edgewise('plan')).toMatchObject({ exitCode });
  });

  it('stops no creation if another manifest adopts it, whether that is among the targets or not', async () => {
    const spec = { ...POOL, description: 'ours' };
    const workspace = await createWorkspace();
    const { id } = await sendByHand(workspace, 'POST', '/backends/weighted', spec);
    const [adopted, created] = [{ lifecycle: { adopt: String(id) } }, {}].map((more, index) =>
      toManifest('WeightedBackend', `pool-${index}`, spec, more),
    );
    await workspace.write({ 'edgewise.yaml': `${STACK}${adopted}${created}` });
    expect(await workspace.edgewise('plan')).toMatchObject({ exitCode: 0 });
    expect(await workspace.edgewise('plan --target WeightedBackend/pool-1')).toMatchObject({ exitCode: 0 });
  });

  it('is left to the rule of unique values if it has the same one, which a flag can allow', async () => {
    const spec = { description: 'ours', hostports: ['1.tcp.example.net:20001'] };
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + toManifest('TCPEdge', 'one', spec) });
    await sendByHand(workspace, 'POST', '/edges/tcp', spec);
    const { exitCode, stdout } = await workspace.edgewise('plan');
    expect(exitCode).toBe(5);
    expect(stdout).toContain('if an apply created it, the service lost its mark');
    expect(stdout).not.toContain('mark-lost');
  });

  it('stops no certificate with the same description if it has ended', async () => {
    const manifest = toManifest('SSHUserCertificate', 'alice', { ...CERTIFICATE, description: 'ours' });
    for (const [after, until, exitCode] of [
      ['2026-02-01T00:00:00Z', '2026-02-02T00:00:00Z', 0],
      ['2026-02-01T00:00:00Z', '2026-03-20T00:00:00Z', 3],
    ] as const) {
      const workspace = await createWorkspace({ 'edgewise.yaml': STACK + manifest });
      const spec = { ...CERTIFICATE, description: 'ours', valid_after: after, valid_until: until };
      await sendByHand(workspace, 'POST', '/ssh_user_certificates', spec);
      expect(await workspace.edgewise('plan')).toMatchObject({ exitCode });
    }
  });

  it.each([
    ['2026-02-01T00:00:00Z', '2026-02-02T00:00:00Z', 0],
    ['2026-03-01T00:00:00Z', '2026-03-08T00:00:00Z', 0],
    ['2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', 3],
  ])(
    'stops a certificate only if it is valid now, and for as long: from %s until %s',
    async (after, until, exitCode) => {
      const { valid_after: _, valid_until: __, ...withoutTimes } = CERTIFICATE;
      const manifest = toManifest('SSHUserCertificate', 'alice', withoutTimes, { lifecycle: { valid_for: '24h' } });
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

/** What a stack has left behind: what has no mark, and is not by hand. */
function listUnmarked({ server }: Workspace, { name }: Kind): readonly JsonObject[] {
  const all = server.snapshot().resources[name] ?? [];
  return all.filter(({ id, metadata }) => !String(id).endsWith('aaa') && (metadata ?? '') === '');
}

const FOUR_APPLIES = CREATED_KINDS.flatMap(([name, kind]) =>
  EDITS.flatMap(([title, how]) => {
    const isNew = how === CHANGES_DESCRIPTION && kind.uniqueFields.length === 0;
    const refusals = isNew ? [false] : [false, true];
    return refusals.map((isRefused) => ({ name, kind, title, how, isRefused }));
  }),
);

describe('a service that drops the mark of a resource when it is updated', () => {
  it.each(selectTypical(FOUR_APPLIES, 'name', 'title', 'isRefused'))(
    'has one of it without a mark after four applies of a manifest that $title: $name, deletes refused: $isRefused',
    async ({ kind, how, isRefused }) => {
      const workspace = await createStackOf(kind);
      const dropping = withHabit(workspace, DROPS_AT_UPDATE);
      const transport = isRefused ? withoutDeletes(dropping) : dropping;
      for (const run of [1, 2, 3, 4]) {
        await edit(workspace, kind, how(kind, run));
        await workspace.edgewise('apply --yes', { transport });
        expect(listUnmarked(workspace, kind).length).toBeLessThanOrEqual(1);
        if (!isRefused) expect(listIds(workspace, kind).length).toBeLessThanOrEqual(2);
      }
    },
  );
});

const CHANGES_ALL: Edit = (kind, run) => ({ description: `change ${run}`, ...toSpec(kind, run) });

describe('a resource that lost its mark', () => {
  it.each([
    ['its manifest changes in everything', WEIGHTED_BACKEND, CHANGES_ALL, DROPS_AT_UPDATE],
    ['it has no field, and its delete is refused', CREDENTIAL, () => ({}), { store: () => '' }],
  ] as const)('is created again beside the one that the run named if %s', async (_, kind, how, habit) => {
    const workspace = await createWorkspace({});
    const dropping = withHabit(workspace, habit);
    const transport = how === CHANGES_ALL ? dropping : withoutDeletes(dropping);
    const named: string[] = [];
    for (const run of [1, 2, 3]) {
      await edit(workspace, kind, how(kind, run));
      const { stdout } = await workspace.edgewise('apply --yes', { transport });
      const unmarked = listUnmarked(workspace, kind).map(({ id }) => String(id));
      for (const id of unmarked) expect(named.includes(id) || stdout.includes(id)).toBe(true);
      named.push(...unmarked);
    }
    expect(listIds(workspace, kind).length).toBeGreaterThan(1);
  });
});

const DROPPING: readonly (readonly [string, Habit])[] = [
  ['when it is updated', DROPS_AT_UPDATE],
  ['when it is updated, but for its beginning', CUTS_AT_UPDATE],
  ['when it is created', { store: () => '' }],
];

const ROTATED: readonly (readonly [string, Edit, boolean])[] = [
  ['with fields', STAYS, false],
  ['with fields, that refuses deletes', STAYS, true],
  ['with fields that change, but for its description', KEEPS_DESCRIPTION, false],
  ['with fields that change, but for its description, that refuses deletes', KEEPS_DESCRIPTION, true],
  ['without fields', () => ({}), false],
];

describe('a rotation at a service that begins to drop the mark of a credential', () => {
  it.each(
    selectTypical(
      DROPPING.flatMap(([when, habit]) =>
        ROTATED.map(([title, how, isRefused]) => ({ when, habit, title, how, isRefused })),
      ),
      'when',
      'title',
    ),
  )(
    'leaves one more than there was after four applies, $title, $when, and the next plan names both',
    async ({ habit, how, isRefused }) => {
      const workspace = await createStackOf(CREDENTIAL);
      const spec = how(CREDENTIAL, 1);
      await edit(workspace, CREDENTIAL, spec);
      expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
      const [old = ''] = listIds(workspace, CREDENTIAL).filter((id) => !id.endsWith('aaa'));
      const token = await readFile(join(workspace.folder, 'tokens/one.token'), 'utf8');
      const dropping = withHabit(workspace, habit);
      const transport = isRefused ? withoutDeletes(dropping) : dropping;
      const tokens = new Set([token]);
      for (const run of [1, 2, 3, 4]) {
        await edit(workspace, CREDENTIAL, how(CREDENTIAL, run));
        const { exitCode, stdout } = await workspace.edgewise('apply --yes --rotate Credential/one', { transport });
        expect({ run, exitCode }).not.toEqual({ run, exitCode: 0 });
        if (exitCode === 3) expect(stdout).toMatch(/Credential\/one is not (?:replaced: cr_|created: cr_\w+ has only)/);
        expect(stdout).not.toContain('adopt it');
        tokens.add(await readFile(join(workspace.folder, 'tokens/one.token'), 'utf8'));
        expect(listIds(workspace, CREDENTIAL)).toContain(old);
        expect(listIds(workspace, CREDENTIAL).length).toBeLessThanOrEqual(3);
      }
      // What was delivered stays, and no other is delivered. What was taken back was not delivered.
      const isAtUpdate = habit === DROPS_AT_UPDATE || habit === CUTS_AT_UPDATE;
      const left = listIds(workspace, CREDENTIAL).find((id) => id !== old && !id.endsWith('aaa'));
      expect(tokens.size).toBe(isAtUpdate ? 2 : 1);
      expect(left !== undefined).toBe(isAtUpdate || isRefused);
      // A credential without fields and without metadata looks like those of users.
      if (left === undefined || (Object.keys(spec).length === 0 && habit !== CUTS_AT_UPDATE)) return;
      await edit(workspace, CREDENTIAL, spec);
      const { exitCode, stdout } = await workspace.edgewise('plan --detailed-exitcode', { transport });
      expect(exitCode).toBe(0);
      expect(stdout).toContain(`Credential/one stays beside ${left}, which is younger, looks like it`);
      // The remedy. Beside the beginning of a mark, nothing is created.
      const rotate = () => workspace.edgewise('apply --yes --rotate Credential/one');
      if (habit === CUTS_AT_UPDATE) {
        expect(stdout).toContain(`delete ${left} by hand, and apply with --rotate Credential/one at once`);
        await sendByHand(workspace, 'DELETE', `/credentials/${left}`);
        expect(await rotate()).toMatchObject({ exitCode: 0 });
      } else {
        expect(stdout).toContain(`apply with --rotate Credential/one, and delete ${left} by hand`);
        await edit(workspace, CREDENTIAL, { ...spec, description: 'another' });
        expect(await rotate()).toMatchObject({ exitCode: 0 });
        await sendByHand(workspace, 'DELETE', `/credentials/${left}`);
      }
      const last = await workspace.edgewise('plan --detailed-exitcode');
      expect(last).toMatchObject({ exitCode: 0, stdout: expect.not.stringContaining('mark-lost') });
    },
  );
});

describe('a rotation beside an older credential with the same description and no metadata', () => {
  it('is done, because what replaces a credential is younger', async () => {
    const byHand = { id: toId('cr', 'a'), created_at: '2026-01-01T00:00:00Z', description: 'ours' };
    const workspace = await createWorkspace({}, { seed: { resources: { Credential: [byHand] } } });
    await edit(workspace, CREDENTIAL, { description: 'another', ...toSpec(CREDENTIAL, 1) });
    expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    await edit(workspace, CREDENTIAL, { description: 'ours', ...toSpec(CREDENTIAL, 1) });
    const { exitCode, stdout } = await workspace.edgewise('apply --yes --rotate Credential/one');
    expect(exitCode, stdout).toBe(0);
    expect(stdout).not.toContain('mark-lost');
  });
});

describe('a description that several resources have', () => {
  const toPool = (name: string, host: string) =>
    toManifest('WeightedBackend', name, { description: 'team', backends: { [`bkdhr_${host}`]: 1 } });
  const sendPool = (workspace: Workspace, host: string) =>
    sendByHand(workspace, 'POST', '/backends/weighted', { description: 'team', backends: { [`bkdhr_${host}`]: 1 } });

  it.each([
    ['one live and one new resource', [toPool('a', 'a')], ['x'], 3],
    ['two live resources', [toPool('a', 'a')], ['x', 'y'], 0],
    ['two new resources', [toPool('a', 'a'), toPool('b', 'b')], ['x'], 0],
  ])('stops no creation, but that of the only one: %s', async (_, manifests, hosts, exitCode) => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + manifests.join('') });
    for (const host of hosts) await sendPool(workspace, host);
    const plan = await workspace.edgewise('plan');
    expect(plan.exitCode, plan.stdout).toBe(exitCode);
    expect(plan.stdout).toContain('the same description and no metadata');
    expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode });
  });
});

describe('an account with resources by hand that look like no new one', () => {
  it('gets the same requests as an empty one, but for the pages of its lists', async () => {
    const seeds = CREATED_KINDS.map(([name, { idPrefix, ...kind }]) => {
      const byHand = { id: toId(idPrefix, 'a'), description: 'by hand', ...toSpec({ idPrefix, ...kind }, 8) };
      return [name, [byHand]] as const;
    });
    const manifests = CREATED_KINDS.map(([name, kind]) =>
      toManifest(name, 'one', { description: 'ours', ...toSpec(kind, 1) }),
    );
    const apply = async (resources: JsonObject): Promise<readonly string[]> => {
      const workspace = await createWorkspace(
        { 'edgewise.yaml': WITH_TOKENS + manifests.join('') },
        { seed: { resources: resources as Record<string, JsonObject[]> } },
      );
      const { exitCode, stdout } = await workspace.edgewise('apply --yes');
      expect(exitCode, stdout).toBe(0);
      return workspace.recorder
        .take()
        .map(({ method, path, body }) => `${method} ${path} ${body}`)
        .toSorted();
    };
    const before = await apply({});
    // The only update records the delivery of a token.
    expect(before.filter((one) => !one.startsWith('GET')).map((one) => one.split(' ')[0])).toEqual([
      'PATCH',
      ...CREATED_KINDS.map(() => 'POST'),
    ]);
    expect(await apply(Object.fromEntries(seeds))).toEqual(before);
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
