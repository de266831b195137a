import { setImmediate } from 'node:timers/promises';
import { toApiError } from '../client/api-error.ts';
import type { Client } from '../client/client.ts';
import { createLimit } from '../client/limit.ts';
import { listClaims } from '../kinds/claims.ts';
import { type Kind, listSpecFields } from '../kinds/kind.ts';
import { toModulePath, toPathIds, toResourcePath } from '../kinds/paths.ts';
import { readAttachment, readResource } from '../kinds/read-response.ts';
import { KINDS, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { listTypes } from '../kinds/walk.ts';
import { ApiError, assertDefined } from '../model/errors.ts';
import { isJsonObject, type Json, type JsonObject, parseJson, toByteLength } from '../model/json.ts';
import { renderMetadata, renderUserMetadata } from '../model/mark.ts';
import { compareAge, type LiveResource, type LiveState, type Spec } from '../model/state.ts';
import { API_VERSION, DEFAULT_VERSION_HEADER } from '../model/transport.ts';
import { type Answer, findAnswering, toBodyText, toPlainResponse } from '../server/ask.ts';
import type { ExistingResource } from '../server/existing.ts';
import { createServer, parseApiKey } from '../server/server.ts';

/** A write that a twin took, or refused. */
export interface TwinWrite {
  readonly path: string;
  /** The id that it gave, when it created something. */
  readonly id: string | undefined;
}

/** Why a twin refused a write. */
export interface TwinRefusal {
  /** The code of the server. */
  readonly code: string;
  /** One sentence, without the request. */
  readonly message: string;
}

/** An account in memory that begins as the one that was read. */
export interface Twin {
  /** Sends to the twin and to nothing else, one request after another. */
  readonly client: Pick<Client, 'send' | 'limit' | 'list'>;
  /** What is there now in the place of a resource; `undefined`: nothing. */
  readonly find: (place: TwinPlace) => Promise<LiveResource | undefined>;
  /** Refusals by the message of the error that the client rejected with. */
  readonly refusals: ReadonlyMap<string, TwinRefusal>;
}

/** Where a resource is: its id and, of an attached kind, what it was like, which says to what it is attached. */
export interface TwinPlace {
  readonly kind: Kind;
  readonly id: string;
  readonly like?: LiveResource | undefined;
}

/** What a twin is made of. */
export interface TwinOptions {
  readonly live: LiveState;
  readonly now: () => Date;
  /** Called, and waited for, after each write that was taken. */
  readonly onWrite: (write: TwinWrite) => Promise<void>;
}

const KEY = 'twin';

/** About a twentieth of a second. */
const WRITES_AT_ONCE = 100;
const BASE_URL = 'http://twin.invalid';
const HEADERS: Readonly<Record<string, string>> = {
  authorization: `Bearer ${KEY}`,
  'content-type': 'application/json',
  [DEFAULT_VERSION_HEADER.toLowerCase()]: API_VERSION,
};

/** A twin of what was read. Everything that it cannot know is assumed to exist: what was not read, and what this interface cannot create. */
export function createTwin({ live, now, onWrite }: TwinOptions): Twin {
  const refusals = new Map<string, TwinRefusal>();
  // The oldest first.
  const made = new Map<string, string[]>();
  const real = createTwinClient(live, now);
  let sent = 0;
  // Read again only after a write whose answer does not show all of it.
  const shown = new Map<string, Promise<Shown | undefined>>();
  const find = (kind: Kind, id: string): Promise<Shown | undefined> => {
    const found = shown.get(id) ?? readShown(real.call, kind, id);
    shown.set(id, found);
    return found;
  };
  const note = (write: Sent, answer: JsonObject | null): void => {
    for (const step of write.path.split('/')) shown.delete(step);
    const whole = toWhole(write, answer);
    if (whole === undefined) return;
    const { kind, id } = whole.resource;
    shown.set(id, Promise.resolve(whole));
    if (write.method !== 'POST') return;
    const others = made.get(kind);
    if (others === undefined) made.set(kind, [id]);
    else others.push(id);
  };
  return {
    refusals,
    find: async (place) => {
      if (place.kind.role !== 'owned') return findAttachment(real.call, place);
      return (await find(place.kind, place.id))?.resource;
    },
    client: {
      limit: real.limit,
      // Nobody else writes to a twin: whatever is new was created in it.
      list: async (kind) => {
        const found = await Promise.all((made.get(kind.name) ?? []).toReversed().map((id) => find(kind, id)));
        const listed = await Promise.all(found.map((one) => one && toJson(real.call, kind, one)));
        return listed.filter((json) => json !== null && json !== undefined);
      },
      send: async (method, path, body) => {
        sent += 1;
        // Nothing here waits for the outside: without a pause nobody could interrupt.
        if (sent % WRITES_AT_ONCE === 0) await setImmediate();
        const answer = await real.call(method, path, body).catch((error: unknown) => {
          const refusal = real.refusal();
          if (error instanceof ApiError && refusal !== undefined) refusals.set(error.message, refusal);
          throw error;
        });
        note({ method, path, body }, answer);
        await onWrite({ path, id: method === 'POST' ? String(answer?.['id']) : undefined });
        return answer;
      },
    },
  };
}

/** A resource as the service shows it, and as it is read. */
interface Shown {
  /** Kept where an apply lists its kind, to see whether somebody else made the same. */
  readonly json: JsonObject | undefined;
  readonly resource: LiveResource;
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: JsonObject | undefined;
}

/** The resource that the answer to a write shows, if it shows all of it: after an update without a field that is always sent it does not. */
function toWhole({ method, path, body = {} }: Sent, json: JsonObject | null): Shown | undefined {
  const kind = OWNED_KINDS.find((one) => path === one.path || path.startsWith(`${one.path}/`));
  if (kind === undefined || json === null || (method !== 'POST' && method !== 'PATCH')) return undefined;
  const isPart = listSpecFields(kind).some(([name, { alwaysSent }]) => alwaysSent && !Object.hasOwn(body, name));
  if (method === 'PATCH' && isPart) return undefined;
  const resource = readResource(kind, json);
  return { json: listClaims(kind, resource.spec).length === 0 ? json : undefined, resource };
}

async function readShown(call: Call, kind: Kind, id: string): Promise<Shown | undefined> {
  const json = await ignoreMissing(call('GET', toResourcePath(kind, { id })));
  return json === null ? undefined : { json, resource: readResource(kind, json) };
}

async function toJson(call: Call, kind: Kind, { json, resource: { id } }: Shown): Promise<JsonObject | null> {
  return json ?? call('GET', toResourcePath(kind, { id }));
}

/** Makes a request: the object in the answer of success; null: there is none. */
type Call = (method: string, path: string, body?: JsonObject) => Promise<JsonObject | null>;

/** The ways to a server of its own, with the last refusal of that server. */
function createTwinClient(live: LiveState, now: () => Date) {
  let refusal: TwinRefusal | undefined;
  const server = createServer({
    now,
    idSeed: KEY,
    apiKeys: [parseApiKey(`${KEY}:admin`)],
    seed: { externals: listUnread(live) },
    existing: listExisting(live),
  });
  const answering = assertDefined(findAnswering(server.handle), 'a server that answers in plain values');
  // No network is between: nothing is lost, late or limited, which is what a usual client is for.
  const call: Call = async (method, path, body) => {
    const text = JSON.stringify(body) ?? '';
    const readBody = async (maxBytes: number) => (toByteLength(text) > maxBytes ? undefined : text);
    const answer = await answering({ method, url: BASE_URL + path, header: readHeader, readBody });
    if (answer.status < 300) return toObject(answer.body);
    const failure = toBodyText(answer.body) ?? '';
    refusal = toRefusal(failure);
    throw toApiError({ method, path, response: toPlainResponse(answer), body: failure }, keepAll);
  };
  return { call, limit: createLimit(1), refusal: () => refusal };
}

function readHeader(name: string): string | null {
  return HEADERS[name.toLowerCase()] ?? null;
}

/** Nothing in what a twin says is a secret. */
function keepAll(text: string): string {
  return text;
}

function toObject(body: Answer['body']): JsonObject | null {
  const json = typeof body === 'string' ? parseJson(body) : body;
  return isJsonObject(json) ? json : null;
}

function toRefusal(text: string): TwinRefusal {
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

function listExisting({ resources, attachments }: LiveState): readonly ExistingResource[] {
  const owned = [...resources.values()].flatMap((members) => members.toSorted(compareAge));
  return [...owned, ...attachments.values()].map(toExisting);
}

/** Most of what is loaded is never looked at. */
function toExisting(resource: LiveResource): ExistingResource {
  const { kind, id, createdAt, computed, spec: normal } = resource;
  let spec: Spec | undefined;
  return {
    kind,
    id,
    createdAt,
    get spec() {
      spec ??= toRequestForm(resource);
      return spec;
    },
    normal,
    computed,
  };
}

/** In the shape that requests have: what is not set is left out, and the mark is in the metadata. */
function toRequestForm({ spec, mark }: LiveResource): Spec {
  const { metadata = '', ...fields } = spec;
  const user = isJsonObject(metadata) ? metadata : String(metadata ?? '');
  const text = mark === undefined ? renderUserMetadata(user) : renderMetadata(user, mark);
  const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  return { ...set, ...(text !== '' && { metadata: text }) };
}

async function findAttachment(call: Call, { kind, id, like }: TwinPlace): Promise<LiveResource> {
  const ids = toPathIds(kind, { id, spec: like?.spec ?? {} });
  const modules = Object.keys(kind.fields).filter((name) => kind.fields[name]?.hasPath === true);
  const answers = modules.map(
    async (name): Promise<[string, Json]> => [name, await ignoreMissing(call('GET', toModulePath(kind, ids, name)))],
  );
  return readAttachment(kind, ids, Object.fromEntries(await Promise.all(answers)));
}

async function ignoreMissing(reading: Promise<JsonObject | null>): Promise<JsonObject | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ApiError && error.response.status === 404) return null;
    throw error;
  }
}
