import type { Client } from '../client/client.ts';
import { listAllIdPrefixes } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { hasMarkOf } from '../model/ownership.ts';
import type { LiveResource } from '../model/state.ts';
import type { CreateWrite } from '../model/write.ts';
import { type ResolvedWrite, showsEverySentField, showsSentMark } from './check-response.ts';
import { PAUSES_MS } from './duplicates.ts';
import { isExternalError } from './external-error.ts';

/**
 * Whether a resource in an answer is what a creation of this run created. An id in an answer is no proof: a cache or a
 * proxy may answer a POST with the resource of another one. Deletes, patches, references and deliveries follow only
 * from a resource that is ours. This is the one place that decides it.
 */

/** What the run knew when it sent a creation for the first time. */
export interface CreationStart {
  /** The number of ids that the run had read. See `ReadIds`. */
  readonly idCount: number;
  /** The time by the `Date` of the service. `undefined`: unknown. */
  readonly sentAt: Date | undefined;
}

/** A creation that was sent. */
export interface SentCreation {
  readonly write: CreateWrite;
  readonly request: ResolvedWrite;
  readonly start: CreationStart;
}

export interface CreationJudgeContext {
  /** Absent: only `known` was read. */
  readonly readIds?: Pick<Client['readIds'], 'count' | 'isAmong'> | undefined;
  readonly serviceDate?: Client['serviceDate'] | undefined;
  /** The ids of the plan, and of what this run has created. A creation that is ours adds its id. */
  readonly known: Set<string>;
  /** Reads a resource. Absent in a rehearsal. */
  readonly read: ((write: CreateWrite, id: string) => Promise<LiveResource>) | undefined;
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

/** Records what is known when a creation is sent. Called just before. */
export function startCreation({ readIds, serviceDate }: CreationJudgeContext): CreationStart {
  return { idCount: readIds?.count ?? 0, sentAt: serviceDate?.() };
}

/**
 * Decides whether the resource in the answer to a creation is ours: its id is new, it was created now, and it shows the
 * mark that was sent. If the answer does not show the mark, the resource is read for half a minute. Without the mark, it
 * is ours if it shows every other field as sent. `live` must have a valid id. Sends no request if the answer is in order.
 */
export async function judgeCreation(
  sent: SentCreation,
  live: LiveResource,
  context: CreationJudgeContext,
): Promise<JudgedCreation> {
  const judged = judgeShown(sent, live, context) ?? (await judgeByReading(sent, live, context));
  if (judged.whose === 'ours') context.known.add(judged.live.id);
  return judged;
}

/** Whether a resource in a list is ours. A list shows every field, so nothing else is read. */
export function isListedCreation(sent: SentCreation, live: LiveResource, context: CreationJudgeContext): boolean {
  return judgeShown(sent, live, context)?.whose === 'ours';
}

/** `undefined`: the response does not show the mark. */
function judgeShown(sent: SentCreation, live: LiveResource, context: CreationJudgeContext): JudgedCreation | undefined {
  const why = findReasonAgainst(sent, live, context);
  if (why !== undefined) return { whose: 'unknown', why };
  return showsSentMark({ body: sent.request.body, live }) ? { whose: 'ours', live } : undefined;
}

/** `created_at` is in whole seconds, and clocks differ a little. */
const TOLERATED_AGE_MS = 60_000;

function findReasonAgainst(
  { write, start }: SentCreation,
  { id, createdAt }: LiveResource,
  { readIds, known }: CreationJudgeContext,
): string | undefined {
  if (known.has(id) || readIds?.isAmong(id, start.idCount) === true) return `${id} existed before`;
  const { idPrefix } = getKind(write.kind);
  const prefix = id.slice(0, Math.max(id.indexOf('_'), 0));
  if (prefix !== idPrefix && listAllIdPrefixes().includes(prefix)) return `${id} is an id of another kind`;
  const createdMs = Date.parse(createdAt);
  if (start.sentAt === undefined || Number.isNaN(createdMs)) return undefined;
  const sentMs = Math.floor(start.sentAt.getTime() / 1000) * 1000;
  if (createdMs >= sentMs - TOLERATED_AGE_MS) return undefined;
  return `${id} was created at ${createdAt}, before the request`;
}

/** Reads a resource until it shows the mark that was sent, or another one, for half a minute. */
async function judgeByReading(
  sent: SentCreation,
  answered: LiveResource,
  context: CreationJudgeContext,
): Promise<JudgedCreation> {
  let shown = answered;
  for (const pauseMs of context.read === undefined ? [] : [0, ...PAUSES_MS]) {
    if (pauseMs > 0) await context.sleep(pauseMs);
    shown = (await tryToRead(sent.write, answered.id, context)) ?? shown;
    const judged = judgeShown(sent, shown, context);
    if (judged !== undefined) return judged;
    if (shown.mark !== undefined) break;
  }
  if (isOfAnother(sent.write, shown)) return { whose: 'unknown', why: `${shown.id} has another mark` };
  if (showsEverySentField(sent.write, { body: sent.request.body, live: shown })) return { whose: 'ours', live: shown };
  return { whose: 'unknown', why: `${shown.id} shows neither the mark nor the fields that were sent` };
}

/** Whether a mark is that of another resource. A creation does not send the id of its own resource. */
function isOfAnother({ mark: sent }: CreateWrite, { mark }: LiveResource): boolean {
  return mark !== undefined && (!hasMarkOf({ mark }, sent) || mark.id !== undefined);
}

/** `undefined`: the resource cannot be read, or not yet. */
async function tryToRead(
  write: CreateWrite,
  id: string,
  { read }: CreationJudgeContext,
): Promise<LiveResource | undefined> {
  try {
    return await read?.(write, id);
  } catch (error) {
    if (isExternalError(error)) return undefined;
    throw error;
  }
}
