import { randomUUID } from 'node:crypto';
import { constants, type FileHandle, open } from 'node:fs/promises';
import { isDevice, isOwnedByAnotherUser } from '../files/boundary.ts';
import { ApiError, describeError } from '../model/errors.ts';
import type { Plan } from '../model/plan.ts';

/** A journal entry about one request, written before it is sent or when it has ended. Contains no body, and so no secret. */
export interface JournalEntry {
  readonly event: 'before' | 'after';
  /**
   * `look-up`: a list request, to find out whether a creation took effect or a concurrent apply created a duplicate. `undo`: this run deletes its own
   * creation, or marks a credential as undelivered.
   */
  readonly request: 'write' | 'look-up' | 'undo';
  /** Id of the write of the plan to which the request belongs. Absent for a look-up. */
  readonly write?: string;
  readonly method: string;
  readonly path: string;
  readonly address?: string;
  /** Digest of the body as sent. Absent if the request has no body. */
  readonly body?: string;
  /** `not-sent`: the run was interrupted before the request was sent. Absent in `before`. */
  readonly outcome?: 'done' | 'failed' | 'not-sent';
  /** Id of the resource. Absent if it is not known. */
  readonly id?: string;
  /** HTTP status if the service rejected the request. */
  readonly status?: number;
  readonly message?: string;
}

/** Stores an entry. Resolves when the entry would survive a crash. Rejects if the entry cannot be stored. */
export type Journal = (entry: JournalEntry) => Promise<void>;

/** A request was not sent, because its journal entry could not be written. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
}

interface Sending<T> {
  /** Rejects with the reason of `signal` if nothing was sent. */
  readonly send: () => Promise<T>;
  readonly findId?: (answer: T) => string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Writes a journal entry, calls `send`, and writes the entry of its result. If the first entry cannot be written, rejects with `JournalError` and sends
 * nothing; otherwise rejects as `send` does.
 */
export async function withJournal<T>(
  journal: Journal | undefined,
  describe: () => Omit<JournalEntry, 'event'>,
  { send, findId, signal }: Sending<T>,
): Promise<T> {
  if (journal === undefined) return send();
  const entry = describe();
  await writeBefore(journal, entry);
  try {
    const answer = await send();
    const id = findId?.(answer) ?? entry.id;
    await writeAfter(journal, { event: 'after', ...entry, outcome: 'done', ...(id !== undefined && { id }) });
    return answer;
  } catch (error) {
    if (signal.aborted && error === signal.reason) {
      await writeAfter(journal, { event: 'after', ...entry, outcome: 'not-sent' });
      throw error;
    }
    const status = error instanceof ApiError ? { status: error.response.status } : {};
    await writeAfter(journal, {
      event: 'after',
      ...entry,
      outcome: 'failed',
      ...status,
      message: describeError(error),
    });
    throw error;
  }
}

async function writeBefore(journal: Journal, entry: Omit<JournalEntry, 'event'>): Promise<void> {
  try {
    await journal({ event: 'before', ...entry });
  } catch (cause) {
    throw new JournalError(`the journal cannot be written, so nothing was sent: ${describeError(cause)}`, { cause });
  }
}

/** Ignores errors, because the response counts even if its entry is lost. `close` reports the loss. */
async function writeAfter(journal: Journal, entry: JournalEntry): Promise<void> {
  await journal(entry).catch(() => undefined);
}

/** A journal in a file. */
export interface JournalFile {
  readonly write: Journal;
  /** Closes the file. Resolves with the reason why an entry was lost. `undefined`: none was lost. */
  readonly close: () => Promise<string | undefined>;
}

interface JournalContext {
  readonly now: () => Date;
  /** Redacts secrets in a line. Default: lines are written unchanged. */
  readonly redact?: (text: string) => string;
  /** User id of the process. A file of another user is rejected. Default: the owner is not checked. */
  readonly uid?: number | undefined;
}

/** The value of `format` in each line. */
const JOURNAL_FORMAT = 1;

/** Flags for appending to a file that is not a symbolic link. Devices are opened without these flags, because their links belong to the system. */
const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

/** Only the owner may read a journal, because it contains paths and ids. */
const MODE = 0o600;

/** Opens a journal for appending, with one JSON object per line. Ends an incomplete last line that a crash left. Rejects if the file cannot be written. */
export async function openJournal(
  file: string,
  { tool, stack, baseUrl }: Plan,
  { now, redact = (text) => text, uid }: JournalContext,
): Promise<JournalFile> {
  const handle = await open(file, isDevice(file) ? 'a+' : APPEND, MODE);
  await rejectShared(handle, file, uid).catch(async (error: unknown) => {
    await handle.close();
    throw error;
  });
  const run = randomUUID();
  let failure: string | undefined;
  let tail = endLastLine(handle);
  await tail;
  const write: Journal = async (entry) => {
    const head = { format: JOURNAL_FORMAT, time: now().toISOString(), run, version: tool.version, stack, baseUrl };
    const line = redact(`${JSON.stringify({ ...head, ...entry })}\n`);
    tail = tail.then(() => append(handle, line));
    try {
      await tail;
    } catch (error) {
      failure ??= describeError(error);
      throw error;
    }
  };
  return {
    write,
    close: async () => {
      await tail.catch(() => undefined);
      await handle.close();
      return failure;
    },
  };
}

/** Rejects a file of another user, because that user could read it, and a file with several hard links, because it may be any other file. */
async function rejectShared(handle: FileHandle, file: string, uid: number | undefined): Promise<void> {
  const stats = await handle.stat();
  if (!stats.isFile()) return;
  if (stats.nlink > 1) throw new Error('the file has more than one hard link');
  if (isOwnedByAnotherUser(file, stats, uid)) throw new Error('the file belongs to another user');
}

async function append(handle: FileHandle, text: string): Promise<void> {
  await handle.appendFile(text);
  await handle.datasync();
}

async function endLastLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
  await append(handle, size > 0 && buffer[0] !== 0x0a ? '\n' : '');
}
