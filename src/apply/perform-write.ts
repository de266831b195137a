import type { ConcurrencyLimiter } from '../client/request-limiter.ts';
import { isRotatable } from '../kinds/kind.ts';
import { isId } from '../kinds/paths.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Address } from '../model/address.ts';
import type { ClockSkew } from '../model/clock.ts';
import { ApiError, assertDefined, NetworkError } from '../model/errors.ts';
import { isSameJson, type JsonObject } from '../model/json.ts';
import { type Applied, createFailedOutcome, type Outcome } from '../model/outcome.ts';
import { hasMarkOf } from '../model/ownership.ts';
import type { LiveResource } from '../model/state.ts';
import { type CreateWrite, hasMark, isCreate, type MarkWrite, type Write, type WriteId } from '../model/write.ts';
import {
  type ComparedResponse,
  createSpellingWarning,
  describeOtherText,
  findRejectedField,
  listOtherTexts,
  listUnacceptedFieldMessages,
  listUnacceptedFields,
  type ResolvedWrite,
  resolveWriteRequest,
  type WriteRequestContext,
} from './check-response.ts';
import type { ConcurrentChangeDetector } from './concurrent-changes.ts';
import { type ConflictWaits, isConflict } from './conflicts.ts';
import {
  createWithdrawnOutcome,
  type DuplicateResolutionContext,
  deleteOwnCreation,
  listUnplannedResourcesWithMark,
  takeBackUnmarked,
  type Withdrawal,
  warnOfConcurrentCreation,
  withdrawCredentialIfDuplicate,
} from './duplicates.ts';
import { createStaleError, isExternalError, isStaleError } from './external-error.ts';
import {
  type CreationJudgeContext,
  isListedCreation,
  type JudgedCreation,
  judgeCreation,
  type SentCreation,
  startCreation,
} from './judge-creation.ts';
import { keepsMark } from './kept-marks.ts';
import { recordRefusalInItself, recordRefusalInReplaced } from './refused-creations.ts';
import type { PlanReliances } from './relied-state.ts';
import { type ApplyRequests, type Exchanged, isNotFoundError, markReplacementsUndelivered } from './requests.ts';
import type { TokenDeliveries } from './token-sinks.ts';

/** The functions that the writes of a run use, and the results that writes store for later writes. */
export interface WriteContext {
  readonly concurrentChanges: ConcurrentChangeDetector;
  readonly requests: ApplyRequests;
  readonly deliveries: TokenDeliveries;
  readonly settle: DuplicateResolutionContext;
  /** Decides whether an answer is that to a creation of this run. */
  readonly creations: CreationJudgeContext;
  /** Records what is done already, such as a delivery. Its requests are sent although the run is interrupted. */
  readonly recording: Pick<WriteContext, 'requests'> & DuplicateResolutionContext;
  /** The current time. The validity of a new certificate or credential starts when its creation is sent. */
  readonly now: () => Date;
  /** Ids of resources, by address. Each creation adds an entry. */
  readonly ids: Map<string, string>;
  /** The addresses of new resources whose mark is written twice: beside them there may be one that lost its mark. */
  readonly doubtful: ReadonlySet<string>;
  /** By the name of a kind, the resource that lost its mark when it was updated. Nothing more is sent to these kinds. */
  readonly lostMarks: Map<string, Address>;
  /** Fields of which the run has said that the service keeps another text, as `Kind/name field`. */
  readonly otherTexts: Set<string>;
  /** Addresses of new credentials whose tokens are delivered by the `deliver` write, and not by the creation. */
  readonly postponedDeliveries: ReadonlySet<Address>;
  /** Ids of `deliver` writes that failed because the service did not accept the new mark. */
  readonly unrecorded: Set<WriteId>;
  /** Ids of writes that failed only because the service keeps another text for people. */
  readonly tookEffect: Set<WriteId>;
  /** How the clock of the service differs from that of this machine, as far as it is known. */
  readonly clockSkew: () => ClockSkew;
  readonly conflicts: ConflictWaits;
  /** What writes rely on. `undefined`: resources are not read again before writes. */
  readonly reliances: PlanReliances | undefined;
  /** Names of the kinds that `warnOfConcurrentCreation` has looked up. */
  readonly looked: Set<string>;
  /** The pipeline to record in the mark. `undefined`: the mark records no pipeline. */
  readonly by: string | undefined;
  /** Called if a creation has not kept its mark: no further write is sent. */
  readonly endUnmanageable: () => void;
  /** Maps the outcome of each write to the outcome to report. See `ServiceWatch.judge`. */
  readonly judge: (outcome: Outcome) => Outcome;
}

