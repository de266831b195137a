import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { runCommand } from '../cli/fake-context.ts';
import { createWorkspace } from '../cli/workspace.ts';
import { OWNED, toPolicyText } from './policy-text.ts';

interface GivenCase {
  readonly name: string;
  readonly given: object;
  readonly expect: string;
  readonly message?: string;
}

/** The cases of the policy about teams. */
function toTest(cases: readonly GivenCase[], policy = 'owned'): string {
  return `---\n${JSON.stringify({
    apiVersion: 'edgewise/v1',
    kind: 'PolicyTest',
    metadata: { name: 'owned' },
    spec: { policy, cases },
  })}\n`;
}

const CHANGE = { kind: 'TCPEdge', action: 'create', name: 'a' };
const PASSES: GivenCase = {
  name: 'refuses',
  given: { change: CHANGE },
  expect: 'refuse',
  message: 'whose TCPEdge/a is',
};
const LABELLED: GivenCase = { name: 'allows', given: { change: CHANGE, labels: { team: 'a' } }, expect: 'allow' };

async function testPolicy(text: string, more = '') {
  const { edgewise, recorder } = await createWorkspace({ 'policies.yaml': text });
  const result = await edgewise(`test-policy${more}`);
  expect(recorder.take()).toEqual([]);
  return result;
}

