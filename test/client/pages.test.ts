import { describe, expect, it } from 'vitest';
import { getKind, KINDS, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { ApiError, InvariantError, NetworkError } from '../../src/model/errors.ts';
import { MAX_BODY_BYTES } from '../../src/model/http.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { toSend } from '../../src/model/transport.ts';
import {
  API_KEY,
  BASE_URL,
  catchError,
  createFakeService,
  createJsonResponse,
  listPages,
  toPage,
} from './fake-service.ts';

const KIND = getKind('TCPEdge');
const FIRST = 'GET /edges/tcp?limit=100';

function createEdge(id: number): JsonObject {
  return { id: `edgtcp_${id}`, created_at: '2026-01-31T12:00:00Z' };
}

function createPage(ids: readonly number[], next?: unknown): JsonObject {
  return toPage('tcp_edges', ids.map(createEdge), next);
}

/** Returns the message of the rejection of a list with this first page. */
async function catchListError(firstPage: unknown): Promise<string> {
  const { client } = createFakeService({ [FIRST]: [firstPage] });
  const error = await catchError(client.list(KIND));
  expect(error).toBeInstanceOf(NetworkError);
  return error instanceof Error ? error.message : '';
}

describe('list', () => {
  it.each(OWNED_KINDS.map((kind) => [kind.name, kind] as const))(
    'reads %s by its own path and list key',
    async (_, kind) => {
      const { client, log } = createFakeService({
        [`GET ${kind.path}?limit=100`]: [toPage(kind.listKey ?? '', [{ id: 'x_1' }])],
      });
      expect(await client.list(kind)).toEqual([{ id: 'x_1' }]);
      expect(log).toHaveLength(1);
    },
  );

  it('refuses a kind that has no list', async () => {
    const { client } = createFakeService({});
    for (const kind of KINDS.filter(({ listKey }) => listKey === undefined))
      expect(await catchError(client.list(kind))).toBeInstanceOf(InvariantError);
  });

  it('requests the configured page size and follows absolute and relative links', async () => {
    const { client, log } = createFakeService(
      {
        'GET /edges/tcp?limit=2': [createPage([9, 8], `${BASE_URL}/edges/tcp?limit=2&before_id=edgtcp_8`)],
        'GET /edges/tcp?limit=2&before_id=edgtcp_8': [createPage([7, 6], '/edges/tcp?limit=2&before_id=edgtcp_6')],
        'GET /edges/tcp?limit=2&before_id=edgtcp_6': [createPage([5, 4], '?limit=2&before_id=edgtcp_4')],
        'GET /edges/tcp?limit=2&before_id=edgtcp_4': [createPage([3])],
      },
      { pageSize: 2 },
    );
    expect(await client.list(KIND)).toEqual([9, 8, 7, 6, 5, 4, 3].map(createEdge));
    expect(log).toHaveLength(4);
  });

  it('follows a link on its own origin unchanged, with or without the path of the base URL', async () => {
    const { client } = createFakeService(
      {
        'GET /v2/edges/tcp?limit=100': [createPage([2], `${BASE_URL}/edges/tcp?p=2`)],
        'GET /edges/tcp?p=2': [createPage([1])],
      },
      { baseUrl: `${BASE_URL}/v2/` },
    );
    expect(await client.list(KIND)).toEqual([2, 1].map(createEdge));
  });

  it('continues after an empty page that has a next link', async () => {
    const { client } = createFakeService({
      [FIRST]: [createPage([], '?p=2')],
      'GET /edges/tcp?p=2': [createPage([1])],
    });
    expect(await client.list(KIND)).toEqual([createEdge(1)]);
  });

  it.each([undefined, null, ''])('ends at a next link of %j', async (next) => {
    const { client } = createFakeService({ [FIRST]: [{ tcp_edges: [createEdge(1)], next_page_uri: next }] });
    expect(await client.list(KIND)).toEqual([createEdge(1)]);
  });

  it('keeps one of a resource that a later page repeats', async () => {
    const { client } = createFakeService({
      [FIRST]: [createPage([4, 3], '?p=2')],
      'GET /edges/tcp?p=2': [createPage([3, 2])],
    });
    expect(await client.list(KIND)).toEqual([4, 3, 2].map(createEdge));
  });

  it.each([
    ['one empty page', [[]], []],
    ['one page', [[3, 1, 2]], [3, 1, 2]],
    ['pages of one', [[1], [2], [3], [4]], [1, 2, 3, 4]],
    ['empty pages between others', [[], [5, 4], [], [], [3], []], [5, 4, 3]],
    ['pages that repeat resources', [[4, 4, 3], [3, 2], [4], [1, 2]], [4, 3, 2, 1]],
  ])('returns each resource once from %s, with one request for each', async (_, pages, ids) => {
    expect(await listPages(pages)).toEqual({ ids, requests: pages.length });
  });
});

describe('a list that the service refuses to continue', () => {
  const LINK = '?p=2';
  const NEXT = 'GET /edges/tcp?p=2';
  const refusal = (status: number) => Response.json({ error_code: 'gone', msg: 'no such id' }, { status });

  it.each([400, 404])('is read again from its start with %i, as it is then', async (status) => {
    const { client, log } = createFakeService({
      [FIRST]: [createPage([4, 3], LINK), createPage([4, 2], LINK)],
      [NEXT]: [refusal(status), createPage([1])],
    });
    expect(await client.list(KIND)).toEqual([4, 2, 1].map(createEdge));
    expect(log).toEqual([FIRST, NEXT, FIRST, NEXT]);
  });

  it('ends no other read, and counts each request for the rate limit', async () => {
    const { client, sleeps } = createFakeService(
      { [FIRST]: [createPage([2], LINK)], [NEXT]: [refusal(404), createPage([1])] },
      { rateLimit: { requests: 3, windowMs: 1000 } },
    );
    const stop = new AbortController();
    expect(await client.list(KIND, stop)).toEqual([2, 1].map(createEdge));
    expect(stop.signal.aborted).toBe(false);
    expect(client.requestCount()).toBe(4);
    expect(sleeps).not.toEqual([]);
  });

  it('fails after six readings, with that reason', async () => {
    const { client, log } = createFakeService({ [FIRST]: [createPage([2], LINK)], [NEXT]: [refusal(404)] });
    const error = await catchError(client.list(KIND));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toHaveProperty(
      'message',
      `${NEXT}: 404 gone: no such id. The list was read from its start 6 times, and each time the service rejected the next page`,
    );
    expect(log).toHaveLength(12);
  });

  it.each([401, 403, 409])('fails at once with %i, which says nothing about the list', async (status) => {
    const { client, log } = createFakeService({ [FIRST]: [createPage([2], LINK)], [NEXT]: [refusal(status)] });
    expect(await catchError(client.list(KIND))).toHaveProperty('response.status', status);
    expect(log).toHaveLength(2);
  });

  it('is not read again if its first page is refused', async () => {
    const { client, log } = createFakeService({ [FIRST]: [refusal(404)] });
    expect(await catchError(client.list(KIND))).toHaveProperty('response.status', 404);
    expect(log).toEqual([FIRST]);
  });
});

describe('a list that cannot be read whole', () => {
  it.each([
    [
      'https://evil.test/edges/tcp?limit=100',
      'leads to https://evil.test, but the key is only for https://api.example.test',
    ],
    ['//evil.test/edges/tcp', 'leads to https://evil.test, but'],
    ['http://api.example.test/edges/tcp?p=2', 'leads to http://api.example.test, but'],
    ['https://api.example.test:8443/edges/tcp?p=2', 'leads to https://api.example.test:8443, but'],
    ['https://me@api.example.test/edges/tcp?p=2', 'is not a valid URL'],
    ['https://:pw@api.example.test/edges/tcp?p=2', 'is not a valid URL'],
    ['https://', 'is not a valid URL'],
    [7, 'is not a valid URL'],
  ])('refuses the next link %j before it sends anything there', async (next, message) => {
    const { client, log } = createFakeService({ [FIRST]: [createPage([1], next)] });
    const error = await catchError(client.list(KIND));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toHaveProperty('message', expect.stringContaining(`${FIRST}: next_page_uri ${message}`));
    expect(log).toEqual([FIRST]);
  });

  it('refuses a link back to a page that was read', async () => {
    const loop = { [FIRST]: [createPage([3], '?p=2')], 'GET /edges/tcp?p=2': [createPage([2], '?limit=100#again')] };
    const { client, log } = createFakeService(loop);
    expect(await catchError(client.list(KIND))).toHaveProperty(
      'message',
      'GET /edges/tcp?p=2: next_page_uri leads back to /edges/tcp?limit=100, so the list cannot be read to its end',
    );
    expect(log).toHaveLength(2);
    expect(await catchListError(createPage([1], '?limit=100'))).toContain('leads back');
  });

  it.each([
    ['itself', 1],
    ['the page before', 2],
    ['a page further back', 7],
  ])('refuses an empty page that leads back to %s', async (_, length) => {
    const pages = Array.from({ length }, (__, at): [string, readonly unknown[]] => [
      `GET /edges/tcp?p=${at}`,
      [createPage([], `?p=${(at + 1) % length}`)],
    ]);
    const { client, log } = createFakeService({ [FIRST]: [createPage([1], '?p=0')], ...Object.fromEntries(pages) });
    expect(await catchError(client.list(KIND))).toHaveProperty(
      'message',
      `GET /edges/tcp?p=${length - 1}: next_page_uri leads back to /edges/tcp?p=0, so the list cannot be read to its end`,
    );
    expect(log).toHaveLength(1 + length);
  });

  it('ends an endless list that brings nothing new', async () => {
    let served = 0;
    const transport = async () => {
      served += 1;
      return Response.json(createPage([1], `?p=${served}`));
    };
    const { client } = createFakeService({}, { send: toSend(transport) });
    expect(await catchError(client.list(KIND))).toHaveProperty(
      'message',
      expect.stringContaining('101 pages in a row contain nothing new'),
    );
    expect(served).toBe(102);
  });

  it.each([
    ['has no list', {}, 'tcp_edges is not a list'],
    ['has null for a list', { tcp_edges: null }, 'tcp_edges is not a list'],
    ['has an object for a list', { tcp_edges: {} }, 'tcp_edges is not a list'],
    ['is null', Response.json(null), 'the response is not a JSON object'],
    ['is a list', [[]], 'the response is not a JSON object'],
    ['is empty', new Response(''), 'the response is not a JSON object'],
    ['has null for a resource', { tcp_edges: [null] }, 'tcp_edges[0] is not an object with an id'],
    ['has a resource without an id', { tcp_edges: [createEdge(1), {}] }, 'tcp_edges[1] is not an object with an id'],
    ['has a resource with an empty id', { tcp_edges: [{ id: '' }] }, 'tcp_edges[0] is not an object with an id'],
    [
      'has a field of the wrong type',
      { tcp_edges: [{ id: 'edgtcp_1', description: 5, backend: { enabled: 'yes' } }] },
      'tcp_edges[0] (edgtcp_1) does not match the API: description: Invalid input: expected string, received number; backend.enabled: Invalid input: expected boolean, received string',
    ],
  ])('refuses a page that %s', async (_, answer, message) => {
    expect(await catchListError(answer)).toBe(`${FIRST}: ${message}`);
  });

  it('refuses a page that is not JSON, and shows its start, escaped', async () => {
    const html = `<html>\n  \u001b[31mLogin\u202e ${'x'.repeat(300)}`;
    expect(await catchListError(createJsonResponse(html))).toBe(
      `${FIRST}: the response is not JSON: <html> \\u001b[31mLogin\\u202e ${'x'.repeat(171)}…`,
    );
  });

  it('refuses a truncated page, without the values in it', async () => {
    expect(await catchListError(createJsonResponse(JSON.stringify(createPage([1])).slice(0, -2)))).toMatch(
      /the response is not JSON \(\d+ bytes\)$/,
    );
  });

  it('refuses JSON with endless nesting', async () => {
    const config = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
    const body = `{"tcp_edges":[{"id":"edgtcp_1","policy":{"inbound":[{"actions":[{"type":"log","config":${config}}]}]}}]}`;
    expect(await catchListError(createJsonResponse(body))).toBe(
      `${FIRST}: tcp_edges[0] (edgtcp_1) is nested too deeply`,
    );
  });

  it('refuses a page above the size limit, without reading it to its end', async () => {
    let sent = 0;
    const chunk = new Uint8Array(1024 * 1024);
    const endless = new ReadableStream({
      pull(controller) {
        sent += chunk.length;
        controller.enqueue(chunk);
      },
    });
    const { client } = createFakeService(
      {},
      { send: toSend(async () => new Response(endless)), sleep: async () => {} },
    );
    expect(await catchError(client.list(KIND))).toBeInstanceOf(NetworkError);
    expect(sent).toBeLessThan(MAX_BODY_BYTES + 4 * chunk.length);
  });

  it('keeps user data with any keys unchanged', async () => {
    const body =
      '{"tcp_edges":[{"id":"edgtcp_1","unknownField":1,"policy":{"inbound":[{"actions":[{"type":"log","config":{"__proto__":{"a":1},"camelCase":2}}]}]}}]}';
    const { client } = createFakeService({ [FIRST]: [createJsonResponse(body)] });
    expect(JSON.stringify({ tcp_edges: await client.list(KIND) })).toBe(body);
  });

  it('stops before the next page after an abort', async () => {
    const stop = new AbortController();
    const reason = new NetworkError('another list failed');
    const { client, log } = createFakeService({
      [FIRST]: [
        () => {
          stop.abort(reason);
          return createPage([1], '?p=2');
        },
      ],
    });
    expect(await catchError(client.list(KIND, stop))).toBe(reason);
    expect(log).toEqual([FIRST]);
  });

  it('removes the key from the text of a page', async () => {
    expect(await catchListError(createJsonResponse(`bad key ${API_KEY}!`))).toBe(
      `${FIRST}: the response is not JSON: bad key [key]!`,
    );
  });
});
