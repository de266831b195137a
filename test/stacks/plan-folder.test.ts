import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge, toManifest } from '../cli/workspace.ts';
import { listWrites, toRepository, toStack } from './tree.ts';

describe('a folder of plan files', () => {
  it('is applied as a whole: every plan is shown, one question is asked, and each is held against what is live', async () => {
    const workspace = await createWorkspace(toRepository(3));
    expect((await workspace.edgewise('plan -R live -o plans')).exitCode).toBe(0);
    expect(readdirSync(join(workspace.folder, 'plans'))).toEqual(['s00.json', 's01.json', 's02.json']);
    await workspace.edgewise('apply live/s01 --yes');
    await workspace.write({ 'live/s01/edges/edge.yaml': toEdge('s01-edge', 30_001) });
    await workspace.edgewise('apply live/s01 --yes');
    workspace.recorder.take();
    const { stdout, stderr, exitCode } = await workspace.edgewise('apply plans', { answers: ['yes'] });
    expect(stderr).toContain('Do 3 writes in 3 stacks on https://api.test?');
    expect(exitCode).toBe(6);
    expect(stdout).toContain('plans/s01.json is stale');
    expect(listWrites(workspace)).toEqual(['POST /edges/tcp', 'POST /edges/tcp']);
  });

  it('is put in order by what its plans wait for, with the places for tokens of their Stacks', async () => {
    const tokens = { tokens: { default: { directory: 'tokens/{stack}' } } };
    const workspace = await createWorkspace({
      'live/b/edgewise.yaml': toStack('b'),
      'live/b/pool.yaml': toManifest('WeightedBackend', 'pool', { backends: { bkdhr_1: 1 } }),
      'live/a/edgewise.yaml': toStack('a', tokens),
      'live/a/edge.yaml': [
        toManifest('External', 'pool', { stack: 'b', resource: 'WeightedBackend/pool' }),
        toManifest('TCPEdge', 'shop', {
          hostports: ['1.tcp.example.net:20001'],
          backend: { backend_id: 'External/pool' },
        }),
        toManifest('Credential', 'agent', {}),
      ].join(''),
    });
    await workspace.edgewise('plan -R live -o plans');
    const without = await workspace.edgewise('apply plans --yes');
    expect(without.exitCode).toBe(3);
    expect(without.stdout).toContain('no place for its token is set');
    expect((await workspace.edgewise('apply plans --stack live --yes')).exitCode).toBe(0);
    expect(readdirSync(join(workspace.folder, 'tokens/a'))).toEqual(['agent.token']);
    expect((await workspace.edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
    expect((await workspace.edgewise('apply plans --stack other --yes')).exitCode).toBe(3);
  });

  it('takes the reads of one plan, and once more those of plans that waited for others', async () => {
    const workspace = await createWorkspace(toRepository(8));
    await workspace.edgewise('plan -R live -o plans');
    workspace.recorder.take();
    expect((await workspace.edgewise('apply plans --yes')).exitCode).toBe(0);
    const sent = workspace.recorder.take().map(({ method, path }) => `${method} ${path}`);
    expect(Map.groupBy(sent, (one) => one).get('POST /edges/tcp')).toHaveLength(8);
    expect(sent.filter((one) => one.startsWith('GET'))).toEqual(['GET /edges/tcp?limit=100']);
    await workspace.write({
      'live/pool/edgewise.yaml': `${toStack('pool')}${toManifest('WeightedBackend', 'pool', {})}`,
    });
    for (const name of ['s01', 's02', 's03'])
      await workspace.write({
        [`live/${name}/edges/pool.yaml`]: [
          toManifest('External', 'pool', { stack: 'pool', resource: 'WeightedBackend/pool' }),
          toManifest('TCPEdge', 'more', { backend: { backend_id: 'External/pool' } }),
        ].join(''),
      });
    await workspace.edgewise('plan -R live -o plans');
    workspace.recorder.take();
    expect((await workspace.edgewise('apply plans --yes')).exitCode).toBe(0);
    const reads = workspace.recorder.take().filter(({ method }) => method === 'GET');
    // Backends before anything is written, with the look for what others made, and for those who waited; edges for those, and that look.
    expect(reads.map(({ path }) => path).sort()).toEqual([
      '/backends/weighted?limit=100',
      '/backends/weighted?limit=100',
      '/backends/weighted?limit=100',
      '/edges/tcp?limit=100',
      '/edges/tcp?limit=100',
    ]);
  });

  it('is none when anything else is in it', async () => {
    const { edgewise, write } = await createWorkspace({ 'm/edgewise.yaml': `${toStack('m')}${toEdge('a', 20_001)}` });
    await edgewise('plan m -o m/plan.json');
    expect((await edgewise('apply m --yes')).stdout).toContain('1 write applied');
    await write({ 'plans/note.txt': 'x' });
    await edgewise('plan -R -o plans');
    await edgewise('plan m -o plans/again.json');
    expect((await edgewise('apply plans --yes')).stderr).toContain(
      'are both plans of the stack m on https://api.test.',
    );
  });
});
