import type { Client } from '../client/client.ts';
import { listAllIdPrefixes } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { hasMarkOf } from '../model/ownership.ts';
import type { LiveResource } from '../model/state.ts';
import type { CreateWrite } from '../model/write.ts';
import { showsEverySentField, showsSentMark } from './check-response.ts';
import { isExternalError } from './external-error.ts';
import { type LookUps, PAUSES_MS } from './look-ups.ts';
import type { ResolvedWrite } from './resolve-write.ts';

/** A creation that was sent. */
export interface SentCreation {
  readonly write: CreateWrite;
  readonly request: ResolvedWrite;
  /** The number of ids that the run had read before. See `ReadIds`. */
  readonly idCount: number;
  /** The time by the `Date` of the service. `undefined`: unknown. */
  readonly sentAt: Date | undefined;
}

/** A creation that was sent, with the resource that it created. */
export interface ShownCreation extends SentCreation {
  readonly live: LiveResource;
  /** `undefined`: the kind has none, or the service did not show it. */
  readonly token: string | undefined;
}

interface CreationJudgeContext {
  /** Without `readIds`, only `known` was read. */
  readonly client: Partial<Pick<Client, 'readIds' | 'serviceDate'>>;
  /** The ids of the plan, and of what this run has created. */
  readonly known: Set<string>;
  readonly read: LookUps['read'];
  /** Resolves after `ms`, or as soon as the run is interrupted. */
  readonly sleep: (ms: number) => Promise<void>;
}

export type JudgedCreation =
  | {
      readonly whose: 'ours';
      /** The resource in the answer or, if that has no mark, in the response to a GET. */
      readonly live: LiveResource;
    }
  | {
      readonly whose: 'unknown';
      /** A clause about the resource, such as `edgtcp_1 existed before`. */
      readonly why: string;
    };

/**
 * Decides whether a resource in an answer is what a creation of this run created. An id in an answer is no proof: a
 * cache or a proxy may answer a POST with the resource of another one. Deletes, patches, references and deliveries follow
 * only from a resource that is ours. This is the one place that decides it.
 */
export class CreationJudge {
  readonly #context: CreationJudgeContext;

  constructor(context: CreationJudgeContext) {
    this.#context = context;
  }

  /** Records what is known when a creation is sent for the first time. Called just before. */
  start(write: CreateWrite, request: ResolvedWrite): SentCreation {
    const { readIds, serviceDate } = this.#context.client;
    return { write, request, idCount: readIds?.count ?? 0, sentAt: serviceDate?.() };
  }

  /**
   * Decides whether the resource in the answer to a creation is ours: its id is new, it was created now, and it shows the
   * mark that was sent. If the answer does not show the mark, the resource is read for half a minute. Without the mark,
   * it is ours if it shows every other field as sent. `live` must have a valid id. Sends no request if the answer is in
   * order.
   */
  async judge(sent: SentCreation, live: LiveResource): Promise<JudgedCreation> {
    const judged = this.#judgeShown(sent, live) ?? (await this.#judgeByReading(sent, live));
    if (judged.whose === 'ours') this.#context.known.add(judged.live.id);
    return judged;
  }

  /** Returns those of a list that are ours, and remembers their ids. A list shows every field, so nothing else is read. */
  pickOurs(sent: SentCreation, listed: readonly LiveResource[]): readonly LiveResource[] {
    const ours = listed.filter((live) => this.#judgeShown(sent, live)?.whose === 'ours');
    for (const { id } of ours) this.#context.known.add(id);
    return ours;
  }

  /** `undefined`: the response does not show the mark. */
  #judgeShown(sent: SentCreation, live: LiveResource): JudgedCreation | undefined {
    const why = this.#findReasonAgainst(sent, live);
    if (why !== undefined) return { whose: 'unknown', why };
    return showsSentMark({ body: sent.request.body, live }) ? { whose: 'ours', live } : undefined;
  }

  #findReasonAgainst({ write, idCount, sentAt }: SentCreation, { id, createdAt }: LiveResource): string | undefined {
    const { known, client } = this.#context;
    if (known.has(id) || client.readIds?.isAmong(id, idCount) === true) return `${id} existed before`;
    const { idPrefix } = getKind(write.kind);
    const prefix = id.slice(0, Math.max(id.indexOf('_'), 0));
    if (prefix !== idPrefix && listAllIdPrefixes().includes(prefix)) return `${id} is an id of another kind`;
    const createdMs = Date.parse(createdAt);
    if (sentAt === undefined || Number.isNaN(createdMs)) return undefined;
    const sentMs = Math.floor(sentAt.getTime() / 1000) * 1000;
    if (createdMs >= sentMs - TOLERATED_AGE_MS) return undefined;
    return `${id} was created at ${createdAt}, before the request`;
  }

  /** Reads a resource until it shows the mark that was sent, or another one, for half a minute. */
  async #judgeByReading(sent: SentCreation, answered: LiveResource): Promise<JudgedCreation> {
    const { write, request } = sent;
    let shown = answered;
    for (const pauseMs of this.#context.read === undefined ? [] : [0, ...PAUSES_MS]) {
      if (pauseMs > 0) await this.#context.sleep(pauseMs);
      shown = (await this.#tryToRead(write, answered.id)) ?? shown;
      const judged = this.#judgeShown(sent, shown);
      if (judged !== undefined) return judged;
      if (shown.mark !== undefined) break;
    }
    if (isOfAnother(write, shown)) return { whose: 'unknown', why: `${shown.id} has another mark` };
    if (showsEverySentField(write, { body: request.body, live: shown })) return { whose: 'ours', live: shown };
    return { whose: 'unknown', why: `${shown.id} shows neither the mark nor the fields that were sent` };
  }

  /** `undefined`: the resource cannot be read, or not yet. */
  async #tryToRead(write: CreateWrite, id: string): Promise<LiveResource | undefined> {
    try {
      return await this.#context.read?.(write, id);
    } catch (error) {
      if (isExternalError(error)) return undefined;
      throw error;
    }
  }
}

/** `created_at` is in whole seconds, and clocks differ a little. */
const TOLERATED_AGE_MS = 60_000;

/** Whether a mark is that of another resource. A creation does not send the id of its own resource. */
function isOfAnother({ mark: sent }: CreateWrite, { mark }: LiveResource): boolean {
  return mark !== undefined && (!hasMarkOf({ mark }, sent) || mark.id !== undefined);
}
