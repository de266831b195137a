import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge, type Workspace } from '../cli/workspace.ts';
import { toRepository } from './tree.ts';

const SHARDS = [1, 2, 3];

/** A repository in which one stack cannot be planned, one has something to do, and the others have not. */
async function createMixed(): Promise<Workspace> {
  const workspace = await createWorkspace(toRepository(6));
  await workspace.edgewise('apply -R live --yes');
  await workspace.write({
    'live/s01/edges/edge.yaml': toEdge('s01-edge', 30_001),
    'live/s04/edges/edge.yaml': `${toEdge('s04-edge', 20_004)}  colour: red\n`,
  });
  return workspace;
}

/** The parts of a table, without how many there are: shards list them in another order. */
function listRows(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => /^(?:\| )?s0\d/.test(line))
    .sort();
}

describe('the joined report', () => {
  it.each(['plan -R live', 'validate -R live', 'drift -R live'])(
    'of the shards of %s is that of one run',
    async (line) => {
      const { edgewise } = await createMixed();
      const whole = await edgewise(line);
      for (const shard of SHARDS) await edgewise(`${line} --shard ${shard}/3 --report json=${shard}.json`);
      const files = SHARDS.map((shard) => `${shard}.json`).join(' ');
      const joined = await edgewise(`report ${files}`);
      expect(joined.exitCode).toBe(whole.exitCode);
      expect(listRows(joined.stdout)).toEqual(listRows(whole.stdout));
      for (const form of ['markdown', 'html', 'sarif', 'junit', 'github', 'json', 'json-lines'])
        expect((await edgewise(`report ${files} --format ${form}`)).exitCode, form).toBe(whole.exitCode);
    },
  );

  it('has the applies of shards', async () => {
    const { edgewise } = await createMixed();
    const ends = [];
    for (const shard of SHARDS)
      ends.push((await edgewise(`apply -R live --yes --shard ${shard}/3 --report json=${shard}.json`)).stdout);
    const joined = await edgewise(`report ${SHARDS.map((shard) => `${shard}.json`).join(' ')}`);
    expect(joined.exitCode).toBe(3);
    expect(joined.stdout).toContain('1 write applied, 0 failed, 0 skipped: stack s01');
    expect(joined.stdout).toMatch(/^s04 +live\/s04 +1 error$/m);
  });

  it('has results of single stacks too', async () => {
    const { edgewise } = await createMixed();
    await edgewise('plan live/s00 --report json=a.json');
    await edgewise('plan live/s01 --report json=b.json');
    await edgewise('plan live/s04 --report json=c.json');
    const { stdout } = await edgewise('report a.json b.json c.json');
    expect(stdout).toMatch(/^s00 +a\.json +nothing to do, 1 warning$/m);
    expect(stdout).toMatch(/^s01 +b\.json +1 to update, 1 warning$/m);
    expect(stdout).toMatch(/^s04 +c\.json +1 error$/m);
  });

  it.each([
    ['[]', 'it is not a JSON object'],
    ['{', 'it is not a JSON object'],
    ['{}', 'command: '],
    ['{"stacks":[{}],"command":"plan","root":"x","summary":""}', 'stacks.0.stack: '],
    ['{"command":"apply","outcomes":[{"outcome":"applied","write":"x"}]}', 'interrupted: '],
    ['{"strangers":[],"command":"drift"}', 'stack: '],
  ])('refuses %s', async (text, why) => {
    const { edgewise, write } = await createWorkspace({ 'x.json': '' });
    await write({ 'x.json': text });
    const { exitCode, stderr } = await edgewise('report x.json');
    expect(exitCode).toBe(3);
    expect(stderr).toContain(`x.json is not a result of edgewise: ${why}`);
    expect((await edgewise('report nowhere.json')).stderr).toContain('nowhere.json cannot be read');
  });
});
