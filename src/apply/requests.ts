import type { Client, ReliedState } from '../client/client.ts';
import { parseListedResource } from '../client/parse-response.ts';
import type { Kind } from '../kinds/kind.ts';
import { toResourcePath } from '../kinds/paths.ts';
import { readAttachedResource, readResource } from '../kinds/read-response.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { ApiError, assertDefined, NetworkError } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '../model/json.ts';
import { isEqualMark, renderMetadata } from '../model/mark.ts';
import { hasMarkOf } from '../model/ownership.ts';
import type { LiveResource } from '../model/state.ts';
import type { CreateWrite, MarkWrite, Write } from '../model/write.ts';
import { createStaleError, isExternalError } from './external-error.ts';
import { LookUps } from './look-ups.ts';
import { checkStillOwn, type Reliance, readShown } from './relied-state.ts';
import type { ResolvedWrite } from './resolve-write.ts';
import type { ServiceWatch } from './service-watch.ts';

export interface RequestContext {
  readonly client: Pick<Client, 'send' | 'limit' | 'list' | 'shown'> & Partial<Pick<Client, 'get'>>;
  /** When aborted, no further request is sent. Requests under way finish. */
  readonly signal: AbortSignal;
  /** Resolves after `ms`, or as soon as the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Ids of all live resources in the plan. */
  readonly known: ReadonlySet<string>;
  /** Called just before a write is sent. */
  readonly onStarted: (write: Write) => void;
  /** Fills in what is known only when a write is sent: ids, times. */
  readonly resolve: (write: Write) => ResolvedWrite;
  readonly findReliance: (write: Write) => Reliance | undefined;
  readonly watch: Pick<ServiceWatch, 'refuseAfterLostMark'>;
}

/** What was sent, and what came back. */
export interface Exchanged {
  readonly body: JsonObject | undefined;
  /** `null`: the response has no JSON object. */
  readonly answer: JsonObject | null;
  /** The resource in the response. `undefined` if the response shows nothing that was sent. */
  readonly live: LiveResource | undefined;
}

/** A resource that this run created. */
export interface CreatedResource {
  readonly write: CreateWrite;
  readonly id: string;
}

/** What became of a record in a mark. `failed`: none was written. `lost`: the service dropped the mark instead. */
export type Recorded = 'kept' | 'failed' | 'lost';

interface Recording {
  readonly body: JsonObject;
  /** Returns the body, given the state of the resource if it had to be read again. */
  readonly prepare?: ((shown: LiveResource) => JsonObject) | undefined;
}

/** Sends the requests of a run until a signal is aborted. Rejects as the client does, unless it says otherwise. */
export class ApplyRequests {
  /** Look-ups of what took effect. */
  readonly lookUps: LookUps;
  /** Reads the resource of a write. `undefined` in a rehearsal, as nothing else changes its copy of the account. */
  readonly read: ((write: Write, id: string) => Promise<LiveResource>) | undefined;
  /** Resolves after `ms`, or as soon as the signal is aborted. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Fills in what is known only when a write is sent. */
  readonly resolve: RequestContext['resolve'];
  readonly #context: RequestContext;

  constructor(context: RequestContext) {
    const { client, known, signal, sleep } = context;
    const { get, shown } = client;
    this.#context = context;
    this.sleep = (ms) => sleep(ms, signal);
    this.resolve = context.resolve;
    this.read = get && (({ kind }, id) => this.#read(get, getKind(kind), id));
    this.lookUps = new LookUps({
      list: (kind) => this.#sendAside(`GET ${kind.path}`, () => client.list(kind, undefined, signal)),
      listNewest: get && ((kind) => this.#listNewest(get, kind)),
      read: this.read,
      shown,
      known,
    });
  }

  /**
   * Sends a write, with what it relies on as it is then. `judge`: called with the response, before a waiting write is
   * sent. Resolves with its result, or with `undefined` if the run is interrupted before the write is sent. `resolve`:
   * called just before sending.
   */
  async send<T>(
    write: Write,
    judge: (exchanged: Exchanged) => Promise<T>,
    resolve = this.resolve,
  ): Promise<T | undefined> {
    const { client, signal, onStarted, watch } = this.#context;
    return client.limit(async () => {
      if (signal.aborted) return undefined;
      onStarted(write);
      const exchanged = await this.#exchange(write, (one) => {
        watch.refuseAfterLostMark(one);
        return resolve(one);
      });
      return exchanged && judge(exchanged);
    });
  }

  /** Writes a record to the mark of a resource. Rejects only because of a bug. */
  async record(write: MarkWrite, id: string, recording: Recording): Promise<Recorded> {
    const kind = getKind(write.kind);
    try {
      const shown = readResource(kind, (await this.#patchMark(kind, id, recording)) ?? {});
      const live = shown.mark === undefined && this.read !== undefined ? await this.read(write, id) : shown;
      return hasMarkOf(live, write.mark) ? 'kept' : 'lost';
    } catch (error) {
      if (isExternalError(error)) return 'failed';
      throw error;
    }
  }

  /** Deletes a resource that this run created, unless another stack has taken it over. */
  async remove({ write, id }: CreatedResource): Promise<void> {
    const kind = getKind(write.kind);
    const path = toResourcePath(kind, { id });
    const { shown } = this.#context.client;
    await this.#sendReliant('DELETE', path, undefined, async (json) => {
      checkStillOwn(write, readShown(kind, json ?? {}, { path, shown }));
      return undefined;
    });
  }

