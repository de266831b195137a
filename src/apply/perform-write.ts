import type { FieldType } from '../kinds/field.ts';
import { isRotatable, toSpecType } from '../kinds/kind.ts';
import { isId } from '../kinds/paths.ts';
import { findKind, getKind } from '../kinds/tables/registry.ts';
import { findInnerType } from '../kinds/walk.ts';
import { ApiError, assertNever, NetworkError } from '../model/errors.ts';
import { formatPath, parsePath } from '../model/field-path.ts';
import type { JsonObject } from '../model/json.ts';
import type { Outcome } from '../model/outcome.ts';
import type { FieldPath, LiveResource } from '../model/state.ts';
import type { CreateWrite, RedeliverWrite, Write, WriteId } from '../model/write.ts';
import { findFileText } from '../plan/files.ts';
import { diffUnaccepted, diffUnpersisted, type ResolvedWrite, resolveWrite } from './check-response.ts';
import type { ConcurrentChangeDetector, PatchWrite } from './concurrent-changes.ts';
import {
  type DuplicateContext,
  deleteOwnCreation,
  listResourcesWithMark,
  noteConcurrentApply,
  resolveDuplicate,
  type SettleContext,
} from './duplicates.ts';
import { JournalError } from './journal.ts';
import { findResourceId, isResourceGone, markUndelivered, type RecordWrite, type Requests } from './requests.ts';
import type { Deliveries } from './token-sinks.ts';

/** What one write takes, and where it leaves what later writes need. */
export interface WriteContext {
  readonly meanwhile: ConcurrentChangeDetector;
  readonly requests: Requests;
  readonly deliveries: Deliveries;
  readonly settle: SettleContext;
  /** The time at which a write is made: validities start there. */
  readonly now: () => Date;
  /** Ids of created resources, by address; grows. */
  readonly ids: Map<string, string>;
  /** Texts for files, by address; grows. */
  readonly texts: Map<string, string>;
  /** Records of deliveries that the service did not take; grows. */
  readonly unrecorded: Set<WriteId>;
  /** Kinds in which it looked for what another apply created; grows. */
  readonly looked: Set<string>;
  /** The pipeline that makes it, for the mark. */
  readonly by: string | undefined;
  /** Takes in how each write ended. */
  readonly judge: (outcome: Outcome) => Outcome;
}

/** Makes one write whose dependencies have succeeded. Never rejects because of the service or the network. */
export async function performWrite(write: Write, context: WriteContext): Promise<Outcome> {
  try {
    return await perform(write, context);
  } catch (error) {
    if (write.type === 'create' && error instanceof ApiError && error.response.status === 409)
      await noteConcurrentApply(write, context.settle, context.looked);
    return toFailure(write, error);
  }
}

async function perform(write: Write, context: WriteContext): Promise<Outcome> {
  switch (write.type) {
    case 'create':
      return createResource(write, context);
    case 'deliver':
      return recordDelivery(write, context);
    case 'redeliver':
      return deliverAgain(write, context);
    case 'update':
    case 'adopt':
    case 'release':
    case 'vacate':
      return change(write, context);
    case 'set-module':
    case 'remove-module':
    case 'delete':
      return send(write, context);
    default:
      return assertNever(write);
  }
}

async function send(write: Write, context: WriteContext): Promise<Outcome> {
  const exchanged = await exchange(write, context);
  return exchanged === undefined ? toInterrupted(write) : accept(write, exchanged, context);
}

/** The response to an update contains the whole resource, with any concurrent changes. */
async function change(write: PatchWrite, context: WriteContext): Promise<Outcome> {
  const exchanged = await exchange(write, context);
  if (exchanged === undefined) return toInterrupted(write);
  const { live } = exchanged;
  const meanwhile = live && context.meanwhile.find(write, live);
  if (meanwhile !== undefined) context.settle.note(meanwhile);
  const outcome = accept(write, exchanged, context);
  return outcome.outcome !== 'applied' || live === undefined ? outcome : { ...outcome, computed: live.computed };
}

/** The sent request, and the resource in the response; `undefined`: the response is empty. */
interface Shown {
  readonly sent: ResolvedWrite;
  readonly live: LiveResource | undefined;
}

async function exchange(write: Write, { requests, settle, ids, now, by }: WriteContext): Promise<Shown | undefined> {
  const exchanged = await requests.send(write, () => resolveWrite(write, { ids, now: now(), by }));
  if (exchanged === undefined) return undefined;
  const { sent, answer } = exchanged;
  return { sent, live: answer === null ? undefined : settle.duplicates.lookUps.readResponseBody(write, answer) };
}

