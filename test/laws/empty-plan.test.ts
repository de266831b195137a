import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { holds } from './properties.ts';
import { SUBJECTS } from './subjects.ts';
import { listTouched, World } from './world.ts';

describe('after an apply', () => {
  it.each(SUBJECTS)('nothing is left to do for stacks of $name', LONG, async (kind) => {
    const property = fc.asyncProperty(arbitraryHistory(1, { kinds: [kind] }), async (stacks) => {
      const world = new World();
      for (const stack of stacks) {
        await world.migrate(stack);
        expect(listTouched(await world.plan(stack))).toEqual([]);
      }
    });
    await holds(property, 8);
  });

  it('nothing is left to do for stacks of every kind, and another apply sends no request', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(2), async (stacks) => {
      const world = new World();
      for (const stack of stacks) {
        await world.migrate(stack);
        const plan = await world.plan(stack);
        expect(listTouched(plan)).toEqual([]);
        expect(plan.writes).toEqual([]);
        world.takeRequests();
        await world.apply(plan);
        expect(world.takeRequests()).toEqual([]);
      }
    });
    await holds(property, 40);
  });

  it('nothing is left to do in any order of the independent requests', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), fc.scheduler(), async (stacks, scheduler) => {
      const world = new World({ concurrency: 64 });
      for (const stack of stacks) {
        const plan = await world.plan(stack);
        world.interpose((inner) => async (request) => {
          await scheduler.schedule(Promise.resolve(), request.method);
          return inner(request);
        });
        const { outcomes } = await scheduler.waitFor(world.apply(plan));
        expect(outcomes.filter(({ outcome }) => outcome !== 'applied')).toEqual([]);
        world.interpose();
        expect(listTouched(await world.plan(stack))).toEqual([]);
      }
    });
    await holds(property, 30);
  });
});
