import type { Surroundings } from '../stack/surroundings.ts';

/** A place that text is written to. */
export interface Output {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  /** 0 when it is not a terminal. */
  readonly columns: () => number;
}

/** Everything that a command gets from the process that it runs in. Tests give their own. */
export interface Context extends Surroundings {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Calls back once after a time, unless the returned function is called before. Keeps no process alive. */
  readonly after: (ms: number, act: () => void) => () => void;
  /** Asks a person, on the last line of a text that may have more; `undefined` when there is nobody to ask, and empty when they leave without an answer. */
  readonly ask: (question: string) => Promise<string | undefined>;
  /** Calls back on each request to stop (SIGINT, SIGTERM) until the returned function is called. */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** Ends the process without waiting. */
  readonly exitNow: (code: number) => void;
}
