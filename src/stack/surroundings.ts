import type { Locate } from '../model/diagnostic.ts';
import type { Timeouts } from '../model/stack.ts';
import type { Transport } from '../model/transport.ts';

/** What a stack gets from the process that it runs in. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly now: () => Date;
  /** Resolves after a time, or as soon as the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly readStdin: () => Promise<Uint8Array>;
  /** Told what is being read as soon as it is known, so that the report of a failure says it too. */
  readonly onSubject?: (subject: RunSubject) => void;
  /** Told of each file that is read, relative to `cwd` or absolute, so that none is written over. */
  readonly onInput?: (file: string) => void;
  /** Told that a service is about to be reached: when that is known, before manifests are read for it, and when they are. */
  readonly onReach?: () => void;
  /** Told how many bytes of manifests were read so far, each time that it is more, before they are parsed. */
  readonly onManifests?: (bytes: number) => void;
  /** Told when it is decided what becomes of each resource: what a plan makes from then on, it keeps. */
  readonly onDecided?: () => void;
  /** Told where much of what was made is not needed any more: when a plan is made, was tried in memory, was compared with what that left, and was shown. */
  readonly onLetGo?: () => void;
  /** Runs the command of a `spec.render`, once for each stack of a run. Absent: nobody has allowed it. */
  readonly render?: (command: RenderCommand) => Promise<RenderOutput>;
  /** A transport over real sockets, loaded when it is first needed. */
  readonly openTransport: (options: TransportSettings) => Promise<OpenTransport>;
}

/** What makes the manifests of a stack. */
export interface RenderCommand {
  /** Program and arguments. */
  readonly words: readonly string[];
  /** The folder that it runs in, relative to `cwd` or absolute. */
  readonly folder: string;
}

/** What such a command printed, or why that does not count; follows the command in a message: `ended with exit code 1`. */
export type RenderOutput = { readonly bytes: Uint8Array } | { readonly fault: string };

/** What a run is about. */
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
