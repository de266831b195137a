import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changePlan } from '../results.ts';
import { type CommandResult, type FakeOptions, NOW } from './fake-context.ts';
import { createWorkspace, STACK, toEdge, type Workspace } from './workspace.ts';

const BEFORE = `${STACK}${toEdge('a', 20001)}${toEdge('b', 20002)}`;
const AFTER = `${STACK}${toEdge('a', 20003)}${toEdge('b', 20004)}`;
const TERMINAL = { terminal: 100, env: { NO_COLOR: '1' } };
const NOTE = 'plan.json is still what would be done: ';
const FIELD = '1.tcp.example.net:20003';

/** Two live edges, and a plan that moves both, made and shown at a terminal. */
async function createShownPlan(options: Partial<FakeOptions> = TERMINAL): Promise<Workspace> {
  const workspace = await createWorkspace({ 'edgewise.yaml': BEFORE });
  await workspace.edgewise('apply edgewise.yaml --yes');
  await workspace.write({ 'edgewise.yaml': AFTER });
  const shown = await workspace.edgewise('plan edgewise.yaml -o plan.json', options);
  expect(shown.stdout).toContain(FIELD);
  return workspace;
}

function expectShownInFull({ stdout }: CommandResult): void {
  expect(stdout).toContain(FIELD);
  expect(stdout).not.toContain(NOTE);
}

describe('apply PLAN at a terminal', () => {
  it('does not show a plan again that its user has just made, but its totals and dangers, and asks', async () => {
    const { edgewise } = await createShownPlan();
    const { exitCode, stdout, stderr } = await edgewise('apply plan.json', { ...TERMINAL, answers: ['yes'] });
    const [before = '', after = ''] = stdout.split('Applied:');
    expect(before).toBe(
      `${NOTE}⚠ 2 dangers (2 traffic) · 2 updates.\nYou made it less than 10 minutes ago, so it is not shown again. To see it: edgewise show plan.json\n\n`,
    );
    expect(stderr).toContain('! 2 dangers (2 traffic). Send these 2 writes to https://api.test?');
    expect(after).toContain('update TCPEdge/a');
    expect(exitCode).toBe(0);
  });

  it('writes nothing after no', async () => {
    const { edgewise, recorder } = await createShownPlan();
    recorder.take();
    expect(await edgewise('apply plan.json', { ...TERMINAL, answers: ['no'] })).toMatchObject({ exitCode: 130 });
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('does not show it again with --yes and with --approved either', async () => {
    const [short, long] = [await createShownPlan(), await createShownPlan()];
    for (const { stdout } of [
      await short.edgewise('apply plan.json --yes', TERMINAL),
      await long.edgewise('apply edgewise.yaml --approved plan.json --yes', TERMINAL),
    ]) {
      expect(stdout).toContain(NOTE);
      expect(stdout).not.toContain(FIELD);
    }
  });
});

describe('apply PLAN shows the plan in full', () => {
  const later = (minutes: number) => ({ now: () => new Date(NOW.getTime() + minutes * 60_000) });

  it.each<[string, Partial<FakeOptions>, Partial<FakeOptions>, string]>([
    ['its output is no terminal', TERMINAL, {}, ''],
    ['it was made more than 10 minutes before', TERMINAL, { ...TERMINAL, ...later(11) }, ''],
    ['it was made later than now', { ...TERMINAL, ...later(1) }, TERMINAL, ''],
    ['a pipeline made it', { ...TERMINAL, env: { GITHUB_SHA: 'a'.repeat(40) } }, TERMINAL, ''],
    ['its file belongs to another user', TERMINAL, { ...TERMINAL, uid: 12_345 }, ''],
    ['details are asked for', TERMINAL, TERMINAL, ' --verbose'],
  ])('if %s', async (_when, made, applied, flags) => {
    const { edgewise } = await createShownPlan(made);
    const result = await edgewise(`apply plan.json --yes${flags}`, applied);
    expect(result.exitCode).toBe(0);
    expectShownInFull(result);
  });

  it('if a part of it is done already', async () => {
    const { edgewise } = await createShownPlan();
    await edgewise('apply edgewise.yaml --target TCPEdge/b --yes');
    const result = await edgewise('apply plan.json --yes', TERMINAL);
    expect(result.stdout).toContain('Approved, and done already:');
    expectShownInFull(result);
  });

  it('if the file has a warning that the new plan does not have, and never shows that warning', async () => {
    const { edgewise, folder } = await createShownPlan();
    const file = join(folder, 'plan.json');
    const warning = { code: 'shown-otherwise', severity: 'warning', message: 'forged' };
    await writeFile(
      file,
      changePlan(await readFile(file, 'utf8'), (plan) => ({ ...plan, diagnostics: [warning] })),
    );
    const result = await edgewise('apply plan.json --yes', TERMINAL);
    expect(result.exitCode).toBe(0);
    expectShownInFull(result);
    expect(result.stdout).not.toContain('forged');
  });
});

it('apply PLAN shows the differences if the plan is not as the file shows it', async () => {
  const { edgewise, write } = await createShownPlan();
  await write({ 'edgewise.yaml': AFTER.replace('20003', '20005') });
  const { exitCode, stdout } = await edgewise('apply plan.json --yes', TERMINAL);
  expect(exitCode).toBe(6);
  expect(stdout).toContain('20005');
  expect(stdout).not.toContain(NOTE);
});
