import { describe, expect, it } from 'vitest';
import type { Spec } from '../../src/model/state.ts';
import { comparePlans } from '../../src/plan/compare/compare-plans.ts';
import { createPlanWithDecisions } from '../../src/plan/create-plan.ts';
import { STACK_NAME, type TestResource, type TestStack } from '../laws/stack.ts';
import { World } from '../laws/world.ts';

/** What a comparison says of an approved plan, beside what is live: what is done already, and why the rest is not. */

const PLAIN: TestResource['lifecycle'] = { protect: false, ignore: [] };

function edge(name: string, spec: Spec, lifecycle: Partial<TestResource['lifecycle']> = {}): TestResource {
  return { kind: 'TCPEdge', name, spec, lifecycle: { ...PLAIN, ...lifecycle } };
}

const EDGE = edge('a', {});
const DESCRIBED = edge('a', { description: 'x' });
const LEFT_TO_OTHERS = edge('a', { description: 'x' }, { ignore: ['description'] });

/** The ids of two backends. */
const [BLUE, GREEN] = ['bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt', 'bkdhr_2k9XLQdTnSXvQJzqDPzZxhCBmHm'];

/** The metadata with the mark of a resource of a stack. */
function toMark(name: string, stack = STACK_NAME): Spec {
  return { metadata: JSON.stringify({ edgewise: { stack, name, fields: {} } }) };
}

/** What happens between the approval and the new plan. */
interface Meanwhile {
  /** Whether the approved plan is applied first. */
  readonly isApplied?: true;
  /** What another user then changes on the edge. */
  readonly byHand?: Spec;
  /** The stack of the new plan. Default: the approved one. */
  readonly now?: TestStack;
  /** The digest of the hidden values of the edge at the approval, and now. */
  readonly digests?: readonly [string, string];
}

/** Approves the plan for the second stack where the first is live. Lists what is done later, and what is missing, with the side that differs. */
async function compare([first, second]: readonly [TestStack, TestStack], meanwhile: Meanwhile) {
  const { isApplied, byHand, now = second, digests: [digest, later] = [] } = meanwhile;
  const world = new World();
  await world.migrate(first);
  const plan = await world.plan(second);
  if (isApplied) await world.apply(plan);
  const [live] = world.resources()['TCPEdge'] ?? [];
  if (byHand !== undefined) await world.call('PATCH', `/edges/tcp/${live?.['id']}`, byHand);
  const changes = digest === undefined ? plan.changes : plan.changes.map((one) => ({ ...one, hiddenDigest: digest }));
  const input = await world.readInput(now);
  const { plan: after, decisions } = createPlanWithDecisions(input);
  const hiddenDigests = new Map([['TCPEdge/a', [later]]]);
  const { done, less } = comparePlans({ ...plan, changes }, after, { decisions, live: input.live, hiddenDigests });
  return {
    done: done.map(({ action, address, paths = [] }) => [action, address, ...paths].join(' ')),
    missing: less.flatMap(({ change: { action, address }, isWhole, changed, fields }) =>
      isWhole
        ? [`${action} ${address}: ${changed}`]
        : fields.map(({ difference: { path }, ...one }) => `${action} ${address} ${path}: ${one.changed}`),
    ),
  };
}

describe('an approved change', () => {
  it.each<[string, readonly [TestStack, TestStack], Meanwhile, string]>([
    ['what it creates is live', [[], [DESCRIBED]], {}, 'create TCPEdge/a'],
    [
      'another user sets a part that is left to others',
      [[], [LEFT_TO_OTHERS]],
      { byHand: { description: 'y' } },
      'create TCPEdge/a',
    ],
    [
      'the manifest no longer has a part that is left to others',
      [[], [LEFT_TO_OTHERS]],
      { now: [edge('a', {}, LEFT_TO_OTHERS.lifecycle)] },
      'create TCPEdge/a',
    ],
    [
      'the hidden values of what it creates are those of the manifest',
      [[], [EDGE]],
      { digests: ['x', 'x'] },
      'create TCPEdge/a',
    ],
    [
      'the hidden values of what it updates are those of the manifest',
      [[EDGE], [DESCRIBED]],
      { digests: ['x', 'x'] },
      'update TCPEdge/a',
    ],
    ['the mark has the new name', [[EDGE], [edge('b', {}, { renamedFrom: 'a' })]], {}, 'update TCPEdge/b'],
  ])('is done if %s', async (_, stacks, meanwhile, line) => {
    expect(await compare(stacks, { isApplied: true, ...meanwhile })).toEqual({ done: [line], missing: [] });
  });

  it.each<[string, readonly [TestStack, TestStack], Meanwhile, readonly string[]]>([
    [
      'created edge is not as approved, and as the manifest is now',
      [[], [DESCRIBED]],
      { isApplied: true, byHand: { description: '' }, now: [EDGE] },
      ['create TCPEdge/a: both'],
    ],
    [
      'created edge has other hidden values than approved',
      [[], [EDGE]],
      { isApplied: true, digests: ['x', 'y'] },
      ['create TCPEdge/a: both'],
    ],
    [
      'updated edge has other hidden values than approved',
      [[EDGE], [DESCRIBED]],
      { isApplied: true, digests: ['x', 'y'] },
      ['update TCPEdge/a: manifests'],
    ],
    ['created edge has no manifest any more', [[], [EDGE]], { now: [] }, ['create TCPEdge/a: manifests']],
    ['deleted edge has a manifest again', [[EDGE], []], { now: [EDGE] }, ['delete TCPEdge/a: manifests']],
    [
      'deleted edge has the mark of another stack',
      [[EDGE], []],
      { byHand: toMark('a', 'other') },
      ['delete TCPEdge/a: live'],
    ],
    [
      'created edge is another one, which was renamed by hand',
      [[EDGE], [edge('b', {})]],
      { byHand: toMark('b') },
      ['delete TCPEdge/a: live', 'create TCPEdge/b: live'],
    ],
  ])('is not done if the %s', async (_, stacks, meanwhile, missing) => {
    expect(await compare(stacks, meanwhile)).toEqual({ done: [], missing });
  });

  it('is done in part if another user has set another part of it otherwise', async () => {
    const next = edge('a', { description: 'x', backend: { backend_id: BLUE } });
    const byHand = { description: 'x', backend: { backend_id: GREEN } };
    expect(await compare([[EDGE], [next]], { byHand })).toEqual({
      done: ['update TCPEdge/a description'],
      missing: ['update TCPEdge/a backend: live'],
    });
  });
});