/**
 * Performs one write whose dependencies have succeeded, and tries it again after a conflict that may pass. Never rejects
 * because of the service or the network. Each attempt takes a slot of `limit`.
 */
export async function performWrite(write: Write, context: WriteContext, limit: ConcurrencyLimiter): Promise<Outcome> {
  const conflicts = context.conflicts.start(write);
  for (;;) {
    try {
      return await limit(() => perform(write, context));
    } catch (error) {
      // If a concurrent apply has created the resource, the service rejects the creation for good.
      const mayBeTaken = isCreate(write) && isConflict(error);
      const isTaken = mayBeTaken && (await warnOfConcurrentCreation(write, context.settle, context.looked));
      const isTriedAgain = !isTaken && conflicts.canWait(error) && (await conflicts.wait());
      if (!isTriedAgain) return classifyFailure(write, error, conflicts.describe());
    }
  }
}

async function perform(write: Write, context: WriteContext): Promise<Outcome> {
  if (isCreate(write)) return sendCreate(write, context);
  if (!isOfDelivery(write)) return sendWrite(write, context);
  const failure = await context.deliveries.finish(write.address);
  return failure === undefined ? recordDelivery(write, context) : createFailedOutcome(write, failure);
}

/** Whether a write delivers a postponed token, and records that the token was delivered. */
function isOfDelivery(write: Write): write is MarkWrite {
  return write.purpose === 'deliver' && hasMark(write);
}

/** Sends a write to a resource that existed before this run. */
async function sendWrite(write: Write, context: WriteContext): Promise<Outcome> {
  const exchanged = await exchangeWrite(write, context);
  if (exchanged === undefined) return createInterrupted(write);
  const { live } = exchanged;
  if (live !== undefined && isMarkLost(write, live, context))
    return createFailedOutcome(write, describeLostMark(write, live));
  // The response to a PATCH contains the whole resource, so it also shows changes by other clients.
  const isWhole = live !== undefined && write.method === 'PATCH';
  const concurrentChange = isWhole ? context.concurrentChanges.find(write, live) : undefined;
  if (concurrentChange !== undefined) context.settle.note(concurrentChange);
  const outcome = await accept(write, exchanged, context);
  return outcome.outcome === 'applied' && isWhole ? { ...outcome, computed: live.computed } : outcome;
}

/** Whether a resource has no mark after an update that sets the mark, or that should leave it as it is. */
function isMarkLost(
  { method, module, mark, purpose, ids }: Write,
  live: LiveResource,
  { concurrentChanges }: WriteContext,
): boolean {
  if (method !== 'PATCH' || module !== undefined || purpose === 'release' || live.mark !== undefined) return false;
  return mark !== undefined || concurrentChanges.hadMark(ids?.id ?? '');
}

function describeLostMark({ kind }: Write, { id }: Pick<LiveResource, 'id'>): string {
  return `the update removed the mark of ${id}: the service replaces the resource instead of changing the fields that are sent. Nothing more is sent to ${kind} in this run. Adopt it with lifecycle.adopt: ${id} if the service is corrected`;
}

/** Throws if an update of the kind has removed a mark in this run. Called just before a request is sent. */
function refuseAfterLostMark({ kind }: Write, { lostMarks }: WriteContext): void {
  const lost = lostMarks.get(kind);
  if (lost !== undefined) throw createStaleError(`the service removed the mark of ${lost} when it was updated`);
}

/** The sent request, and the resource in the response. `live` is `undefined` if the response shows nothing that was sent. */
interface Shown {
  readonly sent: ResolvedWrite;
  readonly live: LiveResource | undefined;
}

