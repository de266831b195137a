import { describe, expect, it, test } from 'vitest';
import { PLAN_MEMBERS } from '../../src/model/plan-members.ts';
import { toAskedMembers, toRequest } from '../../src/plan/asked-members.ts';
import { listMemberDifferences } from '../../src/plan/compare/member-differences.ts';
import { CONSENT_OPTIONS, getRequestFlag, NAMED_REQUEST_OPTIONS, type Request } from '../../src/settings/request.ts';
import { createWorkspace, STACK } from '../cli/workspace.ts';

/** The table of the options of a plan, and what is derived from it. */

const WITH_FLAG = NAMED_REQUEST_OPTIONS.filter(({ flag }) => flag !== undefined);

describe('each option of a plan', () => {
  it.each(['plan', 'apply'])('has its flag in the help of %s', async (command) => {
    const { edgewise } = await createWorkspace({});
    const { stdout } = await edgewise(`help ${command}`);
    for (const { name } of WITH_FLAG) expect(stdout).toMatch(new RegExp(`${getRequestFlag(name)}\\b`));
  });

  it.each(WITH_FLAG.map((option) => [getRequestFlag(option.name), option] as const))(
    'is refused over several stacks if it is for one: %s',
    async (flag, { value, isForOneStack = false }) => {
      const toFolder = (name: string) => STACK.replace('name: test', `name: ${name}`);
      const { edgewise } = await createWorkspace({ 'a/s.yaml': toFolder('a'), 'b/s.yaml': toFolder('b') });
      const given = { none: '', address: 'TCPEdge/a', stack: 'old', path: '.' }[value];
      const { stderr } = await edgewise(`plan -R . ${flag} ${given}`.trim());
      expect(stderr.includes(`${flag} cannot be used for 2 stacks`)).toBe(isForOneStack);
    },
  );

  it('is said by the plan, or is a consent, never both', () => {
    expect(CONSENT_OPTIONS.length).toBeGreaterThan(0);
    expect(CONSENT_OPTIONS.filter(({ isApproved }) => isApproved)).toEqual([]);
  });
});

describe('a plan', () => {
  const toAsked = (options: typeof NAMED_REQUEST_OPTIONS): Request =>
    Object.fromEntries(options.map(({ name, value }) => [name, value === 'none' ? true : [name, 'a']]));
  const approved = NAMED_REQUEST_OPTIONS.filter(({ isApproved }) => isApproved);

  it('says what an approval binds, and no other option', () => {
    const { mode, ...said } = toRequest(toAskedMembers(toAsked(NAMED_REQUEST_OPTIONS)));
    const sorted = Object.entries(toAsked(approved)).map(([name, value]) => [name, [value].flat().sort()]);
    expect(said).toEqual(Object.fromEntries(sorted));
    expect(mode).toBe('apply');
  });

  it.each(approved.map((option) => [getRequestFlag(option.name), option] as const))(
    'that was asked for with %s differs by it',
    (flag, option) => {
      const [without, asked] = [{}, toAsked([option])].map(toAskedMembers);
      const found = listMemberDifferences(PLAN_MEMBERS, without ?? {}, asked ?? {});
      expect(found.map(({ name }) => name)).toEqual([flag]);
    },
  );
});

test('a safety rule has one consent', () => {
  const rules = CONSENT_OPTIONS.flatMap(({ allows = [] }) => allows);
  expect(rules).toEqual([...new Set(rules)]);
});
