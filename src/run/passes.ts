import { listReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { isRetirement } from '../model/change.ts';
import { listAddressesInCondition } from '../model/conditions.ts';
import type { Plan } from '../model/plan.ts';
import { escapePath, quoteForShell } from '../model/shell-words.ts';
import { sort } from '../model/sort.ts';
import type { StackFolder } from '../model/stack-tree.ts';
import { isDelete, mapNeededWrites, type Write } from '../model/write.ts';

/**
 * The two passes in which the plans of one account are applied. In the first pass, stack after stack sends what waits for
 * no other stack. The last pass has the deletes and the late claims of all stacks, and what depends on them: the service
 * rejects the delete of a resource in use, and a claim of a value that another resource still has.
 */
export interface Passes {
  /** The writes of the first pass, by plan. */
  readonly first: ReadonlyMap<Plan, readonly Write[]>;
  /** The writes of the last pass, in the order in which they are sent. */
  readonly last: readonly PassStep[];
}

/** Writes of one plan that are sent together. */
export interface PassStep {
  readonly plan: Plan;
  readonly writes: readonly Write[];
}

/** Divides the writes of an account. A plan that is applied alone has only one pass, because nothing waits for it. */
export function dividePlans(plans: readonly Plan[]): Passes {
  if (plans.length < 2) return { first: new Map(plans.map((plan) => [plan, plan.writes])), last: [] };
  const late = new Map(plans.map((plan) => [plan, listLateWrites(plan)]));
  return {
    first: new Map(plans.map((plan) => [plan, plan.writes.filter((write) => late.get(plan)?.has(write) !== true)])),
    last: orderLastPass(late),
  };
}

/**
 * The resources that have no manifest any more, each with its old one that retires. A prune is no part of a replace, and
 * no delete of a duplicate. What a removed stack owns has no manifest either.
 */
export function isPrune({ mode, changes }: Pick<Plan, 'mode' | 'changes'>): (write: Write) => boolean {
  const pruned = new Set(
    changes.flatMap(({ action, address, duplicateOf }) =>
      action === 'delete' && duplicateOf === undefined ? [address] : [],
    ),
  );
  const old = new Set(changes.flatMap((change) => (isRetirement(change) ? [change.live?.id] : [])));
  // The only write of such a change is its delete.
  return ({ address, duplicateOf, ids }) =>
    mode !== 'release' && pruned.has(address) && (duplicateOf === undefined || old.has(ids?.id));
}

/** The command that applies a stack alone, which then prunes. */
export function formatPruneCommand({ folder }: StackFolder): string {
  return `edgewise apply ${quoteForShell(escapePath(folder))}`;
}

function listLateWrites(plan: Plan): ReadonlySet<Write> {
  const claims = listAddressesInCondition(plan, 'awaiting');
  const late = new Map<string, Write>();
  // One pass is enough, because a write depends only on earlier writes.
  for (const write of plan.writes)
    if (isDelete(write) || write.last || claims.has(write.address) || write.dependsOn.some((id) => late.has(id)))
      late.set(write.id, write);
  return new Set(late.values());
}

type LateWrites = ReadonlyMap<Plan, ReadonlySet<Write>>;

/**
 * Orders late writes, each after those that it needs, in rounds over the plans: a plan sends all that it can in each.
 * Writes that need each other in a circle, and what needs them, come last.
 */
function orderLastPass(late: LateWrites): readonly PassStep[] {
  const all = [...late].flatMap(([plan, writes], index) => [...writes].map((write) => ({ plan, index, write })));
  const indices = new Map(all.map(({ write, index }) => [write, index]));
  const needs = findNeeds(late);
  const listNeeds = (write: Write) => needs.get(write) ?? [];
  const { ordered, circles } = sort(indices.keys(), listNeeds);
  const rounds = new Map(circles.flat().map((write) => [write, LAST_ROUND]));
  for (const write of ordered) {
    const isLater = (needed: Write) => (indices.get(needed) ?? 0) > (indices.get(write) ?? 0);
    for (const needed of listNeeds(write))
      rounds.set(write, Math.max(rounds.get(write) ?? 0, (rounds.get(needed) ?? 0) + Number(isLater(needed))));
  }
  const members = Map.groupBy(all, ({ write }) => rounds.get(write) ?? 0);
  return [...members]
    .sort(([left], [right]) => left - right)
    .flatMap(([, round]) =>
      Array.from(
        Map.groupBy(round, ({ plan }) => plan),
        ([plan, own]) => ({ plan, writes: own.map(({ write }) => write) }),
      ),
    );
}

/** No number of rounds exceeds it, also if rounds are added to it. */
const LAST_ROUND = Number.MAX_VALUE;

/**
 * Finds the late writes that a late write needs: those of its own plan on which it depends, and of other plans. A delete
 * needs the writes that may remove a reference to the resource, a late claim the deletes of the same kind, and a
 * restriction that may lock out everything.
 */
function findNeeds(late: LateWrites): ReadonlyMap<Write, readonly Write[]> {
  const all = [...late].flatMap(([plan, writes]) => [...writes].map((write) => ({ plan, write })));
  const users = Map.groupBy(
    [...late].flatMap(([plan, writes]) => listUsers(plan, writes)),
    ({ id }) => id,
  );
  const deletes = Map.groupBy(
    all.filter(({ write }) => isDelete(write)),
    ({ write }) => write.kind,
  );
  const others = all.filter(({ write }) => !write.last);
  const claims = new Map([...late.keys()].map((plan) => [plan, listAddressesInCondition(plan, 'awaiting')]));
  const find = (plan: Plan, write: Write) => {
    if (write.last) return others;
    if (isDelete(write)) return users.get(write.ids?.id ?? '') ?? [];
    return claims.get(plan)?.has(write.address) === true ? (deletes.get(write.kind) ?? []) : [];
  };
  const own = new Map([...late.values()].flatMap((writes) => [...mapNeededWrites([...writes])]));
  const ofOthers = (plan: Plan, write: Write) =>
    find(plan, write).flatMap((one) => (one.plan === plan ? [] : [one.write]));
  return new Map(all.map(({ plan, write }) => [write, [...(own.get(write) ?? []), ...ofOthers(plan, write)]]));
}

/** Lists the late writes to resources that refer to another resource before the apply, each with the id of that one. */
function listUsers(
  plan: Plan,
  writes: ReadonlySet<Write>,
): readonly { readonly id: string; readonly plan: Plan; readonly write: Write }[] {
  const changes = Map.groupBy(plan.changes, ({ address }) => address);
  return [...writes].flatMap((write) =>
    (changes.get(write.address) ?? []).flatMap(({ kind, live }) =>
      listReferences(getKind(kind), live?.spec ?? {}).map(({ value }) => ({ id: value, plan, write })),
    ),
  );
}
