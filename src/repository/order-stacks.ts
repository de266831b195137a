import { isReferable, listReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Plan } from '../model/plan.ts';
import type { StackFolder } from '../model/stack-tree.ts';
import { isDelete, type Write, type WriteId } from '../model/write.ts';
import { listAddressesAwaitingOtherStacks } from '../plan/claims.ts';
import { StackError } from '../stack/host.ts';
import { refersToStack } from './read-changes.ts';

interface OrderedStacks {
  /** Each stack comes after the stacks to which it refers, otherwise in the given order. A cycle has no valid order. */
  readonly ordered: readonly StackFolder[];
  /** The error of each stack in a cycle of references. Such a stack can be neither planned nor applied. */
  readonly circles: ReadonlyMap<StackFolder, StackError>;
}

export function orderStacks(stacks: readonly StackFolder[]): OrderedStacks {
  const needs = new Map(stacks.map((stack) => [stack, listDependencies(stack, stacks)]));
  const ordered = new Set<StackFolder>();
  const seen = new Set<StackFolder>();
  let hasCycle = false;
  const visit = (stack: StackFolder): void => {
    if (seen.has(stack)) {
      hasCycle ||= !ordered.has(stack);
      return;
    }
    seen.add(stack);
    for (const needed of needs.get(stack) ?? []) visit(needed);
    ordered.add(stack);
  };
  for (const stack of stacks) visit(stack);
  const rounds = hasCycle ? stacks.map((stack) => findCycle(stack, needs)) : [];
  const found = rounds.flatMap((round) => (round === undefined ? [] : [[round[0], createCycleError(round)] as const]));
  return { ordered: [...ordered], circles: new Map(found) };
}

export function listDependencies(stack: StackFolder, stacks: readonly StackFolder[]): readonly StackFolder[] {
  return stacks.filter((other) => refersToStack(stack, other));
}

type Cycle = readonly [StackFolder, ...StackFolder[]];

/** Returns the stacks on a path of references from `start` back to `start`. `undefined` if there is no such path. */
function findCycle(start: StackFolder, needs: ReadonlyMap<StackFolder, readonly StackFolder[]>): Cycle | undefined {
  const seen = new Set<StackFolder>();
  const visit = (stack: StackFolder): readonly StackFolder[] | undefined => {
    for (const needed of needs.get(stack) ?? []) {
      if (needed === start) return [needed];
      if (seen.has(needed)) continue;
      seen.add(needed);
      const rest = visit(needed);
      if (rest !== undefined) return [needed, ...rest];
    }
    return undefined;
  };
  const path = visit(start);
  return path && [start, ...path];
}

function createCycleError(round: Cycle): StackError {
  const files = [...new Set(round.map(({ file }) => file))].join(', ');
  return new StackError(`Stacks refer to each other in a cycle: ${round.map(({ name }) => name).join(' → ')}.`, {
    reason: 'invalid',
    remedy: `Remove one of these references from the manifests (${files}), or write the id instead.`,
  });
}

/** Maps a write to the round in which it is sent, from 1. Writes without a round are sent before round 1. */
export type RoundByWriteId = ReadonlyMap<WriteId, number>;

/**
 * Assigns writes to rounds, for plans of one account that are applied side by side. Writes without a round are sent
 * before round 1. A round starts when all plans have finished the previous round. A write gets a round in two cases:
 *
 * - It claims a value that another plan frees, or depends on a write that does so.
 * - It deletes a resource to which other plans may refer, and no write without a round depends on it.
 *
 * Its round is the first that its dependencies allow. The service rejects the delete of a resource in use, so a delete
 * is at least one round after each write of another plan that may remove a reference to the resource.
 */
export function computeWriteRounds(plans: readonly Plan[]): ReadonlyMap<Plan, RoundByWriteId> {
  if (plans.length < 2) return new Map();
  const held = plans.map((plan) => ({ plan, writes: listHeldBack(plan) }));
  const removals = Map.groupBy(
    held.flatMap(({ plan, writes }) => listRemovals(plan, writes)),
    ({ from }) => from,
  );
  const rounds = new Map(plans.map((plan) => [plan, new Map<WriteId, number>()]));
  const visiting = new Set<Write>();
  const find = (plan: Plan, write: Write): number => {
    const known = rounds.get(plan)?.get(write.id);
    // Resources that refer to each other in a cycle have no valid order, so the round is 1.
    if (known !== undefined || visiting.has(write)) return known ?? 1;
    visiting.add(write);
    const needed = (held.find((one) => one.plan === plan)?.writes ?? []).filter(({ id }) =>
      write.dependsOn.includes(id),
    );
    const others = isDelete(write) ? (removals.get(write.ids?.id ?? '') ?? []).filter((one) => one.plan !== plan) : [];
    const round = Math.max(
      1,
      ...needed.map((other) => find(plan, other)),
      ...others.map((other) => find(other.plan, other.write) + 1),
    );
    visiting.delete(write);
    rounds.get(plan)?.set(write.id, round);
    return round;
  };
  for (const { plan, writes } of held) for (const write of writes) find(plan, write);
  return rounds;
}

function listHeldBack(plan: Plan): readonly Write[] {
  const { writes } = plan;
  const lateClaims = listAddressesAwaitingOtherStacks(plan);
  const held = new Set<WriteId>();
  // One pass is enough, because a write depends only on earlier writes.
  for (const { id, address, dependsOn } of writes)
    if (lateClaims.has(address) || dependsOn.some((needed) => held.has(needed))) held.add(id);
  const needed = new Set(writes.flatMap(({ id, dependsOn }) => (held.has(id) ? [] : dependsOn)));
  for (const write of writes.filter(isDelete))
    if (isReferable(getKind(write.kind)) && !needed.has(write.id)) held.add(write.id);
  return writes.filter(({ id }) => held.has(id));
}

/** A write to a resource that refers to another resource. The write may remove this reference. */
interface Removal {
  readonly plan: Plan;
  readonly write: Write;
  /** The id to which the resource refers before the write. */
  readonly from: string;
}

function listRemovals(plan: Plan, writes: readonly Write[]): readonly Removal[] {
  const changes = Map.groupBy(plan.changes, ({ address }) => address);
  return writes.flatMap((write) =>
    (changes.get(write.address) ?? []).flatMap(({ kind, live }) =>
      listReferences(getKind(kind), live?.spec ?? {}).map(({ value }) => ({ plan, write, from: value })),
    ),
  );
}
