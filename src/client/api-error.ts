import { inspect } from 'node:util';
import { KINDS } from '../kinds/tables/registry.ts';
import { ApiError, InvariantError, NetworkError, TimeoutError } from '../model/errors.ts';
import { decodeBodyText, type HttpRequest, type HttpResponse, isSuccess, type Send } from '../model/http.ts';
import { isJsonObject, type Json, type JsonObject, omitUndefined, parseJson } from '../model/json.ts';
import { toPrintable } from '../model/printable.ts';
import { MIN_SECRET_LENGTH } from '../model/secret-matcher.ts';
import { createFoundRedactor, redactJson, type SecretRedactor } from '../model/secrets.ts';
import { StackError } from '../model/user-errors.ts';
import type { RequestTimes } from './service-clock.ts';

interface FailedResponse {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly response: Pick<HttpResponse, 'status' | 'statusText' | 'headers'>;
  readonly body: string;
}

/**
 * The name of the header with the operation id has one of these endings. The most specific is first. Many services put
 * a prefix before it: `x-` or a brand.
 */
const OPERATION_HEADERS = ['operation-id', 'request-id', 'trace-id', 'correlation-id'] as const;

/** Creates the error for a failed response. Its message quotes the service. */
export function createApiError(failed: FailedResponse): ApiError {
  const { method, path, response, body } = failed;
  const parsed = parseJson(body);
  const json = isJsonObject(parsed) ? parsed : undefined;
  const wait = readErrorText(response.headers['retry-after']);
  const details: Readonly<Record<string, string>> = {
    ...readDetails(json),
    ...omitUndefined({ retry_after: wait }),
  };
  const facts = {
    status: response.status,
    code: readErrorText(json?.['error_code']),
    operationId: details['operation_id'] ?? findOperationHeader(response.headers),
    details,
  };
  const said = readErrorText(json?.['msg']) ?? createFallbackMessage(failed);
  return new ApiError(toPrintableOneLine(`${method} ${path}: ${formatFailure(facts, said)}`), {
    ...facts,
    method,
    path,
  });
}

function formatFailure(facts: Pick<ApiError['response'], 'status' | 'code' | 'operationId' | 'details'>, said: string) {
  const { status, code, operationId, details } = facts;
  const named = { ...details, ...omitUndefined({ operation_id: operationId }) };
  const more = Object.entries(named).map(([name, value]) => `${name}: ${value}`);
  const head = [String(status), ...(code === undefined ? [] : [code])].join(' ');
  return `${head}: ${said}${more.length === 0 ? '' : ` (${more.join('; ')})`}`;
}

/** Creates the message for a failed response whose body has no `msg`. */
function createFallbackMessage({ response, body }: FailedResponse): string {
  const place = response.headers['location'];
  if (response.status < 400 && place !== undefined) return `the service redirects to ${place}`;
  if (body.trim() === '') return response.statusText || 'no explanation';
  return isPage(body) ? formatBodyExcerpt(body) : `no explanation (${Buffer.byteLength(body)} bytes)`;
}

