import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BASE_URL } from '../cli/fake-context.ts';
import { createWorkspace, toEdge, type Workspace } from '../cli/workspace.ts';
import { toRepository } from './tree.ts';

const SHARDS = [1, 2, 3];

/** A repository in which one stack cannot be planned, one has changes, and the others have none. */
async function createMixedRepository(): Promise<Workspace> {
  const workspace = await createWorkspace(toRepository(6));
  await workspace.edgewise('apply -R live --yes');
  await workspace.write({
    'live/s01/edges/edge.yaml': toEdge('s01-edge', 30_001),
    'live/s04/edges/edge.yaml': `${toEdge('s04-edge', 20_004)}  colour: red\n`,
  });
  return workspace;
}

/** Another user changes the edge of s05. */
async function changeByHand({ server }: Workspace): Promise<void> {
  const edge = server.snapshot().resources['TCPEdge']?.find(({ metadata }) => String(metadata).includes('s05-edge'));
  const headers = { authorization: 'Bearer dev', 'service-version': '2', 'content-type': 'application/json' };
  const body = JSON.stringify({ description: 'by hand' });
  const url = `${BASE_URL}/edges/tcp/${String(edge?.['id'])}`;
  expect((await server.handle(new Request(url, { method: 'PATCH', headers, body }))).status).toBe(200);
}

/** The rows of a table, without counts, which are listed in another order by shards. */
function listRows(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => /^(?:\| )?s0\d/.test(line))
    .sort();
}

/** Metrics without the times of the runs, sorted by stack. */
function listMetrics(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => !line.includes('timestamp_seconds'))
    .sort();
}

describe('the joined report', () => {
  it('of drifts has the metrics of one run, and of plans has none', async () => {
    const { edgewise } = await createMixedRepository();
    const whole = await edgewise('drift -R live --format metrics');
    for (const shard of SHARDS) await edgewise(`drift -R live --shard ${shard}/3 --report json=${shard}.json`);
    const joined = await edgewise('join 1.json 2.json 3.json --format metrics');
    expect(listMetrics(joined.stdout)).toEqual(listMetrics(whole.stdout));
    await edgewise('plan -R live --report json=plan.json');
    const refused = await edgewise('join plan.json --format metrics');
    expect(refused.exitCode).toBe(3);
    expect(refused.stderr).toContain('Results of plan cannot be written as metrics.');
  });

  it.each(['plan -R live', 'validate -R live', 'drift -R live'])(
    'of the shards of %s is that of one run',
    async (line) => {
      const { edgewise } = await createMixedRepository();
      const whole = await edgewise(line);
      for (const shard of SHARDS) await edgewise(`${line} --shard ${shard}/3 --report json=${shard}.json`);
      const files = SHARDS.map((shard) => `${shard}.json`).join(' ');
      const joined = await edgewise(`join ${files}`);
      expect(joined.exitCode).toBe(whole.exitCode);
      expect(listRows(joined.stdout)).toEqual(listRows(whole.stdout));
      for (const form of ['markdown', 'html', 'sarif', 'junit', 'github', 'json'])
        expect((await edgewise(`join ${files} --format ${form}`)).exitCode, form).toBe(whole.exitCode);
    },
  );

  it('contains the applies of shards', async () => {
    const { edgewise } = await createMixedRepository();
    const ends = [];
    for (const shard of SHARDS)
      ends.push((await edgewise(`apply -R live --yes --shard ${shard}/3 --report json=${shard}.json`)).stdout);
    const joined = await edgewise(`join ${SHARDS.map((shard) => `${shard}.json`).join(' ')}`);
    expect(joined.exitCode).toBe(3);
    expect(joined.stdout).toContain('1 write applied, 0 failed, 0 skipped: stack s01');
    expect(joined.stdout).toMatch(/^s04 +live\/s04 +✗ 1 error: .+$/m);
  });

  it('contains results of single stacks', async () => {
    const { edgewise } = await createMixedRepository();
    await edgewise('plan live/s00 --report json=a.json');
    await edgewise('plan live/s01 --report json=b.json');
    await edgewise('plan live/s04 --report json=c.json');
    const { stdout, exitCode } = await edgewise('join a.json b.json c.json');
    expect(stdout).toMatch(/^s00 +live\/s00 +✓ Nothing to do: 1 resource matches the manifests · 1 warning$/m);
    expect(stdout).toMatch(/^s01 +live\/s01 +⚠ 1 danger \(1 traffic\) · 1 update · 1 warning$/m);
    expect(stdout).toMatch(/^s04 +c\.json +✗ 1 error: .+$/m);
    expect(exitCode).toBe(3);
  });

  it.each([
    ['plan live/s00', 0],
    ['plan live/s04', 3],
    ['validate live/s04', 3],
    ['drift live/s00', 0],
    ['drift live/s05', 2],
    ['destroy live/s00 live/s01', 3],
    ['apply live/s01 --yes', 0],
    ['plan live/s03', 5],
  ])('exits as the only result does: %s', async (line, expected) => {
    const workspace = await createMixedRepository();
    rmSync(join(workspace.folder, 'live/s03/edges/edge.yaml'));
    await changeByHand(workspace);
    const { exitCode } = await workspace.edgewise(`${line} --report json=one.json`);
    expect((await workspace.edgewise('join one.json')).exitCode).toBe(exitCode);
    expect(exitCode).toBe(expected);
  });

  it('is found again by its comment, however many results there are', async () => {
    const { edgewise } = await createMixedRepository();
    await edgewise('plan live/s00 --report json=a.json');
    await edgewise('plan live/s01 --report json=b.json');
    const first = async (line: string) => (await edgewise(line)).stdout.split('\n')[0];
    for (const files of ['a.json', 'b.json', 'a.json b.json'])
      expect(await first(`join ${files} --format markdown`)).toBe('<!-- edgewise:plan-stacks stack=. -->');
    for (const shard of SHARDS) await edgewise(`plan -R live --shard ${shard}/3 --report json=${shard}.json`);
    const whole = await first('plan -R live --format markdown');
    expect(await first('join 1.json 2.json 3.json --format markdown')).toBe(whole);
    expect(await first('join 2.json --format markdown')).toBe(whole);
  });

  it.each([
    ['[]', 'it is not a JSON object'],
    ['{', 'it is not a JSON object'],
    ['{}', 'command: '],
    ['{"stacks":[{}],"command":"plan","root":"x","summary":""}', 'stacks.0.stack: '],
    ['{"command":"apply","outcomes":[{"outcome":"applied","write":"x"}]}', 'interrupted: '],
    ['{"unowned":[],"command":"drift"}', 'stack: '],
  ])('refuses %s', async (text, why) => {
    const { edgewise, write } = await createWorkspace({ 'x.json': '' });
    await write({ 'x.json': text });
    const { exitCode, stderr } = await edgewise('join x.json');
    expect(exitCode).toBe(3);
    expect(stderr).toContain(`x.json is not a result of edgewise: ${why}`);
    expect((await edgewise('join nowhere.json')).stderr).toContain('nowhere.json cannot be read');
  });
});