function accept(write: Write, { sent, live }: Shown, { ids }: WriteContext): Outcome {
  const failures = live === undefined ? [] : diffUnaccepted(write, sent, live);
  if (failures.length > 0) return toFailed(write, failures.join('; '));
  return { outcome: 'applied', write, id: findResourceId(write) ?? ids.get(write.address) };
}

/** A delivery counts only when it is recorded on a credential that still exists. */
async function recordDelivery(write: RecordWrite, context: WriteContext): Promise<Outcome> {
  try {
    const exchanged = await exchange(write, context);
    if (exchanged === undefined) return toInterrupted(write);
    const outcome = accept(write, exchanged, context);
    if (outcome.outcome === 'failed') context.unrecorded.add(write.id);
    return outcome;
  } catch (error) {
    if (!isResourceGone(error)) throw error;
    const { requests, settle } = context;
    return toFailed(write, await markUndelivered(write, { duplicates: settle.duplicates, patch: requests.patch }));
  }
}

/** Why: see `apply/requests.ts`. It is delivered even when the run is interrupted, since what it replaces is gone. */
async function deliverAgain(write: RedeliverWrite, context: WriteContext): Promise<Outcome> {
  const { deliveries, ids } = context;
  if (!deliveries.has(write.address))
    return { outcome: 'applied', write, id: ids.get(write.address), alreadyDone: true };
  const failure = await deliveries.deliverAgain(write.address);
  return failure === undefined ? recordDelivery(write, context) : toFailed(write, failure);
}

/** Creates a resource exactly once. A retry sends the same body, times included. Rejects as the client does. */
async function createResource(write: CreateWrite, context: WriteContext): Promise<Outcome> {
  const { requests, ids, now, by, settle } = context;
  let sent: ResolvedWrite | undefined;
  const resolve = (): ResolvedWrite => {
    sent ??= resolveWrite(write, { ids, now: now(), by });
    return sent;
  };
  const created = await createOnce({
    send: () => requests.send(write, resolve),
    look: () => listResourcesWithMark(write, settle.duplicates),
    sleep: settle.duplicates.sleep,
  });
  if (created === undefined) return toInterrupted(write);
  if ('found' in created) return acceptFound(write, { sent: resolve(), live: created.found }, context);
  return acceptAnswer(write, { sent: resolve(), answer: created.answer.answer ?? {} }, context);
}

/** A token that was lost with its answer can only be replaced by a new credential. */
function acceptFound(write: CreateWrite, { sent, live }: Taken, context: WriteContext): Outcome {
  const [field] = getKind(write.kind).oneTimeFields;
  if (field !== undefined) {
    const message = `its creation got no response. It was found as ${live.id}, but its ${field} was lost with the response. The next apply replaces it, unless another apply created it and delivers the ${field}`;
    return toFailed(write, message);
  }
  const failures = take(write, { sent, live }, context);
  if (failures.length > 0) return toFailed(write, failures.join('; '));
  return { outcome: 'applied', write, id: live.id, computed: live.computed, found: true };
}

/** A resource that differs from what was sent is deleted before its token is delivered anywhere. */
async function acceptAnswer(
  write: CreateWrite,
  { sent, answer }: { readonly sent: ResolvedWrite; readonly answer: JsonObject },
  context: WriteContext,
): Promise<Outcome> {
  const judged = await verifyCreation(write, { sent, answer }, context.settle);
  if (typeof judged === 'string') return toFailed(write, judged);
  const { live, token } = judged;
  const failure = token === undefined ? undefined : await context.deliveries.deliver(write, token, live?.id ?? '');
  const undelivered = failure === undefined ? [] : [failure];
  if (live === undefined)
    return toFailed(
      write,
      [...undelivered, 'the service did not return its id, or returned an invalid one'].join('; '),
    );
  const failures = [...undelivered, ...take(write, { sent, live }, context)];
  if (failures.length > 0) return toFailed(write, failures.join('; '));
  return { outcome: 'applied', write, id: live.id, computed: live.computed };
}

/** The sent request, and the resource in the response. */
interface Taken {
  readonly sent: ResolvedWrite;
  readonly live: LiveResource;
}

