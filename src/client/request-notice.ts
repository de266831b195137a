import { describeError } from '../model/errors.ts';
import { isSuccess } from '../model/http.ts';
import {
  type Attempt,
  findOperationId,
  formatUrlPath,
  type ReceivedResponse,
  type Redactor,
  toOneLine,
} from './api-error.ts';

/** The notice of one request: that it is sent, and how it ended. Holds no key, no token and no body. */
export type RequestNotice = SentNotice | AnsweredNotice | FailedNotice;

interface NoticeStart {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Counting from 1; more than 1: it is sent again. */
  readonly attempt: number;
}

/** A request that is sent now. */
interface SentNotice extends NoticeStart {
  readonly event: 'sent';
  /** Those of its headers that say nothing secret. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request that was answered, whatever the answer says. */
interface AnsweredNotice extends NoticeStart {
  readonly event: 'answered';
  readonly status: number;
  /** From when it was sent until its answer was read. */
  readonly ms: number;
  /** What the service calls the request, when it says. */
  readonly operationId: string | undefined;
  readonly bytes: number;
  /** Those of the answer's headers that say nothing secret. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request without an answer that can be used. */
interface FailedNotice extends NoticeStart {
  readonly event: 'failed';
  readonly ms: number;
  readonly cause: string;
}

/** What notices are made with. */
interface NoticeOptions {
  /** Milliseconds since some moment. */
  readonly now: () => number;
  readonly redact: Redactor;
  readonly onRequest: (notice: RequestNotice) => void;
}

/** An attempt that tells of itself. */
export function withNotices(attempt: Attempt, options: NoticeOptions): Attempt {
  const { now, redact, onRequest } = options;
  return async (request, count) => {
    const start = { method: request.method, path: redact(formatUrlPath(new URL(request.url))), attempt: count };
    const startedAt = now();
    onRequest({ event: 'sent', ...start, headers: listHeaders(request.headers, redact) });
    try {
      const answer = await attempt(request, count);
      onRequest({ event: 'answered', ...start, ms: now() - startedAt, ...describeAnswer(answer, redact) });
      return answer;
    } catch (error) {
      const cause = toOneLine(redact(describeError(error)));
      onRequest({ event: 'failed', ...start, ms: now() - startedAt, cause });
      throw error;
    }
  };
}

type AnswerFacts = Pick<AnsweredNotice, 'status' | 'operationId' | 'bytes' | 'headers'>;

function describeAnswer({ response, body }: ReceivedResponse, redact: Redactor): AnswerFacts {
  return {
    status: response.status,
    operationId: findOperationId({ headers: response.headers, body: isSuccess(response) ? '' : body }, redact),
    bytes: Buffer.byteLength(body),
    headers: listHeaders(response.headers, redact),
  };
}

/** Headers that are no place for secrets, by name. Any other may be one: a cookie, a challenge, what a proxy adds. */
const PLAIN_HEADERS =
  /^(?:accept|accept-encoding|age|cache-control|content-(?:encoding|language|length|type)|date|etag|retry-after|server|user-agent|vary|(?:x-)?ratelimit-[\w-]+|(?:[\w-]+-)?(?:operation|request|trace|correlation)-id|[\w-]*version)$/;

function listHeaders(headers: Readonly<Record<string, string>>, redact: Redactor): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => PLAIN_HEADERS.test(name))
      .map(([name, value]) => [name, redact(value)]),
  );
}
