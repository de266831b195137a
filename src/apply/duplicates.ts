import { setImmediate } from 'node:timers/promises';
import type { Client } from '../client/client.ts';
import type { Kind } from '../kinds/kind.ts';
import type { ObservedResponseFields } from '../kinds/read-response.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { ApiError, assertDefined, getErrorMessage } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import { createFailedOutcome, type Outcome } from '../model/outcome.ts';
import { isResourceOf } from '../model/ownership.ts';
import type { LiveResource } from '../model/state.ts';
import type { CreateWrite, MarkWrite, Write } from '../model/write.ts';
import { isCreateWithoutClaims } from '../plan/duplicates.ts';
import { parseWriteResponse } from './check-response.ts';
import { isExternalError } from './external-error.ts';

export interface CreatedResource {
  readonly write: CreateWrite;
  readonly id: string;
}

/** The result of a search for duplicates of a new resource. A duplicate has the same mark and is not in the plan. */
interface ConcurrentDuplicates {
  /** The duplicate to keep instead of the created resource. `undefined`: the created resource is kept. */
  readonly winner: LiveResource | undefined;
  /** If the created resource is kept: its duplicates, which the applies that created them delete. Otherwise empty. */
  readonly losers: readonly LiveResource[];
  /** Whether the service lists the created resource without its mark, by which later runs would recognize it. */
  readonly lacksMark: boolean;
}

export interface DuplicateSearchContext {
  readonly lookUps: SharedListRequests;
  /** Ids of all live resources in the plan. */
  readonly known: ReadonlySet<string>;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * A list may be stale, so it is read again after each of these pauses, until it contains the new resource. This
 * tolerates lists that lag by half a minute, and concurrent applies whose next request comes as late.
 */
export const PAUSES_MS = [1000, 1000, 2000, 4000, 8000, 14_000] as const;

/** A resource that is listed without its mark is listed by a service that dropped the mark, or that is a little late. */
const MAX_PAUSES_FOR_MARK = 2;

/** Lists the resources that have the mark of a write, not a copy of another, and are not in the plan. Oldest first. */
export async function listUnplannedResourcesWithMark(
  write: MarkWrite,
  context: DuplicateSearchContext,
): Promise<readonly LiveResource[]> {
  return pickMarkedResources(write, await context.lookUps.list(getKind(write.kind)), context);
}

function pickMarkedResources(
  write: MarkWrite,
  { byName }: ListedResources,
  { known }: DuplicateSearchContext,
): readonly LiveResource[] {
  const named = byName.get(write.mark.name) ?? [];
  const marked = named.filter((live) => !known.has(live.id) && isResourceOf(live, write.mark));
  // The list is sorted newest first, which also orders resources that were created in the same second.
  return marked.toReversed().toSorted(compareByTime);
}

function compareByTime({ createdAt: left }: LiveResource, { createdAt: right }: LiveResource): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/**
 * Finds duplicates of a resource that this run created, and decides which resource to keep: the oldest whose token was
 * delivered or, if no token was delivered, the oldest. A list without the created resource is stale and is read again.
 * The promise rejects with the client's error if a list request fails.
 */
export async function findConcurrentDuplicates(
  { write, id }: CreatedResource,
  context: DuplicateSearchContext,
): Promise<ConcurrentDuplicates> {
  for (let attempt = 0; ; attempt += 1) {
    const listed = await context.lookUps.list(getKind(write.kind));
    const marked = pickMarkedResources(write, listed, context);
    const isShown = marked.some((resource) => resource.id === id);
    const lacksMark = !isShown && listed.all.some((one) => one.id === id);
    const pauseMs = lacksMark && attempt >= MAX_PAUSES_FOR_MARK ? undefined : PAUSES_MS[attempt];
    if (isShown || pauseMs === undefined) return { ...rankMarked(marked, id), lacksMark };
    await context.sleep(pauseMs);
  }
}

/**
 * Decides which resource to keep, like a plan does. Exception: of several delivered tokens, a plan keeps the youngest. An
 * apply keeps the oldest, because it is only certain to see resources that were created before its own.
 */
function rankMarked(marked: readonly LiveResource[], id: string): Omit<ConcurrentDuplicates, 'lacksMark'> {
  const delivered = marked.filter(({ mark }) => mark?.delivered === true);
  const [oldest] = delivered.length > 0 ? delivered : marked;
  if (oldest !== undefined && oldest.id !== id) return { winner: oldest, losers: [] };
  return { winner: undefined, losers: marked.filter((resource) => resource.id !== id) };
}

/** A list of resources. All creations of a run search it, so it is grouped once. */
interface ListedResources {
  readonly all: readonly LiveResource[];
  /** By the names in their marks. */
  readonly byName: ReadonlyMap<string | undefined, readonly LiveResource[]>;
}

/**
 * Lists resources during an apply. One list request serves all calls for its kind that were made before it started, so
 * its response contains everything that was created before these calls.
 */
export class SharedListRequests {
  readonly #list: List;
  readonly #shown: ObservedResponseFields;
  readonly #listNewest: ((kind: Kind) => Promise<readonly JsonObject[]>) | undefined;
  #count = 0;

