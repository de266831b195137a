import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createWorkspace, toManifest } from '../cli/workspace.ts';
import { commitAll, toStack } from './tree.ts';

it('a link shares the External documents of another folder with stacks, also for what has changed', async () => {
  const pool = toManifest('External', 'blue', { id: 'bkdhr_a' });
  const edge = (port: number): string =>
    toManifest('TCPEdge', 'e', { hostports: [`1.tcp.example.net:${port}`], backend: { backend_id: 'External/blue' } });
  const { folder, edgewise, write } = await createWorkspace({
    'shared/externals.yaml': pool,
    'live/a/edgewise.yaml': `${toStack('a')}${edge(20_001)}`,
    'live/b/edgewise.yaml': `${toStack('b')}${edge(20_002)}`,
  });
  expect((await edgewise('validate -R live')).exitCode).toBe(3);
  for (const name of ['a', 'b'])
    symlinkSync('../../shared/externals.yaml', join(folder, 'live', name, 'externals.yaml'));
  commitAll(folder);
  expect((await edgewise('validate -R live')).exitCode).toBe(0);
  expect((await edgewise('plan -R live')).stdout).toContain('bkdhr_a');
  await write({ 'shared/externals.yaml': pool.replace('bkdhr_a', 'bkdhr_b') });
  const changed = await edgewise('stacks live --changed-since HEAD --format json');
  expect(JSON.parse(changed.stdout).stacks.map(({ name }: { name: string }) => name)).toEqual(['a', 'b']);
});
