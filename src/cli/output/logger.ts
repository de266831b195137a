import { type Logger, pino } from 'pino';
import type { Context } from '../context.ts';
import { getLogLevelFromEnvironment, type LogLevel } from './present.ts';

interface LoggerOptions {
  /** Least severe level that is logged. Default: `warn`. */
  readonly level?: LogLevel;
  /**
   * For logs with many entries, none of which contains a secret. Nothing is redacted, and lines are written once per
   * turn of the event loop.
   */
  readonly isBusy?: boolean;
}

/**
 * Creates a log for programs: one JSON object per line on stderr. EDGEWISE_LOG_LEVEL overrides `level`. Fields with
 * keys and tokens are redacted, unless `isBusy`.
 */
export function createLogger(
  context: Pick<Context, 'env' | 'stderr'>,
  { level = 'warn', isBusy = false }: LoggerOptions = {},
): Logger {
  const write = (text: string) => context.stderr.write(text);
  return pino(
    {
      base: null,
      level: getLogLevelFromEnvironment(context, level),
      serializers: { error: pino.stdSerializers.err },
      timestamp: pino.stdTimeFunctions.isoTime,
      ...(!isBusy && { redact: SECRET_FIELDS }),
    },
    { write: isBusy ? batchLines(write) : write },
  );
}

const SECRET_FIELDS = [
  'token',
  '*.token',
  'apiKey',
  '*.apiKey',
  'authorization',
  '*.authorization',
  '*.headers.authorization',
];

/** Joins the lines of one turn of the event loop into one write, because each write is a system call. */
function batchLines(write: (text: string) => void): (line: string) => void {
  let waiting = '';
  const flush = (): void => {
    write(waiting);
    waiting = '';
  };
  return (line) => {
    if (waiting === '') setImmediate(flush);
    waiting += line;
  };
}
