import { ApiError, NetworkError } from '../model/errors.ts';
import { StackError } from '../model/user-errors.ts';

/** Creates the error for a write that is not sent, because its resource changed after the plan was made. `why`: a clause. */
export function createStaleError(why: string): StackError {
  return new StackError(why, { reason: 'stale' });
}

export function isStaleError(error: unknown): error is StackError {
  return error instanceof StackError && error.reason === 'stale';
}

/** Whether the cause of a failure is the service, the network or a concurrent change, and not a bug. */
export function isExternalError(error: unknown): error is Error {
  return error instanceof ApiError || error instanceof NetworkError || isStaleError(error);
}
