import { describe, expect, it, test } from 'vitest';
import { CONSENT_OPTIONS, getRequestFlag, NAMED_REQUEST_OPTIONS } from '../../src/settings/request.ts';
import { createWorkspace } from '../cli/workspace.ts';

/** The table of the options of a plan, and what is derived from it. */

const WITH_FLAG = NAMED_REQUEST_OPTIONS.filter(({ flag }) => flag !== undefined);

describe('each option of a plan', () => {
  it.each(['plan', 'apply'])('has its flag in the help of %s', async (command) => {
    const { edgewise } = await createWorkspace({});
    const { stdout } = await edgewise(`help ${command}`);
    for (const { name } of WITH_FLAG) expect(stdout).toMatch(new RegExp(`${getRequestFlag(name)}\\b`));
  });

  it('is said by the plan, or is a consent, never both', () => {
    expect(CONSENT_OPTIONS.length).toBeGreaterThan(0);
    expect(CONSENT_OPTIONS.filter(({ isApproved }) => isApproved)).toEqual([]);
  });
});

test('a safety rule has one consent', () => {
  const rules = CONSENT_OPTIONS.flatMap(({ allows = [] }) => allows);
  expect(rules).toEqual([...new Set(rules)]);
});
