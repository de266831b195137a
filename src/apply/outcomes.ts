import { ApiError, NetworkError } from '../model/errors.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Write } from '../model/write.ts';
import { isUnknownCreation } from './create-once.ts';
import { JournalError } from './journal.ts';
import { toRefusal } from './refusal.ts';

/** A write that failed, and surely took no other effect than the message says. */
export function toFailed(write: Write, message: string): Extract<Outcome, { readonly outcome: 'failed' }> {
  return { outcome: 'failed', write, message, isAuthentication: false, isUnknown: false };
}

/** A write that was interrupted before anything was sent. */
export function toInterrupted(write: Write): Outcome {
  return { outcome: 'skipped', write, message: 'interrupted', waitedFor: [] };
}

/** The outcome of a write that the service or the network refused; other errors are rethrown. Deleting something already gone is a success. */
export function toFailure(write: Write, error: unknown): Outcome {
  const isUnknown = write.act === 'create' && isUnknownCreation(error);
  if (error instanceof ApiError) {
    if (write.act === 'delete' && error.response.status === 404)
      return { outcome: 'applied', write, id: write.resourceId };
    if (write.act === 'remove-module' && error.response.status === 404)
      return { outcome: 'applied', write, id: write.ids.id };
    return { ...toFailed(write, error.message), ...toRefusal(write, error), isUnknown };
  }
  if (error instanceof NetworkError) return { ...toFailed(write, error.message), isUnknown };
  if (error instanceof JournalError) return toFailed(write, error.message);
  throw error;
}
