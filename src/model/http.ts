import { NetworkError } from './errors.ts';

/**
 * The one function type that joins client and server: the client takes one, the bundled server is one, and retries, faults and counting are decorators of it.
 * It rejects with `NetworkError` or `TimeoutError` when no response came. What speaks the web's `Request` and `Response` is adapted by `transport.ts`.
 */
export type Send = (request: HttpRequest) => Promise<HttpResponse>;

/** A request as a plain value. */
export interface HttpRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  /** Aborted: the response is not wanted any more. */
  readonly signal?: AbortSignal | undefined;
}

/** A response as a plain value, read to its end. */
export interface HttpResponse {
  readonly status: number;
  /** Names are in lower case; one that was sent several times has its values between commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty: there is none. */
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** What HTTP/1.1 says beside the status. Absent: it is not known. */
  readonly statusText?: string;
}

/** Whether the status of a response is one of success. */
export function isSuccess({ status }: Pick<HttpResponse, 'status'>): boolean {
  return status >= 200 && status < 300;
}

const UTF_8 = new TextDecoder();

/** A body as text, without a byte order mark. */
export function readBodyText(body: HttpResponse['body']): string {
  return typeof body === 'string' ? body : UTF_8.decode(body);
}

/** The largest response body that is taken. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** How much of it an error keeps. */
const HEAD_BYTES = 4096;

/** The error for a response above the size limit, with what was read of it. */
export function tooLarge(
  { method, url }: Pick<HttpRequest, 'method' | 'url'>,
  chunks: readonly Uint8Array[],
  maxBytes = MAX_BODY_BYTES,
): NetworkError {
  const head = new TextDecoder().decode(chunks[0]?.subarray(0, HEAD_BYTES));
  return new NetworkError(`${method} ${url}: the response is larger than ${maxBytes} bytes, the limit`, { head });
}

/** The value of the version header, whatever that header is called. Source: section 9 of the interface. */
export const SERVICE_API_VERSION = '2';

/** What the version header is called unless a setting says otherwise. Source: section 9 of the interface. */
export const DEFAULT_VERSION_HEADER = 'Service-Version';

/** The header of every response that names its operation. */
export const OPERATION_ID_HEADER = 'Operation-Id';

/**
 * Whether a host, as a URL or a person writes it, is this machine and no other: the name `localhost`, or an address of the loopback. `0.0.0.0` and
 * `::` are not: who listens there listens for everybody.
 */
export function isThisMachine(host: string): boolean {
  const name = host.replace(/^\[|\]$|\.$/g, '').toLowerCase();
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(?:\.\d{1,3}){3}$/.test(name);
}
