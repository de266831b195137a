import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderStableJson } from '../../src/model/json.ts';
import type { Plan } from '../../src/model/plan.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { holds, LONG } from './properties.ts';
import type { Layout } from './render-stack.ts';
import { shuffleStack } from './shuffle.ts';
import { World } from './world.ts';

describe('the order of things in the input', () => {
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
    await holds(property, 60);
  });
});

function arbitraryLayout(): fc.Arbitrary<Layout> {
  return fc.record({
    order: fc.array(fc.nat(9), { minLength: 1, maxLength: 12 }),
    files: fc.integer({ min: 1, max: 4 }),
    json: fc.boolean(),
  });
}

/** The bytes of its file, but for where and in which files things stand. */
function toComparable(plan: Plan): string {
  const diagnostics = plan.diagnostics.map(({ place: _, ...diagnostic }) => diagnostic);
  return renderStableJson({ ...plan, diagnostics, inputs: [] });
}