  constructor(
    list: Client['list'],
    shown: ObservedResponseFields,
    listNewest?: (kind: Kind) => Promise<readonly JsonObject[]>,
  ) {
    this.#shown = shown;
    this.#listNewest = listNewest;
    this.#list = shareListRequests(async (kind) => {
      this.#count += 1;
      return this.#read(kind, await list(kind));
    });
  }

  /** The number of list requests so far. */
  get count(): number {
    return this.#count;
  }

  /** Lists all resources of a kind, newest first. The request starts after this call. Rejects as the client does. */
  async list(kind: Kind): Promise<ListedResources> {
    return this.#list(kind);
  }

  /**
   * Lists the newest resources of a kind, without waiting for queued writes. Empty if the client has no `get`. Rejects
   * as the client does.
   */
  async newest(kind: Kind): Promise<ListedResources> {
    if (this.#listNewest === undefined) return { all: [], byName: new Map() };
    this.#count += 1;
    return this.#read(kind, await this.#listNewest(kind));
  }

  /** Parses the resource in a response. Sets omitted fields to empty if another response of the run contained them. */
  readResponseBody(write: Write, answer: JsonObject): LiveResource {
    const kind = getKind(write.kind);
    this.#shown.note(kind, write.module === undefined ? answer : { [write.module]: answer });
    return this.#shown.complete(kind, parseWriteResponse(write, answer));
  }

  #read(kind: Kind, list: readonly JsonObject[]): ListedResources {
    const all = this.#shown.readList(kind, list);
    return { all, byName: Map.groupBy(all, ({ mark }) => mark?.name) };
  }
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

export interface DuplicateResolutionContext extends TakeBackContext {
  readonly duplicates: DuplicateSearchContext;
  readonly note: (diagnostic: Diagnostic) => void;
}

/**
 * After all writes, looks for duplicates of the resources that this run created. Two concurrent applies of a stack can
 * create a resource twice. The apply that created the later duplicate deletes it. A resource with a unique value is not
 * checked, because the service rejects its second creation. Returns the outcomes; the creation of a deleted duplicate
 * counts as failed.
 */
export async function deleteOwnDuplicates(
  outcomes: readonly Outcome[],
  context: DuplicateResolutionContext,
): Promise<readonly Outcome[]> {
  return Promise.all(outcomes.map((outcome) => settleOutcome(outcome, context)));
}

/**
 * Checks a new credential for duplicates before its token is delivered. Returns the reason not to deliver the token;
 * `undefined` if it can be delivered.
 */
