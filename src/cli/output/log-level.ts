import type { Context } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';

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
