import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasErrors } from '../../src/model/diagnostic.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import { isJsonObject } from '../../src/model/json.ts';
import { renderMetadata, renderUserMetadata } from '../../src/model/mark.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { createOutsideResource } from './other-user.ts';
import { holds } from './properties.ts';
import { settleStack, toExternalId } from './settle-stack.ts';
import { STACK_NAME, type TestResource, type TestStack } from './stack.ts';
import { World } from './world.ts';

describe('an unowned resource', () => {
  it('is never changed or deleted, whatever it contains', LONG, async () => {
    const property = fc.asyncProperty(arbitraryNeighbours(), async ({ others, stacks, metadata }) => {
      const world = new World();
      for (const [index, other] of others.entries())
        await createOutsideResource(world, other, METADATA[(metadata + index) % METADATA.length] ?? renderUser);
      const before = world.resources();
      for (const stack of stacks) {
        const plan = await world.plan(stack);
        world.takeRequests();
        const { outcomes } = await world.apply(plan);
        if (hasErrors(plan.diagnostics)) expect(world.takeRequests()).toEqual([]);
        // A value that others hold is a violation: sent all the same, the write fails and changes nothing of theirs.
        else if (plan.violations.length === 0)
          expect(outcomes.filter(({ outcome }) => outcome !== 'applied')).toEqual([]);
        expectKept(before, world.resources());
      }
      await world.migrate(stacks.at(-1) ?? [], { mode: 'destroy' });
      expectKept(before, world.resources());
    });
    await holds(property, 40);
  });
});

/** Metadata of resources of other users. */
const METADATA: readonly ((user: Json) => string)[] = [
  renderUser,
  () => '',
  (user) => renderMetadata(toUser(user), { ...NO_MARK, stack: 'another-stack', name: 'a' }),
  (user) => renderMetadata(toUser(user), { ...NO_MARK, stack: STACK_NAME.slice(1), name: 'a' }),
  () => JSON.stringify({ edgewise: STACK_NAME }),
  () => JSON.stringify({ edgewise: { stack: STACK_NAME } }),
  () => JSON.stringify({ edgewise: { stack: STACK_NAME, name: 'Not a name' } }),
  () => JSON.stringify({ Edgewise: { stack: STACK_NAME, name: 'a' } }),
  () => JSON.stringify([{ edgewise: { stack: STACK_NAME, name: 'a' } }]),
  () => `${JSON.stringify({ edgewise: { stack: STACK_NAME, name: 'a' } })}.`,
];

const NO_MARK = { protect: false, delivered: true, fields: {} };

function renderUser(user: Json): string {
  return renderUserMetadata(toUser(user));
}

function toUser(user: Json): string | JsonObject {
  return typeof user === 'string' || isJsonObject(user) ? user : '';
}

/** Resources of other users, and a stack that changes beside them. They seldom claim the same values. */
function arbitraryNeighbours(): fc.Arbitrary<{
  readonly others: TestStack;
  readonly stacks: readonly TestStack[];
  readonly metadata: number;
}> {
  return fc
    .record({ all: arbitraryHistory(1, { maxResources: 10 }), stacks: fc.constant([]), metadata: fc.nat(9) })
    .map(({ all, metadata }) => {
      const [first = [], second = []] = all;
      const others = settleStack(first.filter((_, index) => index % 2 === 1));
      const ours = settleStack(first.filter((_, index) => index % 2 === 0));
      const names = new Set(others.flatMap(listIdentities));
      const later = settleStack(second.filter((resource) => listIdentities(resource).every((id) => !names.has(id))));
      return { others, stacks: [ours, later], metadata };
    });
}

/** The address, and the id to which a document attaches modules, which the stack then owns. */
function listIdentities({ kind, name, spec }: TestResource): readonly string[] {
  const { id } = spec;
  return [`${kind}/${name}`, ...(typeof id === 'string' ? [toExternalId(id)] : [])];
}

function expectKept(before: ReturnType<World['resources']>, after: ReturnType<World['resources']>): void {
  for (const [kind, resources] of Object.entries(before)) {
    const now = new Set((after[kind] ?? []).map((resource) => JSON.stringify(resource)));
    for (const resource of resources) expect(now, kind).toContain(JSON.stringify(resource));
  }
}