/** Records the id of a resource for writes that refer to it. Returns what differs from what was sent. */
function take(write: CreateWrite, { sent, live }: Taken, { ids, texts }: WriteContext): readonly string[] {
  ids.set(write.address, live.id);
  const text = findFileText(live.computed[getKind(write.kind).fileField ?? '']);
  if (text !== undefined) texts.set(write.address, text);
  return diffUnpersisted(write, sent, live);
}

/** How a creation is carried out. */
interface CreationResult<T> {
  /** Sends it once; `undefined`: nothing is sent any more. */
  readonly send: () => Promise<T | undefined>;
  /** Resources with the mark that were not there before, oldest first. */
  readonly look: () => Promise<readonly LiveResource[]>;
  /** Ends at once when the run is interrupted. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** How often a creation is sent while its outcome is unknown. */
const ROUNDS = 3;
const PAUSE_MS = 1000;

/** The response, or the resource that was found instead. */
type Created<T> = { readonly answer: T } | { readonly found: LiveResource };

/**
 * Creates something exactly once. If no answer says whether the request took effect, the resource is looked up by its mark, twice because a list
 * may be stale; the request is sent again only if the resource is not there. Rejects as the client does; if the look-up
 * fails too, with the error that left the outcome unknown.
 */
export async function createOnce<T>({ send, look, sleep }: CreationResult<T>): Promise<Created<T> | undefined> {
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
    const found = await lookTwice(look, () => sleep(PAUSE_MS * 2 ** (round - 1)), unknown);
    if (found !== undefined) return { found };
  }
  throw unknown;
}

/** Whether a creation that failed may have taken effect. */
function isUnknownCreation(error: unknown): boolean {
  if (error instanceof ApiError) return error.response.status >= 500;
  return error instanceof NetworkError && !error.isUnsent;
}

/** The oldest resource found. A look-up that fails leaves the outcome unknown. */
async function lookTwice(
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
    if (error instanceof ApiError || error instanceof NetworkError || error instanceof JournalError) throw unknown;
    throw error;
  }
}

/** What a creation made, as it was answered. */
interface JudgedCreation {
  /** `undefined`: neither the answer nor a list tells the id. */
  readonly live: LiveResource | undefined;
  /** To be delivered; only of kinds that have one. */
  readonly token: string | undefined;
}

/**
 * Checks the answer to a creation before its token is delivered. Returns why the creation is void, if it is. A credential or certificate that differs
 * from what was asked for is deleted again; otherwise each apply would leave one more of them valid.
 */
async function verifyCreation(
  write: CreateWrite,
  { sent, answer }: { readonly sent: ResolvedWrite; readonly answer: JsonObject },
  context: SettleContext,
): Promise<JudgedCreation | string> {
  const kind = getKind(write.kind);
  const live = await identify(write, context.duplicates.lookUps.readResponseBody(write, answer), context.duplicates);
  const [field] = kind.oneTimeFields;
  const token = field === undefined ? undefined : toText(answer[field]);
  if (live === undefined) return { live, token };
  const made = { write, id: live.id };
  const isHidden = field !== undefined && token === undefined;
  const failures = [
    ...(isHidden ? [`the service did not show its ${field}`] : []),
    ...(isRotatable(kind) ? diffUnpersisted(write, sent, live) : []),
  ];
  if (failures.length > 0) {
    const message = await deleteOwnCreation(made, context, 'Delete it by hand, unless the next plan deletes it');
    return [...failures, message].join('; ');
  }
  const lost = field === undefined ? undefined : await resolveDuplicate(made, context);
  return lost ?? { live, token };
}

/** The id comes from a list, by the mark, if the answer has none that is valid. The token is safe even if that list cannot be read. */
async function identify(
  write: CreateWrite,
  live: LiveResource,
  duplicates: DuplicateContext,
): Promise<LiveResource | undefined> {
  if (isId(live.id)) return live;
  const bearers = await listResourcesWithMark(write, duplicates).catch(toNone);
  return bearers.length === 1 ? bearers[0] : undefined;
}

function toNone(error: unknown): readonly LiveResource[] {
  if (error instanceof ApiError || error instanceof NetworkError) return [];
  throw error;
}

