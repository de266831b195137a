import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { namePlanFiles } from '../../src/cli/reconcile/plan-folder.ts';
import { createWorkspace, toEdge, toManifest } from '../cli/workspace.ts';
import { commitAll, listWrites, toRepository, toStack } from './tree.ts';

describe('a folder of plan files', () => {
  it('is applied as a whole: every plan is shown, one question is asked, and each is compared with what is live', async () => {
    const workspace = await createWorkspace(toRepository(3));
    expect((await workspace.edgewise('plan -R live -o plans')).exitCode).toBe(0);
    expect(readdirSync(join(workspace.folder, 'plans'))).toEqual(['s00.json', 's01.json', 's02.json']);
    await workspace.edgewise('apply live/s01 --yes');
    await workspace.write({ 'live/s01/edges/edge.yaml': toEdge('s01-edge', 30_001) });
    await workspace.edgewise('apply live/s01 --yes');
    workspace.recorder.take();
    const { stdout, stderr, exitCode } = await workspace.edgewise('apply -R live --approved plans', {
      answers: ['yes'],
    });
    expect(stderr).toContain('Send 2 writes in 2 stacks to https://api.test?');
    expect(exitCode).toBe(6);
    expect(stdout).toContain('The plan is not the same as plans/s01.json');
    expect(listWrites(workspace)).toEqual(['POST /edges/tcp', 'POST /edges/tcp']);
  });

  it('is ordered by the references of its plans, with the token sinks of their Stacks', async () => {
    const tokens = { tokens: { default: { directory: '../../tokens/{stack}' } } };
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
    expect((await workspace.edgewise('apply -R live --approved plans --yes')).exitCode).toBe(0);
    expect(readdirSync(join(workspace.folder, 'tokens/a'))).toEqual(['agent.token']);
    expect((await workspace.edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
    expect((await workspace.edgewise('apply -R other --approved plans --yes')).exitCode).toBe(3);
  });

  it('is applied as planned if a neighbour of the run could not be planned', async () => {
    const External = toManifest('External', 'pool', { stack: 'net', resource: 'WeightedBackend/pool' });
    const edge = toManifest('TCPEdge', 'shop', { backend: { backend_id: 'External/pool' } });
    const pool = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_1: 1 } });
    const workspace = await createWorkspace({
      'live/net/edgewise.yaml': toStack('net'),
      'live/net/pool.yaml': pool + toManifest('WeightedBackend', 'other', {}),
      'live/ops/edgewise.yaml': toStack('ops') + External + edge,
    });
    expect((await workspace.edgewise('apply -R live --yes')).exitCode).toBe(0);
    await workspace.write({
      'live/net/pool.yaml': toManifest('WeightedBackend', 'other', { backends: { bkdhr_1: 1 } }),
      'live/ops/edgewise.yaml': `${toStack('ops')}${toManifest('TCPEdge', 'shop', { hostport: 'x' })}`,
    });
    // The pool that net would prune is kept.
    expect((await workspace.edgewise('plan -R live -o plans')).exitCode).toBe(1);
    const { exitCode, stdout } = await workspace.edgewise('apply -R live --approved plans --yes');
    expect(stdout).toContain('TCPEdge/shop: spec.hostport is not a known field');
    expect(stdout).toContain('update WeightedBackend/other');
    expect(exitCode).not.toBe(0);
  });

  it('takes the reads of one plan, and once more those of plans that waited for others', async () => {
    const workspace = await createWorkspace(toRepository(8));
    await workspace.edgewise('plan -R live -o plans');
    workspace.recorder.take();
    expect((await workspace.edgewise('apply -R live --approved plans --yes')).exitCode).toBe(0);
    const sent = workspace.recorder.take().map(({ method, path }) => `${method} ${path}`);
    expect(Map.groupBy(sent, (one) => one).get('POST /edges/tcp')).toHaveLength(8);
    const lists = sent.filter((one) => one.startsWith('GET'));
    expect(new Set(lists).size).toBe(lists.length);
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
    expect((await workspace.edgewise('apply -R live --approved plans --yes')).exitCode).toBe(0);
    const reads = workspace.recorder.take().filter(({ method }) => method === 'GET');
    // Backends and edges are listed again to find duplicates by concurrent applies: once for each stack that created one.
    const counts = Object.fromEntries(
      [...Map.groupBy(reads, ({ path }) => path)].map(([path, all]) => [path, all.length]),
    );
    expect(counts).toEqual({
      '/agent_ingresses?limit=100': 1,
      '/backends/weighted?limit=100': 2,
      '/credentials?limit=100': 1,
      '/edges/tcp?limit=100': 4,
      '/ip_restrictions?limit=100': 1,
      '/ssh_user_certificates?limit=100': 1,
    });
  });

  it('may be beside manifests, which are then applied', async () => {
    const { edgewise } = await createWorkspace({ 'm/edgewise.yaml': `${toStack('m')}${toEdge('a', 20_001)}` });
    await edgewise('plan m -o m/plan.json');
    expect((await edgewise('apply m --yes')).stdout).toContain('1 write applied');
  });

  it('gets only the plans of the last run, whatever the filter of an earlier one', async () => {
    const { edgewise, folder } = await createWorkspace(toRepository(3));
    await edgewise('plan -R live -o plans');
    expect((await edgewise('plan -R live -o plans --stack s01')).exitCode).toBe(0);
    expect(readdirSync(join(folder, 'plans')).sort()).toEqual(['s01.json']);
    expect((await edgewise('apply -R live --stack s01 --approved plans --yes')).exitCode).toBe(0);
    expect((await edgewise('plan -R live -o plans --stack s01')).exitCode).toBe(0);
  });

  it('is not written beside any other file, and no request is sent', async () => {
    const { edgewise, folder, recorder } = await createWorkspace({ ...toRepository(1), 'plans/notes.txt': 'mine' });
    const { exitCode, stderr } = await edgewise('plan -R live -o plans');
    expect(stderr).toContain('plans/notes.txt is not a plan file, so no plan is written to plans.');
    expect(exitCode).toBe(3);
    expect(readdirSync(join(folder, 'plans'))).toEqual(['notes.txt']);
    expect(recorder.take()).toEqual([]);
  });

  it('has a file that says why a stack could not be planned, which approves nothing', async () => {
    const { edgewise, folder, write, recorder } = await createWorkspace(toRepository(2));
    await edgewise('plan -R live -o plans');
    await write({ 'live/s01/edges/edge.yaml': `${toEdge('s01-edge', 20_001)}  colour: red\n` });
    expect((await edgewise('plan -R live -o plans')).exitCode).toBe(3);
    expect(readdirSync(join(folder, 'plans'))).toEqual(['s00.json', 's01.json']);
    expect(JSON.parse(readFileSync(join(folder, 'plans/s01.json'), 'utf8'))).toMatchObject({
      command: 'plan',
      ok: false,
      stacks: [
        {
          stack: 's01',
          folder: 'live/s01',
          failure: { diagnostics: [{ message: expect.stringContaining('spec.colour is not a known field') }] },
        },
      ],
    });
    const { exitCode, stdout } = await edgewise('apply -R live --stack s00 --approved plans --yes');
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('1 write applied')]);
    // Once its manifests are valid, the stack has something to do that was not approved.
    await write({ 'live/s01/edges/edge.yaml': toEdge('s01-edge', 20_001) });
    recorder.take();
    const fixed = await edgewise('apply -R live --approved plans --yes');
    expect(fixed.stdout).toContain('against an empty plan, because plans has none for this stack');
    expect(fixed.exitCode).toBe(6);
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    expect((await edgewise('apply plans')).exitCode).toBe(3);
  });

  it('has one file without a stack if no stack has changed, and is applied with success by the same filter only', async () => {
    const workspace = await createWorkspace(toRepository(2));
    commitAll(workspace.folder);
    expect((await workspace.edgewise('plan -R live --changed-since HEAD -o plans')).exitCode).toBe(0);
    expect(readdirSync(join(workspace.folder, 'plans'))).toEqual(['_no-stack.json']);
    const file = readFileSync(join(workspace.folder, 'plans/_no-stack.json'), 'utf8');
    expect(JSON.parse(file)).toMatchObject({ command: 'plan', ok: true, stacks: [] });
    expect((await workspace.edgewise('apply -R live --changed-since HEAD --approved plans --yes')).exitCode).toBe(0);
    // An approval of no stack approves nothing.
    expect((await workspace.edgewise('apply -R live --approved plans --yes')).exitCode).toBe(6);
    expect((await workspace.edgewise('apply live/s00 --approved plans/_no-stack.json --yes')).exitCode).toBe(3);
    expect(listWrites(workspace)).toEqual([]);
    expect((await workspace.edgewise('plan -R live -o plans')).exitCode).toBe(0);
    expect(readdirSync(join(workspace.folder, 'plans'))).toEqual(['s00.json', 's01.json']);
  });

  it('has a file of its own for each stack, whatever they are called', () => {
    const stacks = [
      ['web', 'live/web'],
      ['shop', 'live/a/b'],
      ['shop', 'live/a-b'],
      ['', 'live/none'],
      ['../evil', 'live/evil'],
      ['long', `live/${'x'.repeat(300)}`],
      ['long', `stage/${'x'.repeat(300)}`],
    ].map(([name = '', folder = '']) => ({ name, folder }));
    const names = namePlanFiles(stacks);
    expect(names.slice(0, 5)).toEqual([
      'web.json',
      'shop@live-a-b.json',
      'shop@live-a-b-2.json',
      '@live-none.json',
      '@live-evil.json',
    ]);
    expect(new Set(names).size).toBe(stacks.length);
    for (const name of names) expect(name.length).toBeLessThan(200);
  });
});
