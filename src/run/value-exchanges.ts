import { type Claim, listClaims } from '../kinds/claims.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Change, formatChangeAddress } from '../model/change.ts';
import { toManifestPath } from '../model/field-path.ts';
import type { Locate } from '../model/place.ts';

import type { Plan, SafetyViolation } from '../model/plan.ts';
import type { StackFolder } from '../model/stack-tree.ts';
import { formatWriteAddress, type Write } from '../model/write.ts';
import { isLateClaimWarning } from '../plan/claims.ts';
import { isClaim, listVacated } from '../plan/order.ts';

/**
 * Exchanges of unique values between stacks: each claim waits until the plan of another stack gives up the value, and
 * that write waits in turn, so that none can be the first. Within one stack, a plan frees such a value first
 * (`plan/order.ts`). Claims that wait in a chain are no exchange.
 */

/** A plan of a stack, and the positions of its manifests. */
interface LocatedPlan {
  readonly folder: StackFolder;
  readonly plan: Plan;
  readonly locate: Locate;
}

/** A write of a plan, and the change that it is part of. */
interface ChangingWrite extends LocatedPlan {
  readonly change: Change;
  readonly write: Write;
}

/** Unique values that pass from one stack to another: the write `to` waits for `from`. */
interface Passing {
  readonly claims: readonly Claim[];
  readonly from: ChangingWrite;
  readonly to: ChangingWrite;
}

/** A write that another one waits for. `passing`: the values because of which it waits. Absent: both are of one plan. */
interface Wait {
  readonly write: Write;
  readonly passing?: Passing;
}

type Waits = ReadonlyMap<Write, readonly Wait[]>;

/** Lists a violation for each claim that is part of an exchange, by its stack. `plans`: those of one account. */
export function listExchangeViolations(
  plans: readonly LocatedPlan[],
): ReadonlyMap<StackFolder, readonly SafetyViolation[]> {
  const passings = listPassings(plans);
  if (passings.length === 0) return new Map();
  const waits = dropWritesWithoutCycle(collectWaits(plans, passings));
  const rounds = passings.map((passing) => findRound(passing, waits)).filter((round) => round !== undefined);
  return new Map(
    Array.from(
      Map.groupBy(rounds, ([{ to }]) => to.folder),
      ([folder, own]) => [folder, own.map(createViolation)] as const,
    ),
  );
}

/**
 * Adds the violations to a plan, or to drift. Removes what says that these claims follow another stack: the warnings, and
 * the rehearsal.
 */
export function addExchangeViolations<T extends Pick<Plan, 'diagnostics' | 'violations' | 'rehearsal'>>(
  { rehearsal: _, ...planned }: T,
  found: readonly SafetyViolation[],
): Omit<T, 'rehearsal'> {
  const addresses = new Set(found.flatMap((one) => one.addresses));
  return {
    ...planned,
    diagnostics: planned.diagnostics.filter(
      (one) => !isLateClaimWarning(one) || one.address === undefined || !addresses.has(one.address),
    ),
    violations: [...planned.violations, ...found],
  };
}

function listPassings(plans: readonly LocatedPlan[]): readonly Passing[] {
  const parts = plans.flatMap((located) => {
    const writes = Map.groupBy(located.plan.writes, formatWriteAddress);
    return located.plan.changes.flatMap((change) => {
      const own = writes.get(formatChangeAddress(change)) ?? [];
      return own.length === 0 ? [] : [{ ...located, change, kind: getKind(change.kind), writes: own }];
    });
  });
  const released = new Map(
    parts.flatMap((part) =>
      listVacated(part).flatMap(([key, id]) => {
        const write = part.writes.find((one) => one.id === id);
        return write === undefined ? [] : [[key, { ...part, write }] as const];
      }),
    ),
  );
  return parts.flatMap((part): readonly Passing[] => {
    const write = part.writes.find((one) => isClaim(one) && one.purpose !== 'vacate');
    if (write === undefined) return [];
    const to = { ...part, write };
    const claims = listClaims(part.kind, part.change.desired ?? {});
    const byHolder = Map.groupBy(claims, ({ key }) => released.get(key));
    return Array.from(byHolder, ([from, own]) =>
      from === undefined || from.plan === part.plan ? [] : [{ claims: own, from, to }],
    ).flat();
  });
}

