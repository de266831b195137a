import { type Client, createClient } from '../client/client.ts';
import type { Transport } from '../model/transport.ts';
import type { Context } from './context.ts';
import { CommandError, EXIT } from './exit-code.ts';
import { createRetryNotice } from './retry-notice.ts';
import { type RunSettings, readApiKey } from './settings.ts';

/** A connection to the service for the length of one command. */
export interface Session {
  readonly client: Client;
  readonly close: () => Promise<void>;
}

const EMBEDDED = 'embedded:';

/** Whether a base URL means the bundled server inside of the process. */
export function isEmbedded(baseUrl: string): boolean {
  return baseUrl.startsWith(EMBEDDED);
}

/** Opens a session, runs the task, and closes the session however the task ends. */
export async function withSession<T>(
  settings: RunSettings,
  context: Context,
  task: (client: Client) => Promise<T>,
): Promise<T> {
  const session = isEmbedded(settings.baseUrl)
    ? await openEmbedded(settings, context)
    : await openRemote(settings, context);
  try {
    return await task(session.client);
  } finally {
    await session.close();
  }
}

async function openRemote(settings: RunSettings, context: Context): Promise<Session> {
  const apiKey = await readApiKey(context);
  const transport = await context.openTransport({ connections: settings.concurrency });
  return {
    client: connect(settings, context, { transport, apiKey, baseUrl: settings.baseUrl }),
    close: () => transport.close(),
  };
}

/** The server is loaded only here and in `serve`: the other commands start without it. */
async function openEmbedded(settings: RunSettings, context: Context): Promise<Session> {
  const { openEmbeddedServer } = await import('./embedded.ts');
  const file = settings.baseUrl.slice(EMBEDDED.length);
  const server = await openEmbeddedServer({ file, context, versionHeader: settings.versionHeader });
  context.stderr.write(
    `Using the embedded server${file === '' ? ', which forgets everything at the end of this command' : `, kept in ${file}`}.\n`,
  );
  return { client: connect(settings, context, server), close: server.close };
}

interface Connection {
  readonly transport: Transport;
  readonly apiKey: string;
  readonly baseUrl: string;
}

function connect(settings: RunSettings, context: Context, connection: Connection): Client {
  const { versionHeader, pageSize, concurrency } = settings;
  const onRetry = createRetryNotice(context);
  try {
    return createClient({
      ...connection,
      versionHeader,
      pageSize,
      concurrency,
      sleep: context.sleep,
      onRetry,
    });
  } catch (error) {
    if (error instanceof TypeError) throw new CommandError(error.message, { exitCode: EXIT.invalid, cause: error });
    throw error;
  }
}
