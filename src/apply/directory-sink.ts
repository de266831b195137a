import { existsSync, lstatSync, readlinkSync, renameSync, statSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { platform } from 'node:os';
import { join, resolve } from 'node:path';
import { tryOutWriting, writeAtomically } from '../files/atomic-file.ts';
import { toReason } from '../model/errors.ts';
import type { TokenSink } from './token-sink.ts';

/**
 * A folder (mode 0700, made when it is missing) with one file (0600) for each credential, `<name>.token`, replaced as a whole. A file from
 * before the first credential of its name is kept as `<name>.token.1`: another stack may need it.
 * `shown` is what the folder is called in reports.
 */
export function createDirectorySink(directory: string, shown: string = directory): TokenSink {
  return {
    test: () =>
      within(shown, async () => {
        const warnings = listFolderWarnings(directory, shown);
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await tryOutWriting(join(directory, 'probe'), PRIVATE);
        return warnings;
      }),
    deliver: ({ name, isFirst }, token) =>
      within(shown, () =>
        oneByOne(async () => {
          const file = toTokenFile(name);
          const kept = isFirst ? keepAside(directory, file) : undefined;
          await writeAtomically(join(directory, file), `${token}\n`, PRIVATE);
          const place = join(shown, file);
          return kept === undefined ? place : `${place} (what was there before is in ${join(shown, kept)})`;
        }),
      ),
  };
}

/** The file of a credential in a folder of tokens. */
export function toTokenFile(name: string): string {
  return `${name}.token`;
}

let last: Promise<unknown> = Promise.resolve();

/** Runs tasks of all sinks one after another: two stacks of one run may write the same file, and each has to see what the other wrote. */
async function oneByOne<T>(task: () => Promise<T>): Promise<T> {
  const next = last.then(task, task);
  last = next.catch(() => undefined);
  return next;
}

/** Moves a file that another stack may have written out of the way. Gives its new name; `undefined`: there is none. */
function keepAside(directory: string, file: string): string | undefined {
  if (!existsSync(join(directory, file))) return undefined;
  let number = 1;
  while (existsSync(join(directory, `${file}.${number}`))) number += 1;
  renameSync(join(directory, file), join(directory, `${file}.${number}`));
  return `${file}.${number}`;
}

/** Only its owner may read a token. */
const PRIVATE = { mode: 0o600 } as const;

/** Warnings about the permissions of an existing folder. A folder made here is readable by its owner only. */
function listFolderWarnings(directory: string, shown: string): readonly string[] {
  const path = resolve(directory);
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  // Windows reports permissions that it does not have.
  const isOpen = platform() !== 'win32' && (mode & OTHERS) !== 0;
  return [
    ...(isLink
      ? [`The token folder ${shown} is a link to ${readlinkSync(path)}. Name the folder itself: links can be changed.`]
      : []),
    ...(isOpen
      ? [`The token folder ${shown} is open to other users: its mode is ${toModeText(mode)}. Set it to 0700.`]
      : []),
  ];
}

function toModeText(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}

/** The permissions of everybody but the owner. */
const OTHERS = 0o077;

/** An error that names the folder as the user wrote it. Node appends resolved paths after a comma; they are dropped. */
async function within<T>(shown: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const [why] = toReason(error).split(',');
    throw new Error(`the folder ${shown} cannot be written to: ${why}`, { cause: error });
  }
}

/** Where a token goes when its sink failed: a new folder of its own among the temporary files, readable by its owner only. */
export function createRescueSink(parent: string): TokenSink {
  return {
    test: async () => [],
    deliver: async (recipient, token) => {
      const folder = await mkdtemp(join(parent, 'edgewise-rescue-'));
      return createDirectorySink(folder).deliver(recipient, token);
    },
  };
}
