import { setImmediate } from 'node:timers/promises';
import type { Client } from '../client/client.ts';
import type { Kind } from '../kinds/kind.ts';
import { readResource, type ShownFields } from '../kinds/read-response.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { ApiError, assertDefined, describeError, NetworkError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { Outcome } from '../model/outcome.ts';
import { compareAge, type LiveResource } from '../model/state.ts';
import type { CreateWrite, DeliverWrite, RedeliverWrite, Write } from '../model/write.ts';
import { allowsDuplicates } from '../plan/duplicates.ts';
import { readResponseBody } from './check-response.ts';
import { JournalError } from './journal.ts';

export interface CreatedResource {
  readonly write: CreateWrite;
  readonly id: string;
}

/** Resources with the mark of a resource that this run created, and that its plan did not know. */
interface ConcurrentDuplicates {
  /** The one that stays instead of ours. */
  readonly winner: LiveResource | undefined;
  /** The duplicates to delete. */
  readonly losers: readonly LiveResource[];
  /** Ours is listed without its mark: no later run would know it as ours. */
  readonly isUnmarked: boolean;
}

export interface DuplicateContext {
  readonly lookUps: ListReader;
  /** Ids that the plan knew. */
  readonly known: ReadonlySet<string>;
  readonly sleep: (ms: number) => Promise<void>;
}

/** A list may be stale: it is read up to three times, a second apart, until it contains the new resource. So lists may lag by two seconds. */
const LOOKS = 3;
const PAUSE_MS = 1000;

/** Resources that have the mark of a write, and that the plan did not know, oldest first. */
export async function listResourcesWithMark(
  write: MarkingWrite,
  context: DuplicateContext,
): Promise<readonly LiveResource[]> {
  return pickMarkedResources(write, await context.lookUps.list(getKind(write.kind)), context);
}

/** A write that leaves the mark of a new resource. */
type MarkingWrite = CreateWrite | DeliverWrite | RedeliverWrite;

function pickMarkedResources(
  write: MarkingWrite,
  all: readonly LiveResource[],
  { known }: DuplicateContext,
): readonly LiveResource[] {
  const { stack, name } = write.mark;
  const bearers = listNamed(all, name).filter(({ id, mark }) => mark?.stack === stack && !known.has(id));
  return bearers.toSorted(compareAge);
}

/** The members of a list whose marks have a name. Each creation of a run asks the same list for its own. */
function listNamed(all: readonly LiveResource[], name: string): readonly LiveResource[] {
  const groups = BY_NAME.get(all) ?? Map.groupBy(all, ({ mark }) => mark?.name);
  BY_NAME.set(all, groups);
  return groups.get(name) ?? [];
}

const BY_NAME = new WeakMap<readonly LiveResource[], ReadonlyMap<string | undefined, readonly LiveResource[]>>();

/**
 * Finds resources that a concurrent apply created in addition to ours. The oldest stays: the oldest with a delivered token if there is one. A list
 * that does not show ours is stale and is read again. Rejects as the client does.
 */
export async function findConcurrentDuplicates(
  { write, id }: CreatedResource,
  context: DuplicateContext,
): Promise<ConcurrentDuplicates> {
  for (let look = 1; ; look += 1) {
    const all = await context.lookUps.list(getKind(write.kind));
    const bearers = pickMarkedResources(write, all, context);
    const isShown = bearers.some((bearer) => bearer.id === id);
    if (isShown || look === LOOKS)
      return { ...rankBearers(bearers, id), isUnmarked: !isShown && all.some((one) => one.id === id) };
    await context.sleep(PAUSE_MS);
  }
}

/** The same choice as a plan makes, except for kinds that expire: there a plan keeps the younger one, but an apply only sees those created before its own. */
function rankBearers(bearers: readonly LiveResource[], id: string): Omit<ConcurrentDuplicates, 'isUnmarked'> {
  const delivered = bearers.filter(({ mark }) => mark?.delivered === true);
  const [oldest] = delivered.length > 0 ? delivered : bearers;
  if (oldest !== undefined && oldest.id !== id) return { winner: oldest, losers: [] };
  return { winner: undefined, losers: bearers.filter((bearer) => bearer.id !== id) };
}

/** Lists of kinds during an apply. Callers that ask before a list has started share it, so that it shows what each of them created before. */
export class ListReader {
  readonly #list: ReturnType<typeof coalesceLists>;
  readonly #shown: ShownFields;
  readonly #listNewest: ((kind: Kind) => Promise<readonly JsonObject[]>) | undefined;
  #count = 0;

