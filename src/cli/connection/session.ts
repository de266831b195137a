import type { Client } from '../../client/client.ts';
import { InvariantError } from '../../model/errors.ts';
import type { Transport } from '../../model/transport.ts';
import type { Reader } from '../../stack/plan-live.ts';
import { createServiceClient, reachService } from '../../stack/reach-service.ts';
import type { RunSettings } from '../../stack/settings.ts';
import type { Context } from '../context.ts';
import { listenForInterrupts } from './interrupts.ts';
import { createServiceNotices, type TellBy, tellOfService } from './notices.ts';

/** A connection to the service for the length of one command. */
export interface Session {
  readonly client: Client;
  readonly tellBy: TellBy;
  /** Aborted by the first request to stop. Reading ends at once; writes that are under way finish. */
  readonly signal: AbortSignal;
}

/** A session that cannot write. The task gets no function for it, and any request but a GET is a bug that ends the run before it is sent. */
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
    const reached = await reachService(settings, context);
    tellOfService(settings, reached.warning, context);
    const { tellBy, watch, end, ...notices } = createServiceNotices(settings, context);
    try {
      const clock = { now: () => context.now().getTime(), sleep: context.sleep };
      return await task({
        client: watch(createServiceClient(settings, reached, { ...clock, ...notices })),
        tellBy,
        signal,
      });
    } finally {
      end();
      await reached.close();
    }
  } finally {
    stopListening();
  }
}
