import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { splitMetadata } from '../../src/model/mark.ts';
import type { Plan } from '../../src/model/plan.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { type Death, dieAt } from './dying-transport.ts';
import { holds, LONG } from './properties.ts';
import type { TestStack } from './stack.ts';
import { listTouched, World } from './world.ts';

describe('a saved plan', () => {
  it('goes on where it broke off, unless a token was lost on the way', LONG, async () => {
    const property = fc.asyncProperty(
      arbitraryHistory(1),
      arbitraryDeath(),
      async ([first = [], second = []], death) => {
        const world = new World();
        await world.migrate(first);
        const plan = saveAndRead(await world.plan(second));
        world.interpose(dieAt(death));
        await world.apply(plan);
        world.interpose();
        const { stale, ...known } = await world.check(plan);
        if (hasLostToken(world, second)) expect(stale.length).toBeGreaterThan(0);
        else {
          expect(stale).toEqual([]);
          const { outcomes } = await world.apply(plan, known);
          expect(outcomes.filter(({ outcome }) => outcome !== 'applied')).toEqual([]);
          expect(listTouched(await world.plan(second))).toEqual([]);
        }
      },
    );
    await holds(property, 40);
  });

  it('does nothing when it is applied again', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), async ([first = [], second = []]) => {
      const world = new World();
      await world.migrate(first);
      const plan = saveAndRead(await world.migrate(second));
      const { stale, ...known } = await world.check(plan);
      expect(stale).toEqual([]);
      world.takeRequests();
      const { outcomes } = await world.apply(plan, known);
      expect(outcomes.filter(({ outcome }) => outcome !== 'applied')).toEqual([]);
      expect(world.takeRequests().map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    });
    await holds(property, 25);
  });
});

function arbitraryDeath(): fc.Arbitrary<Death> {
  return fc.record({ request: fc.nat(12), when: fc.constantFrom('before', 'after') });
}

function saveAndRead(plan: Plan): Plan {
  return JSON.parse(JSON.stringify(plan));
}

/** Whether something of the stack was made whose token was never delivered, be it beside what it is to replace. */
function hasLostToken(world: World, stack: TestStack): boolean {
  const issued = stack.filter(({ kind }) => getKind(kind).oneTimeFields.length > 0);
  return issued.some(({ kind, name }) => {
    const marks = (world.resources()[kind] ?? []).map(({ metadata }) => splitMetadata(String(metadata)).mark);
    return marks.some((mark) => mark?.name === name && !mark.delivered);
  });
}
