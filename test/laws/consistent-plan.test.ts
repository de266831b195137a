import fc from 'fast-check';
import { expect, it } from 'vitest';
import { renderPlanJson } from '../../src/report/machine/json.ts';
import { parsePlan } from '../../src/stack/parse-plan.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { holds } from './properties.ts';
import { World } from './world.ts';

it('the writes of any plan file match the changes that it shows', LONG, async () => {
  const property = fc.asyncProperty(arbitraryHistory(2), async (stacks) => {
    const world = new World();
    for (const stack of stacks) {
      const plan = await world.migrate(stack);
      expect(parsePlan(renderPlanJson(plan))).toEqual(plan);
    }
  });
  await holds(property, 40);
});