async function exchangeWrite(
  write: Write,
  context: WriteContext,
  requests: ApplyRequests = context.requests,
): Promise<Shown | undefined> {
  const { settle, ids, reliances } = context;
  const resolve = (one: Write): ResolvedWrite => {
    refuseAfterLostMark(one, context);
    return resolveWriteRequest(one, toRequestContext(context));
  };
  let live: LiveResource | undefined;
  const check = async ({ sent, answer }: Exchanged): Promise<void> => {
    if (answer === null || sent.body === undefined) return;
    live = settle.duplicates.lookUps.readResponseBody(write, answer);
    // The response may leave the mark out, or the service may have replaced the resource where it should have merged.
    const id = write.ids?.id ?? ids.get(write.address) ?? live.id;
    if (isMarkLost(write, live, context)) live = (await requests.read?.(write, id)) ?? live;
    if (isMarkLost(write, live, context)) context.lostMarks.set(write.kind, write.address);
  };
  const exchanged = await requests.send(write, resolve, { reliance: reliances?.find(write, ids), check });
  return exchanged && { sent: exchanged.sent, live };
}

function toRequestContext({ ids, now, by }: WriteContext): WriteRequestContext {
  return { ids, now: now(), by };
}

async function accept(write: Write, { sent, live }: Shown, context: WriteContext): Promise<Outcome> {
  const shown = live && { body: sent.body, live };
  const failures = shown === undefined ? [] : listUnacceptedFieldMessages(write, shown);
  if (failures.length > 0) return createFailedOutcome(write, failures.join('; '));
  const id = write.ids?.id ?? context.ids.get(write.address);
  return withOtherTexts({ outcome: 'applied', write, id }, shown, context);
}

/**
 * Warns of texts for people that the service spells otherwise, once for each field. If it keeps another text, the write
 * has failed, although the rest of it took effect: nothing can cure that but the user, so nothing more is sent.
 */
function withOtherTexts(outcome: Applied, shown: ComparedResponse | undefined, context: WriteContext): Outcome {
  const { write } = outcome;
  const found = shown === undefined ? [] : listOtherTexts(write, shown);
  const unsaid = found.filter(({ name }) => !context.otherTexts.has(`${write.address} ${name}`));
  for (const { name } of unsaid) context.otherTexts.add(`${write.address} ${name}`);
  const before = context.concurrentChanges.findPlannedSpec(shown?.live.id ?? '');
  // The plan has listed a spelling that was live before.
  const spellings = unsaid.filter(
    ({ isSpelling, name, shown: now }) => isSpelling && !isSameJson(before?.[name] ?? null, now),
  );
  for (const one of spellings) context.settle.note(createSpellingWarning(write, one));
  const others = unsaid.filter(({ isSpelling }) => !isSpelling);
  if (others.length === 0) return outcome;
  context.tookEffect.add(write.id);
  return createFailedOutcome(write, others.map(describeOtherText).join('; '));
}

/**
 * Records in the mark of a credential that its token was delivered. If the credential no longer exists, marks its
 * replacement as undelivered.
 */
async function recordDelivery(write: MarkWrite, context: WriteContext): Promise<Outcome> {
  const { requests, duplicates } = context.recording;
  try {
    const exchanged = await exchangeWrite(write, context, requests);
    if (exchanged === undefined) return createInterrupted(write);
    const { live } = exchanged;
    // What was delivered is in use, so it is not taken back.
    if (live !== undefined && isMarkLost(write, live, context)) {
      const message = `its token was delivered, so ${live.id} stays; but ${describeLostMark(write, live)}`;
      return createWithdrawnOutcome(write, { message, isUnmanageable: true });
    }
    const outcome = await accept(write, exchanged, context);
    if (outcome.outcome === 'failed' && !context.tookEffect.has(write.id)) context.unrecorded.add(write.id);
    return outcome;
  } catch (error) {
    if (!isNotFoundError(error)) throw error;
    const { markUndelivered } = requests;
    return createFailedOutcome(write, await markReplacementsUndelivered(write, { duplicates, markUndelivered }));
  }
}

