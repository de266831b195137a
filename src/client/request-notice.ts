import { getErrorMessage } from '../model/errors.ts';
import { isSuccess } from '../model/http.ts';
import {
  findOperationIdInResponse,
  formatPathAndQuery,
  type ReceivedResponse,
  type SendOnce,
  toPrintableOneLine,
} from './api-error.ts';

/** Reports that a request is sent, or how it ended. Never contains the API key, a token or a body. */
export type AttemptNotice = SentNotice | AnsweredNotice | FailedNotice;

export interface NoticeStart {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Counted from 1. Above 1: a retry. */
  readonly attempt: number;
}

interface SentNotice extends NoticeStart {
  readonly event: 'sent';
  /** The request headers that cannot contain a secret. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request with a response, successful or not. */
interface AnsweredNotice extends NoticeStart {
  readonly event: 'answered';
  readonly status: number;
  /** Time from sending the request until its response was read. */
  readonly ms: number;
  /** Id that the service gave the request. `undefined`: the response contains none. */
  readonly operationId: string | undefined;
  readonly bytes: number;
  /** The response headers that cannot contain a secret. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request without a usable response. */
interface FailedNotice extends NoticeStart {
  readonly event: 'failed';
  readonly ms: number;
  readonly cause: string;
}

interface NoticeOptions {
  /** Returns milliseconds since a fixed moment. */
  readonly now: () => number;
  readonly onRequest: (notice: AttemptNotice) => void;
}

/** Wraps an attempt: reports its start and its end to `onRequest`. */
export function withAttemptNotices(attempt: SendOnce, options: NoticeOptions): SendOnce {
  const { now, onRequest } = options;
  return async (request, count) => {
    const start = { method: request.method, path: formatPathAndQuery(new URL(request.url)), attempt: count };
    const startedAt = now();
    onRequest({ event: 'sent', ...start, headers: collectHeaders(request.headers) });
    try {
      const answer = await attempt(request, count);
      onRequest({ event: 'answered', ...start, ms: now() - startedAt, ...describeAnswer(answer) });
      return answer;
    } catch (error) {
      const cause = toPrintableOneLine(getErrorMessage(error));
      onRequest({ event: 'failed', ...start, ms: now() - startedAt, cause });
      throw error;
    }
  };
}

type AnswerFacts = Pick<AnsweredNotice, 'status' | 'operationId' | 'bytes' | 'headers'>;

function describeAnswer({ response, body }: ReceivedResponse): AnswerFacts {
  return {
    status: response.status,
    operationId: findOperationIdInResponse({ headers: response.headers, body: isSuccess(response) ? '' : body }),
    bytes: Buffer.byteLength(body),
    headers: collectHeaders(response.headers),
  };
}

/**
 * Names of headers that cannot contain a secret. Other headers may contain one, such as cookies, authentication
 * challenges, and headers that proxies add.
 */
const PLAIN_HEADERS =
  /^(?:accept|accept-encoding|age|cache-control|content-(?:encoding|language|length|type)|date|etag|retry-after|server|user-agent|vary|(?:x-)?ratelimit-[\w-]+|(?:[\w-]+-)?(?:operation|request|trace|correlation)-id|[\w-]*version)$/;

function collectHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => PLAIN_HEADERS.test(name)));
}
