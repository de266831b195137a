import packageJson from '../../package.json' with { type: 'json' };
import type { Host } from '../stack/host.ts';

/** stdout or stderr, or a filter in front of one of them. */
export interface Output {
  readonly write: (text: string) => void;
  /**
   * Writes commands for the job's runner without a filter; the caller has escaped all other text in them. Absent: use
   * `write`, which has no filter.
   */
  readonly writeCommands?: (text: string) => void;
  readonly isFile?: boolean;
  readonly isTerminal: boolean;
  /** 0 when it is not a terminal. */
  readonly columns: () => number;
}

/** The files that a run reads, and must not overwrite. */
export interface RunInputs {
  /** Records a file that the run reads: relative to the working folder, or absolute. */
  readonly add: (file: string) => void;
  /** Whether a path is one of these files, even under another name (such as a link). */
  readonly has: (file: string) => Promise<boolean>;
}

/** Everything that a command uses of its process. Tests pass their own. */
export interface Context extends Host {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Calls `act` once after `ms`, unless the returned function is called first. Does not keep the process alive. */
  readonly after: (ms: number, act: () => void) => () => void;
  /**
   * Asks the user. The last line of `question` is the prompt. `undefined`: there is no terminal. Empty: the user left
   * without an answer.
   */
  readonly ask: (question: string) => Promise<string | undefined>;
  /** Calls `listener` on each request to stop (SIGINT, SIGTERM), until the returned function is called. */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** The files that the run reads; `onInput` adds one. Absent until the run begins. */
  readonly inputs?: RunInputs;
  /** Ends the process without waiting. */
  readonly exitNow: (code: number) => void;
}

export const VERSION: string = packageJson.version;
