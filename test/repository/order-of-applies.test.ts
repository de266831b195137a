import { describe, expect, it } from 'vitest';
import { createWorkspace, toManifest, type Workspace } from '../cli/workspace.ts';
import { listWrites, toStack } from './tree.ts';

const toPool = (name: string, weight = 1): string =>
  toManifest('WeightedBackend', name, { backends: { bkdhr_1: weight } });
const toForeign = (stack: string, resource = 'WeightedBackend/pool'): string =>
  toManifest('External', stack, { stack, resource });
/** An edge with this port that sends traffic to the pool of another stack. */
const toUser = (stack: string, more: object = {}): string =>
  `${toForeign(stack)}${toManifest('TCPEdge', 'user', { backend: { backend_id: `External/${stack}` }, ...more })}`;
const toFiles = (stacks: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(stacks).map(([name, text]) => [`live/${name}/edgewise.yaml`, `${toStack(name)}${text}`]),
  );

/** Applies all stacks until nothing is left to do, and returns the exit codes. */
async function applyAll({ edgewise }: Workspace, rounds: number): Promise<readonly number[]> {
  const exits: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    exits.push((await edgewise('apply -R live --yes --allow-deletes')).exitCode);
    if ((await edgewise('plan -R live --detailed-exitcode')).exitCode === 0) return exits;
  }
  throw new Error(`Something is left after ${rounds} applies, which ended with ${exits.join(', ')}`);
}

