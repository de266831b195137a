import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlanFileContent as Plan } from '../../src/kinds/plan-file-content.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { BASE_URL } from './fake-context.ts';
import { createWorkspace, STACK, toCredential, toEdge, toManifest, type Workspace } from './workspace.ts';

/** Saves a plan that updates `a`, deletes `old`, and creates `new` and a credential; an edge that is not ours is there too. */
async function savePlan(): Promise<Workspace & { readonly edit: (change: (plan: Plan) => unknown) => Promise<void> }> {
  const workspace = await createWorkspace({ 'edgewise.yaml': `${STACK}${toEdge('a', 20001)}${toEdge('old', 20002)}` });
  const { edgewise, server, folder, write } = workspace;
  await edgewise('apply --yes');
  const headers = { authorization: 'Bearer dev', 'service-version': '2', 'content-type': 'application/json' };
  await server.handle(
    new Request(`${BASE_URL}/edges/tcp`, { method: 'POST', headers, body: '{"description":"theirs"}' }),
  );
  await write({ 'edgewise.yaml': `${STACK}${toEdge('a', 20003)}${toEdge('new', 20004)}${toCredential('agent')}` });
  await edgewise('plan edgewise.yaml -o plan.json');
  const edit = async (change: (plan: Plan) => unknown): Promise<void> => {
    const plan: Plan = JSON.parse(await readFile(join(folder, 'plan.json'), 'utf8'));
    await writeFile(join(folder, 'plan.json'), JSON.stringify(change(plan)));
  };
  workspace.recorder.take();
  return { ...workspace, edit };
}

function withWrite(plan: Plan, id: string, parts: Readonly<Record<string, unknown>>): unknown {
  return { ...plan, writes: plan.writes.map((write) => (write.id === id ? { ...write, ...parts } : write)) };
}

function withDesired(plan: Plan, more: JsonObject): unknown {
  return { ...plan, changes: plan.changes.map((change) => ({ ...change, desired: { ...change.desired, ...more } })) };
}

function withMark(plan: Plan, id: string, parts: JsonObject): unknown {
  const write = plan.writes.find((one) => one.id === id);
  return withWrite(plan, id, { mark: { ...(write !== undefined && 'mark' in write && write.mark), ...parts } });
}

const ATTACHED = { address: 'HTTPSEdge/web', kind: 'HTTPSEdge', action: 'update', differences: [] };

const THEIRS = {
  ...{ type: 'delete', id: 'delete TCPEdge/theirs', address: 'TCPEdge/theirs', kind: 'TCPEdge' },
  ...{ resourceId: 'edgtcp_theirs', method: 'DELETE', path: '/edges/tcp/edgtcp_theirs' },
  ...{ dependsOn: [], last: false, reason: '' },
};

