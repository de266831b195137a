import { resolve } from 'node:path';
import { toReason } from '../model/errors.ts';
import type { ServerSeed } from '../server/seed.ts';
import type { Server } from '../server/server.ts';
import { readServerFile, withServerInput } from './server-input.ts';
import { StackError } from './stack-error.ts';
import type { Surroundings } from './surroundings.ts';

/** Keeps the data of a server in its snapshot file: when it begins with a seed, before each change is answered, and at the end. */
export interface Keeper {
  /** What the server starts with: the snapshot, else the seed. */
  readonly seed: ServerSeed | undefined;
  /** Where that came from, for messages. */
  readonly source: string;
  /** The same server, whose answer to a change says that it is kept. A file that cannot be written is told of, and tried again. */
  readonly writeThrough: (server: Server, onFault: (error: unknown) => void) => Server;
  /** Rejects when the file cannot be written. Nothing happens when there is nothing to keep. */
  readonly keep: (server: Server) => Promise<void>;
}

/** The files that a keeper is made of, as they were given. */
export interface KeeperFiles {
  readonly seed?: string;
  readonly snapshot?: string;
}

/** Reads what a server starts with. A start from a seed is saved before the first change, because ids were made up for it. */
export async function createKeeper(files: KeeperFiles, context: Surroundings): Promise<Keeper> {
  const { readSnapshotFile, writeSnapshotFile } = await import('../server/index.ts');
  const path = files.snapshot === undefined ? undefined : resolve(context.cwd, files.snapshot);
  const kept = path === undefined ? undefined : await withServerInput('The snapshot', () => readSnapshotFile(path));
  const seed = kept ?? (files.seed === undefined ? undefined : await readSeed(files.seed, context));
  const source = (kept === undefined ? files.seed : files.snapshot) ?? 'The server';
  if (path === undefined) return { seed, source, writeThrough: (server) => server, keep: async () => undefined };
  const write = (server: Server) => writeSnapshotFile(path, server.snapshot()).catch(refuseSnapshot);
  return { seed, source, ...createWriting(write, kept === undefined && seed !== undefined) };
}

/** Changes that come while the file is written are written together, right after. */
function createWriting(
  write: (server: Server) => Promise<void>,
  isSeeded: boolean,
): Pick<Keeper, 'writeThrough' | 'keep'> {
  let isChanged = isSeeded;
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const start = async (server: Server): Promise<void> => {
    next = undefined;
    if (!isChanged) return;
    isChanged = false;
    await write(server).catch((error: unknown) => {
      isChanged = true;
      throw error;
    });
  };
  const keep = (server: Server): Promise<void> => {
    next ??= running.then(NOTHING, NOTHING).then(() => {
      running = start(server);
      return running;
    });
    return next;
  };
  const writeThrough: Keeper['writeThrough'] = (server, onFault) => ({
    ...server,
    handle: async (request) => {
      const response = await server.handle(request);
      if (!isChange(request, response)) return response;
      isChanged = true;
      await keep(server).catch(onFault);
      return response;
    },
  });
  return { writeThrough, keep };
}

const NOTHING = (): void => undefined;

/** Whether a request has changed what the server holds. */
function isChange({ method }: Request, { ok }: Response): boolean {
  return method !== 'GET' && ok;
}

function refuseSnapshot(error: unknown): never {
  const why = toReason(error);
  throw new StackError(`The snapshot cannot be written: ${why}`, { reason: 'failed', cause: error });
}

async function readSeed(file: string, context: Surroundings): Promise<ServerSeed> {
  const { parseServerSeed } = await import('../server/index.ts');
  const text = await readServerFile(file, context);
  return withServerInput(file, () => parseServerSeed(text));
}
