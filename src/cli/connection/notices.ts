import type { Logger } from 'pino';
import type { ClientOptions } from '../../client/client.ts';
import type { AttemptNotice } from '../../client/request-notice.ts';
import { assertNever } from '../../model/errors.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatProgressWait, type PendingWait } from '../../report/text/progress.ts';
import { formatWaitTime } from '../../report/view/wording.ts';
import { isEmbedded } from '../../settings/base-url.ts';
import type { ServiceSettings } from '../../settings/table.ts';
import type { Context } from '../context.ts';
import { createLogger } from '../output/logger.ts';
import { getLogLevelFromEnvironment, isInfoLogged } from '../output/present.ts';
import { createStatusLine, getProgressStream, LIVE_MS, MIN_SHOWN_WAIT_MS } from '../output/progress.ts';
import { describeEmbeddedAccount } from './data-file.ts';

/** Callbacks that show retries, waits and slow reads of a client. */
interface Notices extends Pick<ClientOptions, 'onRequest'> {
  readonly onRetry: NonNullable<ClientOptions['onRetry']>;
  readonly onWait: NonNullable<ClientOptions['onWait']>;
  readonly onRead: NonNullable<ClientOptions['onRead']>;
  /** Removes the line about a slow read. */
  readonly end: ReadingWatch['end'];
  /** Redirects the notices to other code that writes to stderr. */
  readonly setLineWriter: SetNoticeWriter;
}

/** Redirects notices: lines go to `tell`, waits to `wait`. If `tell` is undefined, stderr gets both again. */
export type SetNoticeWriter = (
  tell: ((line: string) => void) | undefined,
  wait?: ((pending: PendingWait) => void) | undefined,
) => void;

/**
 * Creates the notices of a client. stderr gets one line for each cause of retries, and one for each long wait. At level
 * `info`, the log contains retries. `debug` adds requests and waits, and `trace` adds headers.
 */
export function createNotices(
  context: Pick<Context, 'env' | 'stderr' | 'now' | 'after'>,
  { rateLimit, baseUrl }: Pick<ServiceSettings, 'rateLimit' | 'baseUrl'>,
): Notices {
  getLogLevelFromEnvironment(context, 'warn');
  const logger = isInfoLogged(context) ? createLogger(context) : undefined;
  const reading = createReadingWatch(context, baseUrl);
  const shownCauses = new Set<string>();
  let quietUntil = 0;
  let tell = reading.tell;
  let takeWait: ((pending: PendingWait) => void) | undefined;
  return {
    onRead: reading.onRead,
    end: reading.end,
    setLineWriter: (other, otherWait) => {
      reading.mute(other !== undefined);
      tell = other ?? reading.tell;
      takeWait = otherWait;
    },
    onRequest: logger?.isLevelEnabled('debug') ? (notice) => logRequest(logger, notice) : undefined,
    onRetry: (notice) => {
      logger?.info(notice, 'request is sent again');
      const cause = toPrintable(notice.cause.replace(/^[A-Z]+ \S+: /, ''));
      if (shownCauses.has(cause)) return;
      shownCauses.add(cause);
      const what = notice.method === 'GET' ? 'Reading' : 'Writing';
      const { askedMs } = notice;
      const when =
        askedMs === undefined || askedMs < MIN_SHOWN_WAIT_MS
          ? 'after a pause'
          : `in ${formatWaitTime(askedMs)}, as the service asked (Retry-After)`;
      tell(`${what} continues ${when}: ${cause}.`);
    },
    onWait: ({ waitMs, reason }) => {
      logger?.debug({ waitMs: Math.ceil(waitMs), reason }, 'request waits');
      const now = context.now().getTime();
      const why = reason === 'pause' ? 'the service asked for a pause' : `edgewise sends at most ${rateLimit}`;
      const pending = { until: now + waitMs, reason: why };
      if (takeWait !== undefined) {
        takeWait(pending);
        return;
      }
      reading.wait(pending);
      if (reason === 'pause' || waitMs < MIN_SHOWN_WAIT_MS || now < quietUntil || reading.isLive()) return;
      quietUntil = now + waitMs;
      tell(`Waiting ${Math.ceil(waitMs / 1000)} s: ${why}.`);
    },
  };
}

