import type { ClientOptions } from '../../client/client.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Context } from '../context.ts';
import { createLogger } from '../output/logger.ts';

/** What a client tells of while it works. */
export interface Notices extends Required<Pick<ClientOptions, 'onRetry' | 'onWait'>> {
  /** Who else is writing to stderr says how a line gets there. */
  readonly tellBy: TellBy;
}

/** Has lines told by a function; without one they go to stderr as they are. */
export type TellBy = (tell: ((line: string) => void) | undefined) => void;

/**
 * Tells that requests are sent again or wait: a person once for each cause, and of each long wait; programs of each retry at the log level
 * `info`.
 */
export function createNotices(context: Pick<Context, 'env' | 'stderr' | 'now'>, rateLimit: string): Notices {
  const logger = createLogger(context);
  const told = new Set<string>();
  let quietUntil = 0;
  const toStderr = (line: string): void => context.stderr.write(`${line}\n`);
  let tell = toStderr;
  return {
    tellBy: (other = toStderr) => {
      tell = other;
    },
    onRetry: (notice) => {
      logger.info(notice, 'request is sent again');
      const cause = toPrintable(notice.cause.replace(/^[A-Z]+ \S+: /, ''));
      if (told.has(cause)) return;
      told.add(cause);
      const what = notice.method === 'GET' ? 'Reading' : 'Writing';
      tell(`${what} goes on after a pause: ${cause}.`);
    },
    onWait: ({ waitMs, reason }) => {
      const now = context.now().getTime();
      if (reason === 'pause' || waitMs < WORTH_TELLING_MS || now < quietUntil) return;
      quietUntil = now + waitMs;
      tell(`Waiting ${Math.ceil(waitMs / 1000)} s: the limit is ${rateLimit}.`);
    },
  };
}

const WORTH_TELLING_MS = 1_000;
