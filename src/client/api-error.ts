import { inspect } from 'node:util';
import { ApiError, InvariantError, NetworkError, TimeoutError } from '../model/errors.ts';
import { type HttpRequest, type HttpResponse, isSuccess, readBodyText, type Send } from '../model/http.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../model/json.ts';
import { toPrintable } from '../model/printable.ts';
import { redactJson, type Secrets } from '../model/secrets.ts';

/** A failed response, read whole. */
interface FailedResponse {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly response: Pick<HttpResponse, 'status' | 'statusText' | 'headers'>;
  readonly body: string;
}

/** Response headers that name the operation, as they end: services put a brand or `x-` before it. The best comes first. */
const OPERATION_HEADERS = ['operation-id', 'request-id', 'trace-id', 'correlation-id'] as const;

/** The error for a failed response. The text of the service is in it, without the key. */
export function createApiError(failed: FailedResponse, redact: Redactor): ApiError {
  const { method, response, body } = failed;
  const path = redact(failed.path);
  const parsed = parseJson(body);
  const json = isJsonObject(parsed) ? parsed : undefined;
  const wait = readText(response.headers['retry-after'], redact);
  const details: Readonly<Record<string, string>> = {
    ...readDetails(json, redact),
    ...(wait !== undefined && { retry_after: wait }),
  };
  const facts = {
    status: response.status,
    code: readText(json?.['error_code'], redact),
    operationId: details['operation_id'] ?? findOperationHeader(response.headers, redact),
    details,
  };
  const said = readText(json?.['msg'], redact) ?? toFallback(failed, redact);
  return new ApiError(toOneLine(`${method} ${path}: ${toSentence(facts, said)}`), { ...facts, method, path });
}

function toSentence(facts: Pick<ApiError['response'], 'status' | 'code' | 'operationId' | 'details'>, said: string) {
  const { status, code, operationId, details } = facts;
  const known = { ...details, ...(operationId !== undefined && { operation_id: operationId }) };
  const more = Object.entries(known).map(([name, value]) => `${name}: ${value}`);
  const head = [String(status), ...(code === undefined ? [] : [code])].join(' ');
  return `${head}: ${said}${more.length === 0 ? '' : ` (${more.join('; ')})`}`;
}

/** The message for a failure without an explanation by the service. */
function toFallback({ response, body }: FailedResponse, redact: Redactor): string {
  const place = response.headers['location'];
  if (response.status < 400 && place !== undefined) return `the service has moved to ${redact(place)}`;
  return body.trim() === '' ? response.statusText || 'no explanation' : formatBodyExcerpt(body, redact);
}

function readText(value: Json | undefined, redact: Redactor): string | undefined {
  return typeof value === 'string' && value !== '' ? redact(value) : undefined;
}

function readDetails(json: JsonObject | undefined, redact: Redactor): Readonly<Record<string, string>> {
  const details = json?.['details'];
  if (!isJsonObject(details)) return {};
  const texts = Object.entries(details).map(([name, value]) => [
    redact(name),
    redact(typeof value === 'string' ? value : JSON.stringify(value)),
  ]);
  return Object.fromEntries(texts);
}

/** What the service calls a request, by its answer. */
export function findOperationId(
  { headers, body }: { readonly headers: Headers; readonly body: string },
  redact: Redactor,
): string | undefined {
  const named = findOperationHeader(headers, redact);
  if (named !== undefined) return named;
  const json = parseJson(body);
  return isJsonObject(json) ? readDetails(json, redact)['operation_id'] : undefined;
}

type Headers = HttpResponse['headers'];

function findOperationHeader(headers: Headers, redact: Redactor): string | undefined {
  const all = Object.entries(headers).toSorted(([left], [right]) => (left < right ? -1 : 1));
  const values = OPERATION_HEADERS.map((ending) => all.find(([name]) => `-${name}`.endsWith(`-${ending}`))?.[1]);
  return readText(
    values.find((value) => value !== undefined && value !== ''),
    redact,
  );
}

const EXCERPT_LENGTH = 200;
/** Well above the shown length: the key is redacted before the text is cut, so that no half of it remains. */
const CONSIDERED_LENGTH = 65_536;

/** Text of the service on one line, with what a terminal would obey or hide written out. */
export function toOneLine(text: string): string {
  return toPrintable(text.replace(/\s+/g, ' ').trim());
}

/** The first characters of a body that is not what it should be, fit to be shown. */
export function formatBodyExcerpt(body: string, redact: Redactor): string {
  const text = toOneLine(redact(body.slice(0, CONSIDERED_LENGTH)));
  return text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text;
}

/** Takes the API key out of a text. Services and proxies echo it. */
export type Redactor = (text: string) => string;

/** The error itself, or a redacted copy when it or one of its causes contains the key. An `ApiError` is made of redacted texts. */
export function redactError(error: unknown, redact: Redactor): unknown {
  if (!(error instanceof Error) || error instanceof ApiError) return error;
  const shown = inspect(error, { depth: 8 });
  if (redact(shown) === shown) return error;
  const Type = [TimeoutError, NetworkError, InvariantError].find((type) => error instanceof type) ?? Error;
  const isUnsent = error instanceof NetworkError && error.isUnsent;
  return new Type(redact(error.message), { cause: redactError(error.cause, redact), isUnsent });
}

/** Path and query, as errors show where a request went. */
export function formatUrlPath(url: URL): string {
  return url.pathname + url.search;
}