  /** Marks a credential as undelivered. */
  async markUndelivered({ kind }: Write, marked: LiveResource): Promise<void> {
    const prepare = ({ spec, mark }: LiveResource): JsonObject => {
      const user = spec['metadata'];
      const kept = typeof user === 'string' || isJsonObject(user) ? user : '';
      if (!isEqualMark(mark, marked.mark)) throw createStaleError('its mark was changed');
      const undelivered = { ...assertDefined(mark, 'mark of the undelivered credential'), delivered: false };
      return { metadata: renderMetadata(kept, undelivered) };
    };
    await this.#patchMark(getKind(kind), marked.id, { body: prepare(marked), prepare });
  }

  async #patchMark(kind: Kind, id: string, { body, prepare }: Recording): Promise<JsonObject | null> {
    const prepareJson = prepare && (async (json: JsonObject | null) => prepare(readResource(kind, json ?? {})));
    return this.#sendReliant('PATCH', toResourcePath(kind, { id }), body, prepareJson);
  }

  /** Sends a request about a resource that, with `prepare`, was just shown or is read again. */
  async #sendReliant(
    method: 'PATCH' | 'DELETE',
    path: string,
    body: JsonObject | undefined,
    prepare: ReliedState['prepare'] | undefined,
  ): Promise<JsonObject | null> {
    const { client, signal } = this.#context;
    const reliesOn = prepare && { path, isModule: false, prepare };
    const send = () => client.send(method, path, body, { waitSignal: signal, reliesOn });
    return client.limit(() => this.#sendAside(`${method} ${path}`, send));
  }

  /**
   * Sends a write. An interrupt cancels a write that is not sent yet, but not one that is under way. Resolves with
   * `undefined` if the write was cancelled.
   */
  async #exchange(write: Write, resolve: (write: Write) => ResolvedWrite): Promise<Exchanged | undefined> {
    const { client, signal, findReliance } = this.#context;
    const reliance = findReliance(write);
    let sent = resolve(write);
    const prepare = async (shown: JsonObject | null): Promise<JsonObject | undefined> => {
      sent = resolve(reliance?.check(shown) ?? write);
      return sent.body;
    };
    const reliesOn = reliance && { ...reliance, prepare };
    const { method, path, body } = sent;
    try {
      const answer = await client.send(method, path, body, { waitSignal: signal, reliesOn });
      const isShown = answer !== null && sent.body !== undefined;
      return { body: sent.body, answer, live: isShown ? this.#readResponse(write, answer) : undefined };
    } catch (error) {
      if (signal.aborted && error === signal.reason) return undefined;
      throw error;
    }
  }

  /**
   * Parses the response to a write: the whole resource or, if a module was written, only that module. Sets omitted fields
   * to empty if another response of the run contained them.
   */
  #readResponse({ kind: name, module }: Write, answer: JsonObject): LiveResource {
    const { shown } = this.#context.client;
    const kind = getKind(name);
    const json = module === undefined ? answer : { [module]: answer };
    shown.note(kind, json);
    return shown.complete(kind, module === undefined ? readResource(kind, json) : readAttachedResource(kind, {}, json));
  }

  async #read(get: Client['get'], kind: Kind, id: string): Promise<LiveResource> {
    const path = toResourcePath(kind, { id });
    const json = await this.#sendAside(`GET ${path}`, () => get(path, this.#context.signal));
    return readResource(kind, parseListedResource(kind, json, { place: `GET ${path}: the resource` }).json);
  }

  async #listNewest(get: Client['get'], kind: Kind): Promise<readonly JsonObject[]> {
    const read = () => get(`${kind.path}?limit=${NEWEST}`, this.#context.signal);
    const page = await this.#sendAside(`GET ${kind.path}`, read);
    const list = page[assertDefined(kind.listKey, `list key of ${kind.name}`)];
    if (!isJsonArray(list)) return [];
    return list.map((member) => parseListedResource(kind, member, { place: `GET ${kind.path}` }).json);
  }

  /**
   * Sends a request that is not a write of the plan. `what`: its method and path. Rejects with `NetworkError` if
   * interrupted before it is sent.
   */
  async #sendAside<T>(what: string, send: () => Promise<T>): Promise<T> {
    const { signal } = this.#context;
    try {
      return await send();
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) throw error;
      const why = error instanceof NetworkError ? error.message : 'the run was interrupted';
      throw new NetworkError(`${what}: not sent, because ${why}`, { cause: error });
    }
  }
}

/** The number of resources that a look-up reads: more than an apply creates at the same time. */
const NEWEST = 100;

export function isNotFoundError(error: unknown): boolean {
  return error instanceof ApiError && error.response.status === 404;
}
