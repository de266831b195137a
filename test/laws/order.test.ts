import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { LiveState } from '../../src/model/state.ts';
import { renderPlanJson } from '../../src/report/machine/json.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { holds } from './properties.ts';
import type { Layout } from './render-stack.ts';
import { shuffleStack } from './shuffle.ts';
import { World } from './world.ts';

describe('the order of the input', () => {
  it('does not change a byte of the plan', LONG, async () => {
    const property = fc.asyncProperty(
      arbitraryHistory(1),
      arbitraryLayout(),
      async ([first = [], second = []], layout) => {
        const world = new World();
        await world.migrate(first);
        const plan = await world.plan(second);
        const shuffled = await world.plan(shuffleStack(second), { layout });
        expect(toComparable(shuffled)).toBe(toComparable(plan));
      },
    );
    await holds(property, 40);
  });

  it('does not change a byte of the plan if it is the order of the responses', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), fc.nat(3), async ([first = [], second = []], metadata) => {
      const world = new World();
      await world.migrate(first);
      await addLookAlikes(world, LOOK_ALIKES[metadata] ?? '');
      const plan = await world.plan(second);
      const rearranged = await world.plan(second, { rearrange: reverseLive });
      expect(toComparable(rearranged)).toBe(toComparable(plan));
    });
    await holds(property, 25);
  });
});

/** The metadata of copies. Empty: a copy of the mark. */
const LOOK_ALIKES = ['', '{"edgewise":1}', '{"edgewise":{}}', 'text'];

/** Copies each resource that can be copied, some with its mark. */
async function addLookAlikes(world: World, metadata: string): Promise<void> {
  const resources = world.resources();
  for (const kind of OWNED_KINDS.filter(({ fields }) => Object.values(fields).every(({ unique }) => !unique)))
    for (const { id: _, created_at: __, state: ___, ...spec } of resources[kind.name] ?? [])
      await world.call('POST', kind.path, { ...spec, ...(metadata !== '' && { metadata }) });
}

function reverseLive(live: LiveState): LiveState {
  const resources = [...live.resources].map(([kind, members]) => [kind, members.toReversed()] as const);
  return {
    ...live,
    resources: new Map(resources.toReversed()),
    attachments: new Map([...live.attachments].toReversed()),
  };
}

function arbitraryLayout(): fc.Arbitrary<Layout> {
  return fc.record({
    order: fc.array(fc.nat(9), { minLength: 1, maxLength: 12 }),
    files: fc.integer({ min: 1, max: 4 }),
    json: fc.boolean(),
  });
}

/** The bytes of a plan file, without its time and positions in files. */
function toComparable({ made: _, ...plan }: Plan): string {
  const diagnostics = plan.diagnostics.map(({ place: _, ...diagnostic }) => diagnostic);
  const changes = plan.changes.map(({ place: _, ...change }) => change);
  const goneIds = plan.goneIds?.map((one) => ({ ...one, places: [] }));
  return renderPlanJson({ ...plan, changes, diagnostics, goneIds, inputs: [] });
}
