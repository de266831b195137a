import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStack, parsePlan, StackError } from '../../src/index.ts';
import type { PlanFileContent } from '../../src/kinds/plan-file-content.ts';
import { BASE_URL, NOW } from '../cli/fake-context.ts';
import { createWorkspace, STACK, toEdge, type Workspace } from '../cli/workspace.ts';
import { changePlan } from '../results.ts';
import { OWNED, toPolicyText } from './policy-text.ts';

const EDGE = toEdge('a', 20001);
const NOT_ON_SUNDAYS = toPolicyText('sundays', { require: 'now.getDayOfWeek() != 0', message: 'It is Sunday.' });
const createSunday = () => new Date('2026-03-01T12:00:00Z');
const createMonday = () => new Date('2026-03-02T12:00:00Z');

/** A saved plan that creates an edge, made with or without policies. */
async function savePlan(line = 'plan edgewise.yaml -o plan.json', files: Readonly<Record<string, string>> = {}) {
  const workspace = await createWorkspace({ 'edgewise.yaml': STACK + EDGE, ...files });
  await workspace.edgewise(line);
  return workspace;
}

function edit({ folder }: Workspace, change: (plan: PlanFileContent) => unknown): void {
  const file = join(folder, 'plan.json');
  writeFileSync(file, changePlan(readFileSync(file, 'utf8'), change));
}

const countWrites = ({ recorder }: Workspace): number =>
  recorder.take().filter(({ method }) => method !== 'GET').length;

describe('an apply of an approved plan', () => {
  it.each(['apply edgewise.yaml --approved plan.json --yes'])(
    'is checked by its own policies, whatever the plan was made with: %s',
    async (apply) => {
      const workspace = await savePlan();
      await workspace.write({ 'sundays.yaml': NOT_ON_SUNDAYS });
      const line = `${apply} --policies sundays.yaml`;
      const refused = await workspace.edgewise(line, { now: createSunday });
      expect([refused.exitCode, refused.stdout]).toEqual([5, expect.stringContaining('TCPEdge/a: It is Sunday.')]);
      expect(countWrites(workspace)).toBe(0);
      expect(await workspace.edgewise(line, { now: createMonday })).toMatchObject({ exitCode: 0 });
      expect(countWrites(workspace)).toBe(1);
    },
  );

  it('trusts neither a refusal nor a pass of the file', async () => {
    const workspace = await savePlan('plan edgewise.yaml --policies sundays.yaml -o plan.json', {
      'sundays.yaml': NOT_ON_SUNDAYS,
    });
    const line = 'apply edgewise.yaml --approved plan.json --yes --policies sundays.yaml';
    edit(workspace, (plan) => {
      expect(plan.violations).toMatchObject([{ rule: 'policy', policy: 'sundays', addresses: ['TCPEdge/a'] }]);
      return { ...plan, violations: [] };
    });
    expect(await workspace.edgewise(line, { now: createSunday })).toMatchObject({ exitCode: 5 });
    expect(countWrites(workspace)).toBe(0);
    await workspace.edgewise('plan edgewise.yaml --policies sundays.yaml -o plan.json', { now: createSunday });
    expect(await workspace.edgewise(line, { now: createMonday })).toMatchObject({ exitCode: 0 });
  });

  it('takes labels from the manifests, and not from the file', async () => {
    const workspace = await savePlan();
    await workspace.write({ 'owned.yaml': OWNED });
    edit(workspace, (plan) => ({
      ...plan,
      changes: plan.changes.map((change) => ({ ...change, labels: { team: 'mine' } })),
    }));
    const line = 'apply edgewise.yaml --approved plan.json --yes --policies owned.yaml';
    const refused = await workspace.edgewise(line);
    expect([refused.exitCode, refused.stdout]).toEqual([5, expect.stringContaining('TCPEdge/a is. (policy owned)')]);
    expect(countWrites(workspace)).toBe(0);
    await workspace.write({ 'edgewise.yaml': STACK + EDGE.replace('name: a', 'name: a\n  labels: { team: data }') });
    expect(await workspace.edgewise(line)).toMatchObject({ exitCode: 0 });
  });

  it('is checked by the policies among the manifests', async () => {
    const workspace = await savePlan();
    await workspace.write({ 'edgewise.yaml': STACK + EDGE + OWNED });
    expect(await workspace.edgewise('apply edgewise.yaml --approved plan.json --yes')).toMatchObject({ exitCode: 5 });
    expect(countWrites(workspace)).toBe(0);
  });
});

describe('a stack of the library', () => {
  const ENV = { EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: BASE_URL };

  it('checks policies for its own plan and one from a file', async () => {
    const workspace = await savePlan();
    const { folder, recorder } = workspace;
    await workspace.write({ 'owned.yaml': OWNED });
    const options = { transport: recorder.transport, cwd: folder, env: ENV, now: () => NOW, paths: ['edgewise.yaml'] };
    const stack = await openStack({ ...options, policies: ['owned.yaml'] });
    const plan = await stack.plan();
    expect(plan.violations).toMatchObject([{ rule: 'policy', policy: 'owned' }]);
    const saved = parsePlan(readFileSync(join(folder, 'plan.json'), 'utf8'), 'plan.json');
    expect(saved.violations).toEqual([]);
    for (const one of [plan, saved])
      await expect(stack.apply(one, { allowDeletes: true, allowProtected: ['TCPEdge/a'] })).rejects.toThrow(
        expect.objectContaining({ constructor: StackError, reason: 'refused' }),
      );
    expect(countWrites(workspace)).toBe(0);
    const free = await openStack(options);
    expect((await free.apply(saved)).outcomes).toHaveLength(1);
  });
});
