import { expect, it } from 'vitest';
import { formatShortField } from '../../src/report/view/field-view.ts';

const ID = `ipp_${'2k9Aa'.repeat(6)}`;
const field = (to: string) => ({
  path: 'ip_restriction',
  inline: { from: 'none', to },
  notes: [],
  forcesReplace: false,
  lines: [],
});

it('shows the name of an id, but not in text of others', () => {
  const to = `ip_policy_ids: ${ID} (External/office), ${ID} (External/bastion)`;
  expect(formatShortField(field(to), 60)).toBe(
    'ip_restriction: none → ip_policy_ids: External/office, External/bastion',
  );
  const text = `"${ID} (External/office) \\" ${ID} (External/vpn)"`;
  expect(formatShortField(field(text), 300)).toBe(`ip_restriction: none → ${text}`);
  const key = { ...field('50'), path: `backends.${ID} (External/blue)`, inline: { from: '90', to: '50' } };
  expect(formatShortField(key, 60)).toBe('backends.External/blue: 90 → 50');
});

it('shortens what is too long', () => {
  expect(formatShortField(field(`${ID} (it stays) ${'x'.repeat(60)}`), 40)).toBe(
    `ip_restriction: none → ${`${ID} (it stays`.slice(0, 40)}…`,
  );
});
