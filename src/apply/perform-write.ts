import type { ConcurrencyLimiter } from '../client/request-limiter.ts';
import { ApiError, NetworkError } from '../model/errors.ts';
import { createFailedOutcome, type Outcome } from '../model/outcome.ts';
import { hasMark, isCreate, type Write } from '../model/write.ts';
import type { ApplyRun } from './apply-run.ts';
import { changeResource } from './change-resource.ts';
import { findRejectedField } from './check-response.ts';
import { isConflict } from './conflicts.ts';
import { createResource, isUnknownCreation } from './create-resource.ts';
import { warnOfConcurrentCreation } from './duplicates.ts';
import { isStaleError } from './external-error.ts';
import { recordDelivery } from './record-delivery.ts';
import { isNotFoundError } from './requests.ts';

/**
 * Performs one write whose dependencies have succeeded, and tries it again after a conflict that may pass. Never rejects
 * because of the service or the network. Each attempt takes a slot of `limit`.
 */
export async function performWrite(write: Write, run: ApplyRun, limit: ConcurrencyLimiter): Promise<Outcome> {
  const conflicts = run.conflicts.start(write);
  for (;;) {
    try {
      return await limit(() => attempt(write, run));
    } catch (error) {
      // If a concurrent apply has created the resource, the service rejects the creation for good.
      const mayBeTaken = isCreate(write) && isConflict(error);
      const isTaken = mayBeTaken && (await warnOfConcurrentCreation(write, run));
      const isTriedAgain = !isTaken && conflicts.canWait(error) && (await conflicts.wait());
      if (!isTriedAgain) return classifyFailure(write, error, conflicts.describe());
    }
  }
}

async function attempt(write: Write, run: ApplyRun): Promise<Outcome> {
  if (isCreate(write)) return createResource(write, run);
  return write.purpose === 'deliver' && hasMark(write) ? recordDelivery(write, run) : changeResource(write, run);
}

/**
 * Returns the outcome of a write that failed because of the service or the network. Rethrows other errors.
 * A delete of a resource or module that no longer exists counts as applied. `waited`: how long the write was tried
 * again, for the message.
 */
function classifyFailure(write: Write, error: unknown, waited: string): Outcome {
  const isUnknown = isCreate(write) && isUnknownCreation(error);
  if (write.method === 'DELETE' && isNotFoundError(error)) return { outcome: 'applied', write, id: write.ids?.id };
  if (error instanceof ApiError)
    return {
      ...createFailedOutcome(write, `${error.message}${waited}`),
      isAuthentication: error.isAuthentication,
      ...(error.isQuota && { isQuota: true }),
      status: error.response.status,
      field: findRejectedField(write, error),
      isUnknown,
    };
  if (error instanceof NetworkError)
    return { ...createFailedOutcome(write, error.message), isUnknown, ...(error.isUnsent && { isUnsent: true }) };
  if (isStaleError(error))
    return { ...createFailedOutcome(write, `not sent, because ${error.message}. The plan is stale`), isStale: true };
  throw error;
}
