import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge } from '../cli/workspace.ts';
import { OWNED, toPolicyText } from './policy-text.ts';

const EDGE = toEdge('a', 20001);

async function validate(policy: string, more = '') {
  const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': STACK + EDGE + policy });
  const { exitCode, stdout } = await edgewise(`validate${more}`);
  expect(recorder.take()).toEqual([]);
  return { exitCode, told: stdout.match(/(error|warning)\[policy-.*/g) ?? [] };
}

describe('validate', () => {
  it('refuses a manifest that a policy refuses, with exit code 5', async () => {
    const told = ['error[policy-violated]: Say in the label team whose TCPEdge/a is. (policy owned)'];
    expect(await validate(OWNED)).toEqual({ exitCode: 5, told });
  });

  it('shows a policy warning, which is an error with --strict', async () => {
    const policy = toPolicyText('hostports', {
      require: 'size(after.hostports) > 1',
      message: 'Few.',
      severity: 'warning',
    });
    expect(await validate(policy)).toEqual({
      exitCode: 0,
      told: ['warning[policy-violated]: TCPEdge/a: Few. (policy hostports)'],
    });
    expect(await validate(policy, ' --strict')).toMatchObject({ exitCode: 3 });
  });

  it('exits with 3 if the manifests have other errors too', async () => {
    expect(await validate(`${OWNED}---\nkind: Nothing\n`)).toMatchObject({ exitCode: 3 });
  });

  it.each([
    ['what is live', { require: 'has(before.description)' }],
    ['what a plan does', { require: 'change.action != "create"' }],
    ['how much a plan does', { require: 'plan.totals.create == 7' }],
    ['a danger', { require: 'false', match: '{ danger: [traffic] }' }],
    ['new resources only', { require: 'false', match: '{ actions: [create] }' }],
    ['deletes', { require: 'false', match: '{ actions: [delete] }' }],
  ])('leaves a policy on %s to plan', async (_, rule) => {
    expect(await validate(toPolicyText('live', { message: 'No.', ...rule }))).toEqual({ exitCode: 0, told: [] });
  });

  it.each([
    ['the stack', 'stack.name == "other"'],
    ['the time', 'now < timestamp("2020-01-01T00:00:00Z")'],
    ['the address', 'change.address != "TCPEdge/a"'],
    ['the place', 'change.place.line > 100'],
    ['an annotation', 'has(annotations.note)'],
    ['a field', 'after.description != ""'],
  ])('checks a policy on %s', async (_, require) => {
    expect(await validate(toPolicyText('static', { require, message: 'No.' }))).toMatchObject({ exitCode: 5 });
  });
});
