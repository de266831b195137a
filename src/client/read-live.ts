import type { Kind } from '../kinds/kind.ts';
import { type AttachedModulesToRead, isIdOf, toModulePath, toResourcePath } from '../kinds/paths.ts';
import { readAttachedResource, readResource } from '../kinds/read-response.ts';
import { listKindsOfReferenceType, listReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Address } from '../model/address.ts';
import { ApiError, assertDefined } from '../model/errors.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { LiveResource, LiveState } from '../model/state.ts';
import type { ReadingClient } from './client.ts';
import { assertModuleMatchesSchema, parseListedResource } from './parse-response.ts';

/** Selects the resources that `readLive` reads. */
export interface LiveRequest {
  /** Owned kinds. `readLive` reads the whole list of each kind. */
  readonly kinds: readonly Kind[];
  readonly attachments: readonly AttachedModulesToRead[];
  /** When aborted, `readLive` rejects with the reason of the abort. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads resources from the service: one request for each page of a kind's list, one for each module, and one for each
 * resource that a list lacks although another resource refers to it. The result is complete and never contains a token.
 * On the first failure, rejects and starts no further request. What `memory` has is not read again; `requests` counts it
 * as if it were.
 * @example
 * const live = await readLive(client, createReadRequest(desired, []));
 */
export async function readLive(
  client: ReadingClient,
  request: LiveRequest,
  memory: ReadMemory = new ReadMemory(),
): Promise<LiveState> {
  const { kinds, attachments, signal } = request;
  const stop = new AbortController();
  const interrupt = () => stop.abort(signal?.reason);
  if (signal?.aborted) interrupt();
  signal?.addEventListener('abort', interrupt);
  const reading: Reading = { client, memory, stop, requests: 0 };
  try {
    const [lists, attached] = await Promise.all([
      Promise.all(kinds.map(async (kind) => [kind.name, await readKind(reading, kind)] as const)),
      Promise.all(attachments.map((each) => readModules(reading, each))),
    ]);
    const listed = new Map(lists);
    for (const live of await readUnlisted(reading, listed))
      listed.set(live.kind, [...(listed.get(live.kind) ?? []), live]);
    const completed = attached.map(([address, kind, live]) => [address, client.shown.complete(kind, live)] as const);
    return { resources: listed, attachments: new Map(completed), requests: reading.requests };
  } catch (error) {
    stop.abort(error);
    throw error;
  } finally {
    signal?.removeEventListener('abort', interrupt);
  }
}

interface Reading {
  readonly client: ReadingClient;
  readonly memory: ReadMemory;
  /** Aborted by the first read that fails. */
  readonly stop: AbortController;
  /** The number of requests that it took to read what is used. */
  requests: number;
}

/** What the service has shown, and the number of requests that it took. */
interface Shown<T> {
  readonly value: T;
  readonly requests: number;
}

/** The lists and modules that the service has shown. Plans that share a memory read each of them once. */
export class ReadMemory {
  readonly lists: Known<readonly LiveResource[]> = new Map();
  readonly modules: Known<JsonObject | null> = new Map();
  /** The number of requests of all successful reads, also of what is not remembered. */
  requests = 0;
}

/** What was read, by path. */
type Known<T> = Map<string, Promise<Shown<T>>>;

function readKind(reading: Reading, kind: Kind): Promise<readonly LiveResource[]> {
  const { memory, stop } = reading;
  return readOnce(reading, memory.lists, kind.path, async (reader) =>
    reader.shown.readList(kind, await reader.list(kind, stop)),
  );
}

/** Reads what is at a path, unless it is known. */
async function readOnce<T>(
  reading: Reading,
  known: Known<T>,
  path: string,
  read: (reader: ReadingClient) => Promise<T>,
): Promise<T> {
  const shown = known.get(path) ?? readAnew(reading, read);
  known.set(path, shown);
  try {
    const { value, requests } = await shown;
    reading.requests += requests;
    return value;
  } catch (error) {
    // A failed read is not kept, because it also ends other reads, unless the key was refused.
    if (!(error instanceof ApiError && error.isAuthentication)) known.delete(path);
    throw error;
  }
}

async function readAnew<T>(
  { client, memory }: Reading,
  read: (reader: ReadingClient) => Promise<T>,
): Promise<Shown<T>> {
  const reader = client.createReader();
  const value = await read(reader);
  const requests = reader.requestCount();
  memory.requests += requests;
  return { value, requests };
}

/** More are no late list. With a limit, resources that refer to nothing cannot keep a run busy. */
const MAX_UNLISTED = 100;

/**
 * Reads the resources to which a managed resource refers, and which the list of their kind lacks: some services list a
 * new resource late. Without them, a plan would create them again.
 */
async function readUnlisted(
  reading: Reading,
  listed: ReadonlyMap<string, readonly LiveResource[]>,
): Promise<readonly LiveResource[]> {
  const listedIds = new Set([...listed.values()].flat().map(({ id }) => id));
  const managed = [...listed.values()].flat().filter(({ mark }) => mark !== undefined);
  const referred = managed.flatMap(({ kind, spec }) => listReferences(getKind(kind), spec));
  const missing = new Map<string, Kind>();
  for (const { value, type } of referred) {
    const kind = listKindsOfReferenceType(type).find(
      (one) => listed.has(one.name) && isIdOf({ prefixes: [one.idPrefix] }, value),
    );
    if (kind !== undefined && !listedIds.has(value)) missing.set(value, kind);
  }
  const { value, requests } = await readAnew(reading, (reader) =>
    Promise.all([...missing].slice(0, MAX_UNLISTED).map(([id, kind]) => readOne(reader, { kind, id }, reading.stop))),
  );
  reading.requests += requests;
  return value.filter((live) => live !== undefined);
}

/** Reads one resource. Resolves with `undefined` if it does not exist. */
async function readOne(
  { get, limit, shown }: Pick<ReadingClient, 'get' | 'limit' | 'shown'>,
  { kind, id }: { readonly kind: Kind; readonly id: string },
  { signal }: AbortController,
): Promise<LiveResource | undefined> {
  const path = toResourcePath(kind, { id });
  try {
    const { json } = parseListedResource(kind, await limit(() => get(path, signal)), {
      place: `GET ${path}: the resource`,
    });
    shown.note(kind, json);
    return shown.complete(kind, readResource(kind, json));
  } catch (error) {
    if (error instanceof ApiError && error.response.status === 404) return undefined;
    throw error;
  }
}

async function readModules(
  reading: Reading,
  { address, kind, ids, modules }: AttachedModulesToRead,
): Promise<readonly [Address, Kind, LiveResource]> {
  const { client, memory, stop } = reading;
  const answers = modules.map(async (module): Promise<[string, Json]> => {
    const path = toModulePath(kind, ids, module);
    const json = await readOnce(reading, memory.modules, path, (reader) => reader.readModule(path, stop));
    if (json !== null)
      assertModuleMatchesSchema(assertDefined(kind.fields[module], `module ${module}`), json, {
        place: `GET ${path}: the module`,
      });
    return [module, json];
  });
  const json = Object.fromEntries(await Promise.all(answers));
  client.shown.note(kind, json);
  return [address, kind, readAttachedResource(kind, ids, json)];
}
