import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { getKind, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { toAddress } from '../../src/model/address.ts';
import { isJsonObject } from '../../src/model/json.ts';
import { renderUserMetadata, splitMetadata } from '../../src/model/mark.ts';
import { LONG } from '../tries.ts';
import { arbitraryStack } from './arbitrary-manifests.ts';
import { holds } from './properties.ts';
import type { TestStack } from './stack.ts';
import { listTouched, World } from './world.ts';

describe('a released resource', () => {
  it('has no mark, keeps everything else, and can be adopted again', LONG, async () => {
    const property = fc.asyncProperty(arbitraryStack(), async (stack) => {
      const world = new World();
      await world.migrate(stack);
      const held = listLiveResources(world);
      const owned = stack.filter(({ kind }) => getKind(kind).role === 'owned');
      if (owned.length === 0) return;
      const plan = await world.migrate(stack, {
        mode: 'release',
        targets: owned.map(({ kind, name }) => toAddress(kind, name)),
      });
      const adopting = withIds(stack, plan);
      expect(plan.writes.map(({ purpose }) => purpose)).toEqual(owned.map(() => 'release'));
      expect(listLiveResources(world)).toEqual(held);
      expect(listMarks(world)).toEqual([]);
      const again = await world.migrate(adopting);
      expect(again.writes.map(({ purpose }) => purpose)).toEqual(owned.map(() => 'adopt'));
      expect(
        again.changes.flatMap(({ differences }) => differences).filter(({ path }) => path !== 'lifecycle.protect'),
      ).toEqual([]);
      expect(listLiveResources(world)).toEqual(held);
      expect(listTouched(await world.plan(stack))).toEqual([]);
    });
    await holds(property, 20);
  });
});

function withIds(stack: TestStack, { changes }: Awaited<ReturnType<World['plan']>>): TestStack {
  const ids = new Map(changes.map(({ address, live }) => [address, live?.id]));
  return stack.map((resource) => {
    const adopt = ids.get(toAddress(resource.kind, resource.name));
    return adopt === undefined ? resource : { ...resource, lifecycle: { ...resource.lifecycle, adopt } };
  });
}

function listLiveResources(world: World) {
  const resources = world.resources();
  return OWNED_KINDS.map((kind) =>
    (resources[kind.name] ?? []).map(({ metadata: text, ...rest }) => {
      const { user } = splitMetadata(String(text ?? ''));
      const metadata = isJsonObject(user) ? user : renderUserMetadata(user);
      return [rest['id'], canonical(kind, rest, AS_WRITTEN), metadata];
    }),
  );
}

function listMarks(world: World) {
  return Object.values(world.resources())
    .flat()
    .filter(({ metadata }) => splitMetadata(String(metadata ?? '')).mark !== undefined);
}
