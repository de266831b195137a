import type { Context } from '../context.ts';
import type { ExitCode } from '../exit-code.ts';
import type { FormatFlags } from '../output/present.ts';

/** How a result is shown, and what a command may run to get it. */
export interface ActFlags extends FormatFlags {
  /** The commands of `spec.render` may be run. */
  readonly render?: boolean;
}

/** Runs the body of a command and keeps its exit code. A failure is shown in the form that the flags ask for. */
export type Act = (flags: ActFlags, body: (context: Context) => Promise<ExitCode>) => Promise<void>;
