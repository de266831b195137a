import { expect, it } from 'vitest';
import { toBrief } from '../../src/report/view/brief.ts';

const ID = `ipp_${'2k9Aa'.repeat(6)}`;
const field = (to: string) => ({
  path: 'ip_restriction',
  inline: { from: 'none', to },
  notes: [],
  forcesReplace: false,
  lines: [],
});

it('names what an id stands for when there is no room for both', () => {
  const to = `ip_policy_ids: ${ID} (External/office), ${ID} (External/bastion)`;
  expect(toBrief(field(to), 60)).toBe('ip_restriction: none → ip_policy_ids: External/office, External/bastion');
  expect(toBrief(field(to), 200)).toBe(`ip_restriction: none → ${to}`);
});

it('cuts what is too long nevertheless', () => {
  expect(toBrief(field(`${ID} (it stays) ${'x'.repeat(60)}`), 40)).toBe(
    `ip_restriction: none → ${`${ID} (it stays`.slice(0, 40)}…`,
  );
});
