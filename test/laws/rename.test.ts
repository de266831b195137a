import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mapReferences } from '../../src/kinds/references.ts';
import { getKind, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { parseAddress, toAddress } from '../../src/model/address.ts';
import { LONG } from '../tries.ts';
import { arbitraryStack } from './arbitrary-manifests.ts';
import { NAMES } from './names.ts';
import { holds } from './properties.ts';
import type { TestResource, TestStack } from './stack.ts';
import { listTouched, loadStack, World } from './world.ts';

/** New names by old ones, the same for every kind. No new name is the old name of another resource. */
type NewNames = ReadonlyMap<string, string>;

describe('resources with renamed_from', () => {
  it('get new marks with one PATCH each, and no other change', LONG, async () => {
    const property = fc.asyncProperty(arbitraryStack(), arbitraryNewNames(), async (stack, names) => {
      const world = new World();
      const before = stack.map(withoutLongMetadata);
      const after = before.map((resource) => withNewNames(resource, names));
      await world.migrate(before);
      const held = withoutMetadata(world);
      const plan = await world.migrate(after);
      expect(listPaths(plan)).toEqual(new Set(isAnyRenamed(after) ? ['mark.name'] : []));
      expect(plan.writes.filter((write) => write.purpose !== 'update' || write.mark === undefined)).toEqual([]);
      expect(plan.writes).toHaveLength(after.filter(({ lifecycle }) => lifecycle.renamedFrom !== undefined).length);
      expect(withoutMetadata(world)).toEqual(held);
      expect(listTouched(await world.plan(after))).toEqual([]);
    });
    await holds(property, 25);
  });

  it('get new marks in any order, and after an interrupted apply', LONG, async () => {
    const subject = fc.tuple(
      arbitraryStack({ kinds: OWNED_KINDS }),
      arbitraryNewNames(),
      fc.infiniteStream(fc.boolean()),
    );
    const property = fc.asyncProperty(subject, async ([stack, names, picks]) => {
      const world = new World();
      const before = stack.map(withoutLongMetadata);
      const after = before.map((resource) => withNewNames(resource, names));
      await world.migrate(before);
      const held = withoutMetadata(world);
      const plan = await world.plan(after);
      await world.apply({ ...plan, writes: plan.writes.filter(() => picks.next().value === true) });
      await world.migrate(after);
      expect(withoutMetadata(world)).toEqual(held);
      expect(listTouched(await world.plan(after))).toEqual([]);
    });
    await holds(property, 25);
  });
});

describe('a stack that another stack takes over', () => {
  it('gets its marks with one PATCH each, and no other change', LONG, async () => {
    const property = fc.asyncProperty(arbitraryStack(), async (stack) => {
      const world = new World();
      await world.migrate(stack);
      const held = withoutMetadata(world);
      const state = loadStack(stack);
      const heir = { ...state, stack: { ...state.stack, name: 'heir', formerNames: [state.stack.name] } };
      const plan = await world.migrate(heir);
      const owned = stack.filter(({ kind }) => getKind(kind).role === 'owned');
      const taken = plan.changes.filter(({ action }) => action === 'take-over');
      expect(taken.map(({ differences }) => differences.map(({ path }) => path))).toEqual(
        owned.map(() => ['mark.stack']),
      );
      expect(plan.writes.map((write) => [write.purpose, write.mark?.stack])).toEqual(
        owned.map(() => ['take-over', 'heir']),
      );
      expect(withoutMetadata(world)).toEqual(held);
      expect(listTouched(await world.plan(heir))).toEqual([]);
    });
    await holds(property, 20);
  });
});

function arbitraryNewNames(): fc.Arbitrary<NewNames> {
  return fc
    .subarray(NAMES.map((name, index) => [name, `n${index}`] as const))
    .map((renamed) => new Map<string, string>(renamed));
}

/** Longer names leave less room for the user's metadata. */
function withoutLongMetadata(resource: TestResource): TestResource {
  const { metadata, ...rest } = resource.spec;
  return JSON.stringify(metadata ?? '').length > 1000 ? { ...resource, spec: rest } : resource;
}

function withNewNames({ kind, name, spec, lifecycle }: TestResource, names: NewNames): TestResource {
  const toNew = (address: string) => {
    const parsed = parseAddress(address);
    const isOwned = OWNED_KINDS.some((owned) => owned.name === parsed?.kind);
    return parsed === undefined || !isOwned ? address : toAddress(parsed.kind, names.get(parsed.name) ?? parsed.name);
  };
  const renamed = { kind, name, spec: mapReferences(getKind(kind), spec, ({ value }) => toNew(value)), lifecycle };
  const to = names.get(name) ?? name;
  if (getKind(kind).role === 'attached' || to === name) return renamed;
  return { ...renamed, name: to, lifecycle: { ...lifecycle, renamedFrom: name } };
}

function isAnyRenamed(stack: TestStack): boolean {
  return stack.some(({ lifecycle }) => lifecycle.renamedFrom !== undefined);
}

function listPaths({ changes }: Awaited<ReturnType<World['plan']>>): ReadonlySet<string> {
  return new Set(changes.flatMap(({ differences }) => differences.map(({ path }) => path)));
}

function withoutMetadata(world: World) {
  const resources = world.resources();
  return OWNED_KINDS.map(({ name }) => (resources[name] ?? []).map(({ metadata: _, ...rest }) => rest));
}
