import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from './workspace.ts';

/** A service that lists a new resource only some time after it created it. */

const POOL = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_a: 1 } });
const EDGE = toManifest('TCPEdge', 'shop', {
  hostports: ['1.tcp.example.net:20001'],
  backend: { backend_id: 'WeightedBackend/pool' },
});
const CREDENTIAL = toManifest('Credential', 'agent', { acl: ['bind:a.example.com'] });
const APPLY = 'apply m --yes --token-directory tokens';

/** Removes the resources from lists for which `isHidden` is true. */
function withResourcesHidden(transport: Transport, isHidden: (id: string) => boolean): Transport {
  return async (request) => {
    const response = await transport(request);
    if (request.method !== 'GET' || !request.url.includes('limit=')) return response;
    const body: unknown = await response.json();
    const shown = Object.entries(body as Readonly<Record<string, unknown>>).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.filter(({ id }) => !isHidden(String(id))) : value,
    ]);
    return Response.json(Object.fromEntries(shown));
  };
}

function list({ server }: Workspace, kind: string): readonly string[] {
  return (server.snapshot().resources[kind] ?? []).map(({ id }) => String(id));
}

function createStack(manifests: string): Promise<Workspace> {
  return createWorkspace({ 'm/edgewise.yaml': STACK + manifests });
}

/** Counts how long a command has slept. */
function createSleepCounter() {
  let sleptMs = 0;
  return {
    sleptMs: () => sleptMs,
    sleep: async (ms: number) => {
      sleptMs += ms;
    },
  };
}

