import { describe, expect, it } from 'vitest';
import { listFormatNames } from '../../src/report/formats.ts';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';

const POOL = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_blue: 1 } });
const USER = toManifest('TCPEdge', 'user', { backend: { backend_id: 'WeightedBackend/pool' } });

const KEPT = toEdge('kept', 20007);

/** A stack in which an edge has lost its mark and still uses a backend. Then its manifests change. */
async function createStackWithLostMark(after: string, before = ''): Promise<Workspace> {
  const workspace = await createWorkspace({ 'edgewise.yaml': STACK + KEPT + POOL + USER + before });
  expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
  const [user] = (workspace.server.snapshot().resources['TCPEdge'] ?? []).filter(
    ({ backend }) => backend !== undefined,
  );
  await sendByHand(workspace, 'PATCH', `/edges/tcp/${user?.['id']}`, { metadata: '' });
  await workspace.write({ 'edgewise.yaml': STACK + KEPT + after });
  workspace.recorder.take();
  return workspace;
}

function listWrites({ recorder }: Workspace): readonly string[] {
  return recorder
    .take()
    .flatMap(({ method, path }) => (method === 'GET' ? [] : [`${method} ${path.replace(/_\w+$/, '')}`]));
}

const OTHER = toEdge('other', 20001);
const CONSENT = '--allow-rejected WeightedBackend/pool';

describe('a write that the service will reject', () => {
  it('refuses the plan with exit code 5 in every format, and names the remedies', async () => {
    const { edgewise } = await createStackWithLostMark(OTHER);
    for (const form of listFormatNames('plan')) {
      const { exitCode, stdout } = await edgewise(`plan --format ${form}`);
      expect(exitCode, form).toBe(5);
      expect(stdout, form).toContain('WeightedBackend/pool');
      if (form !== 'metrics') expect(stdout, form).toContain('is in use by');
    }
    expect((await edgewise('plan')).stdout).toMatch(
      /lifecycle\.adopt: edgtcp_\w+.*--exclude WeightedBackend\/pool.*--allow-rejected WeightedBackend\/pool/,
    );
  });

  it('stays refused in a saved plan, which is applied with the consent', async () => {
    const workspace = await createStackWithLostMark(OTHER);
    const { edgewise } = workspace;
    expect(await edgewise('plan -o plan.json')).toMatchObject({ exitCode: 5 });
    expect(await edgewise('apply --approved plan.json --yes')).toMatchObject({ exitCode: 5 });
    expect(await edgewise('apply --approved plan.json --yes --exclude WeightedBackend/pool')).toMatchObject({
      exitCode: 6,
    });
    expect(listWrites(workspace)).toEqual([]);
    const applied = await edgewise(`apply --approved plan.json --yes ${CONSENT}`);
    expect(applied).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('1 write applied, 1 failed') });
    expect(listWrites(workspace).toSorted()).toEqual(['DELETE /backends/weighted/bkdwd', 'POST /edges/tcp']);
  });

  it('does not stop the rest if --exclude names it', async () => {
    const workspace = await createStackWithLostMark(OTHER);
    const { edgewise } = workspace;
    expect(await edgewise('apply --yes --exclude WeightedBackend/pool')).toMatchObject({ exitCode: 0 });
    expect(listWrites(workspace)).toEqual(['POST /edges/tcp']);
    expect(await edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 5 });
  });

  it('does not stop the rest of a destroy if --exclude names it', async () => {
    const workspace = await createStackWithLostMark(POOL + OTHER, OTHER);
    expect(await workspace.edgewise('destroy --yes')).toMatchObject({ exitCode: 5 });
    expect(listWrites(workspace)).toEqual([]);
    expect(await workspace.edgewise('destroy --yes --exclude WeightedBackend/pool')).toMatchObject({ exitCode: 0 });
    expect(listWrites(workspace)).toEqual(['DELETE /edges/tcp/edgtcp', 'DELETE /edges/tcp/edgtcp']);
  });

  it('needs consent for its own address', async () => {
    const { edgewise } = await createStackWithLostMark(OTHER);
    const other = await edgewise('plan --allow-rejected WeightedBackend/pools');
    expect(other).toMatchObject({
      exitCode: 5,
      stdout: expect.stringContaining('names WeightedBackend/pools, which is another'),
    });
  });

  it('stops only its own stack', async () => {
    const workspace = await createStackWithLostMark(OTHER);
    const { edgewise, write } = workspace;
    const second = STACK.replace('name: test', 'name: second') + toEdge('second', 20009);
    await write({ 'second/edgewise.yaml': second });
    expect(await edgewise('plan -R .')).toMatchObject({ exitCode: 5 });
    expect(await edgewise('apply -R . --yes')).toMatchObject({ exitCode: 5 });
    expect(listWrites(workspace)).toEqual(['POST /edges/tcp']);
  });
});
