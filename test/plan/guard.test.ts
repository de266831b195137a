import { expect, it } from 'vitest';
import type { GuardInput } from '../../src/plan/guard.ts';
import { listBlockingViolations, listGuardAndProtectionViolations } from '../../src/plan/guard.ts';
import { createChange } from '../report/sample-plans.ts';

const DELETES = Array.from({ length: 6 }, (_, index) => createChange(`TCPEdge/edge-${index}`, 'delete'));

function checkGuard(input: Partial<GuardInput>): readonly string[] {
  const settings = { maxDeletes: 5, maxDeleteShare: 0.3 };
  const base: GuardInput = {
    changes: DELETES,
    owned: new Map(),
    settings,
    stack: 'shop',
    mode: 'apply',
    isTargeted: true,
  };
  return listGuardAndProtectionViolations({ ...base, ...input }).map(({ message }) => message);
}

it('counts the share of deletes of everything owned, whatever the targets', () => {
  expect(checkGuard({ owned: new Map([['TCPEdge', 40]]) })).toEqual([]);
  expect(checkGuard({ owned: new Map([['TCPEdge', 10]]) })).toEqual([
    'This plan would delete 6 of 10 TCPEdge (60 %). More than 5 deletes of a kind need consent if they are also more than 30 % of it.',
  ]);
});

it('checks only protection for a plan of destroy', () => {
  const [first, ...rest] = DELETES;
  expect(checkGuard({ mode: 'destroy', isTargeted: false })).toEqual([]);
  const kept = first === undefined ? [] : [{ ...first, protect: true }, ...rest];
  expect(checkGuard({ mode: 'destroy', changes: kept })).toEqual([
    'TCPEdge/edge-0 is protected, and this plan would delete it.',
  ]);
});

it('takes a consent of another type for none, as a program without types may give it', () => {
  const violations = (['delete-share', 'protect'] as const).map((rule) => ({
    rule,
    addresses: rule === 'protect' ? ['TCPEdge/edge-0'] : [],
    message: rule,
    remedy: '',
  }));
  for (const given of [
    '{ "allowDeletes": [], "allowProtected": true }',
    '{ "allowDeletes": "no", "allowProtected": "TCPEdge/edge-0" }',
    '{ "allowDeletes": null, "allowProtected": null }',
    '{ "allowDeletes": {}, "allowProtected": {} }',
  ])
    expect(listBlockingViolations(violations, JSON.parse(given))).toEqual(violations);
});
