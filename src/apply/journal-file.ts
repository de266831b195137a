import { randomUUID } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { toReason } from '../model/errors.ts';
import type { Plan } from '../model/plan.ts';
import type { Journal } from './journal.ts';

/** A journal in a file. */
export interface JournalFile {
  readonly write: Journal;
  /** Gives why an entry was lost, if one was. */
  readonly close: () => Promise<string | undefined>;
}

/** Version of the lines of a journal. */
const JOURNAL_FORMAT = 1;

/** Readable by its owner only, because it has paths and ids. */
const MODE = 0o600;

/** Opens a journal for appending, one JSON object a line. Ends a partial last line that a crash left. Rejects when it cannot be written. */
export async function openJournal(file: string, { tool, stack, baseUrl }: Plan, now: () => Date): Promise<JournalFile> {
  const handle = await open(file, 'a+', MODE);
  const run = randomUUID();
  let fault: string | undefined;
  let tail = mendLastLine(handle);
  await tail;
  const write: Journal = async (entry) => {
    const head = { format: JOURNAL_FORMAT, time: now().toISOString(), run, version: tool.version, stack, baseUrl };
    const line = `${JSON.stringify({ ...head, ...entry })}\n`;
    tail = tail.then(() => append(handle, line));
    try {
      await tail;
    } catch (error) {
      fault ??= toReason(error);
      throw error;
    }
  };
  return {
    write,
    close: async () => {
      await tail.catch(() => undefined);
      await handle.close();
      return fault;
    },
  };
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
