import type { HttpResponse } from '../model/http.ts';
import { OPERATION_ID_HEADER } from '../model/http.ts';

const FAILURE_STATUS = {
  bad_request: 400,
  bad_version: 400,
  bad_query: 400,
  bad_body: 400,
  invalid_field: 400,
  empty_update: 400,
  missing_reference: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  already_taken: 409,
  in_use: 409,
  body_too_large: 413,
  bad_content_type: 415,
  expectation_failed: 417,
  misdirected: 421,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  not_saved: 500,
  account_full: 507,
} as const;

type FailureCode = keyof typeof FAILURE_STATUS;

interface FailureOptions {
  readonly code: FailureCode;
  /** Members of `details` in the body of the error response, in addition to the operation id. */
  readonly details?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** Thrown to respond to a request with an error. The caller gets the message, so it must never contain an API key. */
export class RequestError extends Error {
  override readonly name = 'Failure';
  readonly code: FailureCode;
  readonly details: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(message: string, options: FailureOptions) {
    super(message, { cause: options.cause });
    this.code = options.code;
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return FAILURE_STATUS[this.code];
  }
}

export function createFailureResponse(failure: RequestError, operationId: string): HttpResponse {
  const body = {
    error_code: failure.code,
    status_code: failure.status,
    msg: failure.message,
    details: { ...failure.details, operation_id: operationId },
  };
  const headers = {
    ...failure.headers,
    'content-type': 'application/json',
    [OPERATION_ID_HEADER.toLowerCase()]: operationId,
  };
  return { status: failure.status, headers, body: JSON.stringify(body) };
}
