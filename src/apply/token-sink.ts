import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Where the tokens of new credentials go. A token exists only in the response to the creation, so a sink is tried out before
 * the first write, and there is a second one for the case that it fails after all.
 */
export interface TokenSink {
  /** Rejects when a token can't be delivered now. Leaves nothing behind but an empty folder. */
  readonly test: () => Promise<void>;
  /** Delivers a token; resolves with where it is, in words. */
  readonly deliver: (name: string, token: string) => Promise<string>;
}

/**
 * A folder (mode 0700, made when it is missing) with one file (0600) for each credential, `<name>.token`, replaced as a whole.
 * `shown` is what the folder is called in reports.
 */
export function createDirectorySink(directory: string, shown: string = directory): TokenSink {
  return {
    test: async () => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await writeAtomically(join(directory, `.probe-${randomUUID()}`), '');
    },
    deliver: async (name, token) => {
      const file = join(directory, `${name}.token`);
      await writeAtomically(`${file}.${randomUUID()}`, `${token}\n`, file);
      return join(shown, `${name}.token`);
    },
  };
}

/** Where a token goes when its sink failed: a new folder of its own among the temporary files, readable by its owner only. */
export function createRescueSink(parent: string = tmpdir()): TokenSink {
  return {
    test: async () => undefined,
    deliver: async (name, token) =>
      createDirectorySink(await mkdtemp(join(parent, 'edgewise-rescue-'))).deliver(name, token),
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
