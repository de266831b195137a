import { type Client, type ClientOptions, createClient } from '../client/client.ts';
import { parseRateLimit } from '../model/rate-limit.ts';
import type { Transport } from '../model/transport.ts';
import { findClearTextWarning } from './clear-text.ts';
import { isEmbedded, toEmbeddedFile } from './embedded-url.ts';
import { findProxy, readAuthorities } from './proxy.ts';
import { type RunSettings, readApiKey } from './settings.ts';
import { StackError } from './stack-error.ts';
import type { Surroundings } from './surroundings.ts';

/** The way to a service, until it is closed. */
export interface Reached {
  readonly transport: Transport;
  readonly apiKey: string;
  readonly baseUrl: string;
  /** What a person has to know of this way. */
  readonly warning: string | undefined;
  readonly close: () => Promise<void>;
}

/** What a caller has instead of what the settings and the environment say. */
export interface Given {
  readonly transport?: Transport | undefined;
  readonly apiKey?: string | undefined;
}

/** Opens the way to the service that the settings name. */
export async function reachService(
  settings: RunSettings,
  surroundings: Surroundings,
  given: Given = {},
): Promise<Reached> {
  const { baseUrl } = settings;
  if (given.transport === undefined && isEmbedded(baseUrl)) return reachEmbedded(settings, surroundings);
  const apiKey = given.apiKey ?? readApiKey(surroundings, settings);
  if (given.transport !== undefined)
    return { transport: given.transport, apiKey, baseUrl, warning: undefined, close: async () => undefined };
  surroundings.onReach?.();
  const proxy = findProxy(surroundings.env);
  const transport = await surroundings.openTransport({
    connections: settings.concurrency,
    timeouts: settings.timeouts,
    authorities: await findAuthorities(settings, surroundings),
    proxy,
  });
  const warning = findClearTextWarning(baseUrl, proxy);
  return { transport, apiKey, baseUrl, warning, close: () => transport.close() };
}

/** A client for that way. */
export function createServiceClient(
  settings: RunSettings,
  { transport, apiKey, baseUrl }: Omit<Reached, 'warning' | 'close'>,
  more: Pick<ClientOptions, 'now' | 'sleep' | 'onRetry' | 'onWait' | 'onRequest'>,
): Client {
  const { versionHeader, pageSize, concurrency } = settings;
  const rateLimit = parseRateLimit(settings.rateLimit);
  try {
    return createClient({
      transport,
      apiKey,
      baseUrl,
      versionHeader,
      pageSize,
      concurrency,
      ...(rateLimit !== undefined && { rateLimit }),
      ...more,
    });
  } catch (error) {
    if (error instanceof TypeError) throw new StackError(`${error.message}.`, { reason: 'invalid', cause: error });
    throw error;
  }
}

/** The server is loaded only here and in `serve`: everything else starts without it. */
async function reachEmbedded({ baseUrl, versionHeader }: RunSettings, surroundings: Surroundings): Promise<Reached> {
  const { openEmbeddedServer } = await import('./embedded.ts');
  const file = toEmbeddedFile(baseUrl);
  return { ...(await openEmbeddedServer({ file, surroundings, versionHeader })), warning: undefined };
}

/** Authorities are read only for encrypted connections. */
async function findAuthorities(
  { baseUrl, caFile }: RunSettings,
  surroundings: Surroundings,
): Promise<string | undefined> {
  return caFile === undefined || baseUrl.startsWith('http:') ? undefined : readAuthorities(caFile, surroundings);
}
