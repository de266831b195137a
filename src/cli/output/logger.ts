import { type Logger, pino } from 'pino';
import type { Context } from '../context.ts';
import { type LogLevel, resolveLogLevel } from './log-level.ts';

/** How a log is written. */
export interface LoggerOptions {
  /** The least that is logged. Default: `warn`. */
  readonly level?: LogLevel;
  /** For very many entries that hold no secrets: nothing is struck out, and lines are written together, at the end of a turn of the event loop. */
  readonly isBusy?: boolean;
}

/** Logs for programs: one JSON object a line on stderr, from a level up unless EDGEWISE_LOG_LEVEL says otherwise. Keys and tokens are struck out by field. */
export function createLogger(
  context: Pick<Context, 'env' | 'stderr'>,
  { level = 'warn', isBusy = false }: LoggerOptions = {},
): Logger {
  const write = (text: string) => context.stderr.write(text);
  return pino(
    {
      base: null,
      level: resolveLogLevel(context, level),
      serializers: { error: pino.stdSerializers.err },
      timestamp: pino.stdTimeFunctions.isoTime,
      ...(!isBusy && { redact: SECRETS }),
    },
    { write: isBusy ? gather(write) : write },
  );
}

const SECRETS = [
  'token',
  '*.token',
  'apiKey',
  '*.apiKey',
  'authorization',
  '*.authorization',
  '*.headers.authorization',
];

/** Writes what comes in one turn of the event loop at once: each write is a call of the system. */
function gather(write: (text: string) => void): (line: string) => void {
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
