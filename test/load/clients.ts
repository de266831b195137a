import { isJsonObject, type JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { openTransport } from '../../src/stack/open-transport.ts';

/** What many clients at once met with. */
export interface Crowd {
  readonly requests: number;
  /** What was not as it should be, each with how often. */
  readonly errors: ReadonlyMap<string, number>;
  /** Of each request, in the order in which they ended. */
  readonly latenciesMs: readonly number[];
}

/** Who they are, whom they ask, and for how long. */
export interface CrowdOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly clients: number;
  /** Asked before each round of a client. */
  readonly goesOn: (round: number) => boolean;
}

const TIMEOUTS = { connectMs: 10_000, headersMs: 30_000, bodyMs: 30_000, requestMs: 60_000 };

/**
 * Has clients make, change, read, list and delete TCP edges of their own, over and over, each over a connection of its own. Whatever is
 * answered otherwise than it should be is an error: another status, another value than was written, a resource that is lost or comes twice.
 */
export async function sendCrowd(options: CrowdOptions): Promise<Crowd> {
  const errors = new Map<string, number>();
  const latenciesMs: number[] = [];
  const note = (error: string): void => void errors.set(error, (errors.get(error) ?? 0) + 1);
  const live = async (client: number): Promise<void> => {
    const transport = openTransport({ connections: 1, timeouts: TIMEOUTS, authorities: undefined, proxy: {} });
    const call = createCall(transport, { ...options, latenciesMs, note });
    try {
      for (let round = 0; options.goesOn(round); round += 1) await liveRound(call, `${client}-${round}`, note);
    } finally {
      await transport.close();
    }
  };
  await Promise.all(Array.from({ length: options.clients }, (_, client) => live(client)));
  return { requests: latenciesMs.length, errors, latenciesMs };
}

type Call = (method: string, path: string, expected: number, body?: JsonObject) => Promise<JsonObject>;

/** The life of one resource. */
async function liveRound(call: Call, name: string, note: (error: string) => void): Promise<void> {
  const hostports = [`${name}.tcp.example.net:5432`];
  const { id } = await call('POST', '/edges/tcp', 201, { description: name, hostports });
  if (typeof id !== 'string') return;
  await call('PATCH', `/edges/tcp/${id}`, 200, { description: `${name}, changed`, hostports });
  const { description } = await call('GET', `/edges/tcp/${id}`, 200);
  if (description !== `${name}, changed`) note('a value is not the one that was written');
  const { tcp_edges: page } = await call('GET', '/edges/tcp?limit=100', 200);
  const ids = Array.isArray(page) ? page.map((edge) => (isJsonObject(edge) ? edge['id'] : undefined)) : [];
  if (ids.filter((other) => other === id).length !== 1) note('a resource is not in the list just once');
  await call('DELETE', `/edges/tcp/${id}`, 204);
  await call('GET', `/edges/tcp/${id}`, 404);
}

interface Noting extends Pick<CrowdOptions, 'url' | 'apiKey'> {
  readonly latenciesMs: number[];
  readonly note: (error: string) => void;
}

function createCall(transport: Transport, { url, apiKey, latenciesMs, note }: Noting): Call {
  const headers = { authorization: `Bearer ${apiKey}`, 'service-version': '2', 'content-type': 'application/json' };
  return async (method, path, expected, body) => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const start = performance.now();
    try {
      const response = await transport(new Request(`${url}${path}`, { method, headers, ...content }));
      const text = await response.text();
      if (response.status !== expected) note(`${method} was answered with ${response.status}`);
      const value: unknown = text === '' ? {} : JSON.parse(text);
      return isJsonObject(value) ? value : {};
    } catch (error) {
      note(`${method} was not answered: ${error instanceof Error ? error.name : error}`);
      return {};
    } finally {
      latenciesMs.push(performance.now() - start);
    }
  };
}

/** The value below which that share of the values lies. */
export function toPercentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
