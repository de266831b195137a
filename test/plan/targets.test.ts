import { describe, expect, it } from 'vitest';
import type { Spec } from '../../src/model/state.ts';
import type { TestResource } from '../laws/stack.ts';
import { World } from '../laws/world.ts';

const LIFECYCLE = { protect: false, ignore: [] } as const;
const BLUE = 'bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt';

function toEdge(backend: string): TestResource {
  return { kind: 'TCPEdge', name: 'shop', spec: { backend: { backend_id: backend } }, lifecycle: LIFECYCLE };
}

function toPool(name: string, spec: Spec = {}): TestResource {
  return { kind: 'WeightedBackend', name, spec: { backends: { [BLUE]: 1 }, ...spec }, lifecycle: LIFECYCLE };
}

/** Creates a pool as another stack. Returns its id. */
async function createPool(world: World, mark: Spec | undefined): Promise<string> {
  const metadata = mark === undefined ? '' : JSON.stringify({ edgewise: mark });
  return String((await world.call('POST', '/backends/weighted', { backends: { [BLUE]: 1 }, metadata }))['id']);
}

/** Lists the dangers of an edge that refers to another pool. */
async function listTargets(world: World, stack: readonly TestResource[]) {
  const { changes } = await world.plan(stack);
  const dangers = changes.flatMap(({ dangers: found = [] }) => found);
  return dangers.filter(({ danger }) => danger === 'target-changed').map(({ consequence }) => consequence);
}

describe('an edge that refers to another pool', () => {
  it('names a pool of another stack, and says that its team differs', async () => {
    const world = new World();
    const own = await createPool(world, { stack: 'stack.under_test', name: 'blue', owner: 'prod', fields: {} });
    const other = await createPool(world, { stack: 'qa', name: 'pool', owner: 'qa-team', fields: {} });
    await world.migrate([toPool('blue'), toEdge(own)]);
    const [said] = await listTargets(world, [toPool('blue'), toEdge(other)]);
    expect(said).toBe(
      'WeightedBackend/blue of this stack → WeightedBackend/pool of the stack qa, which is another environment: its team is qa-team, not prod',
    );
  });

  it('names only the other stack if no team is known', async () => {
    const world = new World();
    const other = await createPool(world, { stack: 'qa', name: 'pool', fields: {} });
    await world.migrate([toEdge(BLUE)]);
    expect(await listTargets(world, [toEdge(other)])).toEqual([`${BLUE} → WeightedBackend/pool of the stack qa`]);
    const unmanaged = await createPool(world, undefined);
    expect(await listTargets(world, [toEdge(unmanaged)])).toEqual([`${BLUE} → ${unmanaged}, which no stack manages`]);
  });

  it('says that both pools are of the same stack, also if one is new', async () => {
    const world = new World();
    await world.migrate([toPool('blue'), toEdge('WeightedBackend/blue')]);
    const stack = [toPool('blue'), toPool('green'), toEdge('WeightedBackend/green')];
    expect(await listTargets(world, stack)).toEqual(['both of this stack']);
  });
});
