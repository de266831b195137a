import type { FindTokensInGit } from '../apply/token-files.ts';
import type { ReadBudget } from '../files/read-input.ts';
import type { Processes } from '../files/write-file.ts';
import type { SourceFiles } from '../manifest/source-files.ts';
import type { QuotedTexts } from '../model/excerpts.ts';
import type { Send } from '../model/http.ts';
import type { Locate } from '../model/place.ts';
import type { MissingManifests, Plan } from '../model/plan.ts';
import type { SecretRedactor } from '../model/secrets.ts';
import type { DesiredState } from '../model/state.ts';
import type { PlanInput } from '../plan/plan-input.ts';
import type { ServiceSettings } from '../settings/table.ts';

/** Access to the process that a stack runs in. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /**
   * The id of the user that runs the process. Files of other users that edgewise finds by itself are not used.
   * `undefined`: the system has no user ids, so files of every user are used.
   */
  readonly uid: number | undefined;
  /**
   * If true, the manifests are not trusted: only flags and environment variables decide where the API key is sent, no
   * command in a manifest runs, and nothing is written. Default: false.
   */
  readonly isUntrusted?: boolean;
  /** Names of the variables that manifests may read (`${env:NAME}`). Absent: none. */
  readonly offered?: readonly string[];
  /** Names of the variables that manifests may send (`${secret:NAME}`), and no output shows. Absent: none. */
  readonly offeredSecrets?: readonly string[];
  /**
   * The folder that must contain every file that a manifest names (`--root`). Absent: the repository of the manifests.
   */
  readonly root?: string | undefined;
  /** Files and folders that the user names for the run. Programs are not looked up in their repositories. */
  readonly namedPaths?: readonly string[] | undefined;
  /** Real paths of further folders in which manifests may name files. Absent: there are none. */
  readonly rootsBeside?: readonly string[] | undefined;
  /** The manifest files that the run has read. Absent: each reading reads its files. */
  readonly files?: SourceFiles | undefined;
  /** The budget for all bytes and files that the run reads. Absent: only the limits of each stack apply. */
  readonly budget?: ReadBudget | undefined;
  /** Secrets to redact in every output. Absent: nothing is redacted. */
  readonly secrets?: SecretRedactor;
  /** The manifests that reports of the run may quote. Absent: reports have positions only. */
  readonly quoted?: QuotedTexts;
  /** The processes of this machine. Absent: the lock of a process that was killed is taken over after a while. */
  readonly processes?: Processes;
  readonly now: () => Date;
  /** Resolves after `ms` milliseconds, or as soon as the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Returns a number from 0 to below 1. Spreads the retries of concurrent runs, and makes the salt of plans. */
  readonly random: () => number;
  readonly readStdin: () => Promise<Uint8Array>;
  /** Called when the subject of the run is known, so that a failure report can name it. */
  readonly onSubject?: (subject: StackNameAndLocator) => void;
  /** Called for each file that is read, so that no output overwrites it. The path is relative to `cwd`, or absolute. */
  readonly onInput?: (file: string) => void;
  /** Called when another process uses the same data file. This process waits up to `limitSeconds` for it. */
  readonly onFileInUse?: (file: string, limitSeconds: number) => void;
  /** Rehearses a plan. A parameter, so that the rehearsal and its server are loaded only if needed. */
  readonly rehearse: Rehearse;
  /**
   * Lists the manifests of a stack that git has, but did not check out. A parameter, because this folder must not import
   * `repository`. Absent: the manifests that are there count as complete.
   */
  readonly listMissingManifests?: ListMissingManifests;
  /** Lists tracked manifests whose names differ only in case or in the form of Unicode. Absent: none are searched. */
  readonly listCollidingNames?: ListCollidingNames;
  /** Finds token folders whose files could get into git. A parameter for the same reason. Absent: nothing is asked. */
  readonly findTokensInGit?: FindTokensInGit<Pick<Host, 'cwd' | 'env' | 'root' | 'secrets' | 'uid' | 'namedPaths'>>;
  /** Opens a transport over sockets. Asynchronous, because the code of the transport is loaded on first use. */
  readonly openTransport: (options: TransportSettings) => Promise<OpenedTransport>;
}

/** Applies a plan to a copy of the live state in memory. Returns the plan with the results of that rehearsal. */
export type Rehearse = (plan: Plan, input: PlanInput) => Promise<Plan>;

export type ListMissingManifests = (
  state: Pick<DesiredState, 'paths'>,
  host: Pick<Host, 'cwd' | 'env' | 'root' | 'secrets' | 'uid'>,
) => Promise<MissingManifests>;

export type ListCollidingNames = (
  paths: readonly string[],
  host: Pick<Host, 'cwd' | 'env' | 'root' | 'secrets' | 'uid'>,
) => Promise<readonly (readonly string[])[]>;

export interface StackNameAndLocator {
  /** The name of the stack. Absent if there is no Stack document, or its name could not be read. */
  readonly stack?: string | undefined;
  /** Returns the position of an address in the manifests. Absent if no manifests were read. */
  readonly locate?: Locate;
  /** Which host the requests go to, and what sets it and the API key, as a sentence. Absent: none is known yet. */
  readonly service?: string | undefined;
}

export interface TransportSettings {
  readonly settings: Pick<
    ServiceSettings,
    'concurrency' | 'connectTimeout' | 'headersTimeout' | 'bodyTimeout' | 'timeout'
  >;
  /** PEM certificates to trust in addition to the certificates of the platform. `undefined`: no others. */
  readonly authorities: string | undefined;
  /** The proxy URLs from the environment. `except`: the value of NO_PROXY. */
  readonly proxy: { readonly http?: string; readonly https?: string; readonly except?: string };
}

/** An open transport over sockets. Reuses connections until it is closed. */
export interface OpenedTransport {
  readonly send: Send;
  readonly close: () => Promise<void>;
}

/** A connection to the service, or to the bundled server in this process. */
export interface ServiceConnection extends OpenedTransport {
  readonly apiKey: string;
  readonly baseUrl: string;
  /** A warning to show to the user, if the connection is not secure. */
  readonly warning: string | undefined;
  /** Must be awaited before the first write. Absent: no preparation is needed. */
  readonly prepareWrites?: () => Promise<void>;
}