export async function withdrawCredentialIfDuplicate(
  made: CreatedResource,
  context: DuplicateResolutionContext,
): Promise<Withdrawal | undefined> {
  const { winner, losers, lacksMark } = await lookUp(made, context.duplicates);
  if (typeof winner === 'string') {
    const message = `it was created as ${made.id}, but the check for a concurrent apply failed (${winner}), so its token was not delivered. The next apply replaces it`;
    return { message };
  }
  if (lacksMark) return takeBackUnmarked(made, LISTED_WITHOUT_MARK, context);
  for (const loser of losers) context.note(createLoserWarning(made, loser));
  return winner && { message: await withdraw(made, winner, context) };
}

/** Why a creation failed although the service created a resource. */
export interface Withdrawal {
  readonly message: string;
  readonly isUnmanageable?: true;
}

async function settleOutcome(outcome: Outcome, context: DuplicateResolutionContext): Promise<Outcome> {
  const made = findCreatedResource(outcome);
  if (made === undefined) return outcome;
  const { winner, losers, lacksMark } = await lookUp(made, context.duplicates);
  if (lacksMark) return createWithdrawnOutcome(made.write, await takeBackUnmarked(made, LISTED_WITHOUT_MARK, context));
  if (typeof winner === 'string') context.note(createFailedCheckWarning(made, winner));
  for (const loser of losers) context.note(createLoserWarning(made, loser));
  if (winner === undefined || typeof winner === 'string') return outcome;
  const message = await withdraw(made, winner, context);
  context.note(createWithdrawalWarning(made, message));
  return createFailedOutcome(made.write, message);
}

/**
 * Returns the created resource if it must be checked for duplicates. `undefined` if the write created nothing, if the
 * service itself rejects duplicates, or if the check was done before the delivery of a token.
 */
function findCreatedResource(outcome: Outcome): CreatedResource | undefined {
  const { write } = outcome;
  if (outcome.outcome !== 'applied' || !isCreateWithoutClaims(write)) return undefined;
  if (getKind(write.kind).oneTimeFields.length > 0) return undefined;
  return { write, id: assertDefined(outcome.id, `id of ${write.id}`) };
}

/** `winner` is the error message if the look-up failed. */
interface Seen extends Omit<ConcurrentDuplicates, 'winner'> {
  readonly winner: LiveResource | string | undefined;
}

async function lookUp(made: CreatedResource, context: DuplicateSearchContext): Promise<Seen> {
  try {
    return await findConcurrentDuplicates(made, context);
  } catch (error) {
    if (isExternalError(error)) return { winner: getErrorMessage(error), losers: [], lacksMark: false };
    throw error;
  }
}

/**
 * Warns if a concurrent apply has created the resource, and resolves with true. Called when the service rejects a
 * creation as a duplicate. Looks up each kind once in a run, and records the kind in `looked`. Ignores a failed look-up.
 */
export async function warnOfConcurrentCreation(
  write: CreateWrite,
  { duplicates, note }: DuplicateResolutionContext,
  looked: Set<string>,
): Promise<boolean> {
  if (looked.has(write.kind)) return false;
  looked.add(write.kind);
  try {
    const [other] = pickMarkedResources(write, await duplicates.lookUps.newest(getKind(write.kind)), duplicates);
    if (other !== undefined) note(createConcurrentWarning(write, other));
    return other !== undefined;
  } catch (error) {
    if (!isExternalError(error)) throw error;
    return false;
  }
}

function createConcurrentWarning({ address }: CreateWrite, other: LiveResource): Diagnostic {
  return {
    code: 'concurrent-change',
    severity: 'warning',
    message: `${address}: another apply of the stack${formatAuthor(other)} created this resource after the plan was made, as ${other.id}.`,
    remedy: `${TOGETHER} This apply continues. Run it again when both have ended.`,
    address,
  };
}

/** Formats the pipeline that the mark records, in parentheses. Empty if the mark records none. */
function formatAuthor({ mark }: LiveResource): string {
  return mark?.by === undefined ? '' : ` (${mark.by})`;
}

