import type { Transport } from '../model/transport.ts';
import { parseApiKey } from '../server/api-key.ts';
import { createServer, type Server } from '../server/server.ts';
import { createKeeper } from './keeper.ts';
import { withServerInput } from './server-input.ts';
import type { Surroundings } from './surroundings.ts';

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
  readonly surroundings: Surroundings;
  readonly versionHeader: string;
}): Promise<EmbeddedServer> {
  const { file, surroundings, versionHeader } = options;
  const keeper = await createKeeper(file === '' ? {} : { snapshot: file }, surroundings);
  const server: Server = await withServerInput(keeper.source, () =>
    createServer({
      apiKeys: [parseApiKey(`${API_KEY}:admin`)],
      now: surroundings.now,
      versionHeader,
      ...(keeper.seed !== undefined && { seed: keeper.seed }),
    }),
  );
  return {
    // A file that cannot be written is reported at the end.
    transport: keeper.writeThrough(server, () => undefined).handle,
    baseUrl: 'http://embedded.invalid',
    apiKey: API_KEY,
    close: () => keeper.keep(server),
  };
}
