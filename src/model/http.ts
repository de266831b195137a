import { NetworkError } from './errors.ts';

/**
 * Sends a request. Client and server meet here: the client calls a `Send`, and the bundled server is a `Send`. Retries,
 * faults and counting are decorators of a `Send`. Rejects with `NetworkError` or `TimeoutError` if there is no
 * response. `transport.ts` converts between a `Send` and a function from a web `Request` to a web `Response`.
 */
export type Send = (request: HttpRequest) => Promise<HttpResponse>;

/** A request as plain data. */
export interface HttpRequest {
  readonly method: string;
  /** An absolute URL. */
  readonly url: string;
  /** Names are lower-case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  /** Aborted when the caller no longer needs the response. */
  readonly signal?: AbortSignal | undefined;
  /** The time until the whole response must be there. Absent: the limit of the transport applies. */
  readonly timeoutMs?: number | undefined;
}

/** A response as plain data, with the whole body. */
export interface HttpResponse {
  readonly status: number;
  /** Names are lower-case. Repeated headers are joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty if the response has no body. */
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** The reason phrase of HTTP/1.1. Absent if unknown. */
  readonly statusText?: string;
}

export function isSuccess({ status }: Pick<HttpResponse, 'status'>): boolean {
  return status >= 200 && status < 300;
}

const UTF_8 = new TextDecoder();

/** Decodes a body as UTF-8, and removes a byte order mark. */
export function decodeBodyText(body: HttpResponse['body']): string {
  return typeof body === 'string' ? body : UTF_8.decode(body);
}

/** A page of 100 resources is far smaller. A larger body could fill the memory. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** An error about an oversized body contains this many bytes of it: enough to see what was sent instead. */
const KEPT_BODY_BYTES = 4096;

/**
 * Creates the error for a response of more than `maxBytes` bytes. `chunks` are the parts of the body that were
 * received. The error contains the start of the body.
 */
export function createTooLargeError(
  { method, url }: Pick<HttpRequest, 'method' | 'url'>,
  chunks: readonly Uint8Array[],
  maxBytes = MAX_BODY_BYTES,
): NetworkError {
  const head = new TextDecoder().decode(chunks[0]?.subarray(0, KEPT_BODY_BYTES));
  return new NetworkError(`${method} ${url}: the response is larger than ${maxBytes} bytes, the limit`, { head });
}

/** The value of the version header. Source: section 9 of the API description. */
export const SERVICE_API_VERSION = '2';

/** Default name of the version header. Source: section 9 of the API description. */
export const DEFAULT_VERSION_HEADER_NAME = 'Service-Version';

/** The response header with the id of the operation. The service sends it in every response. */
export const OPERATION_ID_HEADER = 'Operation-Id';

/** Whether a text is the name or the address of one host, without scheme, port, path and pattern. */
export function isHost(text: string): boolean {
  const host = text.includes(':') && !text.startsWith('[') ? `[${text}]` : text;
  return /^[^\s/?#@\\*]+$/.test(host) && URL.parse(`http://${host}`)?.port === '' && !/:\d*$/.test(host);
}

/**
 * Whether a host is always this machine: `localhost` or a loopback address. Accepts IPv6 addresses in every notation, with
 * or without brackets. False for `0.0.0.0` and `::`, because a server that listens there accepts connections from other
 * machines.
 */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$|\.$/g, '').toLowerCase();
  if (name.includes(':')) return LOOPBACK_IPV6.test(URL.parse(`http://[${name}]`)?.hostname ?? '');
  return name === 'localhost' || name.endsWith('.localhost') || /^127(?:\.\d{1,3}){3}$/.test(name);
}

/** Matches `::1`, and the addresses of 127.0.0.0/8 as IPv6, as a URL has them. */
const LOOPBACK_IPV6 = /^\[::(?:1|ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4})\]$/;