describe('a plan file that would do what it does not show is refused before any request:', () => {
  it.each<[string, (plan: Plan) => unknown]>([
    [
      'a write without a change',
      (plan) => ({
        ...plan,
        writes: [...plan.writes, THEIRS],
      }),
    ],
    ['a delete of what is only updated', (plan) => withWrite(plan, 'update TCPEdge/a', { method: 'DELETE' })],
    ['other totals than those of its changes', (plan) => ({ ...plan, totals: { ...plan.totals, delete: 0 } })],
    ['another resource', (plan) => withWrite(plan, 'delete TCPEdge/old', { resourceId: 'edgtcp_theirs' })],
    ['another path', (plan) => withWrite(plan, 'delete TCPEdge/old', { path: '/edges/tcp/edgtcp_theirs' })],
    ['another kind', (plan) => withWrite(plan, 'create TCPEdge/new', { kind: 'IPRestriction' })],
    ['a kind that there is not', (plan) => withWrite(plan, 'create TCPEdge/new', { kind: 'Widget' })],
    [
      'a value that no change shows',
      (plan) => withWrite(plan, 'update TCPEdge/a', { body: { hostports: ['9.tcp.example.net:1'] } }),
    ],
    [
      'a field that no change shows',
      (plan) =>
        withWrite(plan, 'update TCPEdge/a', { body: { hostports: ['1.tcp.example.net:20003'], description: 'x' } }),
    ],
    ['a field that there is not', (plan) => withWrite(plan, 'update TCPEdge/a', { body: { hostport: 'x' } })],
    ['a field that every object of a program has', (plan) => withDesired(plan, { toString: 'x' })],
    [
      'a mark of a field that there is not',
      (plan) => withMark(plan, 'create TCPEdge/new', { pending: { 'TCPEdge.': 'TCPEdge/a' } }),
    ],
    [
      'modules that are attached to nothing',
      (plan) => ({
        ...plan,
        changes: [...plan.changes, { ...ATTACHED, action: 'no-op', live: { id: '', digest: '' } }],
      }),
    ],
    ['a change of a kind that there is not', (plan) => ({ ...plan, changes: [{ ...ATTACHED, kind: 'Widget' }] })],
    ['no mark', (plan) => withWrite(plan, 'update TCPEdge/a', { mark: undefined })],
    ['the mark of another stack', (plan) => ({ ...plan, stack: 'other' })],
    [
      'a delete that it says it withholds',
      (plan) => ({
        ...plan,
        suppressedDeletes: [
          { address: 'TCPEdge/old', kind: 'TCPEdge', id: 'edgtcp_old', reason: 'no longer in the manifests' },
        ],
      }),
    ],
    [
      'a wait for what no stack can own',
      (plan) => ({ ...plan, crossStackReferences: { 'External/x': { stack: 'other', resource: 'Widget/x' } } }),
    ],
    ['a need for nothing', (plan) => withWrite(plan, 'update TCPEdge/a', { dependsOn: ['zzz'] })],
    ['the same write twice', (plan) => ({ ...plan, writes: [...plan.writes, ...plan.writes] })],
  ])('%s', async (_, change) => {
    const { edgewise, recorder, edit } = await savePlan();
    await edit(change);
    for (const line of ['apply plan.json --no-manifests --yes --token-directory tokens', 'show plan.json']) {
      const { exitCode, stderr } = await edgewise(line);
      expect(stderr).toContain('plan.json would make changes that it does not show');
      expect(exitCode).toBe(3);
    }
    expect(recorder.take()).toEqual([]);
  });

  it.each<[string, string, (plan: Plan) => unknown]>([
    [
      'a mark without its protection',
      'update TCPEdge/a has another mark.protect than its change shows',
      (plan) => withMark(plan, 'update TCPEdge/a', { protect: true }),
    ],
    [
      "other metadata of the user's",
      'create TCPEdge/new has another mark.user than its change shows',
      (plan) => withMark(plan, 'create TCPEdge/new', { user: { team: 'theirs' } }),
    ],
    [
      'a token that counts as delivered',
      'create Credential/agent has another mark.delivered than its change shows',
      (plan) => withMark(plan, 'create Credential/agent', { delivered: true }),
    ],
    [
      'a digest of something else',
      'update TCPEdge/a has another mark.fields.hostports than its change shows',
      (plan) => withMark(plan, 'update TCPEdge/a', { fields: { hostports: 'aaaaaa' } }),
    ],
    ['no writes', 'is missing', (plan) => ({ ...plan, writes: [] })],
    [
      'one write less',
      'update TCPEdge/a is missing',
      (plan) => ({ ...plan, writes: plan.writes.filter(({ id }) => id !== 'update TCPEdge/a') }),
    ],
    ['writes in another order', 'is in the wrong place', (plan) => ({ ...plan, writes: plan.writes.toReversed() })],
    [
      'protection that no difference shows',
      'TCPEdge/a shows a wrong difference of lifecycle.protect',
      (plan) => ({ ...plan, changes: plan.changes.map((change) => ({ ...change, protect: true })) }),
    ],
    [
      'a difference less',
      'TCPEdge/a shows a wrong difference of hostports',
      (plan) => ({ ...plan, changes: plan.changes.map((change) => ({ ...change, differences: [] })) }),
    ],
    [
      'another start than it had',
      'TCPEdge/old has a digest that does not match its live resource',
      (plan) => ({
        ...plan,
        changes: plan.changes.map((change) => ({
          ...change,
          ...(change.live && { live: { ...change.live, digest: 'x' } }),
        })),
      }),
    ],
  ])('%s: %s', async (_, sentence, change) => {
    const { edgewise, recorder, edit } = await savePlan();
    await edit(change);
    const { exitCode, stderr } = await edgewise('apply plan.json --no-manifests --yes --token-directory tokens');
    expect(stderr).toContain(sentence);
    expect(exitCode).toBe(3);
    expect(recorder.take()).toEqual([]);
  });

  it('and one of an older format, with what to do', async () => {
    const { edgewise, recorder, edit } = await savePlan();
    await edit((plan) => ({ ...plan, format: 1 }));
    const { exitCode, stderr } = await edgewise('apply plan.json --no-manifests --yes');
    expect(stderr).toContain('plan.json is a plan of format 1, and this version of edgewise reads format 3 only.');
    expect(stderr).toContain('Make a new plan with this version: edgewise plan -o FILE.');
    expect(exitCode).toBe(3);
    expect(recorder.take()).toEqual([]);
  });

  it('and one that was not edited is applied', async () => {
    const { edgewise, edit } = await savePlan();
    await edit((plan) => plan);
    expect(await edgewise('apply plan.json --no-manifests --yes --token-directory tokens')).toMatchObject({
      exitCode: 0,
    });
  });
});

