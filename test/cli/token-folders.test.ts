import { chmod, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createWorkspace, STACK, toCredential } from './workspace.ts';

it('warns once of a token folder that others can read, before the first write', async () => {
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

it('warns of a token folder whose name has control characters on one line', async () => {
  const { edgewise, folder } = await createWorkspace({ 'stack.yaml': STACK + toCredential('a') });
  await mkdir(join(folder, 'a\u001b[2J\nb'), { mode: 0o755 });
  const { stderr } = await edgewise('apply --yes --token-directory a\u001b[2J\nb');
  expect(stderr).toContain('Warning: The token folder a\\u001b[2J\\nb is open to other users');
});

it('ends with 1 and says why, before the first write, if the token folder is a file', async () => {
  const { edgewise, recorder } = await createWorkspace({ 'stack.yaml': STACK + toCredential('a'), tokens: 'a file' });
  const { exitCode, stderr } = await edgewise('apply --yes --token-directory tokens');
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/The token sink does not work: .*tokens.*Nothing was written\./s);
  expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
});

const TWO_STACKS = ['one', 'two'].map((name): [string, string] => [
  `${name}.yaml`,
  `apiVersion: edgewise/v1
kind: Stack
metadata: { name: ${name} }
spec: { tokens: { default: { directory: tokens } } }
${toCredential('agent')}`,
]);

it('keeps the token that another stack wrote to the same file, and replaces its own', async () => {
  const { edgewise, folder } = await createWorkspace(Object.fromEntries(TWO_STACKS));
  const read = (file: string) => readFile(join(folder, 'tokens', file), 'utf8');
  await edgewise('apply one.yaml --yes');
  const first = await read('agent.token');
  const second = await edgewise('apply two.yaml --yes');
  expect(second.stdout).toContain('tokens/agent.token (its previous content is in tokens/agent.token.1)');
  expect(await read('agent.token.1')).toBe(first);
  await edgewise('apply two.yaml --yes --rotate Credential/agent');
  expect((await readdir(join(folder, 'tokens'))).sort()).toEqual(['agent.token', 'agent.token.1']);
});

it('writes to folders of their own with {stack} in the path, in the Stack and as a flag', async () => {
  const { edgewise, folder } = await createWorkspace(
    Object.fromEntries(
      TWO_STACKS.map(([file, text]) => [file, text.replace('directory: tokens', 'directory: "tokens/{stack}"')]),
    ),
  );
  expect((await edgewise('plan one.yaml')).stdout).toContain(
    'will get its first token, which goes to the folder tokens/one',
  );
  await edgewise('apply one.yaml --yes');
  await edgewise('apply two.yaml --yes --token-directory more/{stack}');
  expect((await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.token')).sort()).toEqual([
    'more/two/agent.token',
    'tokens/one/agent.token',
  ]);
});
