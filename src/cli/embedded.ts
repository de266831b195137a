import { resolve } from 'node:path';
import type { Transport } from '../model/transport.ts';
import { parseApiKey } from '../server/api-key.ts';
import { createServer } from '../server/server.ts';
import { readSnapshotFile, writeSnapshotFile } from '../server/snapshot-file.ts';
import type { Context } from './context.ts';

/** The bundled server inside of the process, with what a client needs to reach it. */
export interface EmbeddedServer {
  readonly transport: Transport;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Keeps what it holds, when it has a file to keep it in. */
  readonly close: () => Promise<void>;
}

/** Whoever can start the server may do everything on it. */
const API_KEY = 'embedded';

/** Opens the bundled server; `file` keeps its data between runs, and none means that it starts empty. */
export async function openEmbeddedServer(options: {
  readonly file: string;
  readonly context: Context;
  readonly versionHeader: string;
}): Promise<EmbeddedServer> {
  const { file, context, versionHeader } = options;
  const path = file === '' ? undefined : resolve(context.cwd, file);
  const seed = path === undefined ? undefined : await readSnapshotFile(path);
  const apiKeys = [parseApiKey(`${API_KEY}:admin`)];
  const server = createServer({ apiKeys, now: context.now, versionHeader, ...(seed !== undefined && { seed }) });
  return {
    transport: server.handle,
    baseUrl: 'http://embedded.invalid',
    apiKey: API_KEY,
    close: async () => {
      if (path !== undefined) await writeSnapshotFile(path, server.snapshot());
    },
  };
}
