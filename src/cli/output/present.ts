import type { FormatName } from '../../report/formats.ts';
import type { TextStyleOptions } from '../../report/report.ts';
import { findSetting } from '../../settings/resolve.ts';
import type { SettingValue } from '../../settings/table.ts';
import { type ManifestTrustFlags, readSetting } from '../../stack/settings.ts';
import type { Context, OutputStream } from '../context.ts';
import type { ExitCode } from '../exit-code.ts';
import { detectInvocation } from './invocation.ts';

/** A flag `--report FORMAT=FILE`. */
export interface ReportFileTarget {
  readonly format: FormatName;
  /** As the user wrote it: relative to the working folder, or absolute. */
  readonly file: string;
}

export interface FormatFlags {
  readonly format: FormatName;
  readonly report?: readonly ReportFileTarget[];
  readonly verbose?: boolean;
  readonly compact?: boolean;
  /** False with --no-color. */
  readonly color: boolean;
}

/** The flags of commands that have only one output format. */
export const TEXT_ONLY_FORMAT_FLAGS: FormatFlags = { format: 'text', color: true };

/** Returns options for text. Colours need a terminal; NO_COLOR, --no-color and TERM=dumb disable them. */
export function getTextOptions(
  output: OutputStream,
  context: Pick<Context, 'env' | 'stderr' | 'quoted' | 'cwd' | 'uid' | 'root' | 'program'>,
  flags: FormatFlags,
): TextStyleOptions {
  const { env, stderr, quoted } = context;
  const wantsColor = flags.color && findSetting('color', { env }) === undefined && env['TERM'] !== 'dumb';
  return {
    color: wantsColor && output.isTerminal,
    width: output.isTerminal ? output.columns() : 0,
    verbose: flags.verbose === true,
    compact: flags.compact === true,
    // What is read elsewhere is not as edgewise was started here.
    findInvocation: output === stderr || flags.format === 'text' ? () => detectInvocation(context) : undefined,
    excerpts: output === stderr ? quoted?.stderr : quoted?.reports,
  };
}

/** The values of EDGEWISE_LOG_LEVEL. */
export type LogLevel = SettingValue<'logLevel'>;

/** Returns EDGEWISE_LOG_LEVEL or, if it is not set, `level`. Throws if the variable is not a level. */
export function getLogLevelFromEnvironment({ env }: Pick<Context, 'env'>, level: LogLevel): LogLevel {
  return readSetting('logLevel', { env }) ?? level;
}

/**
 * Whether messages less severe than warnings are logged. If so, a line of stderr must not be updated in place: that
 * would overwrite log lines.
 */
export function isInfoLogged({ env }: Pick<Context, 'env'>): boolean {
  return ['trace', 'debug', 'info'].includes(String(findSetting('logLevel', { env })?.value));
}

/** The flags that `run` itself evaluates, for any command. */
export interface RunFlags extends FormatFlags, ManifestTrustFlags {
  /** The file to which the plan is written; for many stacks, a folder. */
  readonly out?: string;
  /** Whether outputs show live values that may be secret. */
  readonly showSecrets?: boolean;
  /** The file of `out`, if it is a single plan file: a failure is written to it, as JSON. */
  readonly planFile?: string | undefined;
}

/** Runs the body of a command and stores its exit code. Shows a failure in the requested format. */
export type CommandBodyRunner = (flags: RunFlags, body: (context: Context) => Promise<ExitCode>) => Promise<void>;
