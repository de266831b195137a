import type { Context } from '../context.ts';
import type { ExitCode } from '../exit-code.ts';
import type { FormatFlags } from '../output/present.ts';

/** Runs the body of a command and keeps its exit code. A failure is shown in the form that the flags ask for. */
export type Act = (flags: FormatFlags, body: (context: Context) => Promise<ExitCode>) => Promise<void>;