/** A response that was read to its end. */
export interface ReceivedResponse {
  readonly response: Pick<HttpResponse, 'status' | 'statusText' | 'headers'>;
  readonly body: string;
  /** Of a response of success; `undefined` for an empty body and for a DELETE. */
  readonly json: Json | undefined;
}

/** Sends a request once; `attempt` counts from 1. Rejects with `NetworkError` or `TimeoutError` when there was no usable response. */
export type Attempt = (request: HttpRequest, count: number) => Promise<ReceivedResponse>;

/** Redaction of responses and errors. */
interface AttemptOptions {
  /** For texts of errors. */
  readonly redact: Redactor;
  readonly secrets: Secrets;
}

/** One attempt to send it. Its response counts only if it is complete and, on success, JSON. */
export function createAttempt(send: Send, { redact, secrets }: AttemptOptions): Attempt {
  return async (request) => {
    const { response, body } = await receive(send, request, redact);
    const isNothing = !isSuccess(response) || request.method === 'DELETE' || body.trim() === '';
    return { response, body, json: isNothing ? undefined : toJson({ request, response, body }, { redact, secrets }) };
  };
}

async function receive(
  send: Send,
  request: HttpRequest,
  redact: Redactor,
): Promise<Pick<ReceivedResponse, 'response' | 'body'>> {
  try {
    const response = await send(request);
    return { response, body: readBodyText(response.body) };
  } catch (error) {
    const failure = classifyNetworkError(error, request);
    if (!(failure instanceof NetworkError) || failure.head === undefined || request.method !== 'GET') throw failure;
    const head = formatBodyExcerpt(failure.head, redact);
    throw new NetworkError(`${failure.message}: ${head}`, { cause: error, head });
  }
}

interface Received {
  readonly request: HttpRequest;
  readonly response: Pick<HttpResponse, 'status' | 'statusText' | 'headers'>;
  readonly body: string;
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

function toJson(received: Received, { redact, secrets }: AttemptOptions): Json {
  const type = received.response.headers['content-type'] ?? '';
  if (type !== '' && !JSON_TYPE.test(type))
    throw toBodyError(received, `is ${formatBodyExcerpt(type, redact)}, not JSON`, redact);
  const json = parseJson(received.body);
  if (json !== undefined) return redactJson(json, secrets);
  throw toBodyError(received, 'is not JSON', redact);
}

/** The body of an answer to a write is never shown: it may hold a token. */
function toBodyError({ request: { method, url }, body }: Received, what: string, redact: Redactor): NetworkError {
  const shown = method === 'GET' ? `: ${formatBodyExcerpt(body, redact)}` : ` (${Buffer.byteLength(body)} bytes)`;
  return new NetworkError(`${method} ${formatUrlPath(new URL(url))}: the response ${what}${shown}`);
}

/** The facts about an error that follow from its code. */
interface KnownError {
  readonly sentence: string;
  readonly isTimeout?: true;
  /** There was no connection, so the request was not sent. */
  readonly isUnsent?: true;
}

const KNOWN_ERRORS: Readonly<Record<string, KnownError>> = {
  ECONNREFUSED: { sentence: 'the connection was refused', isUnsent: true },
  ECONNRESET: { sentence: 'the connection was lost' },
  EPIPE: { sentence: 'the connection was lost' },
  UND_ERR_SOCKET: { sentence: 'the connection was lost' },
  ENOTFOUND: { sentence: 'the host name does not exist', isUnsent: true },
  EAI_AGAIN: { sentence: 'the host name could not be resolved', isUnsent: true },
  ETIMEDOUT: { sentence: 'could not connect in time', isTimeout: true },
  UND_ERR_CONNECT_TIMEOUT: { sentence: 'could not connect in time', isTimeout: true, isUnsent: true },
  UND_ERR_HEADERS_TIMEOUT: { sentence: 'no response in time', isTimeout: true },
  UND_ERR_BODY_TIMEOUT: { sentence: 'the response stopped before its end', isTimeout: true },
  TimeoutError: { sentence: 'no response in time', isTimeout: true },
};

/**
 * What to throw when a request brought no response: a `NetworkError` or `TimeoutError` that says where it went.
 * Errors that are already of these classes, bugs, and the reason of an aborted request are returned unchanged.
 */
export function classifyNetworkError(error: unknown, request: Pick<HttpRequest, 'method' | 'url' | 'signal'>): unknown {
  if (request.signal?.aborted) return request.signal.reason;
  if (error instanceof NetworkError || error instanceof InvariantError) return error;
  const chain = listCauses(error);
  const known = chain
    .map(({ code, name }) => KNOWN_ERRORS[code] ?? KNOWN_ERRORS[name])
    .find((found) => found !== undefined);
  const detail = chain.find(({ message }) => message !== '' && message !== 'fetch failed')?.message;
  const said = [known?.sentence ?? 'the request failed', ...(detail === undefined ? [] : [`(${detail})`])].join(' ');
  const Type = known?.isTimeout ? TimeoutError : NetworkError;
  return new Type(`${request.method} ${request.url}: ${said}`, { cause: error, isUnsent: known?.isUnsent ?? false });
}

interface CauseFacts {
  readonly code: string;
  readonly name: string;
  readonly message: string;
}

/** The error and its causes, outermost first. Several failed addresses of one host are causes too. */
function listCauses(error: unknown): readonly CauseFacts[] {
  if (!(error instanceof Error)) return [];
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const parts = error instanceof AggregateError ? error.errors : [];
  return [{ code, name: error.name, message: error.message }, ...[error.cause, ...parts].flatMap(listCauses)];
}
