import { describe, expect, it } from 'vitest';
import type { Address } from '../../src/model/address.ts';
import { type Change, type Difference, formatChangeAddress } from '../../src/model/change.ts';
import type { Plan } from '../../src/model/plan.ts';
import { isSamePlan } from '../../src/model/plan.ts';
import { comparePlans, type PlanEvidence } from '../../src/plan/compare/compare-plans.ts';
import {
  createChange,
  createDifference,
  createLiveChange,
  createPlan,
  createWrite,
  toNormal,
} from '../report/sample-plans.ts';

const POOL = createLiveChange('WeightedBackend/pool', 'no-op', { id: 'bkdwd_1' });
const OTHER_POOL = createLiveChange('WeightedBackend/pool', 'no-op', { id: 'bkdwd_2' });
const NEW_POOL_LATER = createChange('WeightedBackend/later', 'no-op');
const NEW_POOL = createChange('WeightedBackend/pool', 'create', { desired: toNormal('WeightedBackend/pool', {}) });

/** An update that sets the backend of an edge. */
function edgeWithBackend(to: string, from = 'bkdhr_0', id = 'edgtcp_1') {
  return createLiveChange('TCPEdge/a', 'update', {
    id,
    spec: {},
    desired: toNormal('TCPEdge/a', {}),
    differences: [createDifference('backend.backend_id', { from, to })],
  });
}

function token(directory: string) {
  return createChange('Credential/a', 'create', { desired: toNormal('Credential/a', {}), token: { directory } });
}

function adopt(id: string, stack?: string) {
  const mark = stack === undefined ? {} : { mark: { stack, name: 'a', protect: false, delivered: false, fields: {} } };
  const live = { id, spec: toNormal('TCPEdge/a', {}), ...mark };
  return createChange('TCPEdge/a', stack === undefined ? 'adopt' : 'take-over', {
    live,
    desired: toNormal('TCPEdge/a', {}),
  });
}

function weight(key: string, from: number, to: number) {
  const differences = [createDifference(`backends.${key}`, { from, to })];
  return createLiveChange('WeightedBackend/shares', 'update', {
    id: 'bkdwd_9',
    spec: {},
    desired: toNormal('WeightedBackend/shares', {}),
    differences,
  });
}

function plan(...changes: Plan['changes']): Plan {
  return createPlan({ changes });
}

/** Nothing that the plans name is live any more. */
const NOTHING_LIVE: PlanEvidence = {
  decisions: [],
  live: { resources: new Map(), attachments: new Map(), requests: 0 },
};

/** An update of a pool that leaves the weight of one backend to others. */
function leaveToOthers(path: string) {
  return { ...weight('bkdhr_9', 90, 10), ignored: [`backends.${path}`] };
}

/** An update of the modules of a route. */
function route(edge: string) {
  const spec = { edge_id: edge, id: 'edghtsrt_1' };
  return createLiveChange('HTTPSEdgeRoute/a', 'update', {
    ...{ id: 'edghtsrt_1', spec, desired: toNormal('HTTPSEdgeRoute/a', spec) },
    differences: [createDifference('circuit_breaker', { from: { enabled: true } })],
  });
}

const withKinds = (...kinds: readonly string[]): Plan => ({ ...plan(), settings: { ...plan().settings, kinds } });
const withRetire = (...retire: readonly Address[]): Plan => ({ ...plan(), options: { ...plan().options, retire } });

describe('comparePlans finds no difference', () => {
  it.each<[string, Plan, Plan]>([
    [
      'if a backend that was to be created exists now',
      plan(edgeWithBackend('WeightedBackend/pool'), NEW_POOL),
      plan(edgeWithBackend('bkdwd_2'), OTHER_POOL, NEW_POOL_LATER),
    ],
    [
      'if an old value was omitted and is now shown as empty',
      plan(edgeWithBackend('bkdhr_1')),
      plan(edgeWithBackend('bkdhr_1')),
    ],
    [
      'if a backend whose weight is left to others exists now',
      plan(leaveToOthers('WeightedBackend/pool'), NEW_POOL),
      plan(leaveToOthers('bkdwd_2'), OTHER_POOL, NEW_POOL_LATER),
    ],
    ['if a token goes to the same sink', plan(token('a')), plan(token('a'))],
    [
      'in texts, counts and times',
      plan(edgeWithBackend('bkdhr_1')),
      createPlan({
        changes: [{ ...edgeWithBackend('bkdhr_1'), reason: 'due', notes: ['x'], labels: { a: 'b' } }],
        made: { at: '2026-03-01T00:00:00Z' },
        requests: { read: 9, apply: 9, leastMs: 9 },
        inputs: [{ file: 'a.yaml', digest: 'x' }],
        takeOver: [],
      }),
    ],
    ['in the order of the kinds in use', withKinds('TCPEdge', 'Credential'), withKinds('Credential', 'TCPEdge')],
    [
      'in the order of --retire',
      withRetire('Credential/a', 'Credential/b'),
      withRetire('Credential/b', 'Credential/a'),
    ],
  ])('%s', (_, before, after) => {
    const { members, more } = comparePlans(before, after);
    expect([members, more]).toEqual([[], []]);
  });
});

