import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLive } from '../../src/client/read-live.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import type { Drift } from '../../src/model/drift.ts';
import { computeDrift } from '../../src/plan/compute-drift.ts';
import { createReadRequest } from '../../src/plan/select-targets.ts';
import { LONG } from '../tries.ts';
import { arbitraryStack } from './arbitrary-manifests.ts';
import { changeField, listChangeable } from './other-user.ts';
import { holds } from './properties.ts';
import type { TestStack } from './stack.ts';
import { loadStack, World } from './world.ts';

const NOW = new Date('2026-03-02T00:00:00Z');

describe('drift', () => {
  it('is empty after an apply, and sends only reads', LONG, async () => {
    const property = fc.asyncProperty(arbitraryStack(), async (stack) => {
      const world = new World();
      await world.migrate(stack);
      world.takeRequests();
      expect(listStates(await compare(world, stack))).toEqual([]);
      expect(world.takeRequests().filter(({ method }) => method !== 'GET')).toEqual([]);
    });
    await holds(property, 30);
  });

  it('names the fields that another user changed, and no others', LONG, async () => {
    const property = fc.asyncProperty(arbitraryStack(), fc.constantFrom(...OWNED_KINDS), async (stack, kind) => {
      const world = new World();
      await world.migrate(stack);
      const subject = stack.find((resource) => resource.kind === kind.name);
      if (subject === undefined || subject.lifecycle.ignore.includes('description')) return;
      await changeField(world, { resource: withDescription(subject, kind), stack }, 'description');
      const address = `${kind.name}/${subject.name}`;
      const expected = [`${address} drifted description`];
      expect(listStates(await compare(world, stack))).toEqual(expected);
    });
    await holds(property, 30);
  });
});

function withDescription(resource: TestStack[number], kind: Kind): TestStack[number] {
  expect(listChangeable(kind)).toContain('description');
  return {
    ...resource,
    spec: { ...resource.spec, description: resource.spec['description'] === 'by hand' ? 'by others' : 'by hand' },
  };
}

async function compare(world: World, stack: TestStack): Promise<Drift> {
  const live = await readLive(world.connect(), createReadRequest(loadStack(stack), []));
  return computeDrift(await world.plan(stack), { live, now: NOW });
}

/** A line for each resource with drift. */
function listStates({ changes }: Drift): readonly string[] {
  return changes
    .filter(({ state }) => state !== 'in-sync')
    .map(({ address, state, differences }) => {
      const fields = new Set(differences.map(({ path }) => path.split(/[.[]/, 1)[0] ?? ''));
      return [address, state, ...fields].join(' ');
    });
}
