import { listAddressesInCondition } from '../model/conditions.ts';
import type { Plan } from '../model/plan.ts';
import { computeMinimumRequestTimeMs, parseRateLimit, type RateLimit, RECENT_STATE_MS } from '../model/stack.ts';
import { isCreate, isDelete, type Write } from '../model/write.ts';
import { isCreateWithoutClaims } from './duplicates.ts';
import type { PlanInput } from './plan-input.ts';
import { createChangeLookUp, isReliantWrite } from './relied-writes.ts';

/** The requests of a plan that was made, and of its apply if nothing has to be repeated. */
export function estimateRequests(
  { changes, writes, diagnostics }: Pick<Plan, 'changes' | 'writes' | 'diagnostics'>,
  { live, settings }: PlanInput,
): Plan['requests'] {
  const limit = parseRateLimit(settings.rateLimit);
  // Each kind in which a concurrent apply could create the same resource is listed at least once.
  const lookUps = new Set(writes.filter(isCreateWithoutClaims).map(({ kind }) => kind)).size;
  const doubtful = listAddressesInCondition({ diagnostics }, 'doubtful');
  const secondMarks = writes.filter((write) => isCreate(write) && doubtful.has(write.address)).length;
  const apply = writes.length + lookUps + countDeleteChecks(writes) + secondMarks;
  const readAgain = countReliantWrites(writes, changes);
  return {
    read: live.requests,
    apply,
    ...(readAgain > 0 && { readAgain }),
    leastMs: limit === undefined ? 0 : computeMinimumRequestTimeMs(apply + countCertainReads(readAgain, limit), limit),
  };
}

/** An apply lists each kind with deletes once more, and reads each deleted module. */
function countDeleteChecks(writes: readonly Write[]): number {
  const kinds = new Set(writes.filter(isDelete).map(({ kind }) => kind));
  return kinds.size + writes.filter(({ method, module }) => method === 'DELETE' && module !== undefined).length;
}

/** Counts the writes of a plan before which an apply reads the resource again, unless it has just read it. */
function countReliantWrites(writes: readonly Write[], changes: Plan['changes']): number {
  const findChange = createChangeLookUp(changes);
  return writes.filter((write) => {
    const change = findChange(write);
    return change !== undefined && isReliantWrite(write, change);
  }).length;
}

/** The number of reads right before writes that an apply must send, because it cannot send all writes in five seconds. */
function countCertainReads(readAgain: number, { requests, windowMs }: RateLimit): number {
  const windows = Math.ceil(RECENT_STATE_MS / windowMs) + 1;
  return Math.max(0, readAgain - windows * requests);
}