/** Creates a resource exactly once. A retry sends the same body, with the same times. Rejects as the client does. */
async function sendCreate(write: CreateWrite, context: WriteContext): Promise<Outcome> {
  if (write.validForMs !== undefined && context.clockSkew().isDoubtful) return createFailedOutcome(write, UNKNOWN_TIME);
  const { requests, settle, creations } = context;
  let created: SentCreation | undefined;
  const resolve = (): ResolvedWrite => {
    refuseAfterLostMark(write, context);
    const request = created?.request ?? resolveWriteRequest(write, toRequestContext(context));
    created ??= { write, request, start: startCreation(creations) };
    return request;
  };
  let judged: JudgedCreation | undefined;
  // Before a waiting write is sent, so that a service that does not keep marks gets no more of them.
  const check = async ({ answer }: Exchanged): Promise<void> => {
    const answered = settle.duplicates.lookUps.readResponseBody(write, answer ?? {});
    if (created === undefined || !isId(answered.id)) return;
    judged = await judgeCreation(created, answered, creations);
    if (judged.whose === 'ours' && !hasMarkOf(judged.live, write.mark)) context.endUnmanageable();
  };
  const result = await createResourceOnce({
    send: () => requests.send(write, resolve, { check }),
    look: () => listCreated(assertDefined(created, 'creation that was sent'), context),
    sleep: settle.duplicates.sleep,
  });
  if (result === undefined || created === undefined) return createInterrupted(write);
  if ('found' in result) return checkFoundCreation(created, result.found, context);
  return checkAnsweredCreation({ ...created, judged }, result.answer.answer ?? {}, context);
}

/** `judged`: `undefined` if the response has no valid id. */
interface AnsweredCreation extends SentCreation {
  readonly judged: JudgedCreation | undefined;
}

/**
 * Checks a resource that a look-up found after its creation got no response. If the kind has a token, the write fails:
 * the token was lost with the response, and only a new credential can replace it.
 */
async function checkFoundCreation(created: SentCreation, live: LiveResource, context: WriteContext): Promise<Outcome> {
  const { write, request } = created;
  context.creations.known.add(live.id);
  const [field] = getKind(write.kind).oneTimeFields;
  if (field !== undefined) {
    const message = `its creation got no response. It was found as ${live.id}, but its ${field} was lost with the response. The next apply replaces it, unless another apply created it and delivers the ${field}`;
    return createFailedOutcome(write, message);
  }
  const failure = await verifyCreation(created, { live, token: undefined }, context);
  if (failure !== undefined) return createWithdrawnOutcome(write, failure);
  const failures = storeCreation(created, live, context);
  if (failures.length > 0) return createFailedOutcome(write, failures.join('; '));
  const applied = { outcome: 'applied', write, id: live.id, computed: live.computed, found: true } as const;
  return withOtherTexts(applied, { body: request.body, live }, context);
}

/**
 * Checks the response to a creation, and delivers the token in it. A resource without its mark is deleted, and so is a
 * credential that differs from the request: its token is not delivered. If the delivery fails, the credential was created all the same: the write that
 * records the delivery fails. If the response is not known to be that to this creation, nothing follows from it.
 */
async function checkAnsweredCreation(
  created: AnsweredCreation,
  answer: JsonObject,
  context: WriteContext,
): Promise<Outcome> {
  const { write, request } = created;
  const [field] = getKind(write.kind).oneTimeFields;
  const token = field === undefined ? undefined : findText(answer[field]);
  const judged = created.judged ?? (await findByMark(created, context));
  if (judged.whose === 'unknown') {
    const rescued = token && (await context.deliveries.rescue({ write, token, id: '' }));
    const said = [judged.why, ...(rescued === undefined ? [] : [rescued])].join('; ');
    return { ...createFailedOutcome(write, said), isUnknown: true };
  }
  const { live } = judged;
  if (!hasMarkOf(live, write.mark)) {
    const why = `the service did not keep the metadata of ${live.id}, which holds the mark`;
    return createWithdrawnOutcome(write, await takeBackUnmarked({ write, id: live.id }, why, context.recording));
  }
  const failure = await verifyCreation(created, { live, token }, context);
  if (failure !== undefined) return createWithdrawnOutcome(write, failure);
  const unaccepted = storeCreation(created, live, context);
  const isPostponed = unaccepted.length === 0 && context.postponedDeliveries.has(write.address);
  const undelivered = token && (await context.deliveries.start({ write, token, id: live.id }, isPostponed));
  if (unaccepted.length > 0)
    return createFailedOutcome(write, [...(undelivered === undefined ? [] : [undelivered]), ...unaccepted].join('; '));
  const applied = { outcome: 'applied', write, id: live.id, computed: live.computed } as const;
  return withOtherTexts(applied, { body: request.body, live }, context);
}

const NO_ID = 'the service did not return its id, or returned an invalid one';

