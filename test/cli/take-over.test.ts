import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toCredential, toEdge, type Workspace } from './workspace.ts';

const EDGE = toEdge('a', 20001);
const OTHER = STACK.replace('name: test', 'name: other');
const THIRD = STACK.replace('name: test', 'name: third');

/** An edge of the stack `other`, and manifests of `test` that also describe it. */
async function createTakeOver(more: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const files = { 'other.yaml': `${OTHER}${EDGE}`, 'test.yaml': `${STACK}${EDGE}`, 'third.yaml': `${THIRD}${EDGE}` };
  const workspace = await createWorkspace({ ...files, ...more });
  await workspace.edgewise('apply other.yaml --yes');
  workspace.recorder.take();
  return workspace;
}

describe('--take-over', () => {
  it('warns if it takes nothing over, with the reason', async () => {
    const { edgewise } = await createTakeOver({ 'empty.yaml': `${STACK}${toEdge('b', 20002)}` });
    const misspelt = await edgewise('plan empty.yaml --take-over ohter');
    expect(misspelt).toMatchObject({ exitCode: 0 });
    expect(misspelt.stdout).toContain('--take-over ohter takes nothing over: no resource that was read has its mark');
    const elsewhere = await edgewise('plan empty.yaml --take-over other');
    expect(elsewhere.stdout.match(/warning\[predecessor-unclear\][\s\S]*?\n\n/)?.[0]).toMatchInlineSnapshot(`
      "warning[predecessor-unclear]: --take-over other takes nothing over: no new manifest has the kind and name of one of its resources (TCPEdge/a)
        help: Give a manifest that kind and name, or write the id of the resource in lifecycle.adopt.

      "
    `);
    expect((await edgewise('plan empty.yaml --take-over test')).stdout).toContain('it is the stack of these manifests');
  });

  it('makes no guess about a token: a stack that adopted a credential never had its token', async () => {
    const id = `cr_${'a'.repeat(27)}`;
    const adopting = `${toCredential('agent')}lifecycle: { adopt: ${id} }\n`;
    const renamed = `${toCredential('office')}lifecycle: { renamed_from: agent }\n`;
    const { edgewise, write } = await createWorkspace(
      { 'other.yaml': `${OTHER}${adopting}`, 'test.yaml': `${STACK}${toCredential('agent')}` },
      { seed: { resources: { Credential: [{ id }] } } },
    );
    expect((await edgewise('apply other.yaml --yes')).stdout).toContain('its token is unknown');
    await write({ 'other.yaml': `${OTHER}${renamed}` });
    for (const line of ['plan test.yaml --take-over other', 'plan other.yaml']) {
      const { stdout } = await edgewise(line);
      expect(stdout).toContain('its token stays where it is: apply does not touch its file');
      expect(stdout).not.toMatch(/token.*delivered/);
    }
  });

  it('replaces a credential whose token was not delivered, or is refused without a token sink', async () => {
    const metadata = JSON.stringify({ edgewise: { stack: 'other', name: 'agent', fields: {} } });
    const { edgewise } = await createWorkspace(
      { 'test.yaml': `${STACK}${toCredential('agent')}` },
      { seed: { resources: { Credential: [{ id: `cr_${'a'.repeat(27)}`, metadata }] } } },
    );
    const refused = await edgewise('apply test.yaml --take-over other --yes');
    expect(refused).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('token-sink-missing') });
    const applied = await edgewise('apply test.yaml --take-over other --yes --token-directory tokens');
    expect(applied).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 to replace') });
    expect((await edgewise('plan test.yaml --token-directory tokens --detailed-exitcode')).exitCode).toBe(0);
  });

  it('has no effect once every resource is taken over', async () => {
    const { edgewise } = await createTakeOver();
    expect(await edgewise('apply test.yaml --take-over other --yes')).toMatchObject({ exitCode: 0 });
    const again = await edgewise('plan test.yaml --take-over other --detailed-exitcode');
    expect(again).toMatchObject({ exitCode: 0 });
    expect(again.stdout).toContain('warning[predecessor-unclear]');
  });

  it('is part of an approved plan, which becomes stale if another stack takes the resource', async () => {
    const workspace = await createTakeOver();
    const { edgewise, recorder } = workspace;
    await edgewise('plan test.yaml --take-over other -o plan.json');
    await edgewise('apply third.yaml --take-over other --yes');
    recorder.take();
    const stale = await edgewise('apply test.yaml --approved plan.json --take-over other --yes');
    expect(stale).toMatchObject({ exitCode: 6 });
    expect(stale.stdout).toContain('it changed at the service\n    approved: take over');
    expect(stale.stdout).toContain('now: claimed-elsewhere: TCPEdge/a: ');
    expect(recorder.take().every(({ method }) => method === 'GET')).toBe(true);
  });
});
