/** The details of an `ApiError`. Source: the error body in the API description. */
export interface ApiErrorDetails {
  /** HTTP status code. */
  readonly status: number;
  /** The error code in the response body. `undefined` if there is none. */
  readonly code: string | undefined;
  readonly method: string;
  /** Path and query of the request, without the origin. */
  readonly path: string;
  readonly operationId: string | undefined;
  readonly details: Readonly<Record<string, string>>;
}

/**
 * The service responded with an error status.
 *
 * @example
 * const isGone = error instanceof ApiError && error.response.status === 404;
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly response: ApiErrorDetails;

  constructor(message: string, response: ApiErrorDetails) {
    super(message);
    this.response = response;
  }

  /** Whether the service rejected the API key: the status is 401 or 403, and no limit of the account is the reason. */
  get isAuthentication(): boolean {
    return (this.response.status === 401 || this.response.status === 403) && !this.isQuota;
  }

  /** Whether the account has as many resources as it may have. */
  get isQuota(): boolean {
    return isQuotaFailure(this.response);
  }
}

/**
 * Whether a response says that the account has as many resources as it may have: a 402, a 507, or a 403 or 429 whose code
 * names a limit or a quota. A limit on requests is none.
 */
export function isQuotaFailure({ status, code = '' }: Pick<ApiErrorDetails, 'status' | 'code'>): boolean {
  if (status === 402 || status === 507) return true;
  if (status !== 403 && status !== 429) return false;
  const words = code
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  return words.some((word) => QUOTA_WORDS.has(word)) && !words.some((word) => RATE_WORDS.has(word));
}

const QUOTA_WORDS: ReadonlySet<string> = new Set(['limit', 'limits', 'quota', 'quotas', 'maximum', 'capacity']);
const RATE_WORDS: ReadonlySet<string> = new Set([
  'rate',
  'request',
  'requests',
  'throttle',
  'throttled',
  'concurrency',
]);

/**
 * There is no usable response: the connection was refused or reset, or the response is truncated or invalid.
 *
 * @example
 * const isUnsent = error instanceof NetworkError && error.isUnsent;
 */
export class NetworkError extends Error {
  override readonly name: string = 'NetworkError';
  /** True: the request cannot have reached the service. False: the request may have taken effect. */
  readonly isUnsent: boolean;
  /** The start of a response body that was too large; otherwise `undefined`. Never shown to the user unchanged. */
  readonly head: string | undefined;
  /** True: another attempt would fail too, such as for a certificate that is not trusted. */
  readonly isFinal: boolean;

  constructor(
    message: string,
    options: ErrorOptions & {
      readonly isUnsent?: boolean;
      readonly head?: string | undefined;
      readonly isFinal?: boolean;
    } = {},
  ) {
    super(message, options);
    this.isUnsent = options.isUnsent ?? false;
    this.head = options.head;
    this.isFinal = options.isFinal ?? options.head !== undefined;
  }
}

/**
 * The service did not answer in time.
 *
 * @example
 * const isTooSlow = error instanceof TimeoutError;
 */
export class TimeoutError extends NetworkError {
  override readonly name = 'TimeoutError';
}

/**
 * A bug in edgewise: a condition does not hold although the code should ensure it.
 *
 * @example
 * const isBug = error instanceof InvariantError;
 */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For the default case of a `switch` on a union: if a case is missing, the code does not compile. */
export function assertNever(value: never): never {
  throw new InvariantError(`Unexpected value: ${JSON.stringify(value)}`);
}

/** Throws an `InvariantError` that names `what` if there is no value. For look-ups that fail only because of a bug. */
export function assertDefined<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new InvariantError(`Missing: ${what}`);
  return value;
}
