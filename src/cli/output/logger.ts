import { type Logger, pino } from 'pino';
import type { Context } from '../context.ts';
import { getLogLevelFromEnvironment, type LogLevel } from './present.ts';

interface LoggerOptions {
  /** Least severe level that is logged. Default: `warn`. */
  readonly level?: LogLevel;
}

/**
 * Creates a log for programs: one JSON object per line on stderr, which redacts the secrets of the run. EDGEWISE_LOG_LEVEL
 * overrides `level`.
 */
export function createLogger(context: Pick<Context, 'env' | 'stderr'>, { level = 'warn' }: LoggerOptions = {}): Logger {
  return pino(
    {
      base: null,
      level: getLogLevelFromEnvironment(context, level),
      serializers: { error: pino.stdSerializers.err },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    { write: (text) => context.stderr.write(text) },
  );
}
