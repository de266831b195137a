import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStack, parsePlan, StackError } from '../../src/index.ts';
import type { PlanFileContent } from '../../src/kinds/plan-file-content.ts';
import { BASE_URL, NOW } from '../cli/fake-context.ts';
import { createWorkspace, STACK, toEdge, type Workspace } from '../cli/workspace.ts';
import { OWNED, toPolicyText } from './texts.ts';

const EDGE = toEdge('a', 20001);
const NOT_ON_SUNDAYS = toPolicyText('sundays', { require: 'now.getDayOfWeek() != 0', message: 'It is Sunday.' });
const SUNDAY = () => new Date('2026-03-01T12:00:00Z');
const MONDAY = () => new Date('2026-03-02T12:00:00Z');

/** A saved plan that creates an edge, made with or without policies. */
async function savePlan(line = 'plan edgewise.yaml -o plan.json', files: Readonly<Record<string, string>> = {}) {
  const workspace = await createWorkspace({ 'edgewise.yaml': STACK + EDGE, ...files });
  await workspace.edgewise(line);
  return workspace;
}

function edit({ folder }: Workspace, change: (plan: PlanFileContent) => unknown): void {
  const file = join(folder, 'plan.json');
  writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8')))));
}

const countWrites = ({ recorder }: Workspace): number =>
  recorder.take().filter(({ method }) => method !== 'GET').length;

describe('an apply of a saved plan', () => {
  it('is held against the policies that it is given, whatever the plan was made with', async () => {
    const workspace = await savePlan();
    await workspace.write({ 'sundays.yaml': NOT_ON_SUNDAYS });
    const line = 'apply plan.json --no-manifests --yes --policies sundays.yaml';
    const refused = await workspace.edgewise(line, { now: SUNDAY });
    expect([refused.exitCode, refused.stdout]).toEqual([5, expect.stringContaining('TCPEdge/a: It is Sunday.')]);
    expect(countWrites(workspace)).toBe(0);
    expect(await workspace.edgewise(line, { now: MONDAY })).toMatchObject({ exitCode: 0 });
    expect(countWrites(workspace)).toBe(1);
  });

  it('believes neither that a policy refused nor that it did not', async () => {
    const workspace = await savePlan('plan edgewise.yaml --policies sundays.yaml -o plan.json', {
      'sundays.yaml': NOT_ON_SUNDAYS,
    });
    const line = 'apply plan.json --no-manifests --yes --policies sundays.yaml';
    edit(workspace, (plan) => {
      expect(plan.violations).toMatchObject([{ rule: 'policy', policy: 'sundays', addresses: ['TCPEdge/a'] }]);
      return { ...plan, violations: [] };
    });
    expect(await workspace.edgewise(line, { now: SUNDAY })).toMatchObject({ exitCode: 5 });
    expect(countWrites(workspace)).toBe(0);
    await workspace.edgewise('plan edgewise.yaml --policies sundays.yaml -o plan.json', { now: SUNDAY });
    expect(await workspace.edgewise(line, { now: MONDAY })).toMatchObject({ exitCode: 0 });
  });

  it('is refused by what the file says of a policy that nobody gives', async () => {
    const workspace = await savePlan('plan edgewise.yaml --policies sundays.yaml -o plan.json', {
      'sundays.yaml': NOT_ON_SUNDAYS,
    });
    expect(await workspace.edgewise('apply plan.json --no-manifests --yes', { now: MONDAY })).toMatchObject({
      exitCode: 5,
    });
    expect(countWrites(workspace)).toBe(0);
  });

  it('takes labels from the manifests, and not from the file', async () => {
    const workspace = await savePlan();
    await workspace.write({ 'owned.yaml': OWNED });
    edit(workspace, (plan) => ({
      ...plan,
      changes: plan.changes.map((change) => ({ ...change, labels: { team: 'mine' } })),
    }));
    const unnamed = await workspace.edgewise('apply plan.json --no-manifests --yes --policies owned.yaml');
    expect([unnamed.exitCode, unnamed.stdout]).toEqual([
      5,
      expect.stringContaining('needs values from the manifests, which were not given. So it blocks the plan.'),
    ]);
    const named = await workspace.edgewise('apply plan.json --yes --policies owned.yaml --manifests edgewise.yaml');
    expect([named.exitCode, named.stderr]).toEqual([6, expect.stringContaining('whose TCPEdge/a is. (policy owned)')]);
    expect(countWrites(workspace)).toBe(0);
    await workspace.write({ 'edgewise.yaml': STACK + EDGE.replace('name: a', 'name: a\n  labels: { team: data }') });
    await workspace.edgewise('plan edgewise.yaml -o plan.json');
    const labelled = await workspace.edgewise('apply plan.json --yes --policies owned.yaml --manifests edgewise.yaml');
    expect(labelled.exitCode).toBe(0);
  });

  it('is held against the policies of the manifests that --manifests names', async () => {
    const workspace = await savePlan();
    await workspace.write({ 'edgewise.yaml': STACK + EDGE + OWNED });
    const unlike = await workspace.edgewise('apply plan.json --yes --manifests edgewise.yaml');
    expect([unlike.exitCode, unlike.stderr]).toEqual([
      6,
      expect.stringContaining('the violated safety rules: [] by the file'),
    ]);
    await workspace.edgewise('plan edgewise.yaml -o plan.json');
    expect(await workspace.edgewise('apply plan.json --yes --manifests edgewise.yaml')).toMatchObject({ exitCode: 5 });
    expect(countWrites(workspace)).toBe(0);
  });
});

describe('an apply with an approved plan', () => {
  it('is held against policies all the same', async () => {
    const workspace = await savePlan();
    await workspace.write({ 'owned.yaml': OWNED });
    const line = 'apply edgewise.yaml --approved plan.json --yes';
    expect(await workspace.edgewise(`${line} --policies owned.yaml`)).toMatchObject({ exitCode: 5 });
    expect(countWrites(workspace)).toBe(0);
    expect(await workspace.edgewise(line)).toMatchObject({ exitCode: 0 });
  });
});

describe('a stack of a program', () => {
  const ENV = { EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: BASE_URL };

  it('is held against policies, its own plan and one from a file', async () => {
    const workspace = await savePlan();
    const { folder, recorder } = workspace;
    await workspace.write({ 'owned.yaml': OWNED });
    const options = { transport: recorder.transport, cwd: folder, env: ENV, now: () => NOW, paths: ['edgewise.yaml'] };
    const stack = await openStack({ ...options, policies: ['owned.yaml'] });
    const plan = await stack.plan();
    expect(plan.violations).toMatchObject([{ rule: 'policy', policy: 'owned' }]);
    const saved = parsePlan(readFileSync(join(folder, 'plan.json'), 'utf8'), 'plan.json');
    expect(saved.violations).toEqual([]);
    for (const [one, reason] of [
      [plan, 'refused'],
      [saved, 'stale'],
    ] as const)
      await expect(stack.apply(one, { allowDeletes: true, allowProtected: ['TCPEdge/a'] })).rejects.toThrow(
        expect.objectContaining({ constructor: StackError, reason }),
      );
    expect(countWrites(workspace)).toBe(0);
    const free = await openStack(options);
    expect((await free.apply(saved)).outcomes).toHaveLength(1);
  });
});
