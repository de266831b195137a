import { type Client, type ClientOptions, createClient } from '../../src/client/client.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { toSend } from '../../src/model/transport.ts';

/** A response of the fake: a body with status 200, a response, or a function that decides. */
export type Answer = unknown | Response | ((request: Request) => unknown);

/** A fake service in memory. Responses are lists by `GET /path?query`: each is used once, and the last one always. */
export interface FakeService {
  readonly client: Client;
  /** `GET /path?query` of each request, in order. */
  readonly log: readonly string[];
  readonly requests: readonly Request[];
  readonly sleeps: readonly number[];
}

export const BASE_URL = 'https://api.example.test';
export const API_KEY = 'ak_2ZkVh0aBcDeFgHiJkLmNoPq';

export function createFakeService(
  answers: Readonly<Record<string, readonly Answer[]>>,
  options: Partial<ClientOptions> = {},
): FakeService {
  const log: string[] = [];
  const requests: Request[] = [];
  const sleeps: number[] = [];
  const left = new Map(Object.entries(answers).map(([route, list]) => [route, [...list]]));
  const transport = async (request: Request) => {
    const { pathname, search } = new URL(request.url);
    const route = `${request.method} ${pathname}${search}`;
    log.push(route);
    requests.push(request);
    const list = left.get(route) ?? [];
    return toResponse(list.length > 1 ? list.shift() : list[0], request);
  };
  const client = createClient({
    send: toSend(transport),
    baseUrl: BASE_URL,
    apiKey: API_KEY,
    versionHeader: 'Service-Version',
    pageSize: 100,
    concurrency: 4,
    sleep: async (ms) => {
      sleeps.push(ms);
    },
    random: () => 1,
    now: () => 0,
    ...options,
  });
  return { client, log, requests, sleeps };
}

async function toResponse(answer: Answer, request: Request): Promise<Response> {
  const value = typeof answer === 'function' ? await answer(request) : answer;
  if (value instanceof Error) throw value;
  if (value instanceof Response) return value.clone();
  if (value === undefined) return Response.json({ error_code: 'not_found', msg: 'no such thing' }, { status: 404 });
  return Response.json(value);
}

/** A response with a JSON content type and any body. */
export function createJsonResponse(body: string | ReadableStream, status = 200): Response {
  return new Response(body, { status, headers: { 'content-type': 'application/json; charset=utf-8' } });
}

/** A page of a list. */
export function toPage(listKey: string, resources: readonly JsonObject[], next: unknown = null): JsonObject {
  return JSON.parse(JSON.stringify({ [listKey]: resources, uri: `${BASE_URL}/list`, next_page_uri: next }));
}

/** Lists the edges of a service that has these ids on its pages. Returns the ids and the number of requests. */
export async function listPages(pages: readonly (readonly number[])[]) {
  const answers = pages.map((ids, index) => [
    index === 0 ? 'GET /edges/tcp?limit=100' : `GET /edges/tcp?p=${index}`,
    [toPage('tcp_edges', ids.map(toEdge), index === pages.length - 1 ? null : `?p=${index + 1}`)],
  ]);
  const { client, log } = createFakeService(Object.fromEntries(answers));
  const listed = await client.list(getKind('TCPEdge'));
  return { ids: listed.map(({ id }) => Number(String(id).replace('edgtcp_', ''))), requests: log.length };
}

function toEdge(id: number): JsonObject {
  return { id: `edgtcp_${id}`, created_at: '2026-01-31T12:00:00Z' };
}

/** Waits for a rejection, and returns its reason. */
export async function catchError(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail');
}
