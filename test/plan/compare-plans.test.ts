import { describe, expect, it } from 'vitest';
import { formatChangeAddress } from '../../src/model/change.ts';
import type { Plan } from '../../src/model/plan.ts';
import { isCoveredByApproval } from '../../src/model/plan.ts';
import { comparePlans } from '../../src/plan/compare/compare-plans.ts';
import { makeChange, makeDifference, makeLiveChange, makePlan, toNormal } from '../report/sample-plans.ts';

const POOL = makeLiveChange('WeightedBackend/pool', 'no-op', { id: 'bkdwd_1' });
const OTHER_POOL = makeLiveChange('WeightedBackend/pool', 'no-op', { id: 'bkdwd_2' });
const NEW_POOL = makeChange('WeightedBackend/pool', 'create', { desired: toNormal('WeightedBackend/pool', {}) });

/** An edge that is led to a backend. */
function lead(to: string, from = 'bkdhr_0', id = 'edgtcp_1') {
  return makeLiveChange('TCPEdge/a', 'update', {
    id,
    spec: {},
    desired: toNormal('TCPEdge/a', {}),
    differences: [makeDifference('backend.backend_id', { from, to })],
  });
}

function token(directory: string) {
  return makeChange('Credential/a', 'create', { desired: toNormal('Credential/a', {}), token: { directory } });
}

function adopt(id: string, stack?: string) {
  const mark = stack === undefined ? {} : { mark: { stack, name: 'a', protect: false, delivered: false, fields: {} } };
  const live = { id, digest: '', spec: toNormal('TCPEdge/a', {}), ...mark };
  return makeChange('TCPEdge/a', stack === undefined ? 'adopt' : 'take-over', {
    live,
    desired: toNormal('TCPEdge/a', {}),
  });
}

function weight(key: string, from: number, to: number) {
  const differences = [makeDifference(`backends.${key}`, { from, to })];
  return makeLiveChange('WeightedBackend/shares', 'update', {
    id: 'bkdwd_9',
    spec: {},
    desired: toNormal('WeightedBackend/shares', {}),
    differences,
  });
}

function plan(...changes: Plan['changes']): Plan {
  return makePlan({ changes });
}

const file = { address: 'SSHUserCertificate/a', path: 'a.pub' } as const;

describe('whoever approved', () => {
  it.each<[string, Plan, Plan]>([
    ['a backend by its name: it has another id by now', plan(lead('bkdwd_1'), POOL), plan(lead('bkdwd_2'), OTHER_POOL)],
    [
      'a backend that was to be made: it is there by now',
      plan(lead('WeightedBackend/pool'), NEW_POOL),
      plan(lead('bkdwd_2'), OTHER_POOL),
    ],
    [
      'a change of a resource that has another id by now',
      plan(lead('bkdhr_1')),
      plan(lead('bkdhr_1', 'bkdhr_0', 'edgtcp_2')),
    ],
    ['a file whose text was not known', makePlan({ files: [file] }), makePlan({ files: [{ ...file, text: 'x' }] })],
    ['a token in one place', plan(token('a')), plan(token('a'))],
  ])('%s, approved it', (_, before, after) => {
    expect(comparePlans(before, after).more).toEqual({ changes: [], files: [] });
  });

  it.each<[string, Plan, Plan]>([
    ['a backend, not another one that has the same name elsewhere', plan(lead('bkdhr_1')), plan(lead('bkdhr_2'))],
    ['a value that was another one before', plan(lead('bkdhr_1')), plan(lead('bkdhr_1', 'bkdhr_7'))],
    ['a weight of one backend, not of another', plan(weight('bkdhr_1', 90, 10)), plan(weight('bkdhr_2', 90, 10))],
    ['a token in one place, not in another', plan(token('a')), plan(token('b'))],
    ['the adoption of one resource, not of another', plan(adopt('edgtcp_1')), plan(adopt('edgtcp_2'))],
    ["the adoption of what is nobody's, not from a stack", plan(adopt('edgtcp_1')), plan(adopt('edgtcp_1', 'theirs'))],
    [
      'a new file, not one that replaces another',
      makePlan({ files: [file] }),
      makePlan({ files: [{ ...file, replaces: true }] }),
    ],
    [
      'a plan for one service, not for another',
      plan(lead('bkdhr_1')),
      { ...plan(lead('bkdhr_1')), baseUrl: 'https://other.test' },
    ],
    ['a plan to apply, not one to destroy', plan(), { ...plan(), mode: 'destroy' }],
  ])('%s', (_, before, after) => {
    expect(isCoveredByApproval(comparePlans(before, before))).toBe(true);
    expect(isCoveredByApproval(comparePlans(before, after))).toBe(false);
  });

  it('a danger approved no other: a replace that deletes first is more than one that does not', () => {
    const replace = (gap: number) =>
      makeLiveChange('AgentIngress/a', 'replace', {
        id: 'agin_1',
        spec: {},
        reason: 'requested with --rotate',
        desired: toNormal('AgentIngress/a', { domain: 'a.example.com' }),
        dangers: gap === 0 ? [] : [{ group: 'traffic', danger: 'gap', writes: gap }],
      });
    const { more } = comparePlans(plan(replace(0)), plan(replace(1)));
    expect(more.changes.map(({ change, dangers }) => [formatChangeAddress(change), dangers.length])).toEqual([
      ['AgentIngress/a', 1],
    ]);
    expect(isCoveredByApproval(comparePlans(plan(replace(2)), plan(replace(1))))).toBe(true);
  });
});
