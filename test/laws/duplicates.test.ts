import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { formatChangeAddress } from '../../src/model/change.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { COPYABLE, copyEverything } from './other-user.ts';
import { holds } from './properties.ts';
import { listTouched, World } from './world.ts';

describe('two live resources with one mark', () => {
  it('become one, and the other is pruned', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), async ([first = [], second = []]) => {
      const world = new World();
      await world.migrate(first);
      await copyEverything(world);
      await world.migrate(second);
      expect(listTouched(await world.plan(second))).toEqual([]);
      for (const { name } of COPYABLE)
        expect(world.resources()[name]).toHaveLength(second.filter(({ kind }) => kind === name).length);
    });
    await holds(property, 20);
  });

  it('become the one that needs no replacement, if only one of them matches', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(0), async ([stack = []]) => {
      const world = new World();
      await world.migrate(stack);
      const before = world.resources();
      await copyEverything(world);
      const { changes } = await world.migrate(stack);
      expect(changes.filter(({ action }) => action !== 'no-op' && action !== 'delete')).toEqual([]);
      for (const { name } of COPYABLE) expect(world.resources()[name]).toHaveLength(before[name]?.length ?? 0);
    });
    await holds(property, 10);
  });

  it('are pruned with a target that is one of them', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(0, { kinds: COPYABLE }), async ([stack = []]) => {
      const world = new World();
      await world.migrate(stack);
      await copyEverything(world);
      const { changes } = await world.plan(stack);
      const [duplicate] = changes.filter(({ action }) => action === 'delete');
      if (duplicate === undefined) return;
      const touched = [formatChangeAddress(duplicate), duplicate.address].map(async (target) =>
        listTouched(await world.plan(stack, { targets: [target] })),
      );
      for (const lines of await Promise.all(touched))
        expect(lines).toEqual([`delete ${formatChangeAddress(duplicate)}`]);
    });
    await holds(property, 10);
  });

  it('are not left after two concurrent applies of one stack, and another one', LONG, async () => {
    const property = fc.asyncProperty(
      arbitraryHistory(1),
      fc.scheduler(),
      async ([first = [], second = []], scheduler) => {
        const world = new World({ concurrency: 4 });
        await world.migrate(first);
        const plans = [await world.plan(second), await world.plan(second)];
        world.interpose((inner) => async (request) => {
          await scheduler.schedule(Promise.resolve(), request.method);
          return inner(request);
        });
        await scheduler.waitFor(Promise.all(plans.map((plan) => world.apply(plan))));
        world.interpose();
        await world.migrate(second);
        expect(listTouched(await world.plan(second))).toEqual([]);
        for (const { name } of OWNED_KINDS)
          expect(world.resources()[name]).toHaveLength(second.filter(({ kind }) => kind === name).length);
      },
    );
    await holds(property, 20);
  });
});
