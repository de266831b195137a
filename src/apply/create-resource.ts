import { hasToken } from '../kinds/kind.ts';
import { isId } from '../kinds/paths.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { ApiError, assertDefined, NetworkError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import { type Applied, createFailedOutcome, createInterruptedOutcome, type Outcome } from '../model/outcome.ts';
import { hasMarkOf } from '../model/ownership.ts';
import type { LiveResource } from '../model/state.ts';
import type { CreateWrite } from '../model/write.ts';
import type { ApplyRun } from './apply-run.ts';
import { describeUnkeptMark, listUnacceptedFieldMessages } from './check-response.ts';
import { withdrawCredentialIfDuplicate } from './duplicates.ts';
import { isExternalError } from './external-error.ts';
import type { JudgedCreation, SentCreation, ShownCreation } from './judge-creation.ts';
import { keepsMark } from './kept-marks.ts';
import { checkTexts } from './other-texts.ts';
import { withdrawIfRefused } from './refused-creations.ts';
import type { Exchanged } from './requests.ts';
import type { ResolvedWrite } from './resolve-write.ts';
import { createWithdrawnOutcome, takeBackUnmarked, type Withdrawal } from './take-back.ts';

/**
 * Creates a resource exactly once, and decides whether the answer is that to this creation: if that is unknown, nothing
 * follows from it. A token that was lost with the response cannot be delivered: only a new credential can replace it.
 * Rejects as the client does.
 */
export async function createResource(write: CreateWrite, run: ApplyRun): Promise<Outcome> {
  const { requests, settling, creations, watch, deliveries } = run;
  if (write.validForMs !== undefined && run.clockSkew().isDoubtful) return createFailedOutcome(write, UNKNOWN_TIME);
  let sent: SentCreation | undefined;
  const resolve = (): ResolvedWrite => {
    // A retry sends the same body, with the same times.
    sent ??= creations.start(write, requests.resolve(write));
    return sent.request;
  };
  // Before a waiting write is sent, so that a service that does not keep marks gets no more of them.
  const judge = async ({ answer, live }: Exchanged): Promise<CreationAnswer> => {
    const judged = sent && live && isId(live.id) ? await creations.judge(sent, live) : undefined;
    if (judged?.whose === 'ours' && !hasMarkOf(judged.live, write.mark)) watch.noteUnkeptMark();
    return { judged, token: findToken(write, answer) };
  };
  const result = await createResourceOnce({
    send: () => requests.send(write, judge, resolve),
    look: () => listCreated(assertDefined(sent, 'creation that was sent'), run),
    sleep: settling.sleep,
  });
  if (result === undefined || sent === undefined) return createInterruptedOutcome(write);
  if ('found' in result) {
    const { found: live } = result;
    const [field] = getKind(write.kind).oneTimeFields;
    if (field === undefined) return settleCreation({ ...sent, live, token: undefined }, run, { found: true });
    const message = `its creation got no response. It was found as ${live.id}, but its ${field} was lost with the response. The next apply replaces it, unless another apply created it and delivers the ${field}`;
    return createFailedOutcome(write, message);
  }
  const { judged = await findByMark(sent, run), token } = result.answer;
  if (judged.whose === 'ours') return settleCreation({ ...sent, live: judged.live, token }, run);
  const rescued = token === undefined ? [] : [await deliveries.rescue({ write, token, id: '' })];
  return { ...createFailedOutcome(write, [judged.why, ...rescued].join('; ')), isUnknown: true };
}

/** A certificate with a wrong start would be valid at another time than meant. */
const UNKNOWN_TIME =
  'not sent, because it would begin now, and it is unknown whether the clock of this machine or that of the service is right';

/** The response to a creation. */
interface CreationAnswer {
  /** `undefined`: the response has no valid id. */
  readonly judged: JudgedCreation | undefined;
  readonly token: string | undefined;
}

function findToken({ kind }: CreateWrite, answer: JsonObject | null): string | undefined {
  const [field] = getKind(kind).oneTimeFields;
  const token = field === undefined ? undefined : answer?.[field];
  return typeof token === 'string' && token !== '' ? token : undefined;
}

/** Looks up the resource of a creation by its mark, because the response has no valid id. */
async function findByMark(sent: SentCreation, run: ApplyRun): Promise<JudgedCreation> {
  try {
    const [live, ...others] = await listCreated(sent, run);
    if (live !== undefined && others.length === 0) return { whose: 'ours', live };
  } catch (error) {
    if (!isExternalError(error)) throw error;
  }
  return { whose: 'unknown', why: 'the service did not return its id, or returned an invalid one' };
}

/**
 * Lists the resources that a creation may have created: they are new, and have the mark that it sent. Oldest first.
 * Rejects with `NetworkError` if others have a mark of its name, because then it is unknown what the creation created.
 */
async function listCreated(sent: SentCreation, { settling, creations }: ApplyRun): Promise<readonly LiveResource[]> {
  const { marked } = await settling.lookUps.listMarked(sent.write);
  const ours = creations.pickOurs(sent, marked);
  if (ours.length > 0 || marked.length === 0) return ours;
  throw new NetworkError(`${marked.map(({ id }) => id).join(', ')} has its mark, and existed before`);
}

/**
 * Ends a creation with the resource that it created. If the resource stays, its id is known from now on, and its token is
 * delivered, unless the `deliver` write does that. If the delivery fails, the credential was created all the same: the
 * write that records the delivery fails.
 */
async function settleCreation(
  created: ShownCreation,
  run: ApplyRun,
  how: Pick<Applied, 'found'> = {},
): Promise<Outcome> {
  const { write, live, token } = created;
  const withdrawal = await takeBackIfUnfit(created, run);
  if (withdrawal !== undefined) return createWithdrawnOutcome(write, withdrawal);
  run.ids.set(write.address, live.id);
  // A credential with a field that was not accepted was taken back.
  if (token !== undefined) await run.deliveries.start({ write, token, id: live.id });
  const shown = { body: created.request.body, live };
  const unaccepted = listUnacceptedFieldMessages(write, shown);
  if (unaccepted.length > 0) return createFailedOutcome(write, unaccepted.join('; '));
  return checkTexts({ outcome: 'applied', write, id: live.id, computed: live.computed, ...how }, shown, run);
}

/**
 * Takes a new resource back that must not stay: without its mark, refused, a duplicate, or one that loses its mark at the
 * next write. Returns the reason. `undefined`: the resource stays.
 */
async function takeBackIfUnfit(created: ShownCreation, run: ApplyRun): Promise<Withdrawal | undefined> {
  const { planned, requests, recording } = run;
  const { write, live } = created;
  const made = { write, id: live.id };
  if (!hasMarkOf(live, write.mark)) return takeBackUnmarked(made, describeUnkeptMark(live), recording);
  const refused = await withdrawIfRefused(created, run);
  if (refused !== undefined) return refused;
  const duplicate = hasToken(getKind(write.kind)) ? await withdrawCredentialIfDuplicate(made, run) : undefined;
  if (duplicate !== undefined) return duplicate;
  if (!planned.isDoubtful(write.address) || (await keepsMark(created, requests))) return undefined;
  return takeBackUnmarked(made, 'the service dropped the mark when it was written for the second time', recording);
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
export function isUnknownCreation(error: unknown): boolean {
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
