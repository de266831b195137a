import { type Logger, pino } from 'pino';
import type { Context } from '../context.ts';
import { type LogLevel, resolveLogLevel } from './log-level.ts';

/** Logs for programs: one JSON object a line on stderr, from `warn` up unless EDGEWISE_LOG_LEVEL says otherwise. Keys and tokens are struck out by field. */
export function createLogger(context: Pick<Context, 'env' | 'stderr'>, level: LogLevel = 'warn'): Logger {
  return pino(
    {
      base: null,
      level: resolveLogLevel(context, level),
      serializers: { error: pino.stdSerializers.err },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: ['token', '*.token', 'apiKey', '*.apiKey', 'authorization', '*.authorization', '*.headers.authorization'],
    },
    { write: (line: string) => context.stderr.write(line) },
  );
}
