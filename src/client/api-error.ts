import { ApiError } from '../model/errors.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../model/json.ts';
import type { PlainHeaders, PlainResponse } from '../model/transport.ts';
import { toExcerpt, toOneLine } from './printable.ts';
import type { Strike } from './strike-key.ts';

/** A failed response, read whole. */
export interface FailedResponse {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly response: PlainResponse;
  readonly body: string;
}

/** Response headers that name the operation, as they end: services put a brand or `x-` before it. The best comes first. */
const OPERATION_HEADERS = ['operation-id', 'request-id', 'trace-id', 'correlation-id'] as const;

/** The error for a failed response. The text of the service is in it, without the key. */
export function toApiError(failed: FailedResponse, strike: Strike): ApiError {
  const { method, response, body } = failed;
  const path = strike(failed.path);
  const parsed = parseJson(body);
  const json = isJsonObject(parsed) ? parsed : undefined;
  const wait = readText(response.headers.get('retry-after') ?? undefined, strike);
  const details: Readonly<Record<string, string>> = {
    ...readDetails(json, strike),
    ...(wait !== undefined && { retry_after: wait }),
  };
  const facts = {
    status: response.status,
    code: readText(json?.['error_code'], strike),
    operationId: details['operation_id'] ?? findOperationHeader(response.headers, strike),
    details,
  };
  const said = readText(json?.['msg'], strike) ?? toFallback(failed, strike);
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
function toFallback({ response, body }: FailedResponse, strike: Strike): string {
  const place = response.headers.get('location');
  if (response.status < 400 && place !== null) return `the service has moved to ${strike(place)}`;
  return body.trim() === '' ? response.statusText || 'no explanation' : toExcerpt(body, strike);
}

function readText(value: Json | undefined, strike: Strike): string | undefined {
  return typeof value === 'string' && value !== '' ? strike(value) : undefined;
}

function readDetails(json: JsonObject | undefined, strike: Strike): Readonly<Record<string, string>> {
  const details = json?.['details'];
  if (!isJsonObject(details)) return {};
  const texts = Object.entries(details).map(([name, value]) => [
    strike(name),
    strike(typeof value === 'string' ? value : JSON.stringify(value)),
  ]);
  return Object.fromEntries(texts);
}

/** What the service calls a request, by its answer. */
export function findOperationId(
  { headers, body }: { readonly headers: PlainHeaders; readonly body: string },
  strike: Strike,
): string | undefined {
  const named = findOperationHeader(headers, strike);
  if (named !== undefined) return named;
  const json = parseJson(body);
  return isJsonObject(json) ? readDetails(json, strike)['operation_id'] : undefined;
}

function findOperationHeader(headers: PlainHeaders, strike: Strike): string | undefined {
  const all = [...headers];
  const values = OPERATION_HEADERS.map((ending) => all.find(([name]) => `-${name}`.endsWith(`-${ending}`))?.[1]);
  return readText(
    values.find((value) => value !== undefined && value !== ''),
    strike,
  );
}
