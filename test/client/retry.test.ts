import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import type { RetryNotice } from '../../src/client/retry.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { ApiError, InvariantError, NetworkError, TimeoutError } from '../../src/model/errors.ts';
import { toSend } from '../../src/model/transport.ts';
import { API_KEY, BASE_URL, catchError, createFakeService, createJsonResponse, toPage } from './fake-service.ts';

const reset = new NetworkError('the connection was lost');

function createFailedResponse(status: number, headers: Record<string, string> = {}): Response {
  return new Response('', { status, headers });
}

/** A body that ends with an error. */
function createTruncatedBody(): Response {
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode('{"a":'));
      controller.error(Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }));
    },
  });
  return createJsonResponse(body);
}

describe('a GET', () => {
  it.each([
    ['the network failed', reset],
    ['there was no answer in time', new TimeoutError('late')],
    ['the answer broke off', () => createTruncatedBody()],
    ['the answer was half of a JSON text', createJsonResponse('{"a":')],
    ['the answer was a page of HTML', new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['the answer was HTML that says it is JSON', createJsonResponse('<html>')],
    ['of a 429', createFailedResponse(429)],
    ['of a 500', createFailedResponse(500)],
    ['of a 503', createFailedResponse(503)],
  ])('is retried when %s', async (_, failure) => {
    const { client, log, sleeps } = createFakeService({ 'GET /x': [failure, { a: 1 }] });
    expect(await client.get('/x')).toEqual({ a: 1 });
    expect(log).toEqual(['GET /x', 'GET /x']);
    expect(sleeps).toEqual([500]);
  });

  it.each([
    'SELF_SIGNED_CERT_IN_CHAIN',
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ERR_SSL_WRONG_VERSION_NUMBER',
  ])('is not retried when the certificate of the service is refused, or it has none: %s', async (code) => {
    const refused = () => Promise.reject(Object.assign(new Error('refused'), { code }));
    const { client, log } = createFakeService({ 'GET /x': [refused, { a: 1 }] });
    expect(await catchError(client.get('/x'))).toMatchObject({ isUnsent: true, isFinal: true });
    expect(log).toEqual(['GET /x']);
  });

  it.each([400, 401, 403, 404, 409, 301])('is not retried after a %d', async (status) => {
    const { client, log } = createFakeService({ 'GET /x': [createFailedResponse(status)] });
    expect(await catchError(client.get('/x'))).toBeInstanceOf(ApiError);
    expect(log).toHaveLength(1);
  });

  it('is not retried after a programming error', async () => {
    const { client, log } = createFakeService({ 'GET /x': [new InvariantError('a bug')] });
    expect(await catchError(client.get('/x'))).toBeInstanceOf(InvariantError);
    expect(log).toHaveLength(1);
  });

  it('has the key again', async () => {
    const { client, requests } = createFakeService({ 'GET /x': [createFailedResponse(500), {}] });
    await client.get('/x');
    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual(Array(2).fill(`Bearer ${API_KEY}`));
  });

  it.each([
    ['a network that stays down', reset, [500, 1000, 2000]],
    ['a service that stays broken', createFailedResponse(502), [500, 1000, 2000, 4000]],
    [
      'a service that stays busy',
      createFailedResponse(429),
      [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000],
    ],
  ])('waits longer each time, and fails after %s', async (_, failure, expected) => {
    const { client, sleeps } = createFakeService({ 'GET /x': [failure] });
    expect(await catchError(client.get('/x'))).toBeInstanceOf(Error);
    expect(sleeps).toEqual(expected);
    expect(client.requestCount()).toBe(expected.length + 1);
  });

  it('waits a random part of the delay, so that many clients do not return at once', async () => {
    const { client, sleeps } = createFakeService(
      { 'GET /x': [createFailedResponse(500), createFailedResponse(500), {}] },
      { random: () => 0.25 },
    );
    await client.get('/x');
    expect(sleeps).toEqual([125, 250]);
  });

  it.each([
    ['in seconds', { 'retry-after': '7' }, 7_500],
    ['none at all', { 'retry-after': '0' }, 500],
    ['as a date', { 'retry-after': 'Sat, 31 Jan 2026 12:00:09 GMT', date: 'Sat, 31 Jan 2026 12:00:00 GMT' }, 9_500],
    [
      'as a date that has passed',
      { 'retry-after': 'Sat, 31 Jan 2026 11:00:00 GMT', date: 'Sat, 31 Jan 2026 12:00:00 GMT' },
      500,
    ],
  ])('waits as long as the service asks, %s, and a little more', async (_, headers, expected) => {
    const { client, sleeps } = createFakeService({ 'GET /x': [createFailedResponse(429, headers), {}] });
    await client.get('/x');
    expect(sleeps).toEqual([expected]);
  });

  it.each([{ 'retry-after': 'soon' }, { 'retry-after': 'Sat, 31 Jan 2026 12:00:09 GMT' }, { 'retry-after': '-5' }])(
    'waits as usual if the delay of the service is unreadable: %j',
    async (headers) => {
      const { client, sleeps } = createFakeService({
        'GET /x': [createFailedResponse(503), createFailedResponse(503, headers), {}],
      });
      await client.get('/x');
      expect(sleeps).toEqual([500, 1000]);
    },
  );

  it('reports a service that asks for a delay of more than two minutes', async () => {
    const { client, sleeps } = createFakeService({ 'GET /x': [createFailedResponse(429, { 'retry-after': '121' })] });
    expect(await catchError(client.get('/x'))).toHaveProperty('response.status', 429);
    expect(sleeps).toEqual([]);
  });

  it('reports each retry, without the key', async () => {
    const notices: RetryNotice[] = [];
    const echo = new NetworkError(`proxy refused Bearer ${API_KEY}`);
    const { client } = createFakeService(
      { 'GET /x?a=1': [createFailedResponse(429), echo, {}] },
      { onRetry: (notice) => notices.push(notice) },
    );
    await client.get('/x?a=1');
    expect(notices).toEqual([
      { method: 'GET', path: '/x?a=1', attempt: 1, delayMs: 500, cause: 'HTTP 429' },
      { method: 'GET', path: '/x?a=1', attempt: 2, delayMs: 1000, cause: 'proxy refused Bearer [key]' },
    ]);
  });

  it('is not retried after an abort', async () => {
    const stop = new AbortController();
    const reason = new NetworkError('another request failed');
    const { client, log } = createFakeService(
      { 'GET /x': [createFailedResponse(500)] },
      { sleep: async () => stop.abort(reason) },
    );
    expect(await catchError(client.get('/x', stop.signal))).toBe(reason);
    expect(log).toHaveLength(1);
  });
});

describe('a write', () => {
  const kinds = {
    network: reset,
    server: createFailedResponse(503),
    throttled: createFailedResponse(429),
    unsent: new NetworkError('refused', { isUnsent: true }),
  };
  const again = (method: string, causes: readonly (keyof typeof kinds)[]) =>
    causes.map((cause) => [method, cause] as const);

  it.each([
    ...(['PATCH', 'PUT', 'DELETE'] as const).flatMap((method) =>
      again(method, ['network', 'server', 'throttled', 'unsent']),
    ),
    ...again('POST', ['throttled', 'unsent']),
  ])('by %s is retried after: %s', async (method, cause) => {
    const { client, log, requests } = createFakeService({ [`${method} /x`]: [kinds[cause], { a: 1 }] });
    const sent = method as 'PATCH'; // one of the methods above
    expect(await client.send(sent, '/x', { a: 1 })).toEqual(method === 'DELETE' ? null : { a: 1 });
    expect(log).toHaveLength(2);
    expect(await Promise.all(requests.map((request) => request.text()))).toEqual(['{"a":1}', '{"a":1}']);
  });

  it.each(['network', 'server'] as const)('by POST is sent once if it may have been processed: %s', async (cause) => {
    const { client, log } = createFakeService({ 'POST /x': [kinds[cause], { a: 1 }] });
    expect(await catchError(client.send('POST', '/x', {}))).toBeInstanceOf(Error);
    expect(log).toHaveLength(1);
  });

  it('by POST is sent once if its response is unusable', async () => {
    for (const answer of [createJsonResponse('{"id":'), new Response('<html>'), createTruncatedBody()]) {
      const { client, log } = createFakeService({ 'POST /x': [answer, { a: 1 }] });
      expect(await catchError(client.send('POST', '/x', {}))).toMatchObject({ isUnsent: false });
      expect(log).toHaveLength(1);
    }
  });

  it('that may not wait is not retried, and fails with the first error if that may have taken effect', async () => {
    const waitSignal = new AbortController();
    const { client, log } = createFakeService({ 'PATCH /x': [reset, {}] }, { sleep: async () => waitSignal.abort() });
    expect(await catchError(client.send('PATCH', '/x', {}, { waitSignal: waitSignal.signal }))).toBe(reset);
    expect(log).toHaveLength(1);
  });

  it.each([
    ['refused unprocessed', createFailedResponse(429)],
    ['never sent', new NetworkError('the connection was refused', { isUnsent: true })],
  ])('that may not wait counts as not sent if it was %s', async (_, failure) => {
    const waitSignal = new AbortController();
    const reason = new Error('interrupted');
    const sleep = async (): Promise<void> => waitSignal.abort(reason);
    const { client, log } = createFakeService({ 'PATCH /x': [failure, {}] }, { sleep });
    expect(await catchError(client.send('PATCH', '/x', {}, { waitSignal: waitSignal.signal }))).toBe(reason);
    expect(log).toHaveLength(1);
  });

  it('that was throttled after an attempt that may have taken effect fails with the first error', async () => {
    const waitSignal = new AbortController();
    const sleep = async (ms: number): Promise<void> => {
      if (ms > 1000) waitSignal.abort();
    };
    const answers = [reset, createFailedResponse(429, { 'retry-after': '9' }), {}];
    const { client, log } = createFakeService({ 'PATCH /x': answers }, { sleep });
    expect(await catchError(client.send('PATCH', '/x', {}, { waitSignal: waitSignal.signal }))).toBe(reset);
    expect(log).toHaveLength(2);
  });

  it('is not sent after waitSignal is aborted, and a read is', async () => {
    const waitSignal = AbortSignal.abort(new Error('interrupted'));
    const { client, log } = createFakeService({ 'GET /credentials?limit=100': [toPage('credentials', [])] });
    expect(await catchError(client.send('PATCH', '/x', {}, { waitSignal }))).toBe(waitSignal.reason);
    expect(await client.list(getKind('Credential'), undefined, waitSignal)).toEqual([]);
    expect(log).toHaveLength(1);
  });
});

describe('a 429', () => {
  it('delays every request, not only the one that got it', async () => {
    const events: string[] = [];
    let other: Promise<unknown> = Promise.resolve();
    const record = (event: string, answer: unknown) => () => {
      events.push(event);
      return answer;
    };
    const { client } = createFakeService(
      {
        'GET /x': [record('x', createFailedResponse(429, { 'retry-after': '9' })), record('x again', {})],
        'GET /y': [record('y', {})],
      },
      {
        sleep: async () => {
          await setImmediate();
          events.push('waited');
        },
        onRetry: () => {
          other = client.get('/y');
        },
      },
    );
    await client.get('/x');
    await other;
    expect(events.slice(0, 2)).toEqual(['x', 'waited']);
    expect(events.slice(2).toSorted()).toEqual(['x again', 'y']);
  });
});

describe('after a 429', () => {
  it('as many requests run at once as before, when enough have succeeded', async () => {
    let [running, most] = [0, 0];
    const answer = async () => {
      running += 1;
      most = Math.max(most, running);
      await setImmediate();
      running -= 1;
      return {};
    };
    const { client } = createFakeService({ 'GET /x': [createFailedResponse(429), answer] }, { concurrency: 4 });
    await client.get('/x');
    await Promise.all(Array.from({ length: 8 }, () => client.get('/x')));
    most = 0;
    await Promise.all(Array.from({ length: 8 }, () => client.get('/x')));
    expect(most).toBe(4);
  });
});

describe('a response', () => {
  it.each([
    [
      'text/html',
      '<html>captive portal</html>',
      'GET /x: the response is text/html, not JSON: <html>captive portal</html>',
    ],
    ['application/json', '{"a":', 'GET /x: the response is not JSON (5 bytes)'],
  ])('of type %s that is not JSON is shown by its first characters', async (type, body, message) => {
    const { client } = createFakeService({ 'GET /x': [new Response(body, { headers: { 'content-type': type } })] });
    expect(await catchError(client.get('/x'))).toHaveProperty('message', message);
  });

  it('above the size limit is shown by its first characters, without the key, and only to a GET', async () => {
    const endless = () => new Response(ReadableStream.from(repeatText(`${API_KEY} and so on `)));
    const transport = vi.fn(async () => endless());
    const { client } = createFakeService({}, { send: toSend(transport) });
    expect(await catchError(client.get('/x'))).toHaveProperty(
      'message',
      expect.stringMatching(/: the response is larger than 33554432 bytes, the limit: \[key\] and so on \[key\]/),
    );
    expect(transport, 'it would be too large again').toHaveBeenCalledTimes(1);
    const error = await catchError(client.send('PATCH', '/x', {}));
    expect(error).toHaveProperty('message', expect.stringMatching(/the limit$/));
    expect(inspect(error, { depth: 10 })).not.toContain(API_KEY);
  });

  it.each(['application/json', 'application/problem+json; charset=utf-8', 'Application/JSON', ''])(
    'of type %j is accepted',
    async (type) => {
      const answer = new Response(
        new TextEncoder().encode('{"a":1}'),
        type === '' ? {} : { headers: { 'content-type': type } },
      );
      const { client } = createFakeService({ 'GET /x': [answer] });
      expect(await client.get('/x')).toEqual({ a: 1 });
    },
  );
});

/** A body larger than the limit, one megabyte at a time. */
function* repeatText(text: string): Generator<Uint8Array> {
  const chunk = new TextEncoder().encode(text.repeat(Math.ceil((1024 * 1024) / text.length)));
  for (let count = 0; count < 34; count += 1) yield chunk;
}

describe('the time limit of a request', () => {
  /** Sends a request to a service whose attempts last as listed, and lists the time limit of each. */
  async function send(takesMs: readonly number[], { method = 'GET', end = reset as unknown, waitMs = 0 } = {}) {
    let nowMs = 0;
    const given: (number | undefined)[] = [];
    const client = createClient({
      send: async (request) => {
        given.push(request.timeoutMs);
        nowMs += Math.min(takesMs[given.length - 1] ?? 0, request.timeoutMs ?? Number.POSITIVE_INFINITY);
        if (end instanceof Error) throw end;
        return { status: 503, headers: { 'retry-after': '1' }, body: '' };
      },
      baseUrl: BASE_URL,
      apiKey: API_KEY,
      versionHeader: 'V',
      pageSize: 1,
      concurrency: 1,
      requestTimeoutMs: 10_000,
      random: () => 1,
      now: () => nowMs,
      sleep: async (ms) => {
        nowMs += ms + waitMs;
      },
    });
    const error = await catchError(method === 'GET' ? client.get('/x') : client.send('PATCH', '/x', { a: 1 }));
    return { error, given };
  }

  it.each(['GET', 'PATCH'])('covers all attempts of a %s', async (method) => {
    expect(await send([3000, 3000, 3000, 3000], { method })).toEqual({
      error: reset,
      given: [10_000, 7000, 4000, 1000],
    });
    expect(await send([4000, 9000], { method })).toEqual({ error: reset, given: [10_000, 6000] });
  });

  it('leaves no retry for a request that used it up', async () => {
    expect(await send([10_000])).toEqual({ error: reset, given: [10_000] });
    expect(await send([9500])).toEqual({ error: reset, given: [10_000] });
    expect((await send([10_000], { end: 'an error response' })).given).toEqual([10_000]);
  });

  it('does not count the time between attempts', async () => {
    expect((await send([1000, 1000, 1000, 1000], { waitMs: 60_000 })).given).toEqual([10_000, 9000, 8000, 7000]);
  });
});

describe('without an injected clock', () => {
  const options = { baseUrl: BASE_URL, apiKey: API_KEY, versionHeader: 'V', pageSize: 1, concurrency: 1 };

  it('retries wait by themselves', async () => {
    const answers = [createFailedResponse(500), Response.json({ a: 1 })];
    const client = createClient({
      ...options,
      send: toSend(async () => answers.shift() ?? createFailedResponse(404)),
      random: () => 0,
    });
    expect(await client.get('/x')).toEqual({ a: 1 });
  });

  it('a wait ends at once after an abort', async () => {
    const stop = new AbortController();
    const reason = new NetworkError('another request failed');
    const client = createClient({
      ...options,
      send: toSend(async () => createFailedResponse(429, { 'retry-after': '100' })),
      onRetry: () => queueMicrotask(() => stop.abort(reason)),
    });
    expect(await catchError(client.get('/x', stop.signal))).toBe(reason);
  });
});