/** A certificate with a wrong start would be valid at another time than meant. */
const UNKNOWN_TIME =
  'not sent, because it would begin now, and it is unknown whether the clock of this machine or that of the service is right';

/** Stores the id of a created resource. Returns a message for each difference from the request. */
function storeCreation({ write, request }: SentCreation, live: LiveResource, context: WriteContext): readonly string[] {
  context.ids.set(write.address, live.id);
  return listUnacceptedFieldMessages(write, { body: request.body, live });
}

/** `T`: the response to the creation. */
interface CreationActions<T> {
  /** Sends the request once. Resolves with `undefined` if the run was interrupted before the request was sent. */
  readonly send: () => Promise<T | undefined>;
  /**
   * Lists the resources that the request may have created. Oldest first. Rejects if it is unknown whether one of them is
   * what the request created.
   */
  readonly look: () => Promise<readonly LiveResource[]>;
  /** Resolves after `ms`, or as soon as the run is interrupted. */
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * The maximum number of times that a creation is sent while its outcome is unknown. The pauses before the second
 * look-up double: 1, 2 and 4 seconds outlast a short failure of the service.
 */
const ROUNDS = 3;
const PAUSE_MS = 1000;

/** The response to the creation or, if none came, the resource that a look-up found. */
type Created<T> = { readonly answer: T } | { readonly found: LiveResource };

/**
 * Creates a resource exactly once. If the outcome of the request is unknown (no response, or a 5xx status), looks up
 * the resource by its mark, twice because a list may be stale. Sends the request again only if the resource is not
 * found. Resolves with `undefined` if the run was interrupted before the first request was sent. Rejects as the client
 * does. If a look-up fails, rejects with the error of the creation.
 */
export async function createResourceOnce<T>({
  send,
  look,
  sleep,
}: CreationActions<T>): Promise<Created<T> | undefined> {
  let unknown: unknown;
  for (let round = 1; round <= ROUNDS; round += 1) {
    try {
      const answer = await send();
      if (answer !== undefined) return { answer };
      if (round === 1) return undefined;
      break;
    } catch (error) {
      if (!isUnknownCreation(error)) throw error;
      unknown = error;
    }
    const found = await lookUpTwice(look, () => sleep(PAUSE_MS * 2 ** (round - 1)), unknown);
    if (found !== undefined) return { found };
  }
  throw unknown;
}

/** Whether a failed creation may have taken effect. */
function isUnknownCreation(error: unknown): boolean {
  if (error instanceof ApiError) return error.response.status >= 500 && !error.isQuota;
  return error instanceof NetworkError && !error.isUnsent;
}

/**
 * Returns the oldest resource found; `undefined` if both look-ups find none. If a look-up fails, throws `unknown`, the
 * error of the creation, because it is still not known whether the creation took effect.
 */
async function lookUpTwice(
  look: () => Promise<readonly LiveResource[]>,
  pause: () => Promise<void>,
  unknown: unknown,
): Promise<LiveResource | undefined> {
  try {
    const [early] = await look();
    if (early !== undefined) return early;
    await pause();
    const [late] = await look();
    return late;
  } catch (error) {
    throw isExternalError(error) ? unknown : error;
  }
}

/**
 * Checks a created resource before its token is delivered. Returns the reason if the creation failed. Deletes a
 * credential without a token, and a credential or certificate that differs from the request, because otherwise each
 * apply would leave another valid one. The next plan knows of the difference (see `Refusal`).
 */
async function verifyCreation(
  created: SentCreation,
  { live, token }: { readonly live: LiveResource; readonly token: string | undefined },
  context: WriteContext,
): Promise<Withdrawal | undefined> {
  const { settle, requests, concurrentChanges } = context;
  const { write, request } = created;
  const { body } = request;
  const kind = getKind(write.kind);
  const [field] = kind.oneTimeFields;
  const made = { write, id: live.id };
  const isHidden = field !== undefined && token === undefined;
  const failures = [
    ...(isHidden ? [`the service did not show its ${field}`] : []),
    ...(isRotatable(kind) ? listUnacceptedFieldMessages(write, { body, live }) : []),
  ];
  if (failures.length > 0) {
    const fields = isHidden ? [] : listRefusedFields(write, { body, live });
    const replaced = concurrentChanges.findReplaced(write.address);
    const refusal = { write, body, live, fields, replaced };
    const own = await recordRefusalInItself(refusal, requests);
    if (own === 'kept')
      return { message: [...failures, `nothing was delivered; ${live.id} is kept as a record of this`].join('; ') };
    const message = await deleteOwnCreation(made, settle, 'Delete it by hand, unless the next plan deletes it');
    const lost = replaced !== undefined && (await recordRefusalInReplaced(refusal, requests)) === 'lost' && replaced;
    if (lost) context.lostMarks.set(write.kind, write.address);
    const said = [...failures, message, ...(lost ? [describeLostMark(write, lost)] : [])];
    return { message: said.join('; '), ...(own === 'lost' && { isUnmanageable: true }) };
  }
  const duplicate = field === undefined ? undefined : await withdrawCredentialIfDuplicate(made, settle);
  return duplicate ?? takeBackIfMarkIsLost(created, live.id, context);
}

/** Writes the mark of a new resource once more, if a resource like it may have lost its own at its second write. */
async function takeBackIfMarkIsLost(
  created: SentCreation,
  id: string,
  { doubtful, requests, recording }: WriteContext,
): Promise<Withdrawal | undefined> {
  const { write } = created;
  if (!doubtful.has(write.address) || (await keepsMark(created, id, requests))) return undefined;
  return takeBackUnmarked({ write, id }, DROPPED, recording);
}

const DROPPED = 'the service dropped the mark when it was written for the second time';

/** The fields that the service stored otherwise. Empty if it also lost the mark, without which nothing is recorded. */
function listRefusedFields(write: CreateWrite, shown: ComparedResponse): readonly string[] {
  return hasMarkOf(shown.live, write.mark) ? listUnacceptedFields(write, shown) : [];
}

/** Looks up the resource of a creation by its mark, because the response has no valid id. */
async function findByMark(created: SentCreation, context: WriteContext): Promise<JudgedCreation> {
  const [live, ...others] = await listCreated(created, context).catch(ignoreExternal);
  if (live === undefined || others.length > 0) return { whose: 'unknown', why: NO_ID };
  context.creations.known.add(live.id);
  return { whose: 'ours', live };
}

/**
 * Lists the resources that a creation may have created: they are new, and have the mark that it sent. Oldest first.
 * Rejects with `NetworkError` if others have a mark of its name, because then it is unknown what the creation created.
 */
async function listCreated(
  created: SentCreation,
  { settle, creations }: WriteContext,
): Promise<readonly LiveResource[]> {
  const marked = await listUnplannedResourcesWithMark(created.write, settle.duplicates);
  const ours = marked.filter((live) => isListedCreation(created, live, creations));
  if (ours.length > 0 || marked.length === 0) return ours;
  throw new NetworkError(`${marked.map(({ id }) => id).join(', ')} has its mark, and existed before`);
}

function ignoreExternal(error: unknown): readonly LiveResource[] {
  if (isExternalError(error)) return [];
  throw error;
}

function findText(value: JsonObject[string] | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The outcome of a write that was interrupted before it was sent. */
function createInterrupted(write: Write): Outcome {
  return { outcome: 'skipped', write, message: 'interrupted', waitedFor: [] };
}

/**
 * Returns the outcome of a write that failed because of the service or the network. Rethrows other errors.
 * A delete of a resource or module that no longer exists counts as applied. `waited`: how long the write was tried
 * again, for the message.
 */
function classifyFailure(write: Write, error: unknown, waited: string): Outcome {
  const isUnknown = isCreate(write) && isUnknownCreation(error);
  if (error instanceof ApiError) {
    if (write.method === 'DELETE' && error.response.status === 404)
      return { outcome: 'applied', write, id: write.ids?.id };
    return {
      ...createFailedOutcome(write, `${error.message}${waited}`),
      isAuthentication: error.isAuthentication,
      ...(error.isQuota && { isQuota: true }),
      status: error.response.status,
      field: findRejectedField(write, error),
      isUnknown,
    };
  }
  if (error instanceof NetworkError)
    return { ...createFailedOutcome(write, error.message), isUnknown, ...(error.isUnsent && { isUnsent: true }) };
  if (isStaleError(error))
    return { ...createFailedOutcome(write, `not sent, because ${error.message}. The plan is stale`), isStale: true };
  throw error;
}
