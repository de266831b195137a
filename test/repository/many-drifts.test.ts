import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, toEdge, type Workspace } from '../cli/workspace.ts';
import { toStack } from './tree.ts';

const FORMS = ['json', 'markdown', 'html', 'github', 'sarif', 'junit'];
const REPORTS = FORMS.map((form) => ` --report ${form}=drift.${form}`).join('');

/** Two stacks of one account, without drift. They use different kinds. */
async function createStacks(): Promise<Workspace> {
  const workspace = await createWorkspace({
    'live/a/edgewise.yaml': `${toStack('a', { kinds: ['WeightedBackend'] })}`,
    'live/b/edgewise.yaml': `${toStack('b', { kinds: ['TCPEdge', 'Credential'] })}${toEdge('b', 20_001)}`,
  });
  await workspace.edgewise('apply -R live --yes');
  return workspace;
}

async function create(workspace: Workspace, path: string, body: object): Promise<string> {
  const { id } = await sendByHand(workspace, 'POST', path, body);
  return String(id);
}

/** Returns the output of a command, and each report that it writes. */
async function listTexts({ edgewise, folder }: Workspace, line: string): Promise<Readonly<Record<string, string>>> {
  const { exitCode, stdout } = await edgewise(line + REPORTS);
  expect(exitCode).toBe(0);
  const read = async (form: string) => [form, await readFile(join(folder, `drift.${form}`), 'utf8')] as const;
  return { text: stdout, ...Object.fromEntries(await Promise.all(FORMS.map(read))) };
}

function count(text: string, id: string): number {
  return text.split(id).length - 1;
}

describe('drift of many stacks', () => {
  it('lists every unmanaged resource of an account with its id, in every format, also without drift', async () => {
    const workspace = await createStacks();
    const ids = [
      await create(workspace, '/backends/weighted', { description: 'stranger', backends: {} }),
      await create(workspace, '/credentials', { description: 'stranger' }),
      ...(await Promise.all(
        Array.from({ length: 12 }, (_, index) => create(workspace, '/edges/tcp', { description: `by hand ${index}` })),
      )),
    ];
    const texts = await listTexts(workspace, 'drift -R live');
    for (const [form, text] of Object.entries(texts)) for (const id of ids) expect(text, form).toContain(id);
    expect(texts['text']).toMatch(/^a +live\/a +No drift: there are no|14 unmanaged/m);
    // Once for each account, not once for each stack. JSON has the whole document of each stack.
    for (const form of ['text', 'markdown', 'github', 'sarif'])
      for (const id of ids) expect(count(texts[form] ?? '', id), form).toBe(1);
    // The name of a case, and its message.
    for (const id of ids) expect(count(texts['junit'] ?? '', id)).toBe(2);
  });

  it('shows a stack with unmanaged resources in full, and the others on one line', async () => {
    const workspace = await createStacks();
    const before = await workspace.edgewise('drift -R live');
    expect(before.stdout).not.toContain('Unmanaged');
    await create(workspace, '/edges/tcp', { description: 'by hand' });
    const { stdout } = await workspace.edgewise('drift -R live');
    expect(stdout.split('\nUnmanaged:\n')).toHaveLength(2);
    expect(stdout).toMatch(/1 unmanaged$/m);
  });
});