describe('comparePlans finds a difference', () => {
  it.each<[string, Plan, Plan]>([
    ['in a backend', plan(edgeWithBackend('bkdhr_1')), plan(edgeWithBackend('bkdhr_2'))],
    [
      'in a backend of the stack that now has another id',
      plan(edgeWithBackend('bkdwd_1'), POOL),
      plan(edgeWithBackend('bkdwd_2'), OTHER_POOL),
    ],
    [
      'in the id of the changed resource',
      plan(edgeWithBackend('bkdhr_1')),
      plan(edgeWithBackend('bkdhr_1', 'bkdhr_0', 'edgtcp_2')),
    ],
    [
      'in a value whose old value differs',
      plan(edgeWithBackend('bkdhr_1')),
      plan(edgeWithBackend('bkdhr_1', 'bkdhr_7')),
    ],
    ['in the weight of another backend', plan(weight('bkdhr_1', 90, 10)), plan(weight('bkdhr_2', 90, 10))],
    ['in the backend whose weight is left to others', plan(leaveToOthers('bkdhr_1')), plan(leaveToOthers('bkdhr_2'))],
    ['in the edge of a route', plan(route('edghts_1')), plan(route('edghts_2'))],
    ['in the token sink', plan(token('a')), plan(token('b'))],
    ['in the adopted resource', plan(adopt('edgtcp_1')), plan(adopt('edgtcp_2'))],
    ['in the former stack of the adopted resource', plan(adopt('edgtcp_1')), plan(adopt('edgtcp_1', 'theirs'))],
    [
      'in a change that only the earlier plan has',
      plan(edgeWithBackend('bkdhr_1'), token('a')),
      plan(edgeWithBackend('bkdhr_1')),
    ],
    [
      'in the service',
      plan(edgeWithBackend('bkdhr_1')),
      { ...plan(edgeWithBackend('bkdhr_1')), baseUrl: 'https://other.test' },
    ],
    ['in the mode', plan(), { ...plan(), mode: 'destroy' }],
  ])('%s', (_, before, after) => {
    expect(isSamePlan(comparePlans(before, before))).toBe(true);
    expect(isSamePlan(comparePlans(before, after))).toBe(false);
  });

  it('in a second value of a path, which only an edited plan has', () => {
    const change = edgeWithBackend('bkdhr_1');
    const edited = { ...change, differences: [...edgeWithBackend('bkdhr_7').differences, ...change.differences] };
    expect(isSamePlan(comparePlans(plan(edited), plan(change)))).toBe(false);
    expect(isSamePlan(comparePlans(plan(change), plan(edited)))).toBe(false);
  });

  it('in a second delete of a resource, which only an edited plan has', () => {
    const remove = (name: Address) => createLiveChange(name, 'delete', { id: 'edgtcp_1', spec: {} });
    const edited = plan(remove('TCPEdge/a'), remove('TCPEdge/b'));
    expect(isSamePlan(comparePlans(edited, plan(remove('TCPEdge/a'))))).toBe(false);
    expect(isSamePlan(comparePlans(plan(remove('TCPEdge/a')), edited))).toBe(false);
  });

  it('in a difference of a delete, which only an edited plan has', () => {
    const remove = createLiveChange('TCPEdge/a', 'delete', { id: 'edgtcp_1', spec: {} });
    const edited = { ...remove, differences: [createDifference('description', { from: 'a', to: 'b' })] };
    expect(isSamePlan(comparePlans(plan(edited), plan(remove)))).toBe(false);
    expect(isSamePlan(comparePlans(plan(remove), plan(edited)))).toBe(false);
  });

  it('in a creation beside a resource that was to be deleted, and none in its delete as a duplicate', () => {
    const removed = createLiveChange('TCPEdge/a', 'delete', { id: 'edgtcp_1', spec: {} });
    const created = createChange('TCPEdge/a', 'create', { desired: toNormal('TCPEdge/a', {}) });
    const duplicate = { ...removed, duplicateOf: 'edgtcp_2' };
    const { more, less } = comparePlans(plan(removed), plan(duplicate, created));
    expect(more.map(({ change, other }) => [change.action, other])).toEqual([['create', undefined]]);
    expect(less).toEqual([]);
  });

  it('in a backend that must be created again, and none in the edge that refers to it', () => {
    const update = createLiveChange('WeightedBackend/pool', 'update', { id: 'bkdwd_1', spec: {}, desired: {} });
    const { more } = comparePlans(
      plan(edgeWithBackend('bkdwd_1'), update),
      plan(edgeWithBackend('WeightedBackend/pool'), NEW_POOL),
    );
    expect(more.map(({ change }) => change.address)).toEqual(['WeightedBackend/pool']);
  });

  it('in a gap that is new, and none in one that is shorter or gone', () => {
    const replace = (gap: number) =>
      createLiveChange('AgentIngress/a', 'replace', {
        id: 'agin_1',
        spec: {},
        reason: 'requested with --rotate',
        desired: toNormal('AgentIngress/a', { domain: 'a.example.com' }),
        dangers: gap === 0 ? [] : [{ group: 'traffic', danger: 'gap', writes: gap }],
      });
    const { more } = comparePlans(plan(replace(0)), plan(replace(1)));
    expect(more.map(({ change, dangers }) => [formatChangeAddress(change), dangers.length])).toEqual([
      ['AgentIngress/a', 1],
    ]);
    expect(isSamePlan(comparePlans(plan(replace(2)), plan(replace(1))))).toBe(true);
    expect(isSamePlan(comparePlans(plan(replace(2)), plan(replace(0))))).toBe(true);
  });
});

