import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge, toManifest } from '../cli/workspace.ts';
import { toRendered, WEB } from './rendered.ts';
import { commitAll, git, toStack } from './tree.ts';

/** Counts the runs of a command, which each write a line. */
function countLines(file: string): number {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
}

describe('several rendered stacks', () => {
  const POOL = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_1: 1 } });

  it('are each rendered once, and ordered by the output of their commands', async () => {
    const uses = toManifest('External', 'pool', { stack: 'z', resource: 'WeightedBackend/pool' });
    const edge = toManifest('TCPEdge', 'a', {
      hostports: ['1.tcp.example.net:20001'],
      backend: { backend_id: 'External/pool' },
    });
    const { edgewise, folder } = await createWorkspace({
      'a/edgewise.yaml': toRendered('a', 'echo >> runs; cat all.in'),
      'a/all.in': `${uses}${edge}`,
      'z/edgewise.yaml': toRendered('z', 'echo >> runs; cat all.in'),
      'z/all.in': POOL,
    });
    const { exitCode, stdout } = await edgewise('apply -R . --render --yes');
    expect(exitCode, stdout).toBe(0);
    expect([countLines(join(folder, 'a/runs')), countLines(join(folder, 'z/runs'))]).toEqual([1, 1]);
    const listing = JSON.parse((await edgewise('stacks --render --format json')).stdout);
    expect(listing.stacks).toMatchObject([{ name: 'a', dependsOn: ['z'] }, { name: 'z' }]);
  });

  it('hand over resources', async () => {
    const { edgewise, write } = await createWorkspace({
      'a/edgewise.yaml': toRendered('a', 'cat all.in'),
      'a/all.in': `${toEdge('x', 20001)}${toEdge('y', 20002)}`,
      'b/edgewise.yaml': toRendered('b', 'cat all.in'),
      'b/all.in': toEdge('z', 20003),
    });
    const run = async () => {
      const { exitCode, stdout } = await edgewise('apply -R . --render --yes');
      expect(exitCode, stdout).toBe(0);
    };
    await run();
    const moved = toEdge('x', 20001).replace('spec:', 'lifecycle:\n  renamed_from: { stack: a, name: x }\nspec:');
    await write({ 'b/all.in': `${toEdge('z', 20003)}${moved}` });
    // Two commands print the same document.
    const refused = await edgewise('apply -R . --render --yes');
    expect(refused.stdout).toContain('b takes over TCPEdge/x of the stack a, and a document in a still describes it.');
    await write({ 'a/all.in': toEdge('y', 20002) });
    const { stdout } = await edgewise('plan -R . --render');
    expect(stdout).not.toContain('delete TCPEdge');
    await run();
  });

  it('have changed if a file below their folder has, or one of spec.inputs', async () => {
    const workspace = await createWorkspace({
      'live/web/edgewise.yaml': toRendered('web', 'cat edges.in', { inputs: ['../../base/**'] }),
      'live/web/edges.in': toEdge('shop', 20001),
      'live/plain/edgewise.yaml': toStack('plain'),
      'base/values.txt': 'a',
    });
    commitAll(workspace.folder);
    const listChanged = async () => {
      const { stdout } = await workspace.edgewise('stacks live --changed-since HEAD --format folder');
      git(workspace.folder, 'add', '-A');
      git(workspace.folder, 'commit', '-q', '--allow-empty', '-m', 'more');
      return stdout.trim();
    };
    expect(await listChanged()).toBe('');
    await workspace.write({ 'live/web/edges.in': toEdge('shop', 20002), 'live/plain/notes.txt': 'no manifest' });
    expect(await listChanged()).toBe('live/web');
    await workspace.write({ 'live/web/.helm/kustomization.yaml': 'resources: []' });
    expect(await listChanged()).toBe('live/web');
    await workspace.write({ 'base/values.txt': 'b' });
    expect(await listChanged()).toBe('live/web');
    expect(await listChanged()).toBe('');
  });
});

describe('a saved plan of a rendered stack', () => {
  it('is applied with the manifests only if their command may be run, and is the same then', async () => {
    const { edgewise, write } = await createWorkspace(WEB);
    expect((await edgewise('plan web --render -o plan.json')).exitCode).toBe(0);
    expect((await edgewise('plan -R . --render -o plans')).exitCode).toBe(0);
    const refused = await edgewise('apply plan.json --manifests web --yes');
    expect(refused.stderr).toContain('Add --render if you trust the command in web/edgewise.yaml');
    expect(refused.exitCode).toBe(3);
    await write({ 'web/edgewise.yaml': toRendered('web', 'exit 1') });
    expect((await edgewise('apply plan.json --manifests web --render --yes')).exitCode).toBe(3);
    await write(WEB);
    const applied = await edgewise('apply plan.json --manifests web --render --yes');
    expect(applied.exitCode, applied.stdout + applied.stderr).toBe(0);
    expect((await edgewise('apply plan.json --manifests web --render --yes')).exitCode).toBe(0);
    expect((await edgewise('apply plans --manifests . --render --yes')).exitCode).toBe(0);
  });

  it('names a command that includes --render', async () => {
    const { edgewise } = await createWorkspace(WEB);
    const { stdout } = await edgewise('plan web --render --format markdown');
    expect(stdout).toContain('edgewise apply web --render --base-url https://api.test');
  });
});
