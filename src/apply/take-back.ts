import { ApiError } from '../model/errors.ts';
import { createFailedOutcome, type Outcome } from '../model/outcome.ts';
import type { Write } from '../model/write.ts';
import { isExternalError } from './external-error.ts';
import { PAUSES_MS } from './look-ups.ts';
import type { ApplyRequests, CreatedResource } from './requests.ts';

/** Why a creation failed although the service created a resource. */
export interface Withdrawal {
  readonly message: string;
  /** The service does not keep the mark of what it creates. */
  readonly isUnmanageable?: true;
}

export function createWithdrawnOutcome(write: Write, { message, isUnmanageable }: Withdrawal): Outcome {
  return { ...createFailedOutcome(write, message), ...(isUnmanageable && { isUnmanageable }) };
}

type TakeBackRequests = Pick<ApplyRequests, 'remove' | 'read' | 'sleep'>;

/**
 * Deletes a new resource that the service shows without its mark. Otherwise each apply would create another one. `why`
 * says what the service shows.
 */
export async function takeBackUnmarked(
  made: CreatedResource,
  why: string,
  requests: TakeBackRequests,
): Promise<Withdrawal> {
  const message = await takeBack(made, requests, 'Delete it by hand');
  return { message: `${why}; ${message}`, isUnmanageable: true };
}

/**
 * Deletes a resource that this run created. Returns a message about the result. `otherwise`: the remedy if that fails.
 */
export async function takeBack(made: CreatedResource, requests: TakeBackRequests, otherwise: string): Promise<string> {
  const { id } = made;
  try {
    await requests.remove(made);
    if (!(await isStillShown(made, requests))) return `${id}, which this run created, was then deleted`;
    return `${id}, which this run created, is still there, although the service answered its DELETE with success. ${otherwise}`;
  } catch (error) {
    if (!isExternalError(error)) throw error;
    if (error instanceof ApiError && error.response.status === 404)
      return `${id}, which this run created, no longer exists`;
    return `${id}, which this run created, could not be deleted (${error.message}). ${otherwise}`;
  }
}

/** Whether the service shows a resource whose DELETE it answered with success, for half a minute. */
async function isStillShown({ write, id }: CreatedResource, requests: TakeBackRequests): Promise<boolean> {
  if (requests.read === undefined) return false;
  for (const pauseMs of [0, ...PAUSES_MS]) {
    if (pauseMs > 0) await requests.sleep(pauseMs);
    try {
      await requests.read(write, id);
    } catch (error) {
      if (isExternalError(error)) return false;
      throw error;
    }
  }
  return true;
}
