import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from './workspace.ts';

/** An account with an edge on a pool, which people made, and a stack that adopted both. */
async function createAdopted(): Promise<Workspace & { readonly ids: readonly string[] }> {
  const workspace = await createWorkspace(
    {},
    {
      seed: {
        resources: {
          WeightedBackend: [{ id: 'bkdwd_pool', backends: { bkdhr_a: 1 } }],
          TCPEdge: [
            { id: 'edgtcp_clicked', hostports: ['1.tcp.example.net:20001'], backend: { backend_id: 'bkdwd_pool' } },
          ],
        },
      },
    },
  );
  await workspace.write({ 'm.yaml': `${STACK}${toEdge('kept', 20009)}${ADOPTING}` });
  expect(await workspace.edgewise('apply m.yaml --yes')).toMatchObject({ exitCode: 0 });
  workspace.recorder.take();
  return { ...workspace, ids: listIds(workspace) };
}

const CLICKED = { hostports: ['1.tcp.example.net:20001'], backend: { backend_id: 'WeightedBackend/pool' } };

const toAdopting = (edge: object): string =>
  [
    toManifest('WeightedBackend', 'pool', { backends: { bkdhr_a: 1 } }, { lifecycle: { adopt: 'bkdwd_pool' } }),
    toManifest('TCPEdge', 'clicked', edge, { lifecycle: { adopt: 'edgtcp_clicked' } }),
  ].join('');

const ADOPTING = toAdopting(CLICKED);

const REVERTED = `${STACK}${toEdge('kept', 20009)}`;

function listIds({ server }: Workspace): readonly string[] {
  return Object.values(server.snapshot().resources ?? {})
    .flat()
    .map(({ id }) => String(id))
    .sort();
}