  constructor(list: Client['list'], shown: ShownFields, listNewest?: (kind: Kind) => Promise<readonly JsonObject[]>) {
    this.#shown = shown;
    this.#listNewest = listNewest;
    this.#list = coalesceLists((...asked) => {
      this.#count += 1;
      return list(...asked);
    });
  }

  /** Lists that were asked for. */
  get count(): number {
    return this.#count;
  }

  /** Everything of a kind, newest first, by a list that starts after this call. Rejects as the client does. */
  async list(kind: Kind): Promise<readonly LiveResource[]> {
    const list = await this.#list(kind);
    const known = LISTS.get(list) ?? this.#readAll(kind, list);
    LISTS.set(list, known);
    return known;
  }

  /** The newest of a kind, at once; none where nobody else writes. Rejects as the client does. */
  async newest(kind: Kind): Promise<readonly LiveResource[]> {
    if (this.#listNewest === undefined) return [];
    this.#count += 1;
    return this.#readAll(kind, await this.#listNewest(kind));
  }

  /** The resource that the answer to a write shows. What it leaves out is empty if another answer of the run shows it. */
  readResponseBody(write: Write, answer: JsonObject): LiveResource {
    const kind = getKind(write.kind);
    this.#shown.note(kind, write.type === 'set-module' ? { [write.module]: answer } : answer);
    return this.#shown.complete(kind, readResponseBody(write, answer));
  }

  #readAll(kind: Kind, list: readonly JsonObject[]): readonly LiveResource[] {
    const read = list.map((json) => this.#read(kind, json));
    return read.map((live, listIndex) => ({ ...this.#shown.complete(kind, live), listIndex }));
  }

  #read(kind: Kind, json: JsonObject): LiveResource {
    const known = PARTS.get(json);
    if (known !== undefined) return known;
    this.#shown.note(kind, json);
    const live = readResource(kind, json);
    PARTS.set(json, live);
    return live;
  }
}

/** What was made of a list: several stacks may be given the same one. */
const LISTS = new WeakMap<readonly JsonObject[], readonly LiveResource[]>();

/** What was made of its parts: an answer may be the same value as in the list before. */
const PARTS = new WeakMap<JsonObject, LiveResource>();

type List = (kind: Kind, stop?: AbortController, waitSignal?: AbortSignal) => Promise<readonly JsonObject[]>;

/**
 * A list that callers share who ask before it has started, so that it shows what each of them created before. It starts when the one under way is
 * over. Rejects as the client does.
 */
export function coalesceLists(list: Client['list']): List {
  const running = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, Promise<readonly JsonObject[]>>();
  const listAfter: List = async (kind, ...more) => {
    await running.get(kind.name);
    // Those who were released together ask one after another.
    await setImmediate();
    const answer = list(kind, ...more);
    waiting.delete(kind.name);
    running.set(kind.name, answer.then(NOTHING, NOTHING));
    return answer;
  };
  return (kind, ...more) => {
    const next = waiting.get(kind.name) ?? listAfter(kind, ...more);
    waiting.set(kind.name, next);
    return next;
  };
}

const NOTHING = (): void => undefined;

/** What settling between concurrent applies needs. */
export interface SettleContext extends TakeBackContext {
  readonly duplicates: DuplicateContext;
  /** Reports what other applies did. */
  readonly note: (diagnostic: Diagnostic) => void;
}

/**
 * Two concurrent applies of one stack can create the same resource twice, unless a unique value makes the service refuse that. After the
 * writes, the apply that created the later one deletes it. Kinds for which the service itself refuses duplicates are not looked at. Returns the
 * outcomes, changed where a creation was taken back.
 */
export async function resolveDuplicates(
  outcomes: readonly Outcome[],
  context: SettleContext,
): Promise<readonly Outcome[]> {
  return Promise.all(outcomes.map((outcome) => settleOutcome(outcome, context)));
}

/** Called before the token of a new credential is delivered: the reason not to deliver it, if there is one. */
export async function resolveDuplicate(made: CreatedResource, context: SettleContext): Promise<string | undefined> {
  const { winner, losers, isUnmarked } = await look(made, context.duplicates);
  if (typeof winner === 'string')
    return `it was created as ${made.id}, but the check for a concurrent apply failed (${winner}), so its token was not delivered. The next apply replaces it`;
  if (isUnmarked) return withdrawUnmarked(made, context);
  for (const loser of losers) context.note(toLoserWarning(made, loser));
  return winner && withdraw(made, winner, context);
}

async function settleOutcome(outcome: Outcome, context: SettleContext): Promise<Outcome> {
  const made = toCreatedResource(outcome);
  if (made === undefined) return outcome;
  const { winner, losers, isUnmarked } = await look(made, context.duplicates);
  if (isUnmarked) return toFailed(made, await withdrawUnmarked(made, context));
  if (typeof winner === 'string') context.note(toBlindWarning(made, winner));
  for (const loser of losers) context.note(toLoserWarning(made, loser));
  if (winner === undefined || typeof winner === 'string') return outcome;
  const message = await withdraw(made, winner, context);
  context.note(toWithdrawal(made, message));
  return toFailed(made, message);
}

function toFailed({ write }: CreatedResource, message: string): Outcome {
  return { outcome: 'failed', write, message, isAuthentication: false, isUnknown: false };
}

/** What this run created, except what the service refuses to create twice and what was checked before its token was delivered. */
function toCreatedResource(outcome: Outcome): CreatedResource | undefined {
  const { write } = outcome;
  if (outcome.outcome !== 'applied' || 'alreadyDone' in outcome || !allowsDuplicates(write)) return undefined;
  if (getKind(write.kind).oneTimeFields.length > 0) return undefined;
  return { write, id: assertDefined(outcome.id, `id of ${write.id}`) };
}

/** A `winner` that is a text says why nothing could be seen. */
interface Seen extends Omit<ConcurrentDuplicates, 'winner'> {
  readonly winner: LiveResource | string | undefined;
}

async function look(made: CreatedResource, context: DuplicateContext): Promise<Seen> {
  try {
    return await findConcurrentDuplicates(made, context);
  } catch (error) {
    if (isExternalError(error)) return { winner: describeError(error), losers: [], isUnmarked: false };
    throw error;
  }
}

/**
 * Tells at once of another apply that created what the service has just refused to create a second time. Each kind is looked at once in a run; a look that fails
 * says nothing.
 */
export async function noteConcurrentApply(
  write: CreateWrite,
  { duplicates, note }: SettleContext,
  looked: Set<string>,
): Promise<void> {
  if (looked.has(write.kind)) return;
  looked.add(write.kind);
  try {
    const [other] = pickMarkedResources(write, await duplicates.lookUps.newest(getKind(write.kind)), duplicates);
    if (other !== undefined) note(toConcurrentWarning(write, other));
  } catch (error) {
    if (!isExternalError(error)) throw error;
  }
}

function toConcurrentWarning({ address }: CreateWrite, other: LiveResource): Diagnostic {
  return {
    code: 'concurrent-apply',
    severity: 'warning',
    message: `${address}: another apply of the stack${toAuthor(other)} created it after this plan was made, as ${other.id}.`,
    remedy: `${TOGETHER} This apply continues. Run it again when both have ended.`,
    address,
  };
}

/** By whom a resource was written, as far as its mark says. */
function toAuthor({ mark }: LiveResource): string {
  return mark?.by === undefined ? '' : ` (${mark.by})`;
}

/** Each apply would make another one. */
async function withdrawUnmarked(made: CreatedResource, context: SettleContext): Promise<string> {
  const message = await deleteOwnCreation(made, context, 'Delete it by hand');
  return `the service lists it without its metadata, which holds the mark; ${message}`;
}

async function withdraw(made: CreatedResource, winner: LiveResource, context: SettleContext): Promise<string> {
  const message = await deleteOwnCreation(made, context, 'The next apply prunes it');
  return `another apply${toAuthor(winner)} created it first, as ${winner.id}: ${message}`;
}

function toWithdrawal({ write: { address } }: CreatedResource, message: string): Diagnostic {
  return { code: 'created-twice', severity: 'warning', message: `${address}: ${message}.`, remedy: TOGETHER, address };
}

function toLoserWarning({ write: { address }, id }: CreatedResource, loser: LiveResource): Diagnostic {
  return {
    code: 'created-twice',
    severity: 'warning',
    message: `${address}: another apply${toAuthor(loser)} created it too, as ${loser.id}; ${id}, which this run created, stays.`,
    remedy: `${TOGETHER} The other apply or the next one deletes the duplicate.`,
    address,
  };
}

function toBlindWarning({ write: { address } }: CreatedResource, why: string): Diagnostic {
  return {
    code: 'created-twice',
    severity: 'warning',
    message: `${address}: the check for a concurrent apply failed: ${why}.`,
    remedy: 'If there is a duplicate, the next plan shows it.',
    address,
  };
}

const TOGETHER = 'Run only one apply of a stack at a time.';

/** What taking back takes. */
interface TakeBackContext {
  /** Deletes what this run itself made. Rejects as the client does. */
  readonly remove: (made: CreatedResource) => Promise<void>;
}

/** Deletes what this run created and returns how that went. `otherwise`: the remedy when it fails. */
export async function deleteOwnCreation(
  made: CreatedResource,
  context: TakeBackContext,
  otherwise: string,
): Promise<string> {
  const { id } = made;
  try {
    await context.remove(made);
    return `${id}, which this run created, was deleted again`;
  } catch (error) {
    if (!isExternalError(error)) throw error;
    if (error instanceof ApiError && error.response.status === 404) return `${id}, which this run created, is gone`;
    return `${id}, which this run created, could not be deleted again (${error.message}). ${otherwise}`;
  }
}

/** Whether something failed because of the service, the network, or the journal. */
function isExternalError(error: unknown): error is Error {
  return error instanceof ApiError || error instanceof NetworkError || error instanceof JournalError;
}
