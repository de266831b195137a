import { onTestFinished } from 'vitest';
import type { HttpResponse } from '../../src/model/http.ts';
import { createServer, parseApiKey, type Server } from '../../src/server/index.ts';
import { listen } from '../../src/server/listen.ts';
import { EXTERNAL_IDS } from '../external-ids.ts';

/** The bundled server on a socket, with responses that a test controls. */
export interface ControlledService {
  readonly url: string;
  readonly server: Server;
  /** `METHOD /path` of each request that arrived, without the query. */
  readonly log: readonly string[];
}

/** Answers in place of the server. `undefined`: the server answers. */
export type Intercept = (arrived: {
  readonly route: string;
  readonly count: number;
}) => Promise<HttpResponse | undefined>;

/** Starts a service for one test. `count`: requests to the route so far, with this one. */
export async function startControlledService(intercept: Intercept): Promise<ControlledService> {
  const server = createServer({ apiKeys: [parseApiKey('dev:admin')], seed: { externals: EXTERNAL_IDS } });
  const log: string[] = [];
  const controlled = server.behind((send) => async (request) => {
    const route = `${request.method} ${new URL(request.url).pathname}`;
    log.push(route);
    const count = log.filter((one) => one === route).length;
    return (await intercept({ route, count })) ?? send(request);
  });
  const listener = await listen(controlled, { port: 0 });
  onTestFinished(() => listener.close());
  return { url: listener.url, server, log };
}

/** A refusal of the service. */
export function createErrorResponse(status: number, headers: HttpResponse['headers'] = {}): HttpResponse {
  const body = JSON.stringify({ error_code: 'busy', status_code: status, msg: 'busy', details: {} });
  return { status, headers: { ...headers, 'content-type': 'application/json' }, body };
}
