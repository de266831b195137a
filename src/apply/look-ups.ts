import { setImmediate } from 'node:timers/promises';
import type { Client } from '../client/client.ts';
import type { Kind } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { isResourceOf } from '../model/ownership.ts';
import type { LiveResource } from '../model/state.ts';
import type { MarkWrite, Write } from '../model/write.ts';

/**
 * What the service shows may be stale, so it is read again after each of these pauses. This tolerates lists that lag by
 * half a minute, and concurrent applies whose next request comes as late.
 */
export const PAUSES_MS = [1000, 1000, 2000, 4000, 8000, 14_000] as const;

interface LookUpRequests extends Pick<Client, 'shown'> {
  readonly list: Client['list'];
  /** Lists the newest resources of a kind, without waiting for queued writes. Absent in a rehearsal. */
  readonly listNewest?: Client['list'] | undefined;
  /** Reads a resource. Absent in a rehearsal. */
  readonly read?: ((write: Write, id: string) => Promise<LiveResource>) | undefined;
  /** Ids of all live resources in the plan. */
  readonly known: ReadonlySet<string>;
}

/** A list of resources. All creations of a run search it, so it is grouped once. */
interface ListedResources {
  readonly all: readonly LiveResource[];
  /** By the names in their marks. */
  readonly byName: ReadonlyMap<string | undefined, readonly LiveResource[]>;
}

/** The resources of a kind, and those of them that have the mark of a write. */
interface MarkedResources extends Pick<ListedResources, 'all'> {
  /** Not a copy of another resource, and not in the plan. Oldest first. */
  readonly marked: readonly LiveResource[];
}

/**
 * Looks up during an apply what took effect. Counts its requests, for the report. Rejects as the client does. One list
 * request serves all calls for its kind that were made before it started, so its response contains everything that was
 * created before these calls.
 */
export class LookUps {
  /** Reads a resource. `undefined` in a rehearsal. */
  readonly read: LookUpRequests['read'];
  readonly #requests: LookUpRequests;
  readonly #list: List;
  readonly #looked = new Set<Kind>();
  #count = 0;

  constructor(requests: LookUpRequests) {
    const { list, read } = requests;
    this.#requests = requests;
    this.#list = shareListRequests((kind) => this.#readList(kind, list));
    this.read =
      read &&
      (async (write, id) => {
        this.#count += 1;
        return read(write, id);
      });
  }

  /** The number of requests so far. */
  get count(): number {
    return this.#count;
  }

  /** Lists all resources of a kind, newest first. The request starts after this call. */
  async list(kind: Kind): Promise<ListedResources> {
    return this.#list(kind);
  }

  /** Lists the resources that have the mark of a write. */
  async listMarked(write: MarkWrite): Promise<MarkedResources> {
    return this.#pickMarked(write, await this.list(getKind(write.kind)));
  }

  /** Lists those of the newest resources that have the mark of a write. Looks up each kind once: then, there are none. */
  async listNewestMarked(write: MarkWrite): Promise<readonly LiveResource[]> {
    const kind = getKind(write.kind);
    const { listNewest } = this.#requests;
    if (listNewest === undefined || this.#looked.has(kind)) return [];
    this.#looked.add(kind);
    return this.#pickMarked(write, await this.#readList(kind, listNewest)).marked;
  }

  async #readList(kind: Kind, list: Client['list']): Promise<ListedResources> {
    this.#count += 1;
    const all = this.#requests.shown.readList(kind, await list(kind));
    return { all, byName: Map.groupBy(all, ({ mark }) => mark?.name) };
  }

  #pickMarked({ mark }: MarkWrite, { all, byName }: ListedResources): MarkedResources {
    const named = byName.get(mark.name) ?? [];
    const marked = named.filter((live) => !this.#requests.known.has(live.id) && isResourceOf(live, mark));
    // The list is sorted newest first, which also orders resources that were created in the same second.
    return { all, marked: marked.toReversed().toSorted(compareByTime) };
  }
}

function compareByTime({ createdAt: left }: LiveResource, { createdAt: right }: LiveResource): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

type List = (kind: Kind) => Promise<ListedResources>;

/**
 * Wraps `list`. One request serves all calls for its kind that were made before it started, so its response contains
 * everything that was created before these calls. At most one request per kind is under way; the next one starts when
 * it ends. The promise rejects with the client's error.
 */
function shareListRequests(list: List): List {
  const running = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, Promise<ListedResources>>();
  const listAfter: List = async (kind) => {
    await running.get(kind.name);
    // Callers that received the previous response may each call again, one after another. This pause lets all of them
    // join the next request.
    await setImmediate();
    const answer = list(kind);
    waiting.delete(kind.name);
    running.set(kind.name, answer.then(NOTHING, NOTHING));
    return answer;
  };
  return (kind) => {
    const next = waiting.get(kind.name) ?? listAfter(kind);
    waiting.set(kind.name, next);
    return next;
  };
}

const NOTHING = (): void => undefined;