function toText(value: JsonObject[string] | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A write that failed, and surely took no other effect than the message says. */
function toFailed(write: Write, message: string): Extract<Outcome, { readonly outcome: 'failed' }> {
  return { outcome: 'failed', write, message, isAuthentication: false, isUnknown: false };
}

/** A write that was interrupted before anything was sent. */
function toInterrupted(write: Write): Outcome {
  return { outcome: 'skipped', write, message: 'interrupted', waitedFor: [] };
}

/** The outcome of a write that the service or the network refused; other errors are rethrown. Deleting something already gone is a success. */
function toFailure(write: Write, error: unknown): Outcome {
  const isUnknown = write.type === 'create' && isUnknownCreation(error);
  if (error instanceof ApiError) {
    if (write.type === 'delete' && error.response.status === 404)
      return { outcome: 'applied', write, id: write.resourceId };
    if (write.type === 'remove-module' && error.response.status === 404)
      return { outcome: 'applied', write, id: write.ids.id };
    return { ...toFailed(write, error.message), ...describeRejection(write, error), isUnknown };
  }
  if (error instanceof NetworkError)
    return { ...toFailed(write, error.message), isUnknown, ...(error.isUnsent && { isUnsent: true }) };
  if (error instanceof JournalError) return toFailed(write, error.message);
  throw error;
}

type Refusal = Pick<Extract<Outcome, { readonly outcome: 'failed' }>, 'isAuthentication' | 'status' | 'field'>;

/** The facts of a rejected write for reports, except the message. */
export function describeRejection(write: Write, error: ApiError): Refusal {
  const field = 'body' in write ? findNamedField(write, error) : undefined;
  return {
    isAuthentication: error.isAuthentication,
    status: error.response.status,
    ...(field !== undefined && { field }),
  };
}

/** The field of the spec that a refusal names, as far as the kind's table knows it; nothing when it names none. */
function findNamedField(write: Write, error: ApiError): string | undefined {
  const kind = findKind(write.kind);
  if (kind === undefined) return undefined;
  const prefixes: readonly FieldPath[] = write.type === 'set-module' ? [[write.module], []] : [[]];
  for (const words of listCandidates(error)) {
    for (const prefix of prefixes) {
      const path = takeKnown(toSpecType(kind), [...prefix, ...words]);
      if (path.length > prefix.length) return formatPath(path);
    }
  }
  return undefined;
}

/** Everything in a refusal that may be a path, most reliable first: fields in `details`, its keys, then the message. */
function listCandidates({ message, response: { details, method, path } }: ApiError): readonly FieldPath[] {
  const entries = Object.entries(details).filter(([name]) => !IDENTIFIERS.test(name));
  const said = message.replace(`${method} ${path}: `, '');
  return [
    ...entries.filter(([name]) => LABELS.test(name)).map(([, value]) => value),
    ...entries.map(([name]) => name),
    ...listPathWords(said),
  ].map(readPath);
}

/** What services call the place of a failure. */
const LABELS = /^(?:field|path|param|parameter|property|pointer|attribute|location)s?$/i;

/** Keys of `details` that name a resource and not a field. */
const IDENTIFIERS = /^(?:id|operation_id|request_id)$/;

/** Words in quotes, words right after the status and code, and words that look like a path or a field name. */
function listPathWords(said: string): readonly string[] {
  const [, first = ''] = /^\d{3}[^:]*: (\S+)/.exec(said) ?? [];
  const quoted = Array.from(said.matchAll(/[`'"]([^`'"\s]{1,200})[`'"]/g), ([, word = '']) => word);
  const bare = said.match(/[A-Za-z][\w-]*(?:[._[/][\w\]-]*)+/g) ?? [];
  return [first, ...quoted, ...bare];
}

/** `hostports[0]`, `hostports.0`, `/hostports/0` and `spec.hostports[0]` are all the same place. */
function readPath(text: string): FieldPath {
  const bare = text.replace(/[.,:;]+$/, '').replace(/^(?:\$|#)?[./]?/, '');
  const path = bare.includes('/') ? bare.split('/') : (parsePath(bare) ?? []);
  const [first, ...rest] = path;
  return typeof first === 'string' && SURROUNDINGS.has(first) && rest.length > 0 ? rest : path;
}

/** What may stand before the path of a field. */
const SURROUNDINGS: ReadonlySet<string> = new Set(['body', 'spec', 'request', 'data']);

/** The steps that the types know. The members of a set were sorted before they were sent: their numbers say nothing of the manifest. */
function takeKnown(root: FieldType, path: FieldPath): FieldPath {
  const known: (string | number)[] = [];
  let type: FieldType | undefined = root;
  for (const step of path) {
    if (type?.type === 'list' && type.unordered) break;
    const own: string | number = type?.type === 'list' && /^\d+$/.test(String(step)) ? Number(step) : step;
    type = findInnerType(type, own);
    if (type === undefined) break;
    known.push(own);
  }
  return known;
}
