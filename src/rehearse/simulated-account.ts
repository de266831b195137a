import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type Client, createClient } from '../client/client.ts';
import type { Kind } from '../kinds/kind.ts';
import { getPathIdsOfResource, toModulePath, toResourcePath } from '../kinds/paths.ts';
import { readAttachedResource, readResource } from '../kinds/read-response.ts';
import { KINDS, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { listSelfAndNestedTypes } from '../kinds/walk.ts';
import type { ConcealedValue } from '../model/concealed-value.ts';
import { ApiError } from '../model/errors.ts';
import { DEFAULT_VERSION_HEADER_NAME, decodeBodyText, isSuccess } from '../model/http.ts';
import { isJsonObject, type Json, type JsonObject, parseJson, toDigest } from '../model/json.ts';
import { renderMetadata, renderUserMetadata } from '../model/mark.ts';
import { mapConcealedMembers } from '../model/secret-value.ts';
import { createSecretRegistry, type ValueConcealer } from '../model/secrets.ts';
import { compareByAge, type LiveResource, type LiveState, type Spec } from '../model/state.ts';
import type { ImportedResource } from '../server/seed.ts';
import { createServer, parseApiKey, type Server } from '../server/server.ts';

export interface AcceptedSimulatedWrite {
  readonly path: string;
  /** The id of the created resource. Absent for other writes. */
  readonly id: string | undefined;
}

interface SimulatedRejection {
  /** The `error_code` of the response. */
  readonly code: string;
  /** The message of the response: one sentence that does not name the request. */
  readonly message: string;
}

/** An account in memory that starts as a copy of the live state. */
export interface SimulatedAccount {
  /** Sends requests to the copy only, one after another. */
  readonly client: Pick<Client, 'send' | 'limit' | 'list' | 'shown'>;
  /** Reads a resource from the copy. Resolves with `undefined` if an owned resource does not exist there. */
  readonly find: (place: SimulatedResourceId) => Promise<LiveResource | undefined>;
  /** Maps the message of an error that the client threw to the rejection that caused it. */
  readonly refusals: ReadonlyMap<string, SimulatedRejection>;
}

/**
 * Identifies a resource of the copy. `like`: the live resource. Required for an attached kind: the URL path of such a
 * resource contains ids that are fields of its spec.
 */
export interface SimulatedResourceId {
  readonly kind: Kind;
  readonly id: string;
  readonly like?: LiveResource | undefined;
}

interface CopyOptions {
  readonly live: LiveState;
  readonly now: () => Date;
  /** Called and awaited after each write that the copy accepted. */
  readonly onWrite: (write: AcceptedSimulatedWrite) => Promise<void>;
}

const BASE_URL = 'http://simulated-account.invalid';

/** The number of requests between two pauses. The copy handles them in about 0.05 seconds. */
const REQUESTS_AT_ONCE = 100;

/**
 * Creates a copy of the live state. If the resources of a kind were not read, or the API cannot create them, the copy
 * does not know which ids exist. Then it accepts every id of that kind.
 */
export function createSimulatedAccount({ live, now, onWrite }: CopyOptions): SimulatedAccount {
  let rejection: SimulatedRejection | undefined;
  const refusals = new Map<string, SimulatedRejection>();
  // Maps the name of a kind to the ids of its created resources, oldest first. `list` returns only these resources,
  // because an apply lists resources only to find new ones.
  const createdIds = new Map(OWNED_KINDS.map(({ name }): [string, string[]] => [name, []]));
  const texts = createTextsForConcealed(live);
  const client = createCopyClient(createCopiedAccount({ live, now, texts }), texts, (failed) => {
    rejection = failed;
  });
  return {
    refusals,
    find: (place) =>
      place.kind.role === 'owned' ? findOwned(client, place) : createSimulatedAttachment(client, place),
    client: {
      ...client,
      list: async ({ name, path }) => {
        const found: JsonObject[] = [];
        for (const id of (createdIds.get(name) ?? []).toReversed()) {
          const json = await findJson(client, `${path}/${id}`);
          if (json !== null) found.push(json);
        }
        return found;
      },
      send: async (method, path, body) => {
        const response = await client.send(method, path, body).catch((error: unknown) => {
          if (error instanceof ApiError && rejection !== undefined) refusals.set(error.message, rejection);
          throw error;
        });
        const id = method === 'POST' ? String(response?.['id']) : undefined;
        const kind = OWNED_KINDS.find((one) => path === one.path);
        if (id !== undefined && kind !== undefined) createdIds.get(kind.name)?.push(id);
        await onWrite({ path, id });
        return response;
      },
    },
  };
}

/** The API key of the copy. Random, because the client redacts the key wherever it occurs, even in manifests. */
const KEY = randomUUID();

/** Creates a bundled server that contains the resources of the live state. */
function createCopiedAccount({ live, now, texts }: Pick<CopyOptions, 'live' | 'now'> & CopyTexts): Server {
  return createServer({
    now,
    idSeed: 'rehearsal',
    apiKeys: [parseApiKey(`${KEY}:admin`)],
    seed: { externals: listUnread(live) },
    existing: listExisting(live, texts),
  });
}

function createCopyClient(
  server: Server,
  texts: ConcealedAsText,
  onRejection: (rejection: SimulatedRejection) => void,
): Client {
  let sent = 0;
  return createClient({
    send: async (request) => {
      sent += 1;
      // No request waits for a network, so without pauses Node could not handle the signal that interrupts the command.
      if (sent % REQUESTS_AT_ONCE === 0) await setImmediate();
      const response = await server.send(request);
      if (!isSuccess(response)) onRejection(parseRejection(decodeBodyText(response.body)));
      return response;
    },
    baseUrl: BASE_URL,
    apiKey: KEY,
    versionHeader: DEFAULT_VERSION_HEADER_NAME,
    pageSize: 100,
    concurrency: 1,
    sleep: async () => undefined,
    secrets: { ...createSecretRegistry(), ...texts },
  });
}

type ConcealedAsText = Pick<ValueConcealer, 'reveal' | 'hideLive'>;

interface CopyTexts {
  readonly texts: ConcealedAsText;
}

/**
 * In the copy, a text stands for each concealed value, so that no secret gets there. It contains a digest of all live
 * values, so that none of them is the same text.
 */
function createTextsForConcealed(live: LiveState): ConcealedAsText {
  let digest: string | undefined;
  const values = new Map<Json, ConcealedValue>();
  return {
    reveal: (body) =>
      mapConcealedMembers(body, (value) => {
        digest ??= toDigest(listLive(live).map(({ spec }) => spec));
        const text = `concealed value ${digest} ${value.number ?? ''} ${value.template ?? ''}`;
        values.set(text, value);
        return text;
      }),
    hideLive: (value) => values.get(value) ?? value,
  };
}

function parseRejection(text: string): SimulatedRejection {
  const body = parseJson(text);
  const { error_code: code = '', msg: message = '' } = isJsonObject(body) ? body : {};
  return { code: String(code), message: String(message) };
}

/** Returns patterns for ids that are assumed to exist. Kinds whose resources were read have no pattern. */
function listUnread({ resources }: LiveState): readonly string[] {
  const types = KINDS.flatMap(({ fields }) => Object.values(fields)).flatMap(({ type }) =>
    listSelfAndNestedTypes(type),
  );
  const prefixes = new Set(types.flatMap((type) => (type.type === 'reference' ? type.prefixes : [])));
  for (const { name, idPrefix } of KINDS) if (resources.has(name)) prefixes.delete(idPrefix);
  return [...prefixes].map((prefix) => `${prefix}_*`);
}

function listExisting(live: LiveState, texts: ConcealedAsText): readonly ImportedResource[] {
  return listLive(live).map((resource) => {
    const { kind, id, createdAt, computed } = resource;
    return { kind, id, createdAt, spec: toRequestForm(resource, texts), computed };
  });
}

function listLive({ resources, attachments }: LiveState): readonly LiveResource[] {
  const owned = [...resources.values()].flatMap((members) => members.toSorted(compareByAge));
  return [...owned, ...attachments.values()];
}

/** Converts a spec to the form of requests: unset fields are omitted, and the metadata contains the mark. */
function toRequestForm({ spec, mark }: LiveResource, texts: ConcealedAsText): Spec {
  const { metadata = '', ...fields } = texts.reveal(spec);
  const user = isJsonObject(metadata) ? metadata : String(metadata ?? '');
  const text = mark === undefined ? renderUserMetadata(user) : renderMetadata(user, mark);
  const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  return { ...set, ...(text !== '' && { metadata: text }) };
}

async function findOwned(client: Client, { kind, id }: SimulatedResourceId): Promise<LiveResource | undefined> {
  const json = await findJson(client, toResourcePath(kind, { id }));
  return json === null ? undefined : client.shown.complete(kind, readResource(kind, json));
}

async function createSimulatedAttachment(
  client: Client,
  { kind, id, like }: SimulatedResourceId,
): Promise<LiveResource> {
  const ids = getPathIdsOfResource(kind, { id, spec: like?.spec ?? {} });
  const modules = Object.keys(kind.fields).filter((name) => kind.fields[name]?.hasPath === true);
  const responses = modules.map(
    async (name): Promise<[string, Json]> => [name, await findJson(client, toModulePath(kind, ids, name))],
  );
  const modulesJson = Object.fromEntries(await Promise.all(responses));
  return client.shown.complete(kind, readAttachedResource(kind, ids, modulesJson));
}

async function findJson(client: Client, path: string): Promise<JsonObject | null> {
  try {
    return await client.get(path);
  } catch (error) {
    if (error instanceof ApiError && error.response.status === 404) return null;
    throw error;
  }
}
