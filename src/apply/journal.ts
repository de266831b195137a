import { ApiError, toReason } from '../model/errors.ts';

/** What a journal says of one request: before it is sent, and when it is over. It holds no body, and so no secret. */
export interface JournalEntry {
  readonly event: 'before' | 'after';
  /** `look-up`: a list, to see what became of a creation or who else made the same; `undo`: what this run takes back: a delete of what it made, or a mark that says too much. */
  readonly request: 'write' | 'look-up' | 'undo';
  /** Id of the write of the plan that it serves; absent for a look-up. */
  readonly write?: string;
  readonly method: string;
  readonly path: string;
  readonly address?: string;
  /** Digest of the body as it is sent. */
  readonly body?: string;
  /** `not-sent`: the run was interrupted before its turn came. */
  readonly outcome?: 'done' | 'failed' | 'not-sent';
  /** Id of the resource, when it is known. */
  readonly id?: string;
  /** HTTP status of a refusal. */
  readonly status?: number;
  readonly message?: string;
}

/** Takes an entry; resolves when it will survive a crash. Rejects when it cannot be kept. */
export type Journal = (entry: JournalEntry) => Promise<void>;

/** A request was not sent, because the journal cannot say so. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
}

interface Sending<T> {
  /** Rejects with the reason of the signal when nothing was sent. */
  readonly send: () => Promise<T>;
  readonly toId?: (answer: T) => string | undefined;
  readonly signal: AbortSignal;
}

/** Sends between two lines of the journal. Without its first line nothing is sent: rejects with `JournalError`; else as `send` does. */
export async function journaled<T>(
  journal: Journal | undefined,
  describe: () => Omit<JournalEntry, 'event'>,
  { send, toId, signal }: Sending<T>,
): Promise<T> {
  if (journal === undefined) return send();
  const entry = describe();
  await begin(journal, entry);
  try {
    const answer = await send();
    const id = toId?.(answer) ?? entry.id;
    await end(journal, { event: 'after', ...entry, outcome: 'done', ...(id !== undefined && { id }) });
    return answer;
  } catch (error) {
    if (signal.aborted && error === signal.reason) {
      await end(journal, { event: 'after', ...entry, outcome: 'not-sent' });
      throw error;
    }
    const status = error instanceof ApiError ? { status: error.response.status } : {};
    await end(journal, { event: 'after', ...entry, outcome: 'failed', ...status, message: toReason(error) });
    throw error;
  }
}

async function begin(journal: Journal, entry: Omit<JournalEntry, 'event'>): Promise<void> {
  try {
    await journal({ event: 'before', ...entry });
  } catch (cause) {
    throw new JournalError(`the journal cannot be written, so nothing was sent: ${toReason(cause)}`, { cause });
  }
}

/** The answer counts even when its line is lost; closing the journal reports that. */
async function end(journal: Journal, entry: JournalEntry): Promise<void> {
  await journal(entry).catch(() => undefined);
}