describe('a second apply', () => {
  it('reads a resource that its list lacks and an edge refers to, and does not create it again', async () => {
    const workspace = await createStack(POOL + EDGE);
    await workspace.edgewise(APPLY);
    const [pool] = list(workspace, 'WeightedBackend');
    workspace.recorder.take();
    const transport = withResourcesHidden(workspace.recorder.transport, (id) => id === pool);
    expect(await workspace.edgewise('plan m --detailed-exitcode', { transport })).toMatchObject({ exitCode: 0 });
    const requests = workspace.recorder.take().map(({ method, path }) => `${method} ${path}`);
    expect(requests.filter((one) => one.includes(String(pool)))).toEqual([`GET /backends/weighted/${pool}`]);
    expect(requests).toHaveLength(7);
    await workspace.edgewise(APPLY, { transport });
    expect(list(workspace, 'WeightedBackend')).toEqual([pool]);
  });

  it('reads at most a hundred resources that a list lacks', async () => {
    const toPool = (index: number) => toManifest('WeightedBackend', `p${index}`, { backends: { bkdhr_a: 1 } });
    const toUser = (index: number) =>
      toManifest('TCPEdge', `e${index}`, { backend: { backend_id: `WeightedBackend/p${index}` } });
    const numbers = Array.from({ length: 110 }, (_, index) => index);
    const workspace = await createStack(numbers.flatMap((index) => [toPool(index), toUser(index)]).join(''));
    expect(await workspace.edgewise(APPLY)).toMatchObject({ exitCode: 0 });
    workspace.recorder.take();
    const transport = withResourcesHidden(workspace.recorder.transport, (id) => id.startsWith('bkdwd_'));
    await workspace.edgewise('plan m', { transport });
    const single = workspace.recorder.take().filter(({ path }) => path.startsWith('/backends/weighted/'));
    expect(single).toHaveLength(100);
  });

  it('creates a resource that no longer exists, although an edge refers to it', async () => {
    const workspace = await createStack(POOL + EDGE);
    await workspace.edgewise(APPLY);
    const [pool] = list(workspace, 'WeightedBackend');
    const hidden = withResourcesHidden(workspace.recorder.transport, (id) => id === pool);
    const transport: Transport = (request) =>
      request.url.endsWith(`/${pool}`) ? Promise.resolve(Response.json({}, { status: 404 })) : hidden(request);
    const { stdout } = await workspace.edgewise('plan m', { transport });
    expect(stdout).toContain('+ WeightedBackend/pool');
  });

  it.each([
    ['a resource', POOL, 'WeightedBackend'],
    ['a credential', CREDENTIAL, 'Credential'],
  ])('deletes %s again that it created because the list was ten seconds late', async (_, manifests, kind) => {
    const workspace = await createStack(manifests);
    await workspace.edgewise(APPLY);
    const [first] = list(workspace, kind);
    const { sleep, sleptMs } = createSleepCounter();
    const transport = withResourcesHidden(workspace.recorder.transport, () => sleptMs() < 10_000);
    const { exitCode, stdout } = await workspace.edgewise(APPLY, { transport, sleep });
    expect(stdout).toContain(`another apply created this resource first, as ${first}`);
    expect(exitCode).toBe(1);
    expect(list(workspace, kind)).toEqual([first]);
    expect(await workspace.edgewise('plan m --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });
});

describe('an apply', () => {
  it('delivers a token after half a minute although its credential is never listed', async () => {
    const workspace = await createStack(CREDENTIAL);
    const { sleep, sleptMs } = createSleepCounter();
    const transport = withResourcesHidden(workspace.recorder.transport, () => true);
    expect(await workspace.edgewise(APPLY, { transport, sleep })).toMatchObject({ exitCode: 0 });
    expect(sleptMs()).toBe(30_000);
    expect(await workspace.edgewise('plan m --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });
});

describe('two applies at once whose lists show nothing of what they create', () => {
  it.each(['before', 'after'])(
    'never end with an empty plan and a token that does not work: the second runs %s the creation of the first',
    async (when) => {
      const workspace = await createStack(CREDENTIAL);
      const late = withResourcesHidden(workspace.recorder.transport, () => true);
      const run = (transport: Transport) => workspace.edgewise(APPLY, { transport });
      let isFirst = true;
      const { exitCode } = await run(async (request) => {
        const isCreation = request.method === 'POST' && isFirst;
        if (isCreation) isFirst = false;
        if (isCreation && when === 'before') expect(await run(late)).toMatchObject({ exitCode: 0 });
        const response = await late(request);
        if (isCreation && when === 'after') expect(await run(late)).toMatchObject({ exitCode: 0 });
        return response;
      });
      expect(exitCode).toBe(0);
      expect(list(workspace, 'Credential')).toHaveLength(2);
      expect(await workspace.edgewise('plan m --detailed-exitcode --token-directory tokens')).toMatchObject({
        exitCode: 2,
        stdout: expect.stringContaining('it is unknown which of the two tokens was delivered last'),
      });
      expect(await workspace.edgewise('drift m')).toMatchObject({ exitCode: 2 });
      expect(await workspace.edgewise(APPLY)).toMatchObject({ exitCode: 0 });
      const [left, ...others] = list(workspace, 'Credential');
      expect(others).toEqual([]);
      const token = await readFile(join(workspace.folder, 'tokens/agent.token'), 'utf8');
      expect(token).toContain(String(left).slice('cr_'.length));
      expect(await workspace.edgewise('plan m --detailed-exitcode')).toMatchObject({ exitCode: 0 });
    },
  );
});

describe('resources that were created in the same second with one mark', () => {
  it('have the same plan in any order of the list', async () => {
    const workspace = await createStack(POOL);
    await workspace.edgewise(APPLY);
    const [{ metadata } = { metadata: '' }] = workspace.server.snapshot().resources['WeightedBackend'] ?? [];
    for (const _ of [1, 2, 3])
      await sendByHand(workspace, 'POST', '/backends/weighted', { backends: { bkdhr_a: 1 }, metadata });
    const plans = new Set<string>();
    for (const turns of [0, 1, 2, 3]) {
      const transport: Transport = async (request) => {
        const response = await workspace.recorder.transport(request);
        if (!request.url.includes('/backends/weighted?')) return response;
        const json = (await response.json()) as { readonly backends: readonly unknown[] };
        return Response.json({ ...json, backends: [...json.backends.slice(turns), ...json.backends.slice(0, turns)] });
      };
      plans.add((await workspace.edgewise('plan m', { transport })).stdout);
    }
    expect(plans.size).toBe(1);
    expect([...plans][0]).toContain('3 to delete');
  });
});
