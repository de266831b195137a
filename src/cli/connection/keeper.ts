import { resolve } from 'node:path';
import { toReason } from '../../model/errors.ts';
import type { ServerSeed } from '../../server/seed.ts';
import type { RequestLogEntry, Server } from '../../server/server.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { readServerFile, withServerInput } from './server-input.ts';

/** Keeps the data of a server in its snapshot file: when it begins with a seed, a moment after each change, and at the end. */
export interface Keeper {
  /** What the server starts with: the snapshot, else the seed. */
  readonly seed: ServerSeed | undefined;
  /** Where that came from, for messages. */
  readonly source: string;
  readonly keepSoon: (server: Server) => void;
  /** Nothing happens when there is nothing to keep. */
  readonly keep: (server: Server) => Promise<void>;
}

/** The files that a keeper is made of, as they were given. */
export interface KeeperFiles {
  readonly seed?: string;
  readonly snapshot?: string;
}

const KEEP_AFTER_MS = 500;

/** Reads what a server starts with. Only what a seed began is worth keeping before the first change: ids were made up for it. */
export async function createKeeper(files: KeeperFiles, context: Context): Promise<Keeper> {
  const { readSnapshotFile, writeSnapshotFile } = await import('../../server/index.ts');
  const path = files.snapshot === undefined ? undefined : resolve(context.cwd, files.snapshot);
  const kept = path === undefined ? undefined : await withServerInput('The snapshot', () => readSnapshotFile(path));
  const seed = kept ?? (files.seed === undefined ? undefined : await readSeed(files.seed, context));
  let isChanged = kept === undefined && seed !== undefined;
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  const keep = (server: Server): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (path === undefined || !isChanged) return writing;
    const write = () => writeSnapshotFile(path, server.snapshot()).catch(refuseSnapshot);
    writing = writing.then(write, write);
    return writing;
  };
  const keepSoon = (server: Server): void => {
    isChanged = true;
    if (path !== undefined) timer ??= setTimeout(() => keep(server).catch(() => undefined), KEEP_AFTER_MS);
  };
  return { seed, source: (kept === undefined ? files.seed : files.snapshot) ?? 'The server', keepSoon, keep };
}

/** Whether a request has changed what the server holds. */
export function isChange({ method, status }: RequestLogEntry): boolean {
  return method !== 'GET' && status < 300;
}

function refuseSnapshot(error: unknown): never {
  const why = toReason(error);
  throw new CommandError(`The snapshot cannot be written: ${why}`, { exitCode: EXIT.failed, cause: error });
}

async function readSeed(file: string, context: Context): Promise<ServerSeed> {
  const { parseServerSeed } = await import('../../server/index.ts');
  const text = await readServerFile(file, context);
  return withServerInput(file, () => parseServerSeed(text));
}