describe('the revert of an adoption', () => {
  it('keeps what people made, applies the rest, and ends with 1', async () => {
    const workspace = await createAdopted();
    await workspace.write({ 'm.yaml': `${REVERTED}${toEdge('new', 20010)}` });
    for (const line of ['plan m.yaml', 'apply m.yaml --yes', 'apply m.yaml --yes --allow-deletes']) {
      const { exitCode, stdout } = await workspace.edgewise(line);
      expect(exitCode, stdout).toBe(1);
      expect(stdout).toMatch(
        /kept-prune\]: TCPEdge\/clicked \(edgtcp_clicked\) is in no manifest, and is kept in this run: it was adopted/,
      );
      expect(stdout).toContain('edgewise release TCPEdge/clicked');
      expect(stdout).toContain('--allow-adopted TCPEdge/clicked');
    }
    expect(listIds(workspace)).toEqual(expect.arrayContaining([...workspace.ids]));
    expect(listIds(workspace)).toHaveLength(4);
    expect((await workspace.edgewise('release TCPEdge/clicked WeightedBackend/pool m.yaml --yes')).exitCode).toBe(0);
    expect((await workspace.edgewise('plan m.yaml --detailed-exitcode')).exitCode).toBe(0);
  });

  it('deletes with the flag, and keeps what a kept one refers to', async () => {
    const workspace = await createAdopted();
    await workspace.write({ 'm.yaml': REVERTED });
    const pool = await workspace.edgewise('apply m.yaml --yes --allow-adopted WeightedBackend/pool');
    expect(pool.stdout).toContain(
      'WeightedBackend/pool (bkdwd_pool) is in no manifest, and is kept in this run: what is kept refers to it',
    );
    expect(pool.exitCode).toBe(1);
    expect(listIds(workspace)).toEqual(workspace.ids);
    const both = '--allow-adopted WeightedBackend/pool --allow-adopted TCPEdge/clicked';
    const { exitCode, stdout } = await workspace.edgewise(`apply m.yaml --yes ${both}`);
    expect(exitCode, stdout).toBe(0);
    expect(listIds(workspace)).toHaveLength(1);
  });

  it.each([
    ['adopted', 0, 1],
    ['yes', 130, 3],
  ])('asks in a terminal: %s ends with %d', async (answer, exitCode, left) => {
    const workspace = await createAdopted();
    await workspace.write({ 'm.yaml': REVERTED });
    const applied = await workspace.edgewise('apply m.yaml', { answers: [answer] });
    expect(applied.exitCode, applied.stdout).toBe(exitCode);
    expect(applied.stdout).toContain('no longer in the manifests, and as it was adopted');
    expect(applied.stderr).toContain(
      'It deletes what was adopted and never changed, which --yes keeps: TCPEdge/clicked, WeightedBackend/pool. Only "adopted" is accepted',
    );
    expect(listIds(workspace)).toHaveLength(left);
  });

  it('deletes as usual once edgewise has changed something, also after a rename in between', async () => {
    const workspace = await createAdopted();
    const steps = [
      toAdopting(CLICKED)
        .replace('"name":"clicked"', '"name":"renamed"')
        .replace('"adopt":"edgtcp_clicked"', '"renamed_from":"clicked"'),
      toAdopting({ ...CLICKED, description: 'ours' }).replace('"name":"clicked"', '"name":"renamed"'),
    ];
    const deleted: number[] = [];
    for (const step of steps) {
      await workspace.write({
        'm.yaml': `${STACK}${toEdge('kept', 20009)}${step.replace('"adopt":"edgtcp_clicked"', '')}`,
      });
      const { exitCode, stdout } = await workspace.edgewise('apply m.yaml --yes');
      expect(exitCode, stdout).toBe(0);
      await workspace.write({ 'm.yaml': `${STACK}${toEdge('kept', 20009)}${step.split('\n---\n')[0]}\n` });
      const plan = await workspace.edgewise('plan m.yaml');
      deleted.push(Number(/(\d+) to delete/.exec(plan.stdout)?.[1] ?? 0));
    }
    expect(deleted).toEqual([0, 1]);
  });

  it('needs the flag of both commands if the plan is approved', async () => {
    const workspace = await createAdopted();
    await workspace.write({ 'm.yaml': REVERTED });
    const both = '--allow-adopted WeightedBackend/pool --allow-adopted TCPEdge/clicked';
    const apply = (words: string) => workspace.edgewise(`apply m.yaml --approved plan.json --yes${words}`);
    await workspace.edgewise('plan m.yaml -o plan.json');
    expect(await apply('')).toMatchObject({ exitCode: 1 });
    expect(await apply(` ${both}`)).toMatchObject({ exitCode: 6 });
    await workspace.edgewise(`plan m.yaml -o plan.json ${both}`);
    expect(await apply('')).toMatchObject({ exitCode: 6 });
    expect(await workspace.edgewise('apply m.yaml --approved plan.json', { answers: ['adopted'] })).toMatchObject({
      exitCode: 6,
    });
    expect(listIds(workspace)).toEqual(workspace.ids);
    expect(await apply(` ${both}`)).toMatchObject({ exitCode: 0 });
    expect(listIds(workspace)).toHaveLength(1);
  });

  it('prints the line if a resource was only renamed', async () => {
    const workspace = await createAdopted();
    const named = ADOPTING.replaceAll('"name":"', '"name":"new-').replaceAll(/,"lifecycle":\{[^}]*\}/g, '');
    await workspace.write({ 'm.yaml': `${REVERTED}${named.replaceAll('WeightedBackend/', 'WeightedBackend/new-')}` });
    const { exitCode, stdout } = await workspace.edgewise('plan m.yaml');
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      'WeightedBackend/new-pool has the fields of WeightedBackend/pool (bkdwd_pool), which is in no manifest',
    );
    expect(stdout).toMatch(/lifecycle: \{ renamed_from: pool \}/);
    expect(stdout).toMatch(
      /If it was only renamed, add after the \{ of the document .*\n +"lifecycle": \{ "renamed_from": "clicked" \}/,
    );
  });

  it('is shown by drift as a resource without a manifest', async () => {
    const workspace = await createAdopted();
    await workspace.write({ 'm.yaml': REVERTED });
    const before = await workspace.edgewise('drift m.yaml');
    expect(before.stdout).toContain('TCPEdge/clicked');
    expect(before.stdout).not.toContain('kept-prune');
  });

  it('counts only in a mark of its own', async () => {
    const workspace = await createAdopted();
    const [{ metadata } = {}] =
      workspace.server.snapshot().resources['TCPEdge']?.filter(({ id }) => id === 'edgtcp_clicked') ?? [];
    const forged = String(metadata).replace('"id":"edgtcp_clicked"', '"id":"edgtcp_other"');
    await sendByHand(workspace, 'PATCH', '/edges/tcp/edgtcp_clicked', { metadata: forged });
    await workspace.write({ 'm.yaml': REVERTED });
    expect((await workspace.edgewise('plan m.yaml')).stdout).toContain('- TCPEdge/clicked  (edgtcp_clicked)   delete');
  });
});
