import type { FormatName } from '../../report/formats.ts';
import type { TextOptions } from '../../report/report.ts';
import type { TrustFlags } from '../../stack/trust.ts';
import type { Context, Output } from '../context.ts';
import type { ExitCode } from '../exit-code.ts';

/** One more format of a result, and the file for it: `--report FORMAT=FILE`. */
export interface ReportTarget {
  readonly format: FormatName;
  /** As it was given: relative to the working folder, or absolute. */
  readonly file: string;
}

/** How results are shown. */
export interface FormatFlags {
  readonly format: FormatName;
  /** More formats of the result, and the files for them. */
  readonly report?: readonly ReportTarget[];
  readonly verbose?: boolean;
  readonly compact?: boolean;
  /** False with --no-color. */
  readonly color: boolean;
}

/** Whether a result is to be shown in a format, or written into a file in it. */
export function wantsFormat(
  name: FormatName,
  { format, report = [] }: Pick<FormatFlags, 'format' | 'report'>,
): boolean {
  return format === name || report.some((target) => target.format === name);
}

/** The output for event lines during a run; absent: no requested format has events. */
export function findEventOutput(flags: FormatFlags, { stdout }: Pick<Context, 'stdout'>): Output['write'] | undefined {
  if (flags.format === 'json-lines') return stdout.write;
  return wantsFormat('json-lines', flags) ? () => undefined : undefined;
}

/** The flags of commands whose result has one format only. */
export const PLAIN: FormatFlags = { format: 'text', color: true };

/** Looks for one output: colours only on a terminal, and not with NO_COLOR or --no-color. */
export function getTextOptions(output: Output, { env }: Pick<Context, 'env'>, flags: FormatFlags): TextOptions {
  const wantsColor = flags.color && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  return {
    color: wantsColor && output.isTerminal,
    width: output.isTerminal ? output.columns() : 0,
    verbose: flags.verbose === true,
    compact: flags.compact === true,
  };
}

/** How a result is shown, and what a command may run and read to get it. */
export interface CommandFlags extends FormatFlags, TrustFlags {
  /** The commands of `spec.render` may be run. */
  readonly render?: boolean;
  /** A file, or with many stacks a folder, for what was planned. */
  readonly out?: string;
  /** The file of the journal. */
  readonly journal?: string;
}

/** Runs the body of a command and keeps its exit code. A failure is shown in the format that the flags ask for. */
export type CommandAction = (flags: CommandFlags, body: (context: Context) => Promise<ExitCode>) => Promise<void>;
