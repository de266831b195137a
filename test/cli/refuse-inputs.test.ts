import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

it.each([
  'plan edgewise.yaml -o edgewise.yaml',
  'plan edgewise.yaml -o ./link.yaml',
  'plan edgewise.yaml --report json=edgewise.yaml',
  'apply edgewise.yaml --yes --journal edgewise.yaml',
  'apply edgewise.yaml --yes --report markdown=link.yaml',
  'drift edgewise.yaml --report json=edgewise.yaml',
])('refuses to write over a manifest that it has read, before any request: %s', async (line) => {
  const { edgewise, recorder, folder } = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('a', 20001) });
  await symlink(join(folder, 'edgewise.yaml'), join(folder, 'link.yaml'));
  const { exitCode, stderr } = await edgewise(line);
  expect(stderr).toMatch(/(edgewise|link)\.yaml is a file that this run has read, and would be written over\./);
  expect(exitCode).toBe(3);
  expect(recorder.take()).toEqual([]);
  expect(await edgewise('validate edgewise.yaml')).toMatchObject({ exitCode: 0 });
});
