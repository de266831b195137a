import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toPlanDocument } from '../../src/kinds/plan-document.ts';
import { verifyPlan } from '../../src/plan/saved/verify-plan.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { holds, LONG } from './properties.ts';
import { World } from './world.ts';

it('a plan does what its changes show, whatever it is made of', LONG, async () => {
  const property = fc.asyncProperty(arbitraryHistory(2), async (stacks) => {
    const world = new World();
    for (const stack of stacks) {
      const plan = await world.migrate(stack);
      expect(verifyPlan(toPlanDocument(plan))).toEqual(plan);
    }
  });
  await holds(property, 40);
});
