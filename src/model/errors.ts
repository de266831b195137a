/** The details of an `ApiError`, in addition to its message. Source: the error body of the interface. */
export interface ApiErrorDetails {
  /** HTTP status code. */
  readonly status: number;
  /** The service's own code, when it sent one. */
  readonly code: string | undefined;
  readonly method: string;
  /** Path and query of the request, without the origin. */
  readonly path: string;
  readonly operationId: string | undefined;
  readonly details: Readonly<Record<string, string>>;
}

/** The service answered with an error status. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly response: ApiErrorDetails;

  constructor(message: string, response: ApiErrorDetails) {
    super(message);
    this.response = response;
  }

  /** Services answer a bad key with 401 or with 403: both mean authentication or permission. */
  get isAuthentication(): boolean {
    return this.response.status === 401 || this.response.status === 403;
  }
}

/** No response, or an unusable one: refused, reset, broken off, or not as the interface specifies. */
export class NetworkError extends Error {
  override readonly name: string = 'NetworkError';
  /** The request certainly did not reach the service. False: it may have taken effect. */
  readonly isUnsent: boolean;
  /** How an answer began that was broken off for its length; never shown as it is. */
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

/** No response came in time. */
export class TimeoutError extends NetworkError {
  override readonly name = 'TimeoutError';
}

/** A bug in edgewise: one of its own rules was broken. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** Why something failed, in words: of whatever was thrown. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Ends a `switch` on a union, so that the compiler names the case that was forgotten. */
export function assertNever(value: never): never {
  throw new InvariantError(`Unexpected value: ${JSON.stringify(value)}`);
}

/** The value, or an `InvariantError` that says what was missing. For look-ups that cannot fail by the program's own rules. */
export function assertDefined<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new InvariantError(`Missing: ${what}`);
  return value;
}
