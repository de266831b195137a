import { type Logger, pino } from 'pino';
import type { Context } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';

/** Logs for programs: one JSON object a line on stderr, from `warn` up unless EDGEWISE_LOG_LEVEL says otherwise. Keys and tokens are struck out by field. */
export function createLogger(context: Pick<Context, 'env' | 'stderr'>, level = 'warn'): Logger {
  return pino(
    {
      base: null,
      level: toLevel(context.env['EDGEWISE_LOG_LEVEL'], level),
      serializers: { error: pino.stdSerializers.err },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: ['token', '*.token', 'apiKey', '*.apiKey', 'authorization', '*.authorization', '*.headers.authorization'],
    },
    { write: (line: string) => context.stderr.write(line) },
  );
}

/** Whether more than warnings is logged. Then stderr is a sequence of lines, and no line is redrawn. */
export function isLogWanted({ env }: Pick<Context, 'env'>): boolean {
  return ['trace', 'debug', 'info'].includes(env['EDGEWISE_LOG_LEVEL'] ?? '');
}

function toLevel(wanted: string | undefined, level: string): string {
  const levels = [...Object.keys(pino.levels.values), 'silent'];
  if (wanted === undefined || wanted === '') return level;
  if (levels.includes(wanted)) return wanted;
  const message = `EDGEWISE_LOG_LEVEL is ${JSON.stringify(wanted)}, and must be one of ${levels.join(', ')}.`;
  throw new CommandError(message, { exitCode: EXIT.invalid });
}