function readErrorText(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function readDetails(json: JsonObject | undefined): Readonly<Record<string, string>> {
  const details = json?.['details'];
  if (!isJsonObject(details)) return {};
  const texts = Object.entries(details).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return Object.fromEntries(texts);
}

/** Finds the id that the service gave the request, in the headers, else in the body. `undefined`: it sent none. */
export function findOperationIdInResponse({
  headers,
  body,
}: {
  readonly headers: Headers;
  readonly body: string;
}): string | undefined {
  const named = findOperationHeader(headers);
  if (named !== undefined) return named;
  const json = parseJson(body);
  return isJsonObject(json) ? readDetails(json)['operation_id'] : undefined;
}

type Headers = HttpResponse['headers'];

function findOperationHeader(headers: Headers): string | undefined {
  const all = Object.entries(headers).toSorted(([left], [right]) => (left < right ? -1 : 1));
  const values = OPERATION_HEADERS.map((ending) => all.find(([name]) => `-${name}`.endsWith(`-${ending}`))?.[1]);
  return readErrorText(values.find((value) => value !== undefined && value !== ''));
}

/** Enough for the title and the first sentence of an error page. */
const EXCERPT_LENGTH = 200;
/** Far longer than an excerpt, also after white space is collapsed. */
const CONSIDERED_LENGTH = 65_536;

/** Collapses white space, so that text from the service is one line, and escapes control and invisible characters. */
export function toPrintableOneLine(text: string): string {
  return toPrintable(text.replace(/\s+/g, ' ').trim());
}

/** Formats the beginning of a body for a message, on one line. */
export function formatBodyExcerpt(body: string): string {
  const text = toPrintableOneLine(body.slice(0, CONSIDERED_LENGTH));
  return text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text;
}

/** Redacts secrets in a text. */
export type Redactor = (text: string) => string;

/** Returns the error itself, or a redacted copy if the error or one of its causes contains a secret. */
export function redactError(error: unknown, redact: Redactor): unknown {
  if (!(error instanceof Error)) return error;
  const shown = inspect(error, { depth: 8 });
  if (redact(shown) === shown) return error;
  if (error instanceof StackError)
    return new StackError(redact(error.message), {
      reason: error.reason,
      remedy: error.remedy && redact(error.remedy),
      cause: redactError(error.cause, redact),
    });
  const Type = [TimeoutError, NetworkError, InvariantError].find((type) => error instanceof type) ?? Error;
  const { isUnsent = false, isFinal = false } = error instanceof NetworkError ? error : {};
  return new Type(redact(error.message), { cause: redactError(error.cause, redact), isUnsent, isFinal });
}

export function formatPathAndQuery(url: URL): string {
  return url.pathname + url.search;
}

export interface ReceivedResponse {
  readonly response: Pick<HttpResponse, 'status' | 'statusText' | 'headers'>;
  /** For messages. Without secrets, unless `json` is what it has. */
  readonly body: string;
  /** The parsed body of a successful response. `undefined` for a failed response, an empty body, or a DELETE. */
  readonly json: Json | undefined;
  readonly times: RequestTimes;
}

/**
 * Sends a request once. `count`: the number of this attempt, from 1. Rejects with `NetworkError` or `TimeoutError` if
 * there is no usable response (see `createSendOnce`).
 */
export type SendOnce = (request: HttpRequest, count: number) => Promise<ReceivedResponse>;

interface AttemptOptions {
  /** Redacts what messages may quote. */
  readonly redact: Redactor;
  readonly secrets: SecretRedactor;
  /** Returns milliseconds since 1970, by the local clock. */
  readonly localMs: () => number;
}

/**
 * Creates an attempt. What the service and the transport say is redacted here, when it is read: services and proxies may
 * echo the API key. So no other code of the client redacts. A response is usable if it is complete. A successful response must also have a body of JSON, or
 * none. The body of a response to DELETE is ignored.
 */
export function createSendOnce(send: Send, { redact: redactSecrets, secrets, localMs }: AttemptOptions): SendOnce {
  const newTokens = createNewTokenRedactor();
  const redact: Redactor = (text) => newTokens.redact(redactSecrets(text));
  return async (request) => {
    const sentMs = localMs();
    const { response: head, body: text } = await receive(send, request, redact);
    const times = { sentMs, receivedMs: localMs() };
    const isNothing = !isSuccess(head) || request.method === 'DELETE' || text.trim() === '';
    const parsed = parseJson(text);
    const tokens = isNothing || request.method !== 'POST' ? {} : newTokens.note(parsed);
    const redactSaid: Redactor = isSuccess(head) ? redact : (said) => secrets.redactConcealed(redact(said));
    const response = redactHead(head, redactSaid);
    // No message quotes the body of a success.
    const body = isNothing || parsed === undefined ? redactBody(text, parsed, redactSaid) : text;
    const json = isNothing ? undefined : parseJsonBody({ request, response, body }, parsed);
    const redactFound = createFoundRedactor(secrets);
    const shown = json && redactJson(json, (one) => newTokens.redact(redactFound(one)));
    return { response, body, times, json: isJsonObject(shown) ? { ...shown, ...tokens } : shown };
  };
}

/** As many new tokens as creations can be under way. */
const MAX_NEW_TOKENS = 64;

const ONE_TIME_FIELDS: readonly string[] = [...new Set(KINDS.flatMap(({ oneTimeFields }) => oneTimeFields))];

interface NewTokenRedactor {
  /** Registers the tokens in the response to a creation, and returns them: only there they stay. */
  readonly note: (response: Json | undefined) => JsonObject;
  readonly redact: Redactor;
}

/** Finds the newest tokens of credentials wherever else the service says them, such as in a message of an error. */
function createNewTokenRedactor(): NewTokenRedactor {
  const tokens: string[] = [];
  return {
    note: (response) => {
      const newTokens = ONE_TIME_FIELDS.flatMap((name): readonly [string, string][] => {
        const value = isJsonObject(response) ? response[name] : undefined;
        return typeof value === 'string' && value.length >= MIN_SECRET_LENGTH ? [[name, value]] : [];
      });
      tokens.push(...newTokens.map(([, token]) => token));
      tokens.splice(0, tokens.length - MAX_NEW_TOKENS);
      return Object.fromEntries(newTokens);
    },
    redact: (text) => tokens.reduce((redacted, token) => redacted.replaceAll(token, '[token]'), text),
  };
}

function redactHead({ status, statusText, headers }: ReceivedResponse['response'], redact: Redactor) {
  const shown = Object.entries(headers).map(([name, value]) => [redact(name), redact(value)] as const);
  return { status, statusText: redact(statusText ?? ''), headers: Object.fromEntries(shown) };
}

async function receive(
  send: Send,
  request: HttpRequest,
  redact: Redactor,
): Promise<Pick<ReceivedResponse, 'response' | 'body'>> {
  try {
    const { body, ...response } = await send(request);
    return { response, body: decodeBodyText(body) };
  } catch (error) {
    throw redactError(createFailure(error, request, redact), redact);
  }
}

function createFailure(error: unknown, request: HttpRequest, redact: Redactor): unknown {
  const failure = toThrownNetworkError(error, request);
  if (!(failure instanceof NetworkError) || request.method !== 'GET') return failure;
  if (failure.head === undefined || !isPage(failure.head)) return failure;
  const head = formatBodyExcerpt(redact(failure.head));
  return new NetworkError(`${failure.message}: ${head}`, { cause: error, head });
}

/** Redacts the texts in JSON as they are read, however they are escaped there. */
function redactBody(body: string, json: Json | undefined, redact: Redactor): string {
  if (json === undefined) return redact(body);
  const redacted = redactJson(json, redact);
  return redacted === json ? body : JSON.stringify(redacted);
}

interface Received {
  readonly request: HttpRequest;
  readonly response: Pick<HttpResponse, 'status' | 'statusText' | 'headers'>;
  readonly body: string;
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** Returns `json`. Throws if it is not what a successful response has. */
function parseJsonBody(received: Received, json: Json | undefined): Json {
  const type = received.response.headers['content-type'] ?? '';
  if (type !== '' && !JSON_TYPE.test(type)) throw createBodyError(received, `is ${formatBodyExcerpt(type)}, not JSON`);
  if (json === undefined) throw createBodyError(received, 'is not JSON');
  return json;
}

/**
 * Creates the error for an unusable body. Quotes only the text of a proxy: what the service sends may have a token, or
 * values that no output shows.
 */
function createBodyError({ request: { method, url }, body }: Received, what: string): NetworkError {
  const shown =
    method === 'GET' && isPage(body) ? `: ${formatBodyExcerpt(body)}` : ` (${Buffer.byteLength(body)} bytes)`;
  return new NetworkError(`${method} ${formatPathAndQuery(new URL(url))}: the response ${what}${shown}`);
}

/** Whether a body is no JSON, nor a part of it: the service does not send such a text. */
function isPage(body: string): boolean {
  return !/^\s*[[{"]/.test(body);
}

/** Describes errors with a certain `code` or `name`. */
interface KnownError {
  readonly sentence: string;
  readonly isTimeout?: true;
  /** The connection was not established, so the request was not sent. */
  readonly isUnsent?: true;
  /** Another attempt would fail too. */
  readonly isFinal?: true;
}

/** TLS fails before the request is sent. */
const FAILED_TLS = { isUnsent: true, isFinal: true } as const;

const UNKNOWN_AUTHORITY: KnownError = {
  sentence:
    'no trusted authority signed the certificate of the service: name a file with its authority, with --ca-file or EDGEWISE_CA_FILE',
  ...FAILED_TLS,
};

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
  TimeoutError: { sentence: 'no complete response in time', isTimeout: true },
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  ERR_SSL_WRONG_VERSION_NUMBER: {
    sentence: 'the service does not speak TLS at this port: check whether the base URL should begin with http://',
    ...FAILED_TLS,
  },
  CERT_HAS_EXPIRED: { sentence: 'the certificate of the service has expired', ...FAILED_TLS },
  CERT_NOT_YET_VALID: { sentence: 'the certificate of the service is not valid yet', ...FAILED_TLS },
  CERT_REVOKED: { sentence: 'the certificate of the service was revoked', ...FAILED_TLS },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    sentence: 'the certificate of the service is for another host',
    ...FAILED_TLS,
  },
};

/** Interim answers that undici does not accept, by its messages. It skips all others of 1xx. */
const KNOWN_ANSWERS: Readonly<Record<string, KnownError>> = {
  'bad response': { sentence: 'the service sent 100 Continue before its response, although no request asks for it' },
  'bad upgrade': { sentence: 'the service sent 101 Switching Protocols, although no request asks for it' },
};

/**
 * Returns the error to throw if a request got no response: a `NetworkError` or `TimeoutError` that names the method and
 * the URL. If the request was aborted, returns the reason of the abort. Returns a `NetworkError` or `InvariantError`
 * unchanged.
 */
export function toThrownNetworkError(error: unknown, request: Pick<HttpRequest, 'method' | 'url' | 'signal'>): unknown {
  if (request.signal?.aborted) return request.signal.reason;
  if (error instanceof NetworkError || error instanceof InvariantError) return error;
  const chain = listErrorCauses(error);
  const knownError = chain
    .map(({ code, name, message }) => KNOWN_ANSWERS[message] ?? KNOWN_ERRORS[code] ?? KNOWN_ERRORS[name])
    .find((answer) => answer !== undefined);
  // After a semicolon, Node advises on its own options, which a program that is installed does not take.
  const detail = chain
    .find(({ message }) => message !== '' && message !== 'fetch failed')
    ?.message.replace(/; if the root CA .*$/, '');
  const said = [knownError?.sentence ?? 'the request failed', ...(detail === undefined ? [] : [`(${detail})`])].join(
    ' ',
  );
  const Type = knownError?.isTimeout ? TimeoutError : NetworkError;
  const { isUnsent = false, isFinal = false } = knownError ?? {};
  return new Type(`${request.method} ${request.url}: ${said}`, { cause: error, isUnsent, isFinal });
}

interface CauseFacts {
  readonly code: string;
  readonly name: string;
  readonly message: string;
}

/**
 * Lists an error and its causes, outermost first. Includes the members of an `AggregateError`, which Node throws if it
 * cannot connect to any address of a host.
 */
function listErrorCauses(error: unknown): readonly CauseFacts[] {
  if (!(error instanceof Error)) return [];
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const parts = error instanceof AggregateError ? error.errors : [];
  return [{ code, name: error.name, message: error.message }, ...[error.cause, ...parts].flatMap(listErrorCauses)];
}
