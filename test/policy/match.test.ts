import { describe, expect, it } from 'vitest';
import type { PolicyDocument } from '../../src/model/policy.ts';
import { appliesTo } from '../../src/policy/evaluate.ts';
import type { PolicySubject } from '../../src/policy/subject.ts';
import { SUBJECT, toPolicy } from './sample-policies.ts';

type Match = PolicyDocument['match'];

/** Whether a policy refuses an update of a TCP edge with a danger, with the labels `owner` and `public`, in the stack `shop-eu`. */
function isRefused(match: Match, subject: Partial<PolicySubject> = {}, require = 'true'): boolean {
  return appliesTo(toPolicy(require, { match }), { ...SUBJECT, ...subject }, 'shop-eu');
}

describe('a policy', () => {
  it.each<[boolean, Match]>([
    [true, {}],
    [true, { kinds: ['TCPEdge', 'Credential'] }],
    [false, { kinds: ['Credential'] }],
    [true, { actions: ['update', 'delete'] }],
    [false, { actions: ['create'] }],
    [true, { danger: ['gap', 'restriction-removed'] }],
    [true, { danger: ['access'] }],
    [false, { danger: ['gap', 'traffic'] }],
    [true, { labels: { owner: 'data' } }],
    [true, { labels: { owner: ['shop', 'data'] } }],
    [false, { labels: { owner: 'shop' } }],
    [false, { labels: { owner: 'data', tier: 'gold' } }],
    [false, { labels: { constructor: 'x' } }],
    [true, { stacks: ['shop-eu'] }],
    [true, { stacks: ['other', 'shop-*'] }],
    [true, { stacks: ['*-eu'] }],
    [true, { stacks: ['s*p*u'] }],
    [false, { stacks: ['shop'] }],
    [false, { stacks: ['shop-*-*'] }],
    [false, { stacks: ['shop-eu*eu'] }],
    [false, { kinds: ['TCPEdge'], actions: ['update'], labels: { owner: 'shop' } }],
  ])('is evaluated: %s, with %j', (expected, match) => {
    expect(isRefused(match)).toBe(expected);
  });

  it.each<[string, readonly string[]]>([
    ['true', ['create', 'update', 'replace', 'delete', 'take-over', 'adopt', 'release']],
    ['size(after.hostports) > 0', ['create', 'update', 'replace', 'take-over', 'adopt']],
    ['"team" in labels', ['create', 'update', 'replace', 'take-over', 'adopt']],
    ['size(before.hostports) > 0', ['update', 'replace', 'delete', 'take-over', 'adopt', 'release']],
    ['size(before.hostports) < size(after.hostports)', ['create', 'update', 'replace', 'take-over', 'adopt']],
  ])('without actions that requires %s is about %j', (require, expected) => {
    const actions = ['create', 'update', 'replace', 'delete', 'take-over', 'adopt', 'release', 'no-op'] as const;
    expect(actions.filter((action) => isRefused({}, { action }, require))).toEqual(expected);
  });

  it.each(['delete', 'release'] as const)(
    'with match.labels does not apply to a %s, which has no manifest',
    (action) => {
      expect(isRefused({ labels: { owner: 'data' } }, { action, labels: {} })).toBe(false);
      expect(isRefused({ labels: { owner: ['data', ''] }, actions: [action] }, { action, labels: {} })).toBe(false);
    },
  );

  it('without kinds is about those that have its fields', () => {
    expect([...toPolicy('size(after.acl) > 0', { match: {} }).kinds]).toEqual(['Credential']);
    expect([...toPolicy('after.backend == null', { match: {} }).kinds]).toEqual(['TCPEdge']);
    expect(toPolicy('"a" in labels', { match: {} }).kinds.size).toBeGreaterThan(5);
  });
});
