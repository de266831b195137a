import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from './workspace.ts';

const BLUE = 'bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt';
const POOL = toManifest('WeightedBackend', 'pool', { backends: { [BLUE]: 1 } });
const WEB = toManifest('TCPEdge', 'web', {
  hostports: ['1.tcp.example.net:20009'],
  backend: { backend_id: 'WeightedBackend/pool' },
});

function listHostports({ server }: Workspace): readonly unknown[] {
  return (server.snapshot().resources['TCPEdge'] ?? []).flatMap(({ hostports }) => hostports ?? []);
}

describe('--exclude', () => {
  it('leaves out a resource that blocks the stack, and applies the rest', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('a', 20001) + toEdge('b', 20002) });
    const { edgewise, server } = workspace;
    await sendByHand({ server }, 'POST', '/edges/tcp', { hostports: ['1.tcp.example.net:20001'] });
    const blocked = await edgewise('apply --yes');
    expect(blocked).toMatchObject({
      exitCode: 5,
      stdout: expect.stringContaining('refused[claimed-elsewhere]: TCPEdge/a'),
    });
    const { exitCode, stdout } = await edgewise('apply --yes --exclude TCPEdge/a');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Without TCPEdge/a and what depends on it (--exclude).');
    expect(stdout).toContain('warning[left-out]: TCPEdge/a is left out: --exclude names it.');
    expect(listHostports(workspace)).toEqual(['1.tcp.example.net:20001', '1.tcp.example.net:20002']);
  });

  it('can be repeated, and leaves out what refers to an excluded resource', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': STACK + POOL + WEB + toEdge('a', 20001) + toEdge('b', 20002),
    });
    const { exitCode, stdout } = await workspace.edgewise(
      'apply --yes --exclude WeightedBackend/pool --exclude TCPEdge/a',
    );
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Without TCPEdge/a, WeightedBackend/pool and what depends on them (--exclude).');
    expect(stdout).toContain('TCPEdge/web is left out: it depends on WeightedBackend/pool.');
    expect(listHostports(workspace)).toEqual(['1.tcp.example.net:20002']);
  });

  it('leaves out the delete of a resource that an excluded one still uses', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + POOL + WEB });
    await workspace.edgewise('apply --yes');
    const detached = toManifest('TCPEdge', 'web', { hostports: ['1.tcp.example.net:20009'] });
    await workspace.write({ 'edgewise.yaml': STACK + detached });
    const { stdout } = await workspace.edgewise('plan --exclude TCPEdge/web');
    expect(stdout).toContain('WeightedBackend/pool is left out: it depends on TCPEdge/web.');
    expect(stdout).toContain('Nothing to do: 2 changes are left out.');
  });

  it('leaves out a create that needs the hostport of an excluded edge', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('old', 20001) });
    await workspace.edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': STACK + toEdge('new', 20001) });
    const { exitCode, stdout } = await workspace.edgewise('plan --exclude TCPEdge/old');
    expect({ exitCode, isKept: stdout.includes('TCPEdge/new is left out: it depends on TCPEdge/old.') }).toEqual({
      exitCode: 0,
      isKept: true,
    });
  });

  it('refuses an unknown address, with the nearest one', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('postgres', 20001) });
    const { exitCode, stdout } = await edgewise('plan --exclude TCPEdge/postgre');
    expect(exitCode).toBe(3);
    expect(stdout).toContain(
      'error[unknown-target]: TCPEdge/postgre, which --exclude names, is neither in the manifests',
    );
    expect(stdout).toContain('Did you mean `TCPEdge/postgres`?');
  });

  it('is kept in the plan file and in the command that applies it', async () => {
    const { edgewise, folder } = await createWorkspace({
      'edgewise.yaml': STACK + toEdge('a', 20001) + toEdge('b', 20002),
    });
    const { stdout } = await edgewise('plan edgewise.yaml --exclude TCPEdge/a -o plan.json --report markdown=plan.md');
    expect(readOnlyStack(await readFile(join(folder, 'plan.json'), 'utf8'))).toMatchObject({
      exclusions: ['TCPEdge/a'],
    });
    expect(await readFile(join(folder, 'plan.md'), 'utf8')).toMatch(/Without TCPEdge\/a and what depends on it/);
    expect(stdout).toContain('Without TCPEdge/a and what depends on it (--exclude).');
    await edgewise('plan edgewise.yaml --exclude TCPEdge/a --report markdown=direct.md');
    expect(await readFile(join(folder, 'direct.md'), 'utf8')).toMatch(
      /edgewise apply edgewise.yaml .*--exclude TCPEdge\/a/,
    );
    const without = await edgewise('apply edgewise.yaml --approved plan.json --yes');
    expect(without.exitCode).toBe(6);
    expect(without.stdout).toContain('--exclude: approved: TCPEdge/a; now: (none)');
    expect(without.stdout).toContain('+ TCPEdge/a   create');
    expect(await edgewise('apply edgewise.yaml --approved plan.json --exclude TCPEdge/a --yes')).toMatchObject({
      exitCode: 0,
    });
  });

  it('leaves the resource out of drift, also of unmanaged resources', async () => {
    const { edgewise, write } = await createWorkspace({
      'edgewise.yaml': STACK + toEdge('a', 20001) + toEdge('b', 20002),
    });
    await edgewise('apply --yes');
    await write({ 'edgewise.yaml': STACK + toEdge('a', 20003) + toEdge('b', 20002) });
    expect(await edgewise('drift')).toMatchObject({ exitCode: 2 });
    const { exitCode, stdout } = await edgewise('drift --exclude TCPEdge/a');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Without TCPEdge/a and what depends on it (--exclude).');
    expect(stdout).toContain('1 of this stack, 0 unmanaged');
  });

  it('is not confused with empty manifests', async () => {
    const { edgewise, write } = await createWorkspace({
      'edgewise.yaml': STACK + toEdge('a', 20001) + toEdge('b', 20002),
    });
    await edgewise('apply --yes');
    await write({ 'edgewise.yaml': STACK + toEdge('a', 20001) });
    const { exitCode, stdout } = await edgewise('plan --exclude TCPEdge/a');
    expect({ exitCode, isRefused: stdout.includes('nothing-described') }).toEqual({ exitCode: 0, isRefused: false });
  });

  it('requires one stack', async () => {
    const { edgewise } = await createWorkspace({
      'one/edgewise.yaml': STACK + toEdge('a', 20001),
      'two/edgewise.yaml': STACK.replace('name: test', 'name: other') + toEdge('a', 20002),
    });
    const { exitCode, stderr } = await edgewise('plan -R . --exclude TCPEdge/a');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('--exclude cannot be used for 2 stacks');
  });
});