describe('test-policy', () => {
  const FAILS: GivenCase = { name: 'a label & nobody', given: { change: CHANGE }, expect: 'allow' };
  const ALL = OWNED + toPolicyText('other', { require: 'true', message: 'No.' }) + toTest([PASSES, LABELLED, FAILS]);

  it('refuses a case with a reference that no expression sees', async () => {
    const given = { change: CHANGE, after: { backend: { backend_id: 'External/blue' } } };
    const { exitCode, stdout } = await testPolicy(OWNED + toTest([{ name: 'named', given, expect: 'refuse' }]));
    expect(exitCode).toBe(1);
    expect(stdout).toContain('given names External/blue, but an expression sees the id of an External');
  });

  it('shows each case, why one fails, and the policies without a case', async () => {
    const { exitCode, stdout } = await testPolicy(ALL);
    expect(exitCode).toBe(1);
    expect(stdout).toMatchInlineSnapshot(`
      "owned
        pass refuses
        pass allows
        FAIL a label & nobody
             expected allow, got refuse: Say in the label team whose TCPEdge/a is.
             --> policies.yaml:18:378

      No case tests other.

      3 cases: 2 passed, 1 failed.
      "
    `);
  });

  it('prints a suite for each policy as JUnit', async () => {
    const { exitCode, stdout } = await testPolicy(ALL, ' --format junit');
    expect(exitCode).toBe(1);
    expect(stdout).toMatchInlineSnapshot(`
      "<?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="edgewise" tests="3" failures="1" errors="0" skipped="0">
        <testsuite name="owned" tests="3" failures="1" errors="0" skipped="0">
          <testcase classname="edgewise.owned" name="refuses" time="0"/>
          <testcase classname="edgewise.owned" name="allows" time="0"/>
          <testcase classname="edgewise.owned" name="a label &amp; nobody" time="0">
            <failure message="expected allow, got refuse: Say in the label team whose TCPEdge/a is." type="error">expected allow, got refuse: Say in the label team whose TCPEdge/a is.&#10;policies.yaml:18:378</failure>
          </testcase>
        </testsuite>
      </testsuites>
      "
    `);
  });

  it('prints one document as JSON', async () => {
    const { stdout } = await testPolicy(ALL, ' --format json');
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      totals: { passed: 2, failed: 1 },
      cases: [
        { ok: true },
        { ok: true },
        { policy: 'owned', name: 'a label & nobody', ok: false, place: { line: 18 } },
      ],
      untested: ['other'],
    });
  });

  it.each<[string, GivenCase, string]>([
    ['another verdict', { ...LABELLED, expect: 'warn' }, 'expected warn, got allow'],
    ['another message', { ...PASSES, message: 'nothing' }, 'expected a message with `nothing` in it, got: Say in'],
    [
      'a message although there is none',
      { ...LABELLED, message: 'nothing' },
      'expected a message with `nothing` in it, got none',
    ],
    ['no match', { ...PASSES, given: { change: { ...CHANGE, action: 'delete' } } }, 'expected refuse, got no-match'],
    [
      'an unknown field of the resource',
      { ...PASSES, given: { change: CHANGE, after: { hostport: [] } } },
      'given.after.hostport is not a field',
    ],
    [
      'an unknown field of the change',
      { ...PASSES, given: { change: { ...CHANGE, acton: 'x' } } },
      'given.change.acton is not a field',
    ],
    [
      'an unknown field of a danger',
      { ...PASSES, given: { change: { ...CHANGE, dangers: [{ dangr: 'x' }] } } },
      'given.change.dangers.dangr is',
    ],
    [
      'an unknown field of the plan',
      { ...PASSES, given: { change: CHANGE, plan: { totals: { deletes: 1 } } } },
      'given.plan.totals.deletes is',
    ],
  ])('fails a case that meets %s', async (_, one, failure) => {
    const { exitCode, stdout } = await testPolicy(OWNED + toTest([one]));
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(failure)]);
  });

  it('accepts a failure as the expected refusal only if the case says so', async () => {
    const broken = toPolicyText('owned', { require: 'labels.team == "a"', message: 'No.' });
    const one: GivenCase = { name: 'fails', given: { change: CHANGE }, expect: 'refuse' };
    const silent = await testPolicy(broken + toTest([one]));
    expect([silent.exitCode, silent.stdout]).toEqual([
      1,
      expect.stringContaining('expected a refusal by the rule, got a failure'),
    ]);
    expect(await testPolicy(broken + toTest([{ ...one, message: 'No such key: team' }]))).toMatchObject({
      exitCode: 0,
    });
  });

  it('uses the time of a case, and otherwise always the same', async () => {
    const policy = toPolicyText('owned', { require: 'now == timestamp("2026-01-01T00:00:00Z")', message: 'Then.' });
    const stated = { ...LABELLED, given: { change: CHANGE, now: '2026-03-01T00:00:00Z' }, expect: 'refuse' };
    expect(await testPolicy(policy + toTest([LABELLED, stated]))).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['a missing policy', OWNED + toTest([PASSES], 'owner'), 'error[policy-invalid]'],
    [
      'a policy that cannot be read',
      toPolicyText('owned', { require: 'x', message: 'x' }) + toTest([PASSES]),
      'error[policy-invalid]',
    ],
    ['an invalid case', OWNED + toTest([{ ...PASSES, expect: 'maybe' }]), 'error[bad-value]'],
    ['no case at all', OWNED, 'no document is a PolicyTest'],
  ])('is invalid with %s', async (_, text, said) => {
    const { exitCode, stderr } = await testPolicy(text);
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining(said)]);
  });

  it('skips manifests, as plan skips cases', async () => {
    const stack = 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: test }\n';
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': stack + OWNED + toTest([PASSES]) });
    expect(await edgewise('test-policy')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('plan')).toMatchObject({ exitCode: 0 });
  });
});

describe('examples/policies', () => {
  const documents = globSync('examples/policies/*.yaml').flatMap((file) =>
    parseAllDocuments(readFileSync(file, 'utf8')).map((one) => one.toJS()),
  );

  it('has six policies, and every case of them passes', async () => {
    const { exitCode, stdout } = await runCommand(['test-policy', 'examples/policies', '--format', 'json'], {
      cwd: process.cwd(),
    });
    expect(exitCode, stdout).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, untested: [] });
    expect(documents.filter(({ kind }) => kind === 'Policy')).toHaveLength(6);
  });

  it('has a refused case of each, with the message, and an accepted one', () => {
    for (const { kind, spec } of documents) {
      if (kind !== 'PolicyTest') continue;
      const cases: readonly GivenCase[] = spec.cases;
      expect(
        cases.some((one) => one.expect === 'refuse' && one.message !== undefined),
        spec.policy,
      ).toBe(true);
      expect(
        cases.some((one) => one.expect === 'allow'),
        spec.policy,
      ).toBe(true);
    }
  });
});
