import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type Client, createClient } from '../client/client.ts';
import type { Kind } from '../kinds/kind.ts';
import { toModulePath, toPathIds, toResourcePath } from '../kinds/paths.ts';
import { readAttachment, readResource } from '../kinds/read-response.ts';
import { KINDS, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { listTypes } from '../kinds/walk.ts';
import { ApiError } from '../model/errors.ts';
import { DEFAULT_VERSION_HEADER, isSuccess, readBodyText } from '../model/http.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../model/json.ts';
import { renderMetadata, renderUserMetadata } from '../model/mark.ts';
import { compareAge, type LiveResource, type LiveState, type Spec } from '../model/state.ts';
import type { ImportedResource } from '../server/seed.ts';
import { createServer, parseApiKey, type Server } from '../server/server.ts';

/** A write that a copy took, or refused. */
export interface SimulatedWrite {
  readonly path: string;
  /** The id that it gave, when it created something. */
  readonly id: string | undefined;
}

/** Why a copy refused a write. */
interface SimulatedRejection {
  /** The code of the server. */
  readonly code: string;
  /** One sentence, without the request. */
  readonly message: string;
}

/** An account in memory that begins as the one that was read. */
export interface SimulatedAccount {
  /** Sends to the copy and to nothing else, one request after another. */
  readonly client: Pick<Client, 'send' | 'limit' | 'list' | 'shown'>;
  /** The resource that is there now; `undefined`: none. */
  readonly find: (place: SimulatedPlace) => Promise<LiveResource | undefined>;
  /** Refusals by the message of the error that the client rejected with. */
  readonly refusals: ReadonlyMap<string, SimulatedRejection>;
}

/** Where a resource is: its id and, of an attached kind, what it was like, which says to what it is attached. */
export interface SimulatedPlace {
  readonly kind: Kind;
  readonly id: string;
  readonly like?: LiveResource | undefined;
}

/** What a copy is made of. */
interface TwinOptions {
  readonly live: LiveState;
  readonly now: () => Date;
  /** Called, and waited for, after each write that was taken. */
  readonly onWrite: (write: SimulatedWrite) => Promise<void>;
}

const BASE_URL = 'http://twin.invalid';

/** About a twentieth of a second. */
const REQUESTS_AT_ONCE = 100;

/** A copy of what was read. Everything that it cannot know is assumed to exist: what was not read, and what this interface cannot create. */
export function createSimulatedAccount({ live, now, onWrite }: TwinOptions): SimulatedAccount {
  let refusal: SimulatedRejection | undefined;
  const refusals = new Map<string, SimulatedRejection>();
  // Nobody else writes to a copy: whatever is new was created in it. The oldest first.
  const made = new Map(OWNED_KINDS.map(({ name }): [string, string[]] => [name, []]));
  const client = createTwinClient(createAccount(live, now), (failed) => {
    refusal = failed;
  });
  return {
    refusals,
    find: (place) => (place.kind.role === 'owned' ? findOwned(client, place) : findAttachment(client, place)),
    client: {
      ...client,
      list: async ({ name, path }) => {
        const found: JsonObject[] = [];
        for (const id of (made.get(name) ?? []).toReversed()) {
          const json = await findJson(client, `${path}/${id}`);
          if (json !== null) found.push(json);
        }
        return found;
      },
      send: async (method, path, body) => {
        const answer = await client.send(method, path, body).catch((error: unknown) => {
          if (error instanceof ApiError && refusal !== undefined) refusals.set(error.message, refusal);
          throw error;
        });
        const id = method === 'POST' ? String(answer?.['id']) : undefined;
        const kind = OWNED_KINDS.find((one) => path === one.path);
        if (id !== undefined && kind !== undefined) made.get(kind.name)?.push(id);
        await onWrite({ path, id });
        return answer;
      },
    },
  };
}

/** Nobody has to know it, and no text of a manifest may hold it: it would be struck out there. */
const KEY = randomUUID();

/** Creates a server that holds the live state. */
function createAccount(live: LiveState, now: () => Date): Server {
  return createServer({
    now,
    idSeed: 'twin',
    apiKeys: [parseApiKey(`${KEY}:admin`)],
    seed: { externals: listUnread(live) },
    existing: listExisting(live),
  });
}

function createTwinClient(server: Server, onRefusal: (refusal: SimulatedRejection) => void): Client {
  let sent = 0;
  return createClient({
    send: async (request) => {
      sent += 1;
      // Nothing here waits for the outside: without a pause nobody could interrupt.
      if (sent % REQUESTS_AT_ONCE === 0) await setImmediate();
      const response = await server.send(request);
      if (!isSuccess(response)) onRefusal(toRefusal(readBodyText(response.body)));
      return response;
    },
    baseUrl: BASE_URL,
    apiKey: KEY,
    versionHeader: DEFAULT_VERSION_HEADER,
    pageSize: 100,
    concurrency: 1,
    sleep: async () => undefined,
  });
}

function toRefusal(text: string): SimulatedRejection {
  const body = parseJson(text);
  const { error_code: code = '', msg: message = '' } = isJsonObject(body) ? body : {};
  return { code: String(code), message: String(message) };
}

/** Every id that a reference may name and that was not read, as patterns. */
function listUnread({ resources }: LiveState): readonly string[] {
  const types = KINDS.flatMap(({ fields }) => Object.values(fields)).flatMap(({ type }) => listTypes(type));
  const prefixes = new Set(types.flatMap((type) => (type.type === 'reference' ? type.prefixes : [])));
  for (const { name, idPrefix } of KINDS) if (resources.has(name)) prefixes.delete(idPrefix);
  return [...prefixes].map((prefix) => `${prefix}_*`);
}

function listExisting({ resources, attachments }: LiveState): readonly ImportedResource[] {
  const owned = [...resources.values()].flatMap((members) => members.toSorted(compareAge));
  return [...owned, ...attachments.values()].map(toExisting);
}

function toExisting(resource: LiveResource): ImportedResource {
  const { kind, id, createdAt, computed } = resource;
  return { kind, id, createdAt, spec: toRequestForm(resource), computed };
}

/** In the shape of requests: unset fields are left out, and the mark is in the metadata. */
function toRequestForm({ spec, mark }: LiveResource): Spec {
  const { metadata = '', ...fields } = spec;
  const user = isJsonObject(metadata) ? metadata : String(metadata ?? '');
  const text = mark === undefined ? renderUserMetadata(user) : renderMetadata(user, mark);
  const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  return { ...set, ...(text !== '' && { metadata: text }) };
}

async function findOwned(client: Client, { kind, id }: SimulatedPlace): Promise<LiveResource | undefined> {
  const json = await findJson(client, toResourcePath(kind, { id }));
  return json === null ? undefined : readResource(kind, json);
}

async function findAttachment(client: Client, { kind, id, like }: SimulatedPlace): Promise<LiveResource> {
  const ids = toPathIds(kind, { id, spec: like?.spec ?? {} });
  const modules = Object.keys(kind.fields).filter((name) => kind.fields[name]?.hasPath === true);
  const answers = modules.map(
    async (name): Promise<[string, Json]> => [name, await findJson(client, toModulePath(kind, ids, name))],
  );
  return readAttachment(kind, ids, Object.fromEntries(await Promise.all(answers)));
}

async function findJson(client: Client, path: string): Promise<JsonObject | null> {
  try {
    return await client.get(path);
  } catch (error) {
    if (error instanceof ApiError && error.response.status === 404) return null;
    throw error;
  }
}
