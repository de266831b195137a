import { OWNED_KINDS } from '../kinds/tables/registry.ts';
import { assertNever, NetworkError, TimeoutError } from '../model/errors.ts';
import { decodeBodyText, type HttpRequest, type HttpResponse, isSuccess, type Send } from '../model/http.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../model/json.ts';
import { STORED_FORMS } from '../model/server-faults.ts';
import { parseNumberRangeOrEmpty } from '../schemas/seed.ts';
import type { ChosenFault, LatencyRule, NonLatencyRule } from './choose-faults.ts';
import { changeResponseFields, findRequestedOperation, isOmittableEmptyField } from './response-fields.ts';
import { fillServiceChoices, type StoredForms, toStoredForm } from './stored-forms.ts';

export interface FaultContext {
  readonly request: HttpRequest;
  /** Sends the request to the server as if there were no fault. */
  readonly forward: Send;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Returns the `send` of a copy of the server, which changes nothing in the server itself. */
  readonly copy: () => Send;
  /** Remembers the current state. Returns a function that lets checks for conflicts see it for `ms` milliseconds. */
  readonly retain: () => (ms: number) => void;
  /** Returns the `send` of the server in an earlier state: before the last `changes` changes or `requests` requests. */
  readonly before: (ago: { readonly changes?: number | undefined; readonly requests?: number | undefined }) => Send;
}

/**
 * Returns the response that an error of a fault cuts off in the middle of its body: without a socket, the request rejects
 * with the error; over a socket, `listen` sends the first half of the body.
 */
export function findCutResponse({ cause }: NetworkError): HttpResponse | undefined {
  return isResponse(cause) ? cause : undefined;
}

function isResponse(cause: unknown): cause is HttpResponse {
  return typeof cause === 'object' && cause !== null && 'status' in cause && 'headers' in cause && 'body' in cause;
}

export async function applyLatencyFault(
  { rule, random }: ChosenFault<LatencyRule>,
  { request, sleep }: FaultContext,
): Promise<void> {
  await sleep(pickMs(rule.ms, random, 'latency'), request.signal);
}

/** Returns the response to a request with a fault. If the fault prevents a response, rejects as a transport does. */
export async function answerWithFault(chosen: ChosenFault<NonLatencyRule>, scene: FaultContext): Promise<HttpResponse> {
  const { rule } = chosen;
  if ('when' in rule && rule.when === 'after') await scene.forward(scene.request);
  switch (rule.fault) {
    case 'throttle':
      return rejectWithFault(
        429,
        'rate_limited',
        rule.retry_after === undefined ? {} : { 'retry-after': `${rule.retry_after}` },
      );
    case 'status':
      return rejectWithFault(rule.code ?? 500, 'fault', {});
    case 'reset':
      throw new NetworkError(`${nameOf(scene)}: the connection was lost`);
    case 'hang':
      return hang(rule.ms ?? PATIENCE_MS, scene);
    case 'content_type':
      return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: PAGE };
    case 'cut':
      throw new NetworkError(`${nameOf(scene)}: the connection was lost`, {
        cause: await scene.forward(scene.request),
      });
    case 'broken_json':
      return breakJson(await scene.forward(scene.request));
    case 'missing':
      return changePage(scene, (page) => dropSome(page, rule.resources ?? 1, chosen.random));
    case 'no_next':
      return changePage(scene, (page) => ({ ...page, next_page_uri: null }));
    case 'left_out':
      return leaveFieldsOut(chosen.random, rule, scene);
    case 'normalise':
      return normaliseValues(new Set(rule.forms ?? STORED_FORMS), scene);
    case 'other_values':
      return storeOtherValues(rule.values, scene);
    case 'cut_metadata':
      return cutMetadata(rule.bytes ?? 0, scene);
    case 'cached':
      return answerFromCache(chosen.random, scene);
    case 'no_effect':
      return isChange(scene.request) ? scene.copy()(scene.request) : scene.forward(scene.request);
    case 'gone_cursor':
      return rejectGoneCursor(rule.code ?? 404, scene);
    case 'wrong_date':
      return shiftDate(await scene.forward(scene.request), rule.seconds);
    case 'late_release':
      return releaseLate(chosen.random, rule, scene);
    case 'stale':
      return scene.before(rule)(scene.request);
    default:
      return assertNever(rule);
  }
}

