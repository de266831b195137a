import { type Logger, pino } from 'pino';
import type { Context } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';

/** How a log is written. */
interface LoggerOptions {
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

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** The levels of the log, as EDGEWISE_LOG_LEVEL names them. */
export type LogLevel = (typeof LEVELS)[number];

/** The level that the environment asks for, or else this one. */
export function resolveLogLevel({ env }: Pick<Context, 'env'>, level: LogLevel): LogLevel {
  const wanted = env['EDGEWISE_LOG_LEVEL'];
  if (wanted === undefined || wanted === '') return level;
  const known = LEVELS.find((one) => one === wanted);
  if (known !== undefined) return known;
  const message = `EDGEWISE_LOG_LEVEL is ${JSON.stringify(wanted)}, and must be one of ${LEVELS.join(', ')}.`;
  throw new CommandError(message, { exitCode: EXIT.invalid });
}

/** Whether more than warnings is logged. Then stderr is a sequence of lines, and no line is redrawn. */
export function isLogWanted({ env }: Pick<Context, 'env'>): boolean {
  return ['trace', 'debug', 'info'].includes(env['EDGEWISE_LOG_LEVEL'] ?? '');
}