/** Creates the notices for a service. Never shows reads from the embedded server as slow. */
export function createServiceNotices(settings: ServiceSettings, context: Context): Notices {
  const unwatched = { ...context, after: () => () => undefined };
  return createNotices(isEmbedded(settings.baseUrl) ? unwatched : context, settings);
}

/** Prints the warning about the connection, if any, and a line if the embedded server is used. */
export function printConnectionNotices(settings: ServiceSettings, warning: string | undefined, context: Context): void {
  const { stderr } = context;
  if (warning !== undefined) stderr.write(`${warning}\n`);
  if (isEmbedded(settings.baseUrl))
    stderr.write(`Using the embedded server${describeEmbeddedAccount(settings, context)}.\n`);
}

/**
 * Logs a line before each request is sent, and one after it has ended. `trace` adds headers and sizes. Bodies are never
 * logged.
 */
function logRequest(logger: Logger, notice: AttemptNotice): void {
  const { method, path, attempt } = notice;
  const isTraced = logger.isLevelEnabled('trace');
  switch (notice.event) {
    case 'sent':
      logger.debug({ method, path, attempt, ...(isTraced && { headers: notice.headers }) }, 'request is sent');
      break;
    case 'answered': {
      const { status, ms, operationId, bytes, headers } = notice;
      const more = isTraced ? { bytes, headers } : {};
      logger.debug({ method, path, attempt, status, ms: Math.round(ms), operationId, ...more }, 'request is answered');
      break;
    }
    case 'failed':
      logger.debug({ method, path, attempt, ms: Math.round(notice.ms), cause: notice.cause }, 'request failed');
      break;
    default:
      assertNever(notice);
  }
}

/** Shows on stderr that reads take long. */
interface ReadingWatch {
  readonly onRead: Notices['onRead'];
  /** Writes a permanent line to stderr. */
  readonly tell: (line: string) => void;
  /** Records a wait, which the line about slow reads then mentions. */
  readonly wait: (pending: PendingWait) => void;
  /** Whether the line about slow reads is updated in place. */
  readonly isLive: () => boolean;
  /** Hides the line about slow reads while other code writes to stderr. */
  readonly mute: (isMuted: boolean) => void;
  /** Removes the line about slow reads, even if reads are still running. */
  readonly end: () => void;
}

/**
 * Delays before the first line, and between further lines. Most reads end before the first line. Further lines become
 * rarer, so that a log stays short.
 */
const FIRST_MS = 1_500;
const NEXT_MS = [8_500, 20_000, 30_000, 60_000];

function createReadingWatch(
  { now, after, ...context }: Pick<Context, 'stderr' | 'env' | 'now' | 'after'>,
  service: string,
): ReadingWatch {
  const output = getProgressStream(context);
  const line = createStatusLine(output);
  let [started, done, startedAt, said] = [0, 0, 0, 0];
  let isMuted = false;
  let pending: PendingWait | undefined;
  let cancel = (): void => undefined;

  const say = (): void => {
    const delayMs = output.isTerminal ? LIVE_MS : (NEXT_MS[Math.min(said, NEXT_MS.length - 1)] ?? 0);
    said += 1;
    const seconds = Math.round((now().getTime() - startedAt) / 1000);
    const time = now().getTime();
    const awaited = pending !== undefined && pending.until > time ? `, ${formatProgressWait(pending, time)}` : '';
    if (!isMuted)
      line.show(`Reading from ${toPrintable(service)}: ${done} of ${started} done after ${seconds} s${awaited}`);
    cancel = after(delayMs, say);
  };
  const stop = (): void => {
    cancel();
    line.clear();
    [started, done, said] = [0, 0, 0];
  };
  const end = (): void => {
    done += 1;
    if (done === started) stop();
  };
  return {
    onRead: (reading) => {
      started += 1;
      if (started === 1) {
        startedAt = now().getTime();
        cancel = after(FIRST_MS, say);
      }
      reading.then(end, end);
    },
    tell: line.tell,
    wait: (next) => {
      pending = next;
    },
    isLive: () => output.isTerminal && started > 0,
    mute: (wants) => {
      if (wants) line.clear();
      isMuted = wants;
    },
    end: stop,
  };
}
