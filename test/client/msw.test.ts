import { HttpRequestInterceptor } from '@mswjs/interceptors/http';
import { HttpResponse, http } from 'msw';
import { defineNetwork, InterceptorSource } from 'msw/experimental';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { readLive } from '../../src/client/read-live.ts';
import { createFetchTransport, createUndiciTransport } from '../../src/client/undici-transport.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { NetworkError, TimeoutError } from '../../src/model/errors.ts';
import type { Send } from '../../src/model/http.ts';
import { toSend } from '../../src/model/transport.ts';
import { API_KEY, BASE_URL, catchError } from './fake-service.ts';

const EDGES = `${BASE_URL}/edges/tcp`;

/** Sees all traffic through sockets, below undici. */
const network = defineNetwork({
  sources: [new InterceptorSource({ interceptors: [new HttpRequestInterceptor()] })],
  context: { quiet: true },
  onUnhandledFrame: 'error',
});
const sockets = createUndiciTransport();

beforeAll(() => network.enable());
afterEach(() => network.resetHandlers());
afterAll(async () => {
  await network.disable();
  await sockets.close();
});

function connect(send: Send) {
  return createClient({
    send,
    baseUrl: BASE_URL,
    apiKey: API_KEY,
    versionHeader: 'Service-Version',
    pageSize: 100,
    concurrency: 2,
    sleep: async () => {},
  });
}

describe.each([
  ['undici', sockets.send],
  ['fetch', toSend(createFetchTransport())],
])('a client over %s', (_, send) => {
  it('reads a list page by page with the key and the version', async () => {
    network.use(
      http.get(EDGES, ({ request }) => {
        const { authorization, 'service-version': version } = Object.fromEntries(request.headers);
        if (authorization !== `Bearer ${API_KEY}` || version !== '2') return new HttpResponse(null, { status: 401 });
        const isFirst = new URL(request.url).searchParams.get('before_id') === null;
        return isFirst
          ? HttpResponse.json({
              tcp_edges: [{ id: 'edgtcp_2' }],
              next_page_uri: `${EDGES}?limit=100&before_id=edgtcp_2`,
            })
          : HttpResponse.json({ tcp_edges: [{ id: 'edgtcp_1' }], next_page_uri: null });
      }),
    );
    const live = await readLive(connect(send), { kinds: [getKind('TCPEdge')], attachments: [] });
    expect(live.resources.get('TCPEdge')?.map(({ id }) => id)).toEqual(['edgtcp_2', 'edgtcp_1']);
    expect(live.requests).toBe(2);
  });

  it('writes, and accepts 201 and 204', async () => {
    network.use(
      http.post(EDGES, async ({ request }) => HttpResponse.json(await request.json(), { status: 201 })),
      http.delete(`${EDGES}/edgtcp_1`, () => new HttpResponse(null, { status: 204 })),
    );
    const client = connect(send);
    expect(await client.send('POST', '/edges/tcp', { description: 'é' })).toEqual({ description: 'é' });
    expect(await client.send('DELETE', '/edges/tcp/edgtcp_1')).toBeNull();
  });

  it('retries a GET after a network error and after a 503', async () => {
    const answers = [HttpResponse.error(), new HttpResponse('busy', { status: 503 }), HttpResponse.json({ a: 1 })];
    network.use(http.get(EDGES, () => answers.shift()));
    const client = connect(send);
    expect(await client.get('/edges/tcp')).toEqual({ a: 1 });
    expect(client.requestCount()).toBe(3);
  });

  it('reports a network error that lasts', async () => {
    network.use(http.post(EDGES, () => HttpResponse.error()));
    const error = await catchError(connect(send).send('POST', '/edges/tcp', {}));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toHaveProperty('message', expect.stringContaining(`POST ${EDGES}: the request failed`));
  });

  it('does not follow a redirect', async () => {
    const moved = { status: 307, headers: { location: 'https://evil.test/' } };
    network.use(http.get(EDGES, () => new HttpResponse(null, moved)));
    expect(await catchError(connect(send).get('/edges/tcp'))).toHaveProperty('response.status', 307);
  });
});

describe('the transport over fetch', () => {
  it('reports a timeout without a response', async () => {
    network.use(http.get(EDGES, () => new Promise<undefined>(() => {})));
    const error = await catchError(createFetchTransport({ timeoutMs: 20 })(new Request(EDGES)));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toHaveProperty('message', expect.stringContaining(`GET ${EDGES}: no complete response in time`));
  });

  it('rejects with the reason of an abort', async () => {
    const reason = new Error('interrupted');
    const request = new Request(EDGES, { signal: AbortSignal.abort(reason) });
    expect(await catchError(createFetchTransport()(request))).toBe(reason);
  });
});
