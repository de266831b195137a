import { isTokenUndelivered } from '../../kinds/precedence.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { type Address, getAddressName } from '../../model/address.ts';
import type { Change } from '../../model/change.ts';
import { hasMarkOf } from '../../model/ownership.ts';
import { listKnownIds, type Plan, type SafetyViolation } from '../../model/plan.ts';
import { type CreateWrite, isCreate } from '../../model/write.ts';
import { computeChangesWithDangers } from '../dangers.ts';

/**
 * Turns the replacement of an abandoned resource back into the creation that the approved plan shows. An interrupted
 * apply of that plan created the resource, and nothing shows that it delivered the token. If the resource is protected,
 * the replacement needs a consent that the creation did not need. That is no difference: the guard asks for it.
 */
export function restoreCreationsOfAbandonedResources(plan: Plan, approved: Plan): Plan {
  const known = listKnownIds(approved);
  const creations = new Map<Address, CreateWrite>(
    approved.writes.filter(isCreate).map((write) => [write.address, write]),
  );
  const isAbandoned = (change: Change): boolean =>
    isRenewal(change) &&
    !known.has(change.live?.id ?? '') &&
    hasMarkOfCreation(change, creations.get(change.address)) &&
    hasUndeliveredToken(change, plan);
  const changes = plan.changes.flatMap((change): readonly Change[] => {
    if (!isAbandoned(change)) return [change];
    return change.duplicateOf === undefined ? createCreation(change, plan) : [];
  });
  const abandoned = new Set<string>(plan.changes.filter(isAbandoned).map(({ address }) => address));
  const isOfAbandoned = ({ rule, addresses }: SafetyViolation): boolean =>
    rule === 'protect' && addresses.every((address) => abandoned.has(address));
  return { ...plan, changes, violations: plan.violations.filter((violation) => !isOfAbandoned(violation)) };
}

/** Whether a change replaces a resource although no field differs, or deletes a duplicate. */
function isRenewal({ action, duplicateOf, differences }: Change): boolean {
  return duplicateOf === undefined ? action === 'replace' && differences.length === 0 : action === 'delete';
}

/** Whether the mark has the values that the creation writes to it. Another credential may be in use. */
function hasMarkOfCreation({ live }: Change, creation: CreateWrite | undefined): boolean {
  if (creation === undefined) return false;
  return Object.entries(creation.mark.fields).every(([name, digest]) => live?.mark?.fields[name] === digest);
}

function hasUndeliveredToken({ address, kind, live }: Change, { stack }: Plan): boolean {
  const mark = live?.mark;
  return hasMarkOf({ mark }, { stack, name: getAddressName(address) }) && isTokenUndelivered(getKind(kind), { mark });
}

function createCreation({ live: _, reason: __, ...change }: Change, plan: Plan): readonly Change[] {
  return computeChangesWithDangers({ ...plan, changes: [{ ...change, action: 'create' }] });
}
