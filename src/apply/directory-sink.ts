import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TokenSink } from './token-sink.ts';

/**
 * A folder (mode 0700, made when it is missing) with one file (0600) for each credential, `<name>.token`, replaced as a whole.
 * `shown` is what the folder is called in reports.
 */
export function createDirectorySink(directory: string, shown: string = directory): TokenSink {
  return {
    test: () =>
      within(shown, async () => {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await writeAtomically(join(directory, `.probe-${randomUUID()}`), '');
      }),
    deliver: ({ name }, token) =>
      within(shown, async () => {
        const file = join(directory, `${name}.token`);
        await writeAtomically(`${file}.${randomUUID()}`, `${token}\n`, file);
        return join(shown, `${name}.token`);
      }),
  };
}

/** Names the folder, as the user did, in what goes wrong there. Behind a comma the system's message has paths that nobody wrote. */
async function within<T>(shown: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const [why] = (error instanceof Error ? error.message : String(error)).split(',');
    throw new Error(`the folder ${shown} can not be written to: ${why}`, { cause: error });
  }
}

/** Where a token goes when its sink failed: a new folder of its own among the temporary files, readable by its owner only. */
export function createRescueSink(parent: string): TokenSink {
  return {
    test: async () => undefined,
    deliver: async (recipient, token) => {
      const folder = await mkdtemp(join(parent, 'edgewise-rescue-'));
      return createDirectorySink(folder).deliver(recipient, token);
    },
  };
}

/** Writes and syncs a new file, then renames it to `file`; without one, removes it again. Never leaves a half-written file. */
async function writeAtomically(temporary: string, text: string, file?: string): Promise<void> {
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (file !== undefined) await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}