describe('what a plan file says of safety is not believed:', () => {
  it('protection is looked up where it is remembered', async () => {
    const { edgewise, write, folder, recorder } = await createWorkspace({
      'edgewise.yaml': `${STACK}${toEdge('a', 20001)}${toEdge('b', 20002)}lifecycle: { protect: true }\n`,
    });
    await edgewise('apply --yes');
    await write({ 'edgewise.yaml': `${STACK}${toEdge('a', 20001)}` });
    expect(await edgewise('plan edgewise.yaml -o plan.json')).toMatchObject({ exitCode: 5 });
    const text = await readFile(join(folder, 'plan.json'), 'utf8');
    const plan: Plan = JSON.parse(text);
    const changes = plan.changes.map(({ protect: _, ...change }) => change);
    await writeFile(join(folder, 'plan.json'), JSON.stringify({ ...plan, changes, violations: [] }));
    recorder.take();
    expect(await edgewise('apply plan.json --no-manifests --yes')).toMatchObject({ exitCode: 5 });
    expect(recorder.take().every(({ method }) => method === 'GET')).toBe(true);
    expect(await edgewise('apply plan.json --no-manifests --yes --allow-protected TCPEdge/b')).toMatchObject({
      exitCode: 0,
    });
  });

  it('limits of deletes count as far as the Stack, or nobody, says otherwise', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const all = names.map((name, index) => toEdge(name, 20001 + index)).join('');
    const lax = STACK.replace('name: test\n', 'name: test\nspec: { guard: { max_deletes: 100 } }\n');
    const { edgewise, write, folder, recorder } = await createWorkspace({ 'edgewise.yaml': lax + all });
    await edgewise('apply --yes');
    await write({ 'edgewise.yaml': lax + toEdge('a', 20001) });
    expect(await edgewise('plan edgewise.yaml -o plan.json')).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(await readFile(join(folder, 'plan.json'), 'utf8')).settings.guard.maxDeletes).toBe(100);
    recorder.take();
    expect(await edgewise('apply plan.json --no-manifests --yes')).toMatchObject({ exitCode: 5 });
    expect(recorder.take().every(({ method }) => method === 'GET')).toBe(true);
    expect(await edgewise('apply plan.json --yes --manifests edgewise.yaml')).toMatchObject({ exitCode: 0 });
  });

  it('a name is that of the resource that is referred to', async () => {
    const backend = (name: string) => toManifest('WeightedBackend', name, {});
    const edge = (name: string) =>
      toManifest('TCPEdge', 'edge', { backend: { backend_id: `WeightedBackend/${name}` } });
    const { edgewise, write, folder, recorder } = await createWorkspace({
      'edgewise.yaml': STACK + backend('good') + backend('evil') + edge('good'),
    });
    await edgewise('apply --yes');
    await write({ 'edgewise.yaml': STACK + backend('good') + backend('evil') + edge('evil') });
    await edgewise('plan edgewise.yaml -o plan.json');
    const text = await readFile(join(folder, 'plan.json'), 'utf8');
    const plan: Plan = JSON.parse(text);
    const [good, evil] = ['good', 'evil'].map(
      (name) => plan.changes.find((one) => one.address.endsWith(`/${name}`))?.live,
    );
    const ids = new Map([
      ['WeightedBackend/good', evil?.id],
      ['WeightedBackend/evil', good?.id],
    ]);
    const changes = plan.changes.map(({ live, ...change }) => ({
      ...change,
      ...(live !== undefined && { live: { ...live, id: ids.get(change.address) ?? live.id } }),
    }));
    await writeFile(join(folder, 'edited.json'), JSON.stringify({ ...plan, changes }));
    recorder.take();
    const { exitCode, stderr } = await edgewise('apply edited.json --no-manifests --yes');
    expect(stderr).toContain(`WeightedBackend/good: ${evil?.id}, which the plan refers to, has another name`);
    expect(exitCode).toBe(6);
    expect(recorder.take().every(({ method }) => method === 'GET')).toBe(true);
    expect(await edgewise('apply plan.json --no-manifests --yes')).toMatchObject({ exitCode: 0 });
  });

  it('the name of what edgewise does not manage is that of the manifests', async () => {
    const external = toManifest('External', 'office', { id: 'ipp_office' });
    const edge = toManifest('TCPEdge', 'a', { ip_restriction: { ip_policy_ids: ['ipp_evil'] } });
    const { edgewise, folder, recorder } = await createWorkspace({ 'edgewise.yaml': STACK + external + edge });
    await edgewise('plan edgewise.yaml -o plan.json');
    const plan: Plan = JSON.parse(await readFile(join(folder, 'plan.json'), 'utf8'));
    await writeFile(
      join(folder, 'plan.json'),
      JSON.stringify({ ...plan, externals: { 'External/office': 'ipp_evil' } }),
    );
    recorder.take();
    const { exitCode, stderr } = await edgewise('apply plan.json --yes --manifests edgewise.yaml');
    expect(stderr).toContain(
      'uses the name External/office for ipp_evil, but in the manifests External/office is ipp_office',
    );
    expect(exitCode).toBe(6);
    expect(recorder.take()).toEqual([]);
  });

  it('the key goes only where somebody else says as well', async () => {
    const { edgewise, edit, recorder } = await savePlan();
    await edit((plan) => ({ ...plan, baseUrl: 'https://elsewhere.test' }));
    const env = { EDGEWISE_BASE_URL: '' };
    expect(await edgewise('apply plan.json --no-manifests --yes', { env })).toMatchObject({ exitCode: 3 });
    expect(await edgewise('apply plan.json --no-manifests --yes')).toMatchObject({ exitCode: 6 });
    expect(recorder.take()).toEqual([]);
  });

  it('tokens go where the Stack of the same name says', async () => {
    const { edgewise, write, recorder } = await savePlan();
    const tokens = 'spec: { tokens: { default: { directory: tokens } } }\n';
    const all = `${toEdge('a', 20003)}${toEdge('new', 20004)}${toCredential('agent')}`;
    await write({
      'other.yaml': `${STACK.replace('test', 'other')}${tokens}${all}`,
      'edgewise.yaml': `${STACK}${tokens}${all}`,
    });
    await edgewise('plan edgewise.yaml -o plan.json');
    recorder.take();
    expect(await edgewise('apply plan.json --yes --manifests other.yaml')).toMatchObject({ exitCode: 6 });
    expect(recorder.take()).toEqual([]);
    expect(await edgewise('apply plan.json --yes --manifests edgewise.yaml')).toMatchObject({ exitCode: 0 });
  });
});
