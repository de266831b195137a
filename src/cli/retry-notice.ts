import type { ClientOptions } from '../client/client.ts';
import { toPrintable } from '../model/printable.ts';
import type { Context } from './context.ts';
import { createLogger } from './logger.ts';

type OnRetry = NonNullable<ClientOptions['onRetry']>;

/**
 * Tells that requests are sent again: a person once for each cause, however many requests there are, and programs of each one at
 * the log level `info`.
 */
export function createRetryNotice(context: Pick<Context, 'env' | 'stderr'>): OnRetry {
  const logger = createLogger(context);
  const told = new Set<string>();
  return (notice) => {
    logger.info(notice, 'request is sent again');
    const cause = toPrintable(notice.cause.replace(/^[A-Z]+ \S+: /, ''));
    if (told.has(cause)) return;
    told.add(cause);
    context.stderr.write(`Reading goes on after a pause: ${cause}.\n`);
  };
}
