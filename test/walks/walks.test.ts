import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ATTACHED_KINDS, getKind, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { DesiredResource } from '../../src/model/state.ts';
import { arbitraryHistory } from '../laws/arbitrary-manifests.ts';
import { holds } from '../laws/properties.ts';
import type { TestStack } from '../laws/stack.ts';
import { listTouched, loadStack, World } from '../laws/world.ts';
import { LONG } from '../tries.ts';

describe('a walk over many stacks', () => {
  it('leaves nothing to do after each step, and nothing at its end', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(6), async (stacks) => {
      const world = new World();
      await world.call('POST', '/edges/tcp', { description: 'somebody else’s' });
      const before = world.resources();
      for (const stack of stacks) {
        await world.migrate(stack);
        expect(listTouched(await world.plan(stack))).toEqual([]);
        expectNoDuplicates(world, stack);
      }
      await world.migrate(stacks.at(-1) ?? [], { mode: 'destroy' });
      const after = world.resources();
      for (const { name } of OWNED_KINDS) expect(after[name]).toEqual(before[name]);
      expect(listRemainingResources(world, stacks)).toEqual([]);
    });
    await holds(property, 25);
  });
});

/**
 * Lists the resources that stay. Modules stay if their document is removed, or ignores them. All other resources are deleted: those of the last
 * documents, and those that were not attached.
 */
function listRemainingResources(world: World, stacks: readonly TestStack[]): readonly string[] {
  const attached = stacks.map((stack) => [...loadStack(stack).resources.values()].filter(isAttached));
  const managed = attached.at(-1)?.filter(({ lifecycle }) => lifecycle.ignore.length === 0) ?? [];
  const left = ATTACHED_KINDS.flatMap(({ name }) => world.resources()[name] ?? []).map(toTarget);
  const [known, last] = [attached.flat(), managed].map((documents) => documents.map(({ spec }) => toTarget(spec)));
  return left.filter((target) => last?.includes(target) || !known?.includes(target));
}

function isAttached({ kind }: DesiredResource): boolean {
  return getKind(kind).role === 'attached';
}

function toTarget({ edge_id: edge = '', id = '' }: JsonObject): string {
  return `${edge} ${id}`;
}

function expectNoDuplicates(world: World, stack: TestStack): void {
  for (const { name: kind } of OWNED_KINDS) {
    // An old one that `keep_old_for` keeps is no duplicate.
    const marked = world
      .resources()
      [kind]?.filter(
        ({ metadata }) => String(metadata).includes('"edgewise"') && !String(metadata).includes('"retiring":true'),
      );
    expect(marked).toHaveLength(stack.filter((resource) => resource.kind === kind).length);
  }
}
