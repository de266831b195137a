import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge } from '../cli/workspace.ts';
import { OWNED } from './policy-text.ts';

/** Two stacks below a folder, with policies beside them. One of their edges has a team. */
async function createTree() {
  const workspace = await createWorkspace();
  const write = (folder: string, text: string): void => {
    mkdirSync(join(workspace.folder, folder));
    writeFileSync(join(workspace.folder, folder, 'edgewise.yaml'), text);
  };
  const edge = toEdge('a', 20001).replace('name: a', 'name: a\n  labels: { team: data }');
  write('one', STACK.replace('test', 'one') + edge);
  write('two', STACK.replace('test', 'two') + toEdge('b', 20002));
  write('policies', OWNED);
  return workspace;
}

describe('policies of a run over many stacks', () => {
  it.each(['plan', 'validate'])('are checked for each of them by %s', async (command) => {
    const { edgewise } = await createTree();
    expect(await edgewise(`${command} -R .`)).toMatchObject({ exitCode: 0 });
    const { exitCode, stdout } = await edgewise(`${command} -R . --policies policies`);
    expect(exitCode).toBe(5);
    expect(stdout).toContain('Say in the label team whose TCPEdge/b is. (policy owned)');
    expect(stdout).not.toContain('whose TCPEdge/a is.');
  });

  it('are found outside of every stack', async () => {
    const { edgewise } = await createTree();
    const { stderr, stdout } = await edgewise('stacks .');
    expect(stdout + stderr).not.toContain('policies');
  });
});
