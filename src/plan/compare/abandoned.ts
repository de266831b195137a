import { getKind } from '../../kinds/tables/registry.ts';
import { type Address, toAddress } from '../../model/address.ts';
import type { Change } from '../../model/change.ts';
import { listKnownIds, type Plan } from '../../model/plan.ts';
import { computeChangesWithDangers } from '../dangers.ts';
import { isTokenUndelivered } from '../match.ts';
import { isCreateOrReplace } from './comparable.ts';

/**
 * Turns the replacement of an abandoned resource back into the creation that the approved plan shows. An interrupted
 * apply of that plan created the resource and did not deliver its token, so nothing can use it.
 */
export function restoreCreationsOfAbandonedResources(plan: Plan, approved: Plan): Plan {
  const known = listKnownIds(approved);
  const creations = new Set<Address>(approved.changes.filter(isCreateOrReplace).map(({ address }) => address));
  const isAbandoned = (change: Change): boolean =>
    isRenewal(change) &&
    creations.has(change.address) &&
    !known.has(change.live?.id ?? '') &&
    hasUndeliveredToken(change, plan);
  const changes = plan.changes.flatMap((change): readonly Change[] => {
    if (!isAbandoned(change)) return [change];
    return change.duplicateOf === undefined ? createCreation(change, plan) : [];
  });
  return { ...plan, changes };
}

/** Whether a change replaces a resource although no field differs, or deletes a duplicate. */
function isRenewal({ action, duplicateOf, differences }: Change): boolean {
  return duplicateOf === undefined ? action === 'replace' && differences.length === 0 : action === 'delete';
}

function hasUndeliveredToken({ address, kind, live }: Change, { stack }: Plan): boolean {
  const mark = live?.mark;
  if (mark === undefined || mark.stack !== stack || toAddress(kind, mark.name) !== address) return false;
  return isTokenUndelivered(getKind(kind), { mark });
}

function createCreation({ live: _, reason: __, ...change }: Change, plan: Plan): readonly Change[] {
  return computeChangesWithDangers({ ...plan, changes: [{ ...change, action: 'create' }], writes: [] });
}
