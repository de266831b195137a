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

/** The service responded with an error status. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly response: ApiErrorDetails;

  constructor(message: string, response: ApiErrorDetails) {
    super(message);
    this.response = response;
  }

  /** Whether the API key was not accepted. Services respond to a bad key with 401 or 403. */
  get isAuthentication(): boolean {
    return this.response.status === 401 || this.response.status === 403;
  }
}

/** There is no usable response: the connection was refused or reset, or the response is truncated or invalid. */
export class NetworkError extends Error {
  override readonly name: string = 'NetworkError';
  /** True if the request cannot have reached the service. If false, it may have taken effect. */
  readonly isUnsent: boolean;
  /** The start of a response that was too large. Never shown to the user unchanged. */
  readonly head: string | undefined;

  constructor(
    message: string,
    options: ErrorOptions & { readonly isUnsent?: boolean; readonly head?: string | undefined } = {},
  ) {
    super(message, options);
    this.isUnsent = options.isUnsent ?? false;
    this.head = options.head;
  }
}

/** The response did not arrive in time. */
export class TimeoutError extends NetworkError {
  override readonly name = 'TimeoutError';
}

/** A bug in edgewise: a condition that its own code guarantees is false. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** Returns the message of any thrown value. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Put it in the default case of a `switch` on a union: a missing case then fails to compile. */
export function assertNever(value: never): never {
  throw new InvariantError(`Unexpected value: ${JSON.stringify(value)}`);
}

/**
 * Returns the value, or throws an `InvariantError` that names what is missing. For look-ups that always succeed unless
 * edgewise has a bug.
 */
export function assertDefined<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new InvariantError(`Missing: ${what}`);
  return value;
}
