import { isReferable, listReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Plan } from '../model/plan.ts';
import type { StackFolder } from '../model/stack-tree.ts';
import type { Write, WriteId } from '../model/write.ts';
import { listLateClaims } from '../plan/claims.ts';
import { StackError } from '../stack/host.ts';
import { dependsOn } from './find-changes.ts';

/** Stacks in the order in which they are planned and applied. */
interface OrderedStacks {
  /** Each behind those that it refers to, else as given. In a circle none can be the first. */
  readonly ordered: readonly StackFolder[];
  /** Why a stack can be neither planned nor applied: it refers to itself through others. Stacks outside of the cycle are not affected. */
  readonly circles: ReadonlyMap<StackFolder, StackError>;
}

/** Orders stacks, and finds the circles among them. */
export function orderStacks(stacks: readonly StackFolder[]): OrderedStacks {
  const needs = new Map(stacks.map((stack) => [stack, listNeeded(stack, stacks)]));
  const ordered = new Set<StackFolder>();
  const seen = new Set<StackFolder>();
  let hasCircle = false;
  const visit = (stack: StackFolder): void => {
    if (seen.has(stack)) {
      hasCircle ||= !ordered.has(stack);
      return;
    }
    seen.add(stack);
    for (const needed of needs.get(stack) ?? []) visit(needed);
    ordered.add(stack);
  };
  for (const stack of stacks) visit(stack);
  const rounds = hasCircle ? stacks.map((stack) => findRound(stack, needs)) : [];
  const found = rounds.flatMap((round) => (round === undefined ? [] : [[round[0], toCircle(round)] as const]));
  return { ordered: [...ordered], circles: new Map(found) };
}

/** The stacks of a run that one of them refers to. */
export function listNeeded(stack: StackFolder, stacks: readonly StackFolder[]): readonly StackFolder[] {
  return stacks.filter((other) => dependsOn(stack, other));
}

type Round = readonly [StackFolder, ...StackFolder[]];

/** The way from a stack back to itself. */
function findRound(start: StackFolder, needs: ReadonlyMap<StackFolder, readonly StackFolder[]>): Round | undefined {
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
  const way = visit(start);
  return way && [start, ...way];
}

function toCircle(round: Round): StackError {
  const files = [...new Set(round.map(({ file }) => file))].join(', ');
  return new StackError(`Stacks refer to each other in a circle: ${round.map(({ name }) => name).join(' → ')}.`, {
    reason: 'invalid',
    remedy: `Take one reference out of the manifests of one of them (${files}), or write the id.`,
  });
}

/** The round, from 1 on, of each write of a plan that comes after the others. */
export type WriteRounds = ReadonlyMap<WriteId, number>;

/**
 * The rounds in which plans of one account are applied side by side. All plans end a round before any begins the next one. What is in no round comes first.
 * In round 1 come the claims on values that another plan gives up, with the writes that depend on them, and the deletes of what other plans may refer to,
 * unless a write before the rounds needs them. A delete comes one round after a write of another plan that removes a reference to it: the service refuses
 * to delete what is in use.
 */
export function listRounds(plans: readonly Plan[]): ReadonlyMap<Plan, WriteRounds> {
  const held = plans.map((plan) => ({ plan, writes: listHeldBack(plan) }));
  const removals = Map.groupBy(
    held.flatMap(({ plan, writes }) => listRemovals(plan, writes)),
    ({ from }) => from,
  );
  const rounds = new Map(plans.map((plan) => [plan, new Map<WriteId, number>()]));
  const visiting = new Set<Write>();
  const find = (plan: Plan, write: Write): number => {
    const known = rounds.get(plan)?.get(write.id);
    // Resources that refer to each other in a circle have no order.
    if (known !== undefined || visiting.has(write)) return known ?? 1;
    visiting.add(write);
    const needed = (held.find((one) => one.plan === plan)?.writes ?? []).filter(({ id }) =>
      write.dependsOn.includes(id),
    );
    const others =
      write.type === 'delete' ? (removals.get(write.resourceId) ?? []).filter((one) => one.plan !== plan) : [];
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
  const lateClaims = listLateClaims(plan);
  const held = new Set<WriteId>();
  // A write depends only on writes before it.
  for (const { id, address, dependsOn } of writes)
    if (lateClaims.has(address) || dependsOn.some((needed) => held.has(needed))) held.add(id);
  const needed = new Set(writes.flatMap(({ id, dependsOn }) => (held.has(id) ? [] : dependsOn)));
  for (const { type, kind, id } of writes)
    if (type === 'delete' && isReferable(getKind(kind)) && !needed.has(id)) held.add(id);
  return writes.filter(({ id }) => held.has(id));
}

/** A write that removes a reference. */
interface Removal {
  readonly plan: Plan;
  readonly write: Write;
  /** The id that is referred to before. */
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