describe('stacks of one run that refer to each other', () => {
  it('are applied and reported if the one in the middle has nothing to do', async () => {
    const workspace = await createWorkspace(
      toFiles({ net: toPool('pool'), web: `${toPool('pool')}${toUser('net')}`, ops: toUser('web') }),
    );
    expect(await applyAll(workspace, 1)).toEqual([0]);
    await workspace.write(toFiles({ net: toPool('pool', 2), ops: toUser('web', { description: 'new' }) }));
    workspace.recorder.take();
    const { exitCode, stdout } = await workspace.edgewise('apply -R live --yes');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^net .* 1 write applied$/m);
    expect(stdout).toMatch(/^ops .* 1 write applied$/m);
    expect(listWrites(workspace)).toHaveLength(2);
  });

  it('delete last what another one releases, even through a third', async () => {
    const workspace = await createWorkspace(
      toFiles({
        net: `${toPool('pool')}${toPool('old')}`,
        web: `${toPool('pool')}${toUser('net')}`,
        ops: toUser('net').replaceAll('/pool', '/old'),
      }),
    );
    expect(await applyAll(workspace, 1)).toEqual([0]);
    workspace.recorder.take();
    await workspace.write(toFiles({ net: toPool('pool'), ops: toUser('web') }));
    expect(await applyAll(workspace, 1)).toEqual([0]);
    expect(listWrites(workspace).map((one) => one.replace(/_\w+/, ''))).toEqual([
      'PATCH /edges/tcp/edgtcp',
      'DELETE /backends/weighted/bkdwd',
    ]);
  });

  it('delete last what a stack releases that no longer refers to them', async () => {
    const workspace = await createWorkspace(toFiles({ net: toPool('pool'), ops: toUser('net') }));
    expect(await applyAll(workspace, 1)).toEqual([0]);
    await workspace.write(toFiles({ net: '', ops: toManifest('TCPEdge', 'user', { backend: null }) }));
    expect(await applyAll(workspace, 1)).toEqual([0]);
  });

  it('delete last what only a deleted resource of another one refers to', async () => {
    const [pools, edge] = [`${toPool('pool')}${toPool('old')}`, toManifest('TCPEdge', 'other', {})];
    const workspace = await createWorkspace(
      toFiles({ net: pools, ops: `${edge}${toUser('net').replace('/pool', '/old')}` }),
    );
    expect(await applyAll(workspace, 1)).toEqual([0]);
    workspace.recorder.take();
    await workspace.write(toFiles({ net: toPool('pool'), ops: edge }));
    expect(await applyAll(workspace, 1)).toEqual([0]);
    expect(listWrites(workspace).map((one) => one.replace(/_\w+/, ''))).toEqual([
      'DELETE /edges/tcp/edgtcp',
      'DELETE /backends/weighted/bkdwd',
    ]);
  });

  it('name the delete that fails if a stack of the run still uses its target, and do everything else', async () => {
    const workspace = await createWorkspace(toFiles({ net: toPool('pool'), ops: toUser('net') }));
    expect(await applyAll(workspace, 1)).toEqual([0]);
    const id = String(workspace.server.snapshot().resources?.['WeightedBackend']?.[0]?.['id']);
    await workspace.write(
      toFiles({ net: toPool('other'), ops: toManifest('TCPEdge', 'user', { backend: { backend_id: id } }) }),
    );
    const { exitCode, stdout } = await workspace.edgewise('apply -R live --yes --allow-deletes');
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^net .* 1 write applied, 1 failed$/m);
    expect(stdout).toContain('while stacks of this run refer to it');
  });

  it('pass on a value to a stack that they wait for', async () => {
    const gate = (name: string, ...ports: readonly number[]): string =>
      toManifest('TCPEdge', name, { hostports: ports.map((port) => `1.tcp.example.net:${port}`) });
    const workspace = await createWorkspace(toFiles({ net: gate('gate', 20_001, 20_002), web: gate('own', 20_003) }));
    expect(await applyAll(workspace, 1)).toEqual([0]);
    workspace.recorder.take();
    await workspace.write(
      toFiles({
        net: `${gate('gate', 20_002)}${toUser('web')}`,
        web: `${gate('own', 20_003, 20_001)}${toPool('pool')}`,
      }),
    );
    const { stdout } = await workspace.edgewise('plan -R live');
    expect(stdout).toMatch(
      /^warning.claimed-elsewhere.: TCPEdge\/own: hostports 1.tcp.example.net:20001 is claimed by/m,
    );
    const { stacks } = JSON.parse((await workspace.edgewise('plan -R live --format json')).stdout);
    const web = stacks.find(({ stack }: Record<string, string>) => stack === 'web');
    expect(web.plan.rehearsal).toMatchObject({ rejected: 0, awaiting: 1 });
    workspace.recorder.take();
    expect(await applyAll(workspace, 1)).toEqual([0]);
    expect(listWrites(workspace).map((one) => one.replace(/_\w+/, ''))).toEqual([
      'POST /backends/weighted',
      'PATCH /edges/tcp/edgtcp',
      'POST /edges/tcp',
      'PATCH /edges/tcp/edgtcp',
    ]);
  });

  it('pass on a value of a resource whose replacement waits for a third one', async () => {
    const toIngress = (name: string, domain: string): string => toManifest('AgentIngress', name, { domain });
    const workspace = await createWorkspace(
      toFiles({ net: '', ops: toIngress('moves', 'ops.example.com'), web: toIngress('gone', 'web.example.com') }),
    );
    expect(await applyAll(workspace, 1)).toEqual([0]);
    workspace.recorder.take();
    await workspace.write(
      toFiles({
        net: toIngress('new', 'ops.example.com'),
        ops: toIngress('moves', 'web.example.com'),
        web: toPool('x'),
      }),
    );
    expect(await applyAll(workspace, 1)).toEqual([0]);
    expect(listWrites(workspace).map((one) => one.replace(/_\w+$/, ''))).toEqual([
      'POST /backends/weighted',
      'DELETE /agent_ingresses/agin',
      'POST /agent',
      'DELETE /agent_ingresses/agin',
      'POST /agent',
    ]);
  });

  it('continue if others form a circle: only these stop, and their dependents', async () => {
    const workspace = await createWorkspace({
      ...toFiles({
        a: `${toPool('pool')}${toUser('b')}`,
        b: `${toPool('pool')}${toUser('a')}`,
        net: toPool('pool'),
        ops: toUser('net'),
        shop: toUser('a'),
      }),
    });
    const { exitCode, stdout } = await workspace.edgewise('apply -R live --yes');
    expect(exitCode).toBe(3);
    expect(stdout).toMatch(/^shop .* This plan cannot be applied: 1 error$/m);
    expect(stdout).toContain('help: The stack a is part of this run: correct what stopped it, or the name.');
    expect(stdout).toMatch(/^a .* Stacks refer to each other in a cycle: a → b → a$/m);
    expect(stdout).toMatch(/^b .* Stacks refer to each other in a cycle: b → a → b$/m);
    expect(stdout).toMatch(/^ops .* 1 write applied$/m);
    expect(listWrites(workspace)).toEqual(['POST /backends/weighted', 'POST /edges/tcp']);
    for (const command of ['plan', 'validate', 'drift']) {
      const found = await workspace.edgewise(`${command} -R live`);
      expect(found).toMatchObject({ exitCode: 3, stdout: expect.stringMatching(/^a .*in a cycle/m) });
    }
  });
});