describe('comparePlans after an interrupted apply', () => {
  const ingress = (action: Change['action'], parts: Parameters<typeof createLiveChange>[2]) =>
    createLiveChange('AgentIngress/a', action, parts);
  const listMore = (before: Plan, after: Plan, evidence?: PlanEvidence) =>
    comparePlans(before, after, evidence).more.map(({ change, isWhole, fields, dangers }) => [
      `${change.action} ${formatChangeAddress(change)}`,
      isWhole,
      fields.length + dangers.length,
    ]);

  it('accepts the rest of an adoption, which is an update, and no new danger of it', () => {
    const differences = [createDifference('description', { from: 'a', to: 'b' })];
    const adoption = { ...adopt('edgtcp_1'), differences };
    const update = { ...adoption, action: 'update' as const };
    expect(listMore(plan(adoption), plan(update))).toEqual([]);
    const wide = {
      ...update,
      dangers: [{ group: 'access', danger: 'access-widened', path: 'ip_restriction' }],
    } as const;
    expect(listMore(plan(adoption), plan(wide))).toEqual([['update TCPEdge/a', false, 1]]);
  });

  it('accepts the delete of the old resource of a replace, as long as the old one is as approved', () => {
    const desired = toNormal('AgentIngress/a', { domain: 'new.test' });
    const replace = ingress('replace', { id: 'agin_1', spec: { domain: 'old.test' }, desired });
    const toDelete = (domain: string) => ingress('delete', { id: 'agin_1', duplicateOf: 'agin_2', spec: { domain } });
    expect(listMore(plan(replace), plan(toDelete('old.test')))).toEqual([]);
    expect(listMore(plan(replace), plan(toDelete('other.test')))).toEqual([['delete AgentIngress/a@agin_1', true, 0]]);
  });

  it('accepts the creation that is left of a replace, whose dangers are those of a creation', () => {
    const desired = toNormal('AgentIngress/a', { domain: 'new.test' });
    const toDangers = (path: string) => [{ group: 'traffic', danger: 'new-values', path }] as const;
    const replace = ingress('replace', { id: 'agin_1', spec: {}, desired, dangers: toDangers('domain') });
    const create = createChange('AgentIngress/a', 'create', { desired, dangers: toDangers('ns_targets') });
    const { more, less } = comparePlans(plan(replace), plan(create), NOTHING_LIVE);
    expect([more, less]).toEqual([[], []]);
  });

  it('compares hidden values by the digests of the manifests', () => {
    const approved = plan({ ...edgeWithBackend('bkdhr_1'), hiddenDigest: 'x' });
    const withDigest = (digest: string) => ({ ...NOTHING_LIVE, hiddenDigests: new Map([['TCPEdge/a', [digest]]]) });
    expect(listMore(approved, approved, withDigest('x'))).toEqual([]);
    expect(listMore(approved, approved, withDigest('y'))).toEqual([['update TCPEdge/a', false, 1]]);
  });

  it.each([
    ['that the approved plan creates and whose token was not delivered', {}, true],
    ['whose token was delivered', { delivered: true }, false],
    ['of another name', { name: 'b' }, false],
    ['of another stack', { stack: 'other' }, false],
  ])('takes the replacement of a credential for its creation again, and no other: %s', (_, parts, isSame) => {
    const written = { stack: 'production', name: 'a', protect: false, delivered: false, fields: { acl: 'digest' } };
    const desired = toNormal('Credential/a', {});
    const create = createWrite('create', 'Credential/a', { mark: { ...written, user: '', pending: {} } });
    const approved = createPlan({ changes: [createChange('Credential/a', 'create', { desired })], writes: [create] });
    const live = { id: 'cr_1', spec: {}, mark: { ...written, ...parts } };
    const resource = { ...live, kind: 'Credential', createdAt: '', markError: undefined, computed: {} };
    const resources = new Map([['Credential', [resource]]]);
    const { more } = comparePlans(approved, plan(createChange('Credential/a', 'replace', { live, desired })), {
      ...NOTHING_LIVE,
      live: { ...NOTHING_LIVE.live, resources },
    });
    expect(more.some(({ change }) => change.action === 'replace')).toBe(!isSame);
  });

  const toMove = (from: string) =>
    createLiveChange('TCPEdge/a', 'update', {
      ...{ id: 'edgtcp_1', spec: { hostports: [from] }, desired: toNormal('TCPEdge/a', { hostports: ['c:3'] }) },
      differences: [createDifference('hostports', { from: [from], to: ['c:3'] })],
    });

  it.each([
    ['b:2', true],
    ['d:4', false],
  ])('accepts the value that the approved plan sets in between, and no other: %s', (from, isSame) => {
    const vacate = createWrite('update', 'TCPEdge/a', { resourceId: 'edgtcp_1', body: { hostports: ['b:2'] } });
    const approved = createPlan({ changes: [toMove('a:1')], writes: [{ ...vacate, purpose: 'vacate' }] });
    expect(isSamePlan(comparePlans(approved, plan(toMove(from))))).toBe(isSame);
  });
});

