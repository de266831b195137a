import { type Client, createClient } from '../../client/client.ts';
import { InvariantError } from '../../model/errors.ts';
import { parseRateLimit } from '../../model/rate-limit.ts';
import type { Transport } from '../../model/transport.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { findClearTextWarning } from './clear-text.ts';
import { listenForInterrupts } from './interrupts.ts';
import { createNotices, type TellBy } from './notices.ts';
import { findProxy, readAuthorities } from './proxy.ts';
import { type RunSettings, readApiKey } from './settings.ts';

/** A connection to the service for the length of one command. */
export interface Session {
  readonly client: Client;
  readonly tellBy: TellBy;
  /** Aborted by the first request to stop: whoever reads ends at once by its reason, whoever writes ends what is under way. */
  readonly signal: AbortSignal;
}

interface Connected extends Pick<Session, 'client' | 'tellBy'> {
  /** Nothing is told any more. */
  readonly end: () => void;
}

interface Opened extends Connected {
  readonly close: () => Promise<void>;
}

const EMBEDDED = 'embedded:';

/** Whether a base URL means the bundled server inside of the process. */
export function isEmbedded(baseUrl: string): boolean {
  return baseUrl.startsWith(EMBEDDED);
}

/** What a command that only looks gets of a client. */
export type Reader = Omit<Client, 'send'>;

/** A session that cannot write: the task gets no function for it, and a request other than a GET would be a bug that ends the run before it is sent. */
export async function withReadSession<T>(
  settings: RunSettings,
  context: Context,
  task: (session: Pick<Session, 'signal'> & { readonly client: Reader }) => Promise<T>,
): Promise<T> {
  const openTransport: Context['openTransport'] = async (options) => {
    const transport = await context.openTransport(options);
    return Object.assign(toReadOnly(transport), { close: transport.close });
  };
  return withSession(settings, { ...context, openTransport }, ({ client: { send: _, ...client }, signal }) =>
    task({ client, signal }),
  );
}

function toReadOnly(transport: Transport): Transport {
  return async (request) => {
    if (request.method === 'GET') return transport(request);
    throw new InvariantError(`A command that only reads was about to send a ${request.method}`);
  };
}

/** Opens a session, runs the task, and closes the session however the task ends. */
export async function withSession<T>(
  settings: RunSettings,
  context: Context,
  task: (session: Session) => Promise<T>,
): Promise<T> {
  const { signal, stopListening } = listenForInterrupts(context);
  try {
    const { client, tellBy, end, close } = isEmbedded(settings.baseUrl)
      ? await openEmbedded(settings, context)
      : await openRemote(settings, context);
    try {
      return await task({ client, tellBy, signal });
    } finally {
      end();
      await close();
    }
  } finally {
    stopListening();
  }
}

async function openRemote(settings: RunSettings, context: Context): Promise<Opened> {
  const apiKey = await readApiKey(context);
  const proxy = findProxy(context.env);
  const warning = findClearTextWarning(settings.baseUrl, proxy);
  if (warning !== undefined) context.stderr.write(`${warning}\n`);
  const transport = await context.openTransport({
    connections: settings.concurrency,
    timeouts: settings.timeouts,
    authorities: await findAuthorities(settings, context),
    proxy,
  });
  return {
    ...connect(settings, context, { transport, apiKey, baseUrl: settings.baseUrl }),
    close: () => transport.close(),
  };
}

/** Nothing is read where nothing would be encrypted. */
async function findAuthorities({ baseUrl, caFile }: RunSettings, context: Context): Promise<string | undefined> {
  return caFile === undefined || baseUrl.startsWith('http:') ? undefined : readAuthorities(caFile, context);
}

/** The server is loaded only here and in `serve`: the other commands start without it. */
async function openEmbedded(settings: RunSettings, context: Context): Promise<Opened> {
  const { openEmbeddedServer } = await import('./embedded.ts');
  const file = settings.baseUrl.slice(EMBEDDED.length);
  const server = await openEmbeddedServer({ file, context, versionHeader: settings.versionHeader });
  context.stderr.write(
    `Using the embedded server${file === '' ? ', which forgets everything at the end of this command' : `, kept in ${file}`}.\n`,
  );
  // A server inside the process is never waited for, however busy the machine is.
  const unwatched = { ...context, after: () => () => undefined };
  return { ...connect(settings, unwatched, server), close: server.close };
}

interface Connection {
  readonly transport: Transport;
  readonly apiKey: string;
  readonly baseUrl: string;
}

function connect(settings: RunSettings, context: Context, connection: Connection): Connected {
  const { versionHeader, pageSize, concurrency } = settings;
  const rateLimit = parseRateLimit(settings.rateLimit);
  const { tellBy, watch, end, ...notices } = createNotices(context, settings);
  try {
    const client = createClient({
      ...connection,
      versionHeader,
      pageSize,
      concurrency,
      ...(rateLimit !== undefined && { rateLimit }),
      now: () => context.now().getTime(),
      sleep: context.sleep,
      ...notices,
    });
    return { client: watch(client), tellBy, end };
  } catch (error) {
    if (error instanceof TypeError)
      throw new CommandError(`${error.message}.`, { exitCode: EXIT.invalid, cause: error });
    throw error;
  }
}
