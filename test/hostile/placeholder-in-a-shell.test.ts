import { expect, it } from 'vitest';
import { createWorkspace } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';

/** Lists the lint findings about a token command: the code, and the rest of the Stack from the position. */
async function lint(command: readonly string[]): Promise<readonly { readonly code: string; readonly at: string }[]> {
  const spec = { tokens: { credentials: { agent: { command } } } };
  const stack = JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'Stack', metadata: { name: 'test' }, spec });
  const { edgewise } = await createWorkspace({ 'edgewise.yaml': stack });
  const { stdout, stderr } = await edgewise('validate edgewise.yaml --format json');
  expect(stderr).toBe('');
  const { diagnostics }: { diagnostics: readonly { code: string; place: { column: number } }[] } =
    readOnlyStack(stdout);
  return diagnostics.map(({ code, place }) => ({ code, at: stack.slice(place.column - 1) }));
}

it.each([
  [['sh', '-c', 'store {id}']],
  [['bash', '-ec', '{name}']],
  [['/bin/sh', '-c', 'store "$1" \'{address}\'', 'sh', 'x']],
  [['env', 'A=1', 'dash', '-c', 'store {stack}']],
  [['busybox', 'sh', '-c', 'store {id}']],
  [['fish', '--command', '{id}']],
  [['pwsh', '-Command', 'store {id}']],
  [['python3', '-c', 'print("{id}")']],
  [['perl', '-ne', 'print "{id}"']],
  [['node', '--eval', 'store("{name}")']],
  [['ssh', 'vault', 'store {name}']],
  [['sudo', '-u', 'vault', 'zsh', '-lc', 'store {name}']],
])('warns of a placeholder inside of a program text: %j', async (command) => {
  const text = command.find((word) => /\{\w+\}/.test(word)) ?? '';
  const [found, ...others] = await lint(command);
  expect(found?.code).toBe('placeholder-in-shell');
  expect(found?.at.startsWith(JSON.stringify(text))).toBe(true);
  expect(others).toEqual([]);
});

it.each([
  [['vault', 'kv', 'put', 'secret/{stack}/{name}', 'token=-']],
  [['sh', '-c', 'store "$EDGEWISE_ID"']],
  [['sh', '-c', 'store "$1"', 'sh', '{id}']],
  [['./store.sh', '{id}', '--name={name}']],
  [['sh', 'store.sh', '{id}']],
  [['gh', 'secret', 'set', 'TOKEN', '--repo', '{name} {id}']],
])('accepts a placeholder as an argument or variable: %j', async (command) => {
  expect(await lint(command)).toEqual([]);
});
