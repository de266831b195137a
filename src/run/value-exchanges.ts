import { type Claim, listClaims } from '../kinds/claims.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Change, formatChangeAddress } from '../model/change.ts';
import { isAboutCondition } from '../model/conditions.ts';
import { toManifestPath } from '../model/field-path.ts';
import type { Locate } from '../model/place.ts';
import type { Plan, SafetyViolation } from '../model/plan.ts';
import { findWay, sort } from '../model/sort.ts';
import type { StackFolder } from '../model/stack-tree.ts';
import { formatWriteAddress, mapNeededWrites, type Write } from '../model/write.ts';
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
  const waits = collectWaits(plans, passings);
  const { circles } = sort(waits.keys(), (write) => (waits.get(write) ?? []).map((one) => one.write));
  const members = new Map(circles.flatMap((circle) => circle.map((write) => [write, circle] as const)));
  const rounds = passings.map((passing) => findRound(passing, waits, members)).filter((round) => round !== undefined);
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
      (one) => !isAboutCondition(one, 'awaiting') || one.address === undefined || !addresses.has(one.address),
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
  const own = plans.flatMap(({ plan }) => [...mapNeededWrites(plan.writes)]);
  const waits = new Map(own.map(([write, needed]) => [write, needed.map((one): Wait => ({ write: one }))]));
  for (const passing of passings) waits.get(passing.to.write)?.push({ write: passing.from.write, passing });
  return waits;
}

type Round = readonly [Passing, ...Passing[]];

/** Finds the shortest way on which the write that gives up the values waits for the one that claims them. */
function findRound(start: Passing, waits: Waits, circles: ReadonlyMap<Write, unknown>): Round | undefined {
  const { from, to } = start;
  const circle = circles.get(to.write);
  if (circle === undefined || circle !== circles.get(from.write)) return undefined;
  const round: [Passing, ...Passing[]] = [start];
  let before = from.write;
  const listWaits = (write: Write) => (waits.get(write) ?? []).filter((one) => circles.get(one.write) === circle);
  for (const write of findWay(from.write, to.write, (at) => listWaits(at).map((one) => one.write)) ?? []) {
    const passing = waits.get(before)?.find((one) => one.write === write)?.passing;
    if (passing !== undefined) round.push(passing);
    before = write;
  }
  return round;
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