describe('comparePlans shows both values', () => {
  it('of what is no field', () => {
    const certificate = (validForMs: number) =>
      plan(createChange('SSHUserCertificate/a', 'create', { desired: {}, validForMs }));
    const { more } = comparePlans(certificate(1), certificate(2));
    expect(more.flatMap(({ fields }) => fields.map(({ difference, other }) => [difference.to, other]))).toEqual([
      [2, { to: 1 }],
    ]);
  });

  it('of a field of a replace once', () => {
    const replace = (domain: string) =>
      plan(
        createLiveChange('AgentIngress/a', 'replace', {
          id: 'agin_1',
          spec: { domain: 'old.example.com' },
          reason: 'the domain changed',
          desired: toNormal('AgentIngress/a', { domain }),
          differences: [
            {
              field: 'domain',
              path: 'domain',
              from: 'old.example.com',
              to: domain,
              forcesReplace: true,
              origin: 'manifest',
            },
          ],
        }),
      );
    const { more } = comparePlans(replace('a.example.com'), replace('b.example.com'));
    expect(more.flatMap(({ fields }) => fields.map(({ difference }) => difference.path))).toEqual(['domain']);
  });

  it('of each field of a creation that is not as approved', () => {
    const create = (spec: Parameters<typeof toNormal>[1]) =>
      plan(createChange('TCPEdge/a', 'create', { desired: toNormal('TCPEdge/a', spec) }));
    const backend = { enabled: true, backend_id: 'bkdhr_1' };
    const { more } = comparePlans(create({ description: 'a' }), create({ description: 'b', backend }));
    expect(more.flatMap(({ fields }) => fields.map(({ difference, other }) => [difference, other]))).toEqual([
      [expect.objectContaining({ path: 'description', to: 'b' }), { to: 'a' }],
      [expect.objectContaining({ path: 'backend', to: backend }), {}],
    ]);
  });
});

