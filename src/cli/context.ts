import type { Timeouts } from '../model/stack.ts';
import type { Transport } from '../model/transport.ts';
import type { Locate } from '../report/report.ts';

/** A place that text is written to. */
export interface Output {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  /** 0 when it is not a terminal. */
  readonly columns: () => number;
}

/** Everything that a command gets from the process that it runs in. Tests give their own. */
export interface Context {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly now: () => Date;
  /** Resolves after a time, or as soon as the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Calls back once after a time, unless the returned function is called before. Keeps no process alive. */
  readonly after: (ms: number, act: () => void) => () => void;
  readonly readStdin: () => Promise<Uint8Array>;
  /** Asks a person, on the last line of a text that may have more; `undefined` when there is nobody to ask, and empty when they leave without an answer. */
  readonly ask: (question: string) => Promise<string | undefined>;
  /** Calls back on each request to stop (SIGINT, SIGTERM) until the returned function is called. */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** Ends the process without waiting. */
  readonly exitNow: (code: number) => void;
  /** Told what a command is about as soon as it is known, so that the report of a failure says it too. */
  readonly onSubject?: (subject: RunSubject) => void;
  /** A transport over real sockets, loaded when it is first needed. */
  readonly openTransport: (options: TransportSettings) => Promise<OpenTransport>;
}

/** What a command is about. */
export interface RunSubject {
  /** Name of its stack; absent: there is none, or none that can be read. */
  readonly stack?: string;
  /** Absent: no manifests were read. */
  readonly locate?: Locate;
}

/** What a transport over sockets is made of. */
export interface TransportSettings {
  readonly connections: number;
  readonly timeouts: Timeouts;
  /** Certificates to trust besides those of the platform, in PEM. */
  readonly authorities: string | undefined;
  /** As the environment names them. */
  readonly proxy: { readonly http?: string; readonly https?: string; readonly except?: string };
}

/** A transport that holds connections until it is closed. */
export type OpenTransport = Transport & { readonly close: () => Promise<void> };
