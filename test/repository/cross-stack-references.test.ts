import { describe, expect, it } from 'vitest';
import { createWorkspace, toManifest, type Workspace } from '../cli/workspace.ts';
import { listWrites, toStack } from './tree.ts';

const toPool = (name: string): string => toManifest('WeightedBackend', name, { backends: { bkdhr_1: 1 } });
const toShop = (more: object = {}): string =>
  toManifest('TCPEdge', 'shop', {
    hostports: ['1.tcp.example.net:20001'],
    backend: { backend_id: 'External/pool' },
    ...more,
  });
const toForeign = (resource: string, stack = 'network'): string => toManifest('External', 'pool', { stack, resource });

/** A stack, and one that is sorted before it and refers to it. */
const TWO = {
  'live/network/edgewise.yaml': toStack('network'),
  'live/network/pool.yaml': toPool('pool'),
  'live/apps/edgewise.yaml': toStack('apps'),
  'live/apps/shop.yaml': `${toForeign('WeightedBackend/pool')}${toShop()}`,
};

/** The backend of the only TCP edge that is live, and the id of the only pool. */
function readLive({ server }: Workspace): readonly unknown[] {
  const { resources } = server.snapshot();
  const { TCPEdge: edges = [], WeightedBackend: pools = [] } = resources ?? {};
  return [JSON.stringify(edges), pools.map((one) => one['id'])];
}

