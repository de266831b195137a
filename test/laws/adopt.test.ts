import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { isJsonObject } from '../../src/model/json.ts';
import { renderUserMetadata } from '../../src/model/mark.ts';
import { LONG } from '../tries.ts';
import { arbitraryStack } from './arbitrary-manifests.ts';
import { createOutsideResource } from './other-user.ts';
import { holds } from './properties.ts';
import { settleStack } from './settle-stack.ts';
import type { TestStack } from './stack.ts';
import { listTouched, World } from './world.ts';

describe('adopting a resource that matches its manifest', () => {
  it('writes the mark, once for each, and nothing else', LONG, async () => {
    const property = fc.asyncProperty(arbitraryUnmarked(), async (stack) => {
      const world = new World();
      for (const resource of stack)
        await createOutsideResource(world, resource, (user) =>
          renderUserMetadata(typeof user === 'string' || isJsonObject(user) ? user : ''),
        );
      const before = world.resources();
      const adopting = listAdopting(world, stack);
      const plan = await world.migrate(adopting);
      expect(plan.changes.map(({ action, differences }) => [action, differences])).toEqual(
        stack.map(() => ['adopt', []]),
      );
      expect(plan.writes.map(({ purpose }) => purpose)).toEqual(stack.map(() => 'adopt'));
      expect(withoutMetadata(world.resources())).toEqual(withoutMetadata(before));
      expect(listTouched(await world.plan(adopting))).toEqual([]);
      expect(listTouched(await world.plan(stack))).toEqual([]);
    });
    await holds(property, 20);
  });
});

/** Resources that refer to nothing in their stack, because none of it is live yet. */
function arbitraryUnmarked(): fc.Arbitrary<TestStack> {
  return arbitraryStack({ kinds: OWNED_KINDS }).map((stack) => {
    const alone = stack.flatMap((resource) => settleStack([resource]));
    return settleStack(alone.map((resource) => ({ ...resource, lifecycle: { protect: false, ignore: [] } })));
  });
}

/** Each manifest with the id of its resource, in the same order within a kind. */
function listAdopting(world: World, stack: TestStack): TestStack {
  const resources = world.resources();
  const made = new Map(OWNED_KINDS.map(({ name }) => [name, [...(resources[name] ?? [])]]));
  return stack.map((resource) => {
    const adopt = String(made.get(resource.kind)?.shift()?.['id']);
    return { ...resource, lifecycle: { ...resource.lifecycle, adopt } };
  });
}

/** Live resources in normal form, without metadata: the service may return a set in another order than it was sent. */
function withoutMetadata(resources: ReturnType<World['resources']>) {
  return OWNED_KINDS.map((kind) =>
    (resources[kind.name] ?? []).map(({ metadata: _, ...rest }) => [rest['id'], canonical(kind, rest, AS_WRITTEN)]),
  );
}
