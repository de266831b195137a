import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createWorkspace, STACK, toCredential } from './workspace.ts';

it('apply warns once of a token folder that others can read, before its first write', async () => {
  const { edgewise, folder, recorder } = await createWorkspace({
    'stack.yaml': `${STACK}spec: { tokens: { default: { directory: tokens }, credentials: { b: { directory: tokens } } } }\n${toCredential('a')}${toCredential('b')}`,
  });
  await mkdir(join(folder, 'tokens'));
  await chmod(join(folder, 'tokens'), 0o755);
  let writesBefore: number | undefined;
  const onWrite = (text: string) => {
    if (text.startsWith('Warning: ')) writesBefore = recorder.take().filter(({ method }) => method !== 'GET').length;
  };
  const { exitCode, stderr } = await edgewise('apply --yes', { onWrite });
  expect(exitCode).toBe(0);
  expect(stderr.match(/Warning: The token folder tokens is open to other users/g)).toHaveLength(1);
  expect(writesBefore).toBe(0);
});
