import { type Logger, pino } from 'pino';
import type { Context } from './context.ts';

/** Logs for programs: one JSON object a line on stderr, from `warn` up unless EDGEWISE_LOG_LEVEL says otherwise. Keys and tokens are struck out by field. */
export function createLogger(context: Pick<Context, 'env' | 'stderr'>, level = 'warn'): Logger {
  const wanted = context.env['EDGEWISE_LOG_LEVEL'] ?? level;
  return pino(
    {
      base: null,
      level: wanted in pino.levels.values || wanted === 'silent' ? wanted : level,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: ['token', '*.token', 'apiKey', '*.apiKey', 'authorization', '*.authorization', '*.headers.authorization'],
    },
    { write: (line: string) => context.stderr.write(line) },
  );
}