function collectWaits(plans: readonly LocatedPlan[], passings: readonly Passing[]): Waits {
  const waits = new Map<Write, Wait[]>();
  for (const { plan } of plans) {
    const byId = new Map(plan.writes.map((write) => [write.id, write]));
    for (const write of plan.writes)
      waits.set(
        write,
        write.dependsOn.flatMap((id) => {
          const needed = byId.get(id);
          return needed === undefined ? [] : [{ write: needed }];
        }),
      );
  }
  for (const passing of passings) waits.get(passing.to.write)?.push({ write: passing.from.write, passing });
  return waits;
}

/** Drops the writes that are in no cycle and wait for none, so that long chains cost little. */
function dropWritesWithoutCycle(waits: Waits): Waits {
  const open = new Map(Array.from(waits, ([write, needed]) => [write, needed.length]));
  const dependents = Map.groupBy(
    Array.from(waits, ([write, needed]) => needed.map((one) => ({ write, needed: one.write }))).flat(),
    ({ needed }) => needed,
  );
  const free = [...open].flatMap(([write, count]) => (count === 0 ? [write] : []));
  for (const done of free)
    for (const { write } of dependents.get(done) ?? []) {
      const left = (open.get(write) ?? 0) - 1;
      open.set(write, left);
      if (left === 0) free.push(write);
    }
  const dropped = new Set(free);
  return new Map([...waits].filter(([write]) => !dropped.has(write)));
}

type Round = readonly [Passing, ...Passing[]];

/** Finds the shortest way on which the write that gives up the values waits for the one that claims them. */
function findRound(start: Passing, waits: Waits): Round | undefined {
  const before = new Map<Write, { readonly from?: Write; readonly passing?: Passing | undefined }>([
    [start.from.write, {}],
  ]);
  // The map grows while it is iterated.
  for (const at of before.keys())
    for (const { write, passing } of waits.get(at) ?? [])
      if (!before.has(write)) before.set(write, { from: at, passing });
  if (!before.has(start.to.write)) return undefined;
  const way: Passing[] = [];
  for (let at: Write | undefined = start.to.write; at !== undefined; ) {
    const { from, passing }: { from?: Write; passing?: Passing | undefined } = before.get(at) ?? {};
    if (passing !== undefined) way.unshift(passing);
    at = from;
  }
  return [start, ...way];
}

/** A message describes at most this many claims of an exchange. */
const MAX_DESCRIBED = 4;

function createViolation(round: Round): SafetyViolation {
  const [{ to, claims }] = round;
  const { address } = to.change;
  const names = [...new Set(round.map((one) => one.to.plan.stack))];
  const stacks = [names.slice(0, -1).join(', '), ...names.slice(-1)].join(' and ');
  const shown = round.slice(0, MAX_DESCRIBED).map((passing, at) => describePassing(passing, round[at + 1] ?? round[0]));
  const more = round.length > shown.length ? [`and ${round.length - shown.length} more`] : [];
  const place = to.locate(address, toManifestPath(claims[0]?.field));
  return {
    rule: 'value-exchange',
    message: `${address}: the stacks ${stacks} exchange unique values, so each waits for another: ${[...shown, ...more].join('; ')}.`,
    remedy: REMEDY,
    addresses: [address],
    places: place && [{ message: address, place }],
  };
}

const REMEDY =
  'Make two merges: in the first, one of these resources takes a third value or is removed, and the others take theirs; in the second, it takes the value that is free then. Or let it keep the third value.';

function describePassing({ claims, from, to }: Passing, next: Passing): string {
  const values = claims.map(({ field, given }) => `${field} ${given}`).join(', ');
  const said = `${describeChange(to)} needs ${values}, which ${describeChange(from)} has`;
  return next.to.change === from.change
    ? said
    : `${said}; ${describeChange(from)} is changed after ${describeChange(next.to)}`;
}

function describeChange({ plan, change }: ChangingWrite): string {
  return `${change.address} of ${plan.stack}`;
}