type LeftOutRule = Extract<NonLatencyRule, { readonly fault: 'left_out' }>;

/** Longer than any client waits for a response. Edgewise waits 30 seconds for the headers. */
const PATIENCE_MS = 120_000;

const PAGE = '<!doctype html>\n<title>Sign in</title>\n<h1>Sign in to continue</h1>\n';

function nameOf({ request }: FaultContext): string {
  return `${request.method} ${request.url}`;
}

function rejectWithFault(status: number, code: string, headers: Readonly<Record<string, string>>): HttpResponse {
  const body = {
    error_code: code,
    status_code: status,
    msg: 'This failure comes from the faults file of the server',
    details: {},
  };
  return { status, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

async function hang(ms: number, scene: FaultContext): Promise<never> {
  await scene.sleep(ms, scene.request.signal);
  throw new TimeoutError(`${nameOf(scene)}: no response in time`);
}

function breakJson(response: HttpResponse): HttpResponse {
  return { ...response, body: response.body.slice(0, response.body.length >> 1) };
}

/** Forwards a request, and changes the response if it is a page of a list. Other responses are returned unchanged. */
async function changePage(
  { request, forward }: FaultContext,
  change: (page: JsonObject) => JsonObject,
): Promise<HttpResponse> {
  const response = await forward(request);
  const page = readJson(response);
  const isPage = isJsonObject(page) && 'next_page_uri' in page;
  return isPage ? { ...response, body: JSON.stringify(change(page)) } : response;
}

const LIST_KEYS = OWNED_KINDS.flatMap(({ listKey }) => listKey ?? []);

function dropSome(page: JsonObject, count: number, random: ChosenFault['random']): JsonObject {
  const dropped = LIST_KEYS.flatMap((key): [string, Json][] => {
    const list = page[key];
    if (list === undefined || !isJsonArray(list)) return [];
    const ranks = list.map((_, index) => random(`missing ${index}`));
    const lost = new Set([...ranks].sort((left, right) => left - right).slice(0, count));
    return [[key, list.filter((_, index) => !lost.has(ranks[index] ?? 1))]];
  });
  return { ...page, ...Object.fromEntries(dropped) };
}

/**
 * Forwards a request, and omits fields from the response. Failures and responses without a body are returned unchanged.
 */
async function leaveFieldsOut(
  random: ChosenFault['random'],
  { fields, share = 1 }: LeftOutRule,
  { request, forward }: FaultContext,
): Promise<HttpResponse> {
  return changeFieldsOfResponse(await forward(request), request, (shown) => {
    const isMeant = fields === undefined ? isOmittableEmptyField(shown) : fields.includes(shown.name);
    return isMeant && random(`left out ${shown.place}`) < share ? undefined : shown.value;
  });
}

/**
 * Forwards a request, and changes the values in the response to the forms in which a service stores them. Fills in the
 * numbers that a module in the request leaves to the service.
 */
async function normaliseValues(forms: StoredForms, { request, forward }: FaultContext): Promise<HttpResponse> {
  const body = parseJson(decodeBodyText(request.body ?? ''));
  const isFilled = forms.has('defaults') && isJsonObject(body);
  const sent = isFilled ? { ...request, body: JSON.stringify(fillServiceChoices(body, request)) } : request;
  return changeFieldsOfResponse(await forward(sent), request, ({ field, value }) => {
    const stored = field === undefined ? value : toStoredForm(field, value, forms);
    return forms.has('left_out') && isOmittableEmptyField({ field, value: stored }) ? undefined : stored;
  });
}

/** Forwards a request with other values in its body. A request without a JSON object is forwarded as it is. */
async function storeOtherValues(values: JsonObject, { request, forward }: FaultContext): Promise<HttpResponse> {
  const body = parseJson(decodeBodyText(request.body ?? ''));
  return forward(isJsonObject(body) ? { ...request, body: JSON.stringify({ ...body, ...values }) } : request);
}

/** Forwards a request with the beginning of its metadata. A request without metadata is forwarded as it is. */
async function cutMetadata(bytes: number, scene: FaultContext): Promise<HttpResponse> {
  const body = parseJson(decodeBodyText(scene.request.body ?? ''));
  const metadata = isJsonObject(body) ? body['metadata'] : undefined;
  if (typeof metadata !== 'string') return scene.forward(scene.request);
  return storeOtherValues({ metadata: Buffer.from(metadata).subarray(0, bytes).toString() }, scene);
}

/** Responds to a creation with a resource that exists. A request that creates nothing, or a first resource, is forwarded. */
async function answerFromCache(random: ChosenFault['random'], scene: FaultContext): Promise<HttpResponse> {
  const { request, forward, copy } = scene;
  const operation = findRequestedOperation(request);
  if (operation?.action !== 'create') return forward(request);
  const listed = await copy()({ ...request, method: 'GET', body: null });
  const page = readJson(listed);
  const list = isJsonObject(page) ? page[operation.kind.listKey ?? ''] : undefined;
  const all = list !== undefined && isJsonArray(list) ? list : [];
  const cached = all[Math.floor(random('cached') * all.length)];
  return cached === undefined ? forward(request) : { ...listed, status: 201, body: JSON.stringify(cached) };
}

/** Whether a request changes or deletes something. A creation is not one. */
function isChange({ method }: HttpRequest): boolean {
  return method !== 'GET' && method !== 'POST';
}

/** Changes the fields in a response. Failures and responses without JSON are returned unchanged. */
function changeFieldsOfResponse(
  response: HttpResponse,
  request: HttpRequest,
  change: Parameters<typeof changeResponseFields>[2],
): HttpResponse {
  const json = readJson(response);
  return json === undefined
    ? response
    : { ...response, body: JSON.stringify(changeResponseFields(json, request, change)) };
}

/**
 * Rejects a request for a page if its cursor is the id of a resource that no longer exists. Otherwise forwards the
 * request.
 */
async function rejectGoneCursor(code: number, { request, forward }: FaultContext): Promise<HttpResponse> {
  const { origin, pathname, searchParams } = new URL(request.url);
  const cursor = searchParams.get('before_id');
  if (cursor === null) return forward(request);
  const found = await forward({ ...request, url: `${origin}${pathname}/${cursor}` });
  return found.status === 404 ? rejectWithFault(code, 'gone_cursor', {}) : forward(request);
}

/** Changes the `Date` of a response. A time that no date can have becomes the last that one can. */
function shiftDate(response: HttpResponse, seconds: number): HttpResponse {
  const shownMs = Date.parse(response.headers['date'] ?? '') + seconds * 1000;
  const date = new Date(Math.min(Math.max(shownMs, 0), LAST_DATE_MS)).toUTCString();
  return { ...response, headers: { ...response.headers, date } };
}

/** The end of the year 9999, the last that `Date` can show. */
const LAST_DATE_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

type LateReleaseRule = Extract<NonLatencyRule, { readonly fault: 'late_release' }>;

/** Forwards a write. If it succeeds, checks for conflicts still see the state before it for a while. */
async function releaseLate(
  random: ChosenFault['random'],
  { ms }: LateReleaseRule,
  { request, forward, retain }: FaultContext,
): Promise<HttpResponse> {
  const retainFor = retain();
  const response = await forward(request);
  if (isSuccess(response) && request.method !== 'GET') retainFor(pickMs(ms, random, 'late release'));
  return response;
}

function pickMs(ms: LateReleaseRule['ms'], random: ChosenFault['random'], purpose: string): number {
  const { from, to } = parseNumberRangeOrEmpty(ms);
  return Math.round(from + (to - from) * random(purpose));
}

/** Parses the body of a successful response. `undefined` for a failure, and for a body that is not JSON. */
function readJson(response: HttpResponse): Json | undefined {
  return isSuccess(response) ? parseJson(decodeBodyText(response.body)) : undefined;
}