describe('comparePlans lists as missing', () => {
  const toUpdate = (...values: readonly (readonly [path: string, from: string, to: string])[]) => ({
    ...edgeWithBackend('bkdhr_1'),
    differences: values.map(([path, from, to]) => createDifference(path, { from, to })),
  });

  it('the fields that the later plan does not change, without dangers', () => {
    const update = toUpdate(['description', 'a', 'b'], ['backend.backend_id', 'bkdhr_0', 'bkdhr_1']);
    const before = plan({ ...update, dangers: [{ group: 'protection', danger: 'unprotected' }] });
    const { more, less } = comparePlans(before, plan(toUpdate(['description', 'a', 'c'])));
    const toPaths = (changes: typeof more) =>
      changes.map(({ fields, dangers }) => [fields.map(({ difference }) => difference.path), dangers]);
    expect(toPaths(more)).toEqual([[['description'], []]]);
    expect(toPaths(less)).toEqual([[['backend.backend_id'], []]]);
  });

  it.each([
    ['as desired', 'b', 'live'],
    ['as it was', 'a', 'manifests'],
    ['something else', 'c', 'both'],
  ])(
    'a field that the later plan leaves alone, with the side that differs: the live value is %s',
    (_, value, changed) => {
      const later = createLiveChange('TCPEdge/a', 'update', {
        ...{ id: 'edgtcp_1', spec: { description: value }, desired: toNormal('TCPEdge/a', {}) },
        differences: [createDifference('backend.backend_id', { from: 'bkdhr_0', to: 'bkdhr_1' })],
      });
      const { less } = comparePlans(plan(toUpdate(['description', 'a', 'b'])), plan(later));
      expect(less.flatMap(({ fields }) => fields.map((field) => field.changed))).toEqual([changed]);
    },
  );

  it.each([
    ['manifest', 'manifests'],
    ['drift', 'live'],
  ] as const)('what is no field, with the side on which its origin is: %s', (origin, changed) => {
    const protect = createDifference('lifecycle.protect', { from: false, to: true, origin });
    const before = { ...edgeWithBackend('bkdhr_1'), differences: [protect] };
    const { less } = comparePlans(plan(before), plan(toUpdate(['description', 'a', 'b'])));
    expect(less.flatMap(({ fields }) => fields.map((field) => field.changed))).toEqual([changed]);
  });

  it('nothing of a resource that the later plan changes otherwise as a whole', () => {
    const removed = createLiveChange('TCPEdge/a', 'delete', { id: 'edgtcp_1', spec: {} });
    const { more, less } = comparePlans(plan(edgeWithBackend('bkdhr_1')), plan(removed));
    expect(more.map(({ isWhole }) => isWhole)).toEqual([true]);
    expect(less).toEqual([]);
  });
});

describe('comparePlans says which side changed if only the later plan', () => {
  const toUpdate = (origin: Difference['origin']) => ({
    ...edgeWithBackend('bkdhr_1'),
    differences: [createDifference('description', { from: 'a', to: 'b', origin })],
  });
  const unchanged = createLiveChange('TCPEdge/a', 'no-op', { id: 'edgtcp_1' });
  const toReplace = (differences: readonly Difference[]) => ({
    ...toUpdate('drift'),
    action: 'replace' as const,
    differences,
  });

  it.each<[string, Change, Change | undefined, string]>([
    ['has new values', toUpdate('manifest'), unchanged, 'manifests'],
    ['sets values back', toUpdate('drift'), unchanged, 'live'],
    ['does both', toUpdate('both'), unchanged, 'both'],
    ['replaces for its age', toReplace([]), unchanged, 'live'],
    ['replaces for new values', toReplace(toUpdate('manifest').differences), unchanged, 'manifests'],
    [
      'deletes what the approved plan does not know',
      createLiveChange('TCPEdge/a', 'delete', { id: 'edgtcp_1', spec: {} }),
      undefined,
      'live',
    ],
    [
      'deletes what has no manifest any more',
      createLiveChange('TCPEdge/a', 'delete', { id: 'edgtcp_1', spec: {} }),
      unchanged,
      'manifests',
    ],
  ])('%s', (_, later, earlier, side) => {
    const { more } = comparePlans(plan(...(earlier === undefined ? [] : [earlier])), plan(later));
    expect(more.map(({ changed }) => changed)).toEqual([side]);
  });
});
