import packageJson from '../../package.json' with { type: 'json' };
import type { Host } from '../stack/host.ts';

/** A place that text is written to. */
export interface Output {
  readonly write: (text: string) => void;
  /** Writes our own commands to the runner of a job, in which nothing of others can be another one. Absent: `write` does. */
  readonly writeCommands?: (text: string) => void;
  /** A regular file. */
  readonly isFile?: boolean;
  readonly isTerminal: boolean;
  /** 0 when it is not a terminal. */
  readonly columns: () => number;
}

/** The files that a run reads. It writes over none of them. */
export interface RunInputs {
  /** Told of a file, relative to the working folder or absolute. */
  readonly add: (file: string) => void;
  /** Whether a path leads to one of them, under whatever name. */
  readonly has: (file: string) => Promise<boolean>;
}

/** Everything that a command gets from the process that it runs in. Tests give their own. */
export interface Context extends Host {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Calls back once after a time, unless the returned function is called before. Keeps no process alive. */
  readonly after: (ms: number, act: () => void) => () => void;
  /** Asks a person. The question is the last line of the text. `undefined`: there is nobody to ask. Empty: they left without an answer. */
  readonly ask: (question: string) => Promise<string | undefined>;
  /** Calls back on each request to stop (SIGINT, SIGTERM) until the returned function is called. */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** The files that the run reads; `onInput` adds one. Absent until the run begins. */
  readonly inputs?: RunInputs;
  /** Ends the process without waiting. */
  readonly exitNow: (code: number) => void;
}

/** The version of this package. */
export const VERSION: string = packageJson.version;
