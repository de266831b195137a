import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toResourcePath } from '../../src/kinds/paths.ts';
import { getKind, MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';
import type { Change } from '../../src/model/change.ts';
import { parsePath } from '../../src/model/field-path.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { WriteType } from '../../src/model/write.ts';
import { arbitraryHistory, arbitraryResource } from './arbitrary-manifests.ts';
import { changeField, findOwned, listChangeable } from './behind-the-back.ts';
import { withField } from './mutate-stack.ts';
import { holds, LONG } from './properties.ts';
import { settleStack, toExternalId } from './settle-stack.ts';
import type { TestResource, TestStack } from './stack.ts';
import { World } from './world.ts';

/** Somebody sets a field of the `at`th resource as the donor of its kind has it. */
interface OutsideChange {
  readonly at: number;
  readonly field: number;
  readonly donors: readonly TestResource[];
}

describe('what somebody else changes after a plan was saved', () => {
  it('makes it stale, or leaves what the plan would have left', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), arbitraryOutsideChange(), async (stacks, outside) => {
      const [first = [], second = []] = stacks;
      const world = new World();
      await world.migrate(first);
      const plan = await world.plan(second);
      const drifted = toDrifted(first, outside);
      if (drifted === undefined) return;
      await changeField(world, { resource: drifted.resource, stack: first }, drifted.field);
      const addresses = [first, second].flatMap((stack) => listSame(stack, drifted.resource));
      const { stale, ...known } = await world.check(plan);
      for (const each of stale) expect(addresses).toContain(each.address);
      if (stale.length > 0) return;
      await world.apply(plan, known);
      const left = (await world.plan(second)).changes.filter(({ action }) => action !== 'no-op');
      for (const change of left) expectOwnDrift(change, { addresses, field: drifted.field, plan });
    });
    await holds(property, 30);
  });

  it('makes it stale when what it starts from is gone, or it is to be gone anyway', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), fc.nat(11), async ([first = [], second = []], at) => {
      const world = new World();
      await world.migrate(first);
      const plan = await world.plan(second);
      const owned = first.filter(({ kind }) => getKind(kind).role === 'owned' && kind !== 'WeightedBackend');
      const gone = owned[at % owned.length];
      const live = gone && findOwned(world, gone.kind, gone.name);
      if (gone === undefined || live === undefined) return;
      await world.call('DELETE', toResourcePath(getKind(gone.kind), live));
      const change = plan.changes.find(({ address }) => address === `${gone.kind}/${gone.name}`);
      const isStale = (await world.check(plan)).stale.length > 0;
      const isHarmless = change?.action === 'delete' || change?.action === 'no-op' || isDeletedFirst(plan, change);
      expect(isStale).toBe(!isHarmless);
    });
    await holds(property, 20);
  });
});

function isDeletedFirst({ writes }: Plan, change: Change | undefined): boolean {
  const of = (type: WriteType) => writes.find((write) => write.type === type && write.address === change?.address);
  const [creation, removal] = [of('create'), of('delete')];
  return creation !== undefined && removal !== undefined && !removal.dependsOn.includes(creation.id);
}

function arbitraryOutsideChange(): fc.Arbitrary<OutsideChange> {
  const donors = fc.tuple(...MANIFEST_KINDS.map((kind) => arbitraryResource([kind])));
  return fc.record({ at: fc.nat(11), field: fc.nat(11), donors });
}

function toDrifted(
  stack: TestStack,
  { at, field: index, donors }: OutsideChange,
): { readonly resource: TestResource; readonly field: string } | undefined {
  const subject = stack[at % stack.length];
  const donor = donors.find(({ kind }) => kind === subject?.kind);
  if (subject === undefined || donor === undefined) return undefined;
  const fields = listChangeable(getKind(subject.kind));
  const field = fields[index % fields.length] ?? '';
  const others = stack.filter((resource) => resource !== subject);
  const changed = { ...subject, spec: withField(subject.spec, field, donor.spec) };
  const resource = settleStack([...others, changed]).at(-1);
  return resource?.name === subject.name && resource.kind === subject.kind ? { resource, field } : undefined;
}

/** The addresses of the documents that are about a resource, by its name or by the id that modules are attached to. */
function listSame(stack: TestStack, resource: TestResource): readonly string[] {
  const id = toExternalId(String(resource.spec['id'] ?? ''));
  const isSame = ({ kind, name, spec }: TestResource) =>
    kind === resource.kind && (id === '' ? name === resource.name : toExternalId(String(spec['id'])) === id);
  return stack.filter(isSame).map(({ kind, name }) => `${kind}/${name}`);
}

/** What the plan did not touch is still as somebody else left it. Nothing else is left to do. */
function expectOwnDrift(
  change: Change,
  { addresses, field, plan }: { readonly addresses: readonly string[]; readonly field: string; readonly plan: Plan },
): void {
  expect(addresses).toContain(change.address);
  expect(change.action).toBe('update');
  for (const { path } of change.differences) expect(parsePath(path)?.[0]).toBe(field);
  const written = plan.writes.filter(({ address }) => address === change.address);
  expect(written.filter((write) => !('module' in write) || write.module === field)).toEqual([]);
}
