import packageJson from '../../package.json' with { type: 'json' };
import type { Host } from '../stack/host.ts';

/** stdout or stderr, or a filter in front of one of them. */
export interface OutputStream {
  readonly write: (text: string) => void;
  /**
   * Writes text that contains commands for the CI runner, such as annotations. Nothing is filtered, so the caller must
   * escape everything else in the text.
   */
  readonly writeCommands: (text: string) => void;
  readonly isTerminal: boolean;
  /** Width of the terminal. 0 if the output is not a terminal. */
  readonly columns: () => number;
}

/** The files that a run reads, and must not overwrite. */
export interface InputFileSet {
  /** Records a file that the run reads. The path is relative to the working folder, or absolute. */
  readonly add: (file: string) => void;
  /** Whether a path leads to one of these files, even under another name (such as a link). */
  readonly has: (file: string) => Promise<boolean>;
}

/** The parts of the process that a command uses. Tests pass a substitute. */
export interface Context extends Host {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Calls `act` once after `ms`, unless the returned function is called first. Does not keep the process alive. */
  readonly after: (ms: number, act: () => void) => () => void;
  /**
   * Asks the user. The last line of `question` is the prompt. Resolves with the line that the user types, and with
   * `undefined` if there is no terminal. Throws a `StackError` if the user leaves without an answer: Ctrl-C, Ctrl-D, a
   * signal, a closed terminal.
   */
  readonly ask: (question: string) => Promise<string | undefined>;
  /** Calls `listener` on each interrupt (SIGINT, SIGTERM, a closed terminal), until the returned function is called. */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** The files that the run reads. `onInput` adds a file. Absent until the run begins. */
  readonly inputs?: InputFileSet;
  /** Whether an error of one stack ends the whole run. Absent: none does. */
  readonly endsRun?: (error: unknown) => boolean;
  /** The absolute path of the file that the user started. Absent: unknown. */
  readonly program?: string | undefined;
  /** Ends the process without waiting for open requests or files. */
  readonly exitNow: (code: number) => void;
}

export const VERSION: string = packageJson.version;
