import type { ReadBudget } from '../files/read-input.ts';
import type { Diagnostic, Locate } from '../model/diagnostic.ts';
import type { Send } from '../model/http.ts';
import type { Plan } from '../model/plan.ts';
import { toPrintable } from '../model/printable.ts';
import type { Secrets } from '../model/secrets.ts';
import type { Timeouts } from '../model/stack.ts';
import type { FindTaker } from '../model/stack-tree.ts';
import type { DesiredState } from '../model/state.ts';
import type { PlanInput } from '../plan/plan-input.ts';

/** What a stack gets from the process that it runs in. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The user that it runs as. Absent: the system knows no users. */
  readonly uid?: number | undefined;
  /**
   * The manifests are not trusted yet: flags and variables alone decide where the API key is sent, no command of a manifest runs, and nothing is written.
   * Absent: they are trusted.
   */
  readonly isUntrusted?: boolean;
  /** The variables that manifests may read: names, and prefixes of names that end in `*`. Absent: none. */
  readonly offered?: readonly string[];
  /** The folder below which everything must lie that manifests name (`--root`). Absent: the repository of the manifests. */
  readonly root?: string | undefined;
  /** What everything that the run reads may come to. Absent: each stack has its own limit only. */
  readonly budget?: ReadBudget | undefined;
  /** Secrets to redact in every output. Absent: no secret is known. */
  readonly secrets?: Secrets;
  readonly now: () => Date;
  /** Resolves after a time, or as soon as the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly readStdin: () => Promise<Uint8Array>;
  /** Called with the subject of the run as soon as it is known, so that the report of a failure names it too. */
  readonly onSubject?: (subject: RunSubject) => void;
  /** Told of each file that is read, relative to `cwd` or absolute, so that none is written over. */
  readonly onInput?: (file: string) => void;
  /** Told that another process keeps its data in the same file, and for how many seconds it is waited for at most. */
  readonly onFileInUse?: (file: string, limitSeconds: number) => void;
  /** Runs the command of a `spec.render`, once for each stack of a run. Absent: it is not allowed. */
  readonly render?: (command: RenderCommand) => Promise<RenderOutput>;
  /** Tries a plan in memory. Handed in, since the rehearsal uses everything that a stack does. */
  readonly rehearse: Rehearse;
  /** Reads the stacks beside one that is planned alone. Handed in like `rehearse`. Absent: nothing is known of them. */
  readonly openNeighbours?: OpenNeighbours;
  /** The way to a service over real sockets, loaded when it is first needed. */
  readonly openTransport: (options: TransportSettings) => Promise<OpenTransport>;
}

/** Tries a plan on a copy of what was read, and gives it with what came of it. */
export type Rehearse = (plan: Plan, input: PlanInput, options: { readonly skipRejected: boolean }) => Promise<Plan>;

/** Finds what other stacks of the repository take over of a stack, which is known by its manifest files. */
export type OpenNeighbours = (
  state: Pick<DesiredState, 'inputs'>,
  host: Pick<Host, 'cwd' | 'env' | 'offered' | 'root' | 'secrets'>,
) => Promise<FindTaker>;

/** What makes the manifests of a stack. */
export interface RenderCommand {
  /** Program and arguments. */
  readonly words: readonly string[];
  /** The folder that it runs in, relative to `cwd` or absolute. */
  readonly folder: string;
}

/** What such a command printed, or why that does not count; follows the command in a message: `ended with exit code 1`. */
export type RenderOutput = { readonly bytes: Uint8Array } | { readonly finding: string };

/** What a run is about. */
export interface RunSubject {
  /** Name of its stack; absent: there is none, or none that can be read. */
  readonly stack?: string;
  /** Absent: no manifests were read. */
  readonly locate?: Locate;
}

/** What the way over sockets is made of. */
export interface TransportSettings {
  readonly connections: number;
  readonly timeouts: Timeouts;
  /** Certificates to trust in addition to those of the platform, in PEM. */
  readonly authorities: string | undefined;
  /** As the environment names them. */
  readonly proxy: { readonly http?: string; readonly https?: string; readonly except?: string };
}

/** The way to a service over connections that are held until it is closed. */
export interface OpenTransport {
  readonly send: Send;
  readonly close: () => Promise<void>;
}

/** Why an operation has no result: the command line has an exit code for each. */
export type StackErrorReason = 'failed' | 'invalid' | 'authentication' | 'refused' | 'stale' | 'interrupted';

/** An error that the caller can fix: settings, a key, a safety rule, a stale plan. Bugs, the service and the network have errors of their own. */
export class StackError extends Error {
  override readonly name: string = 'StackError';
  readonly reason: StackErrorReason;
  /** What to do about it. */
  readonly remedy: string | undefined;

  /** A list says several things, each on a line of its own. */
  constructor(
    message: string | readonly string[],
    options: ErrorOptions & { readonly reason: StackErrorReason; readonly remedy?: string },
  ) {
    // A name from outside must not begin a line.
    super((typeof message === 'string' ? [message] : message).map(toPrintable).join('\n'), options);
    this.reason = options.reason;
    this.remedy = options.remedy;
  }
}

/** Manifests are invalid: all that is wrong with them, and no request was sent. */
export class InvalidManifests extends Error {
  override readonly name = 'InvalidManifests';
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super('The manifests are invalid.');
    this.diagnostics = diagnostics;
  }
}