describe('a reference to another stack', () => {
  it('is found by the live mark, and read as an id', async () => {
    const workspace = await createWorkspace(TWO);
    const missing = await workspace.edgewise('plan live/apps');
    expect(missing.exitCode).toBe(3);
    expect(missing.stdout).toContain(
      'error[bad-reference]: TCPEdge/shop: spec.backend.backend_id names External/pool, which is WeightedBackend/pool of the stack network, and no live resource has that mark',
    );
    await workspace.edgewise('apply live/network --yes');
    expect((await workspace.edgewise('apply live/apps --yes')).exitCode).toBe(0);
    const [edges, [pool]] = readLive(workspace) as readonly [string, readonly string[]];
    expect(edges).toContain(`"backend_id":"${pool}"`);
    const plan = await workspace.edgewise('plan live/apps --detailed-exitcode');
    expect(plan.exitCode).toBe(0);
  });

  it('is found when an older saved plan is applied, and refused until then', async () => {
    const workspace = await createWorkspace(TWO);
    await workspace.edgewise('plan -R live -o plans');
    const early = await workspace.edgewise('apply live/apps --approved plans/apps.json --yes');
    expect(early.exitCode).toBe(3);
    expect(early.stdout).toContain(
      'which is WeightedBackend/pool of the stack network, and no live resource has that mark',
    );
    expect((await workspace.edgewise('apply live/network --approved plans/network.json --yes')).exitCode).toBe(0);
    expect((await workspace.edgewise('apply live/apps --approved plans/apps.json --yes')).exitCode).toBe(0);
    expect((await workspace.edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it('does not count on what a plan with an error would create', async () => {
    const { edgewise } = await createWorkspace({
      ...TWO,
      'live/network/pool.yaml': toPool('pool') + toManifest('Credential', 'without-sink', {}),
    });
    expect(await edgewise('plan -R live')).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining(
        'help: The stack network is part of this run: correct what stopped it, or the name.',
      ),
    });
  });

  it('is removed before its target is deleted', async () => {
    const workspace = await createWorkspace(TWO);
    await workspace.edgewise('apply -R live --yes');
    workspace.recorder.take();
    await workspace.write({
      'live/network/pool.yaml': toPool('other'),
      'live/apps/shop.yaml': `${toForeign('WeightedBackend/other')}${toShop()}`,
    });
    const alone = await workspace.edgewise('plan live/network --allow-deletes');
    expect(alone).toMatchObject({ exitCode: 5, stdout: expect.stringContaining('refused[rejected-write]') });
    const first = await workspace.edgewise('apply -R live --yes --allow-deletes');
    expect(first.stdout).toContain(
      'warning[rehearsal-failed]: WeightedBackend/pool: the service will reject the request to delete',
    );
    expect(first.exitCode).toBe(0);
    expect(listWrites(workspace).map((one) => one.replace(/_\w+/, ''))).toEqual([
      'POST /backends/weighted',
      'PATCH /edges/tcp/edgtcp',
      'DELETE /backends/weighted/bkdwd',
    ]);
    expect((await workspace.edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it('is refused if it forms a circle', async () => {
    const { edgewise } = await createWorkspace({
      ...TWO,
      'live/network/pool.yaml': `${toManifest('External', 'shop', { stack: 'apps', resource: 'TCPEdge/shop' })}${toPool('pool')}`,
    });
    expect(await edgewise('plan -R live')).toMatchObject({
      exitCode: 3,
      stdout: expect.stringMatching(/in a cycle: (apps → network → apps|network → apps → network)\./),
    });
  });

  it('is checked like any other: its target fits the field, and nothing is reported twice', async () => {
    const { edgewise, write } = await createWorkspace({
      'edgewise.yaml': toStack('apps'),
      'shop.yaml': `${toForeign('TCPEdge/pool')}${toShop()}`,
    });
    expect((await edgewise('validate')).stdout).toContain('error[bad-reference]');
    await write({ 'shop.yaml': `${toManifest('External', 'pool', { stack: 'network' })}${toShop()}` });
    expect((await edgewise('validate')).stdout).toContain('spec.resource is missing');
    await write({
      'shop.yaml': `${toManifest('External', 'pool', { id: 'bkdwd_1', stack: 'a', resource: 'WeightedBackend/b' })}`,
    });
    expect((await edgewise('validate')).stdout).toContain('spec.id cannot be used with spec.stack');
    await write({ 'shop.yaml': `${toForeign('Nonsense/b')}` });
    expect((await edgewise('validate')).stdout).toContain('spec.resource must be Kind/name');
  });

  it('works through another External, and to a kind that the stack does not use', async () => {
    const workspace = await createWorkspace({
      ...TWO,
      'live/apps/edgewise.yaml': toStack('apps', { kinds: ['TCPEdge'] }),
      'live/apps/shop.yaml': `${toForeign('WeightedBackend/pool').replace('"pool"}', '"deep"}')}${toManifest('External', 'pool', { id: 'External/deep' })}${toShop()}`,
    });
    expect((await workspace.edgewise('apply -R live --yes')).exitCode).toBe(0);
    expect((await workspace.edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it('follows a rename in the same run, in a plan, a drift, a folder of plans and an apply', async () => {
    const workspace = await createWorkspace(TWO);
    await workspace.edgewise('apply -R live --yes');
    const before = readLive(workspace);
    const renamed = { lifecycle: { renamed_from: 'pool' } };
    await workspace.write({
      'live/network/pool.yaml': toManifest('WeightedBackend', 'other', { backends: { bkdhr_1: 1 } }, renamed),
      'live/apps/shop.yaml': `${toForeign('WeightedBackend/other')}${toShop({ description: 'new' })}`,
    });
    for (const command of ['plan', 'drift'])
      expect((await workspace.edgewise(`${command} -R live`)).stdout).not.toContain('bad-reference');
    expect((await workspace.edgewise('plan -R live -o plans')).exitCode).toBe(0);
    workspace.recorder.take();
    expect((await workspace.edgewise('apply -R live --approved plans --yes')).exitCode).toBe(0);
    expect(
      listWrites(workspace)
        .map((one) => one.replace(/_\w+/, ''))
        .sort(),
    ).toEqual(['PATCH /backends/weighted/bkdwd', 'PATCH /edges/tcp/edgtcp']);
    expect(readLive(workspace)[1]).toEqual(before[1]);
    expect((await workspace.edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it('follows a hand-over in the same run', async () => {
    const workspace = await createWorkspace({ ...TWO, 'live/base/edgewise.yaml': toStack('base') });
    await workspace.edgewise('apply -R live --yes');
    const taken = { lifecycle: { renamed_from: { stack: 'network', name: 'pool' } } };
    await workspace.write({
      'live/network/pool.yaml': '',
      'live/base/pool.yaml': toManifest('WeightedBackend', 'shared', { backends: { bkdhr_1: 1 } }, taken),
      'live/apps/shop.yaml': `${toForeign('WeightedBackend/shared', 'base')}${toShop()}`,
    });
    workspace.recorder.take();
    expect((await workspace.edgewise('apply -R live --yes')).exitCode).toBe(0);
    expect(listWrites(workspace).map((one) => one.replace(/_\w+/, ''))).toEqual(['PATCH /backends/weighted/bkdwd']);
    expect((await workspace.edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it.each([
    [
      'renames',
      toManifest('WeightedBackend', 'other', {}, { lifecycle: { renamed_from: 'pool' } }),
      'this run turns it into',
    ],
    ['deletes', '', 'this run deletes it'],
  ])('to a resource that the run %s is an error that says so', async (_, pool, why) => {
    const workspace = await createWorkspace(TWO);
    await workspace.edgewise('apply -R live --yes');
    await workspace.write({ 'live/network/pool.yaml': pool });
    const { exitCode, stdout } = await workspace.edgewise('plan -R live --allow-deletes');
    // A pool that would be deleted is kept, because apps cannot be planned.
    expect(exitCode).toBe(stdout.includes('kept-prune') ? 1 : 3);
    expect(stdout).toMatch(new RegExp(`error.bad-reference.: TCPEdge/shop: .* of the stack network, and ${why}`));
  });

  it('warns before its target is deleted, with the stacks that use it', async () => {
    const workspace = await createWorkspace(TWO);
    await workspace.edgewise('apply -R live --yes');
    await workspace.write({ 'live/network/pool.yaml': toPool('other') });
    const { stdout } = await workspace.edgewise('plan live/network --allow-deletes');
    expect(stdout).toContain(
      'warning[used-elsewhere]: WeightedBackend/pool would be deleted, and TCPEdge/shop of the stack apps refers to it',
    );
  });
});
