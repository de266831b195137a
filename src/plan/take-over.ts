import { listClaims } from '../kinds/claims.ts';
import { isSameBesideMetadata } from '../kinds/same-fields.ts';
import { type Address, toAddress } from '../model/address.ts';
import { isOwnedBy, isResourceOf, listMarked } from '../model/ownership.ts';
import type { SafetyViolation } from '../model/plan.ts';
import { NO_OTHER_STACKS } from '../model/stack-tree.ts';
import type { LiveResource } from '../model/state.ts';
import type { ChangeDecision } from './decide.ts';
import type { PlanInput } from './plan-input.ts';

/** The decisions that take a resource over, by the stack that its mark names. */
export function listTakenByStack(decisions: readonly ChangeDecision[]): ReadonlyMap<string, readonly ChangeDecision[]> {
  const taken = decisions.flatMap((decision) => {
    const { by, live } = decision.pair;
    const stack = by === 'adopt' ? live?.mark?.stack : undefined;
    return stack === undefined ? [] : [{ stack, decision }];
  });
  const groups = Map.groupBy(taken, ({ stack }) => stack);
  return new Map(Array.from(groups, ([stack, all]) => [stack, all.map(({ decision }) => decision)]));
}

/**
 * A take-over needs the consent of the user who starts edgewise: a copy of a repository has its lines too. A hand-over
 * needs none: the document names the resource, and the repository has the other stack, which describes it no longer.
 */
export function listTakeOverViolations(
  decisions: readonly ChangeDecision[],
  { others = NO_OTHER_STACKS }: Pick<PlanInput, 'others'>,
): readonly SafetyViolation[] {
  return Array.from(listTakenByStack(decisions), ([stack, all]): SafetyViolation | undefined => {
    const isHandedOver = ({ pair }: ChangeDecision): boolean => {
      const { takenFrom, isRenamedBack } = pair.desired?.lifecycle ?? {};
      return takenFrom?.stack === stack && isRenamedBack !== true && others.has(stack);
    };
    const taken = all.filter((decision) => !isHandedOver(decision));
    const what = taken.length === 1 ? '1 resource' : `${taken.length} resources`;
    if (taken.length === 0) return undefined;
    return {
      rule: 'take-over',
      stack,
      message: `This plan takes over ${what} of the stack ${stack}.`,
      remedy: `A copy of a repository would do that, too. If it is right, allow it with --allow-take-over ${stack}, or answer the question of edgewise apply in a terminal.`,
      addresses: taken.map(({ pair }) => pair.address).sort(),
    };
  }).filter((violation) => violation !== undefined);
}

/** What a plan creates although another stack has its equal: the resource of that stack, by the address here. */
export type Predecessors = ReadonlyMap<Address, LiveResource>;

/**
 * Finds, for each creation, the resource with the mark of another stack that has the same kind, name and fields: after a
 * Stack was renamed, or documents moved or were copied. A unique value has a check of its own (`claims.ts`).
 */
export function findPredecessors(
  decisions: readonly ChangeDecision[],
  { live, desired: { stack } }: Pick<PlanInput, 'live' | 'desired'>,
): Predecessors {
  const creations = decisions.filter(({ action }) => action === 'create');
  if (creations.length === 0) return new Map();
  const marked = listMarked(live).filter(
    (one) =>
      !isOwnedBy(one.live, stack.name) && isResourceOf(one.live, { stack: one.stack, name: one.live.mark?.name ?? '' }),
  );
  const byAddress = Map.groupBy(marked, ({ address }) => address);
  return new Map(
    creations.flatMap(({ pair: { kind, desired }, form }): readonly (readonly [Address, LiveResource])[] => {
      if (desired === undefined || form === undefined || listClaims(kind, form.normal).length > 0) return [];
      const address = toAddress(kind.name, desired.name);
      const found = (byAddress.get(address) ?? []).find((one) =>
        isSameBesideMetadata(kind, one.live.spec, form.normal),
      );
      return found === undefined ? [] : [[address, found.live]];
    }),
  );
}

/** The maximum number of resources that a warning lists. */
const MAX_LISTED = 10;

/** The predecessors of each other stack, as texts. Those of a former name of the stack have a warning of their own. */
export function listPredecessorsByStack(
  predecessors: Predecessors,
  { desired: { stack } }: Pick<PlanInput, 'desired'>,
): readonly { readonly owner: string; readonly named: string; readonly count: number }[] {
  const groups = Map.groupBy(predecessors, ([, { mark }]) => mark?.stack ?? '');
  return [...groups]
    .filter(([owner]) => stack.formerNames?.includes(owner) !== true)
    .map(([owner, all]) => {
      const named = all.map(([address, { id }]) => `${address} (${id})`).sort();
      const more = named.length > MAX_LISTED ? ` and ${named.length - MAX_LISTED} more` : '';
      return { owner, named: `${named.slice(0, MAX_LISTED).join(', ')}${more}`, count: all.length };
    });
}
