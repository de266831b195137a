import { ApiError, NetworkError } from '../model/errors.ts';
import { JournalError } from './journal.ts';
import type { Made } from './rivals.ts';

/** What taking back takes. */
export interface TakeBackContext {
  /** Deletes what this run itself made. Rejects as the client does. */
  readonly remove: (made: Made) => Promise<void>;
}

/** Deletes what this run created and returns how that went. `otherwise`: the remedy when it fails. */
export async function takeBack(made: Made, context: TakeBackContext, otherwise: string): Promise<string> {
  const { id } = made;
  try {
    await context.remove(made);
    return `${id}, which this run created, was deleted again`;
  } catch (error) {
    if (!isOfTheWorld(error)) throw error;
    if (error instanceof ApiError && error.response.status === 404) return `${id}, which this run created, is gone`;
    return `${id}, which this run created, could not be deleted again (${error.message}). ${otherwise}`;
  }
}

/** Whether something failed because of the service, the network, or the journal. */
export function isOfTheWorld(error: unknown): error is Error {
  return error instanceof ApiError || error instanceof NetworkError || error instanceof JournalError;
}
