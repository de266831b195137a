import { writeFileSync } from 'node:fs';
import type { Kind } from '../../src/kinds/kind.ts';
import { TCP_EDGE } from '../../src/kinds/tables/tcp-edge.ts';
import { WEIGHTED_BACKEND } from '../../src/kinds/tables/weighted-backend.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '../../src/model/json.ts';
import { API_KEY, type LoggedRequest } from './server.ts';

/** One request of the floor. */
export interface FloorRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  /** The id that the answer gave when it was recorded. */
  readonly id?: string;
}

/** Requests that may be under way together. */
export type Wave = readonly FloorRequest[];

const HEADERS = {
  authorization: `Bearer ${API_KEY}`,
  'service-version': '2',
  'content-type': 'application/json',
} as const;

/** The reads among logged requests. */
export function toReads(requests: readonly LoggedRequest[]): Wave {
  return requests.filter(({ method }) => method === 'GET').map(({ method, path }) => ({ method, path }));
}

/** The creations that lead to what a server holds now: the backends first, then the edges that name them. */
export async function recordCreations(url: string): Promise<readonly Wave[]> {
  return [await recordKind(url, WEIGHTED_BACKEND, toBackendBody), await recordKind(url, TCP_EDGE, toEdgeBody)];
}

/** Writes the input of `floor.mjs`. */
export function writeFloor(file: string, floor: { origin: string; concurrency: number; waves: readonly Wave[] }): void {
  writeFileSync(file, JSON.stringify({ ...floor, headers: HEADERS }));
}

async function recordKind(url: string, kind: Kind, toBody: (resource: JsonObject) => JsonObject): Promise<Wave> {
  const requests: FloorRequest[] = [];
  let next: string | undefined = `${url}${kind.path}?limit=100`;
  while (next !== undefined) {
    const response: Response = await fetch(next, { headers: HEADERS });
    const page: unknown = await response.json();
    if (!isJsonObject(page)) throw new Error(`${next} answered no page`);
    const resources = page[kind.listKey ?? ''];
    for (const resource of isJsonArray(resources) ? resources : []) {
      if (isJsonObject(resource)) requests.push(toCreation(kind, resource, toBody(resource)));
    }
    next = typeof page['next_page_uri'] === 'string' ? page['next_page_uri'] : undefined;
  }
  return requests.reverse();
}

function toCreation(kind: Kind, { id }: JsonObject, body: JsonObject): FloorRequest {
  return { method: 'POST', path: kind.path, body: JSON.stringify(body), id: String(id) };
}

function toBackendBody({ description, metadata, backends }: JsonObject): JsonObject {
  return { description: description ?? '', metadata: metadata ?? '', backends: backends ?? {} };
}

function toEdgeBody({ description, metadata, hostports, backend, ip_restriction }: JsonObject): JsonObject {
  return {
    description: description ?? '',
    metadata: metadata ?? '',
    hostports: hostports ?? [],
    backend: { backend_id: listIds(backend, 'backend')[0] ?? '' },
    ip_restriction: { ip_policy_ids: listIds(ip_restriction, 'ip_policies') },
  };
}

/** The ids of the Refs that a module names. */
function listIds(module: JsonObject[string] | undefined, field: string): readonly string[] {
  const refs = isJsonObject(module) ? [module[field]].flat() : [];
  return refs.filter(isJsonObject).map(({ id }) => String(id));
}
