import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { WriteBoundary } from '../files/boundary.ts';
import { openForAppending } from '../files/write-file.ts';
import { ApiError, getErrorMessage, NetworkError, StaleStateError } from '../model/errors.ts';
import { toHarmlessJson } from '../model/job-commands.ts';
import type { Plan } from '../model/plan.ts';

/**
 * A journal entry about one request: `before` is written before the request is sent, `after` when it has ended.
 * Contains only a digest of the body, and so no secret.
 */
export interface JournalEntry {
  readonly event: 'before' | 'after';
  /**
   * `look-up`: a list request that checks whether a creation took effect, or whether a concurrent apply created a
   * duplicate, or the read of a resource right before a write to it. `undo`: a request that deletes a creation of this run, or marks a credential as undelivered.
   * `record`: a request that records in the mark in which form the service stored a text.
   */
  readonly request: 'write' | 'look-up' | 'undo' | 'record';
  /** Id of the write in the plan to which the request belongs. Absent for a look-up. */
  readonly write?: string;
  readonly method: string;
  readonly path: string;
  readonly address?: string;
  /** Digest of the body as sent. Absent if the request has no body. */
  readonly body?: string;
  /** `not-sent`: the run was interrupted before the request was sent. Absent in a `before` entry. */
  readonly outcome?: 'done' | 'failed' | 'not-sent';
  /** Resource id. Absent if it is not known yet. */
  readonly id?: string | undefined;
  /** HTTP status of the error response. Absent if there was none. */
  readonly status?: number;
  readonly message?: string;
}

/** Stores an entry. Resolves when the entry would survive a crash. Rejects if the entry cannot be stored. */
export type JournalWriter = (entry: JournalEntry) => Promise<void>;

/** A request was not sent, because its journal entry could not be written. */
export class JournalWriteError extends Error {
  override readonly name = 'JournalWriteError';
}

/** Whether the cause of a failure is the service, the network or the journal, and not a bug. */
export function isExternalError(error: unknown): error is Error {
  return [ApiError, NetworkError, StaleStateError, JournalWriteError].some((type) => error instanceof type);
}

interface Sending<T> {
  /** Rejects with `signal.reason` if the signal was aborted before the request was sent. */
  readonly send: () => Promise<T>;
  readonly findId?: (answer: T) => string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Writes a `before` entry, calls `send`, and writes an `after` entry with the result. If the `before` entry cannot be
 * written, sends nothing and rejects with `JournalWriteError`; otherwise rejects as `send` does.
 */
export async function sendWithJournal<T>(
  journal: JournalWriter | undefined,
  describe: () => Omit<JournalEntry, 'event'>,
  { send, findId, signal }: Sending<T>,
): Promise<T> {
  if (journal === undefined) return send();
  const entry = describe();
  await journalBefore(journal, entry);
  try {
    const answer = await send();
    const id = findId?.(answer) ?? entry.id;
    await writeAfter(journal, { event: 'after', ...entry, outcome: 'done', id });
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
      message: getErrorMessage(error),
    });
    throw error;
  }
}

/** Writes the entry of a request that is about to be sent. Rejects with `JournalWriteError` if that fails. */
export async function journalBefore(journal: JournalWriter, entry: Omit<JournalEntry, 'event'>): Promise<void> {
  try {
    await journal({ event: 'before', ...entry });
  } catch (cause) {
    throw new JournalWriteError(`the journal cannot be written, so nothing was sent: ${getErrorMessage(cause)}`, {
      cause,
    });
  }
}

/** Writes the entry of a request that has ended. `failure`: why it failed. */
export async function journalAfter(
  journal: JournalWriter,
  entry: Omit<JournalEntry, 'event'>,
  failure: string | undefined,
): Promise<void> {
  const end = failure === undefined ? { outcome: 'done' as const } : { outcome: 'failed' as const, message: failure };
  await writeAfter(journal, { event: 'after', ...entry, ...end });
}

/** Ignores errors, which would hide the result of the sent request. `JournalFile.close` reports lost entries. */
async function writeAfter(journal: JournalWriter, entry: JournalEntry): Promise<void> {
  await journal(entry).catch(() => undefined);
}

/** A journal that is appended to a file. */
export interface JournalFile {
  readonly write: JournalWriter;
  /** Closes the file. Resolves with the error of the first entry that was not written; `undefined` if there is none. */
  readonly close: () => Promise<string | undefined>;
}

/**
 * `cwd`: default is the working folder of the process. `root`: the folder of `--root`. `uid`: user id of the process; a
 * file that belongs to another user is rejected. Default: the owner is not checked.
 */
interface JournalContext extends Partial<Pick<WriteBoundary, 'cwd' | 'root' | 'uid'>> {
  readonly now: () => Date;
  /** Redacts secrets in a line of the file. Default: lines are written unchanged. */
  readonly redact?: (text: string) => string;
}

/** The value of `format` in each line. */
const JOURNAL_FORMAT = 1;

/** Only the owner may read a journal, because it contains paths and ids. */
const MODE = 0o600;

/**
 * Opens a journal for appending, with one JSON object per line. If a crash left an incomplete last line, ends that line
 * first. Rejects if the file cannot be written, is reached through a symbolic link, or has several hard links.
 */
export async function openJournal(
  file: string,
  { tool, stack, baseUrl }: Plan,
  { now, redact = (text) => text, cwd = resolve('.'), root, uid }: JournalContext,
): Promise<JournalFile> {
  const handle = await openForAppending(file, { cwd, root, uid, mode: MODE });
  const run = randomUUID();
  let failure: string | undefined;
  let tail = endLastLine(handle);
  await tail;
  const write: JournalWriter = async (entry) => {
    const head = { format: JOURNAL_FORMAT, time: now().toISOString(), run, version: tool.version, stack, baseUrl };
    const line = toHarmlessJson(redact(`${JSON.stringify({ ...head, ...entry })}\n`));
    tail = tail.then(() => append(handle, line));
    try {
      await tail;
    } catch (error) {
      failure ??= getErrorMessage(error);
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

async function append(handle: FileHandle, text: string): Promise<void> {
  await handle.appendFile(text);
  await handle.datasync();
}

async function endLastLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
  await append(handle, size > 0 && buffer[0] !== 0x0a ? '\n' : '');
}
