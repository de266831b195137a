import { randomUUID } from 'node:crypto';
import { constants, type FileHandle, open } from 'node:fs/promises';
import { isDevice, isOfAnother } from '../files/boundary.ts';
import { ApiError, describeError } from '../model/errors.ts';
import type { Plan } from '../model/plan.ts';

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
    await end(journal, { event: 'after', ...entry, outcome: 'failed', ...status, message: describeError(error) });
    throw error;
  }
}

async function begin(journal: Journal, entry: Omit<JournalEntry, 'event'>): Promise<void> {
  try {
    await journal({ event: 'before', ...entry });
  } catch (cause) {
    throw new JournalError(`the journal cannot be written, so nothing was sent: ${describeError(cause)}`, { cause });
  }
}

/** The answer counts even when its line is lost; closing the journal reports that. */
async function end(journal: Journal, entry: JournalEntry): Promise<void> {
  await journal(entry).catch(() => undefined);
}

/** A journal in a file. */
export interface JournalFile {
  readonly write: Journal;
  /** Gives why an entry was lost, if one was. */
  readonly close: () => Promise<string | undefined>;
}

/** What a journal needs of the run. */
interface JournalContext {
  readonly now: () => Date;
  /** Redacts secrets in a line. Default: a line is written as it is. */
  readonly redact?: (text: string) => string;
  /** The user who runs it: a file of another one is refused. Default: nobody looks. */
  readonly uid?: number | undefined;
}

/** Version of the lines of a journal. */
const JOURNAL_FORMAT = 1;

/** Appends, and follows no link in the place of the file. Those of devices are the system's. */
const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

/** Readable by its owner only, because it has paths and ids. */
const MODE = 0o600;

/** Opens a journal for appending, one JSON object a line. Ends a partial last line that a crash left. Rejects when it cannot be written. */
export async function openJournal(
  file: string,
  { tool, stack, baseUrl }: Plan,
  { now, redact = (text) => text, uid }: JournalContext,
): Promise<JournalFile> {
  const handle = await open(file, isDevice(file) ? 'a+' : APPEND, MODE);
  await refuseShared(handle, file, uid).catch(async (error: unknown) => {
    await handle.close();
    throw error;
  });
  const run = randomUUID();
  let failure: string | undefined;
  let tail = mendLastLine(handle);
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

/** A file that another user made is read by that user; one with two names may be any other file. */
async function refuseShared(handle: FileHandle, file: string, uid: number | undefined): Promise<void> {
  const stats = await handle.stat();
  if (!stats.isFile()) return;
  if (stats.nlink > 1) throw new Error('the file has another name, too');
  if (isOfAnother(file, stats, uid)) throw new Error('the file belongs to another user');
}

async function append(handle: FileHandle, text: string): Promise<void> {
  await handle.appendFile(text);
  await handle.datasync();
}

async function mendLastLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
  await append(handle, size > 0 && buffer[0] !== 0x0a ? '\n' : '');
}