/**
 * Deletes a new resource that the service shows without its mark. Otherwise each apply would create another one. `why`
 * says what the service shows.
 */
export async function takeBackUnmarked(
  made: CreatedResource,
  why: string,
  context: TakeBackContext,
): Promise<Withdrawal> {
  const message = await deleteOwnCreation(made, context, 'Delete it by hand');
  return { message: `${why}; ${message}`, isUnmanageable: true };
}

const LISTED_WITHOUT_MARK = 'the service lists it without its metadata, which holds the mark';

export function createWithdrawnOutcome(write: Write, { message, isUnmanageable }: Withdrawal): Outcome {
  return { ...createFailedOutcome(write, message), ...(isUnmanageable && { isUnmanageable }) };
}

async function withdraw(
  made: CreatedResource,
  winner: LiveResource,
  context: DuplicateResolutionContext,
): Promise<string> {
  const message = await deleteOwnCreation(made, context, 'The next apply prunes it');
  return `another apply${formatAuthor(winner)} created this resource first, as ${winner.id}: ${message}`;
}

function createWithdrawalWarning({ write: { address } }: CreatedResource, message: string): Diagnostic {
  return {
    code: 'concurrent-change',
    severity: 'warning',
    message: `${address}: ${message}.`,
    remedy: TOGETHER,
    address,
  };
}

function createLoserWarning({ write: { address }, id }: CreatedResource, loser: LiveResource): Diagnostic {
  return {
    code: 'concurrent-change',
    severity: 'warning',
    message: `${address}: another apply${formatAuthor(loser)} also created this resource, as ${loser.id}. The resource of this run, ${id}, stays.`,
    remedy: `${TOGETHER} The other apply or the next apply deletes the duplicate.`,
    address,
  };
}

function createFailedCheckWarning({ write: { address } }: CreatedResource, why: string): Diagnostic {
  return {
    code: 'concurrent-change',
    severity: 'warning',
    message: `${address}: the check for a concurrent apply failed: ${why}.`,
    remedy: 'If there is a duplicate, the next plan shows it.',
    address,
  };
}

const TOGETHER = 'Run only one apply of a stack at a time.';

interface TakeBackContext {
  /** Deletes a resource that this run created. Rejects as the client does. */
  readonly remove: (made: CreatedResource) => Promise<void>;
  /** Reads a resource. Absent in a rehearsal. */
  readonly read: ((write: CreateWrite, id: string) => Promise<LiveResource>) | undefined;
  /** Resolves after `ms`, or as soon as the run is interrupted. */
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Deletes a resource that this run created. Returns a message about the result. `otherwise`: the remedy if that fails.
 */
export async function deleteOwnCreation(
  made: CreatedResource,
  context: TakeBackContext,
  otherwise: string,
): Promise<string> {
  const { id } = made;
  try {
    await context.remove(made);
    if (!(await isStillShown(made, context))) return `${id}, which this run created, was then deleted`;
    return `${id}, which this run created, is still there, although the service answered its DELETE with success. ${otherwise}`;
  } catch (error) {
    if (!isExternalError(error)) throw error;
    if (error instanceof ApiError && error.response.status === 404)
      return `${id}, which this run created, no longer exists`;
    return `${id}, which this run created, could not be deleted (${error.message}). ${otherwise}`;
  }
}

/** Whether the service shows a resource whose DELETE it answered with success, for half a minute. */
async function isStillShown({ write, id }: CreatedResource, { read, sleep }: TakeBackContext): Promise<boolean> {
  if (read === undefined) return false;
  for (const pauseMs of [0, ...PAUSES_MS]) {
    if (pauseMs > 0) await sleep(pauseMs);
    try {
      await read(write, id);
    } catch (error) {
      if (isExternalError(error)) return false;
      throw error;
    }
  }
  return true;
}
