import { ApiError, NetworkError } from '../model/errors.ts';
import type { LiveResource } from '../model/state.ts';
import { JournalError } from './journal.ts';

/** How a creation is carried out. */
export interface Creation<T> {
  /** Sends it once; `undefined`: nothing is sent any more. */
  readonly send: () => Promise<T | undefined>;
  /** Resources with the mark that were not there before, oldest first. */
  readonly look: () => Promise<readonly LiveResource[]>;
  /** Ends at once when the run is interrupted. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** How often a creation is sent while its outcome is unknown. */
const ROUNDS = 3;
const PAUSE_MS = 1000;

/** What was answered, or what was found in its place. */
export type Created<T> = { readonly answer: T } | { readonly found: LiveResource };

/**
 * Creates something exactly once. If no answer says whether the request took effect, the resource is looked up by its mark, twice because a list
 * may be stale; the request is sent again only if the resource is not there. Rejects as the client does; if the look-up
 * fails too, with the error that left the outcome unknown.
 */
export async function createOnce<T>({ send, look, sleep }: Creation<T>): Promise<Created<T> | undefined> {
  let unknown: unknown;
  for (let round = 1; round <= ROUNDS; round += 1) {
    try {
      const answer = await send();
      if (answer !== undefined) return { answer };
      if (round === 1) return undefined;
      break;
    } catch (error) {
      if (!isUnknownCreation(error)) throw error;
      unknown = error;
    }
    const found = await lookTwice(look, () => sleep(PAUSE_MS * 2 ** (round - 1)), unknown);
    if (found !== undefined) return { found };
  }
  throw unknown;
}

/** Whether a creation that failed may have taken effect. */
export function isUnknownCreation(error: unknown): boolean {
  if (error instanceof ApiError) return error.response.status >= 500;
  return error instanceof NetworkError && !error.isUnsent;
}

/** The oldest resource found. A look-up that fails leaves the outcome unknown. */
async function lookTwice(
  look: () => Promise<readonly LiveResource[]>,
  pause: () => Promise<void>,
  unknown: unknown,
): Promise<LiveResource | undefined> {
  try {
    const [early] = await look();
    if (early !== undefined) return early;
    await pause();
    const [late] = await look();
    return late;
  } catch (error) {
    if (error instanceof ApiError || error instanceof NetworkError || error instanceof JournalError) throw unknown;
    throw error;
  }
}
