import type { Kind } from '../kinds/kind.ts';
import { type AttachedModulesToRead, isIdOf, toModulePath, toResourcePath } from '../kinds/paths.ts';
import { readAttachedResource, readResource } from '../kinds/read-response.ts';
import { listKindsOfReferenceType, listReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Address } from '../model/address.ts';
import { ApiError, assertDefined } from '../model/errors.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { LiveResource, LiveState } from '../model/state.ts';
import type { Client } from './client.ts';
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
 * On the first failure, rejects and starts no further request.
 * @example
 * const live = await readLive(client, createReadRequest(desired, []));
 */
export async function readLive(client: Omit<Client, 'send'>, request: LiveRequest): Promise<LiveState> {
  const { kinds, attachments, signal } = request;
  const countBefore = client.requestCount();
  const stop = new AbortController();
  const interrupt = () => stop.abort(signal?.reason);
  if (signal?.aborted) interrupt();
  signal?.addEventListener('abort', interrupt);
  try {
    const [resources, attached] = await Promise.all([
      Promise.all(kinds.map(async (kind) => [kind.name, await readKind(client, kind, stop)] as const)),
      readAttachments(client, attachments, stop),
    ]);
    const listed = new Map(resources);
    const missing = await readUnlisted(client, listed, stop);
    for (const live of missing) listed.set(live.kind, [...(listed.get(live.kind) ?? []), live]);
    const requests = client.requestCount() - countBefore;
    return { resources: listed, attachments: new Map(attached), requests };
  } catch (error) {
    stop.abort(error);
    throw error;
  } finally {
    signal?.removeEventListener('abort', interrupt);
  }
}

async function readKind(
  client: Pick<Client, 'list' | 'shown'>,
  kind: Kind,
  stop: AbortController,
): Promise<readonly LiveResource[]> {
  const list = await client.list(kind, stop);
  const resources = READ.get(list) ?? readResources(client, kind, list);
  READ.set(list, resources);
  return resources;
}

/** Caches the live resources of each list, because several stacks may share one list. */
const READ = new WeakMap<readonly JsonObject[], readonly LiveResource[]>();

/**
 * Converts a list to live resources. A field that a resource omits is empty if another resource of the list or an
 * earlier response contains the field, and unknown otherwise.
 */
function readResources(
  { shown }: Pick<Client, 'shown'>,
  kind: Kind,
  list: readonly JsonObject[],
): readonly LiveResource[] {
  for (const json of list) shown.note(kind, json);
  return list.map((json) => shown.complete(kind, readResource(kind, json)));
}

/** More are no late list. With a limit, resources that refer to nothing cannot keep a run busy. */
const MAX_UNLISTED = 100;

/**
 * Reads the resources to which a managed resource refers, and which the list of their kind lacks: some services list a
 * new resource late. Without them, a plan would create them again.
 */
async function readUnlisted(
  client: Pick<Client, 'get' | 'limit' | 'shown'>,
  listed: ReadonlyMap<string, readonly LiveResource[]>,
  stop: AbortController,
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
  const read = await Promise.all(
    [...missing].slice(0, MAX_UNLISTED).map(([id, kind]) => readOne(client, { kind, id }, stop)),
  );
  return read.filter((live) => live !== undefined);
}

/** Reads one resource. Resolves with `undefined` if it does not exist. */
async function readOne(
  { get, limit, shown }: Pick<Client, 'get' | 'limit' | 'shown'>,
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

async function readAttachments(
  client: ModuleReader,
  attachments: readonly AttachedModulesToRead[],
  stop: AbortController,
): Promise<readonly (readonly [Address, LiveResource])[]> {
  const read = await Promise.all(attachments.map((each) => readModules(client, each, stop)));
  return attachments.flatMap(({ address, kind }, index) => {
    const live = read[index];
    return live === undefined ? [] : [[address, client.shown.complete(kind, live)] as const];
  });
}

type ModuleReader = Pick<Client, 'readModule' | 'shown'>;

async function readModules(
  client: ModuleReader,
  attachment: AttachedModulesToRead,
  stop: AbortController,
): Promise<LiveResource> {
  const { kind, ids, modules } = attachment;
  const answers = modules.map(async (module): Promise<[string, Json]> => {
    const path = toModulePath(kind, ids, module);
    const json = await client.readModule(path, stop);
    if (json !== null)
      assertModuleMatchesSchema(assertDefined(kind.fields[module], `module ${module}`), json, {
        place: `GET ${path}: the module`,
      });
    return [module, json];
  });
  const json = Object.fromEntries(await Promise.all(answers));
  client.shown.note(kind, json);
  return readAttachedResource(kind, ids, json);
}
