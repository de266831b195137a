import type { Diagnostic } from './diagnostic.ts';
import type { LiveResource } from './state.ts';
import type { Write, WriteId } from './write.ts';

export interface Applied {
  readonly outcome: 'applied';
  readonly write: Write;
  readonly id: string | undefined;
  /** The computed fields in the response, without tokens. Absent if the response did not have all of them. */
  readonly computed?: LiveResource['computed'];
  /** The create had no response, but the service has the new resource: it was found by its mark. */
  readonly found?: true;
}

/** The result of one write. */
export type Outcome =
  | Applied
  | {
      readonly outcome: 'failed';
      readonly write: Write;
      readonly message: string;
      /** The HTTP status with which the service rejected the write. Absent if the failure has another cause. */
      readonly status?: number;
      /** The path of the spec field that the service names in its response, such as `policy.inbound[0].name`. */
      readonly field?: string | undefined;
      readonly isAuthentication: boolean;
      /** The account has as many resources of the kind as it may have. */
      readonly isQuota?: true;
      /** True for a POST without a response. If it took effect, the next plan finds the resource by its mark. */
      readonly isUnknown: boolean;
      /** There was no connection, so the request did not reach the service. */
      readonly isUnsent?: true;
      /** The write was not sent, because what it relies on changed after the plan was made. */
      readonly isStale?: true;
      /** The service does not keep the mark of what it creates, so nothing more is sent to it. */
      readonly isUnmanageable?: true;
    }
  | {
      readonly outcome: 'skipped';
      readonly write: Write;
      readonly message: string;
      /** Dependencies that did not succeed. Empty if the apply was stopped. */
      readonly waitedFor: readonly WriteId[];
      /** A prune that was not tried, because another stack of the run failed. `message` says which. */
      readonly isKept?: true;
      /** Why the write was not tried, if the service is the reason. */
      readonly stop?: ServiceStop;
    };

/** Why an apply sends nothing more: earlier writes could not reach the service, or it does not keep marks. */
export type ServiceStop = 'unreachable' | 'unmanageable';

export const SERVICE_STOPS: Readonly<Record<ServiceStop, string>> = {
  unreachable: 'the service cannot be reached',
  unmanageable: 'the service cannot be managed',
};

export function createFailedOutcome(write: Write, message: string): Extract<Outcome, { readonly outcome: 'failed' }> {
  return { outcome: 'failed', write, message, isAuthentication: false, isUnknown: false };
}

/** The outcome of a write that was interrupted before it was sent. */
export function createInterruptedOutcome(write: Write): Outcome {
  return { outcome: 'skipped', write, message: 'interrupted', waitedFor: [] };
}

/** The service rejected a write with 409, and it will be tried again: what it claims may not be free yet. */
export interface WriteWaiting {
  readonly event: 'write-waiting';
  readonly write: Write;
  /** Deletes and updates of this run whose effect the write waits for. Empty: those of another stack. */
  readonly waitsFor: readonly WriteId[];
  /** Whether this is the first pause of the write. */
  readonly isFirst: boolean;
  /** How long the write is still tried again, in milliseconds. */
  readonly leftMs: number;
}

/** An event of a running apply, reported when it happens. */
export type ApplyEvent =
  | { readonly event: 'write-started'; readonly write: Write }
  | WriteWaiting
  | { readonly event: 'write-ended'; readonly result: Outcome; readonly done: number; readonly total: number }
  | { readonly event: 'diagnostic'; readonly diagnostic: Diagnostic };

/** The result of an apply. */
export interface ApplyResult {
  readonly outcomes: readonly Outcome[];
  /**
   * One entry for each token of a new credential: the address of the credential, and the sink that received the token.
   * `rescued`: the configured sink failed, so the rescue sink received the token.
   */
  readonly tokens: readonly { readonly address: string; readonly deliveredTo: string; readonly rescued: boolean }[];
  /** Warnings, such as about concurrent changes. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * Number of requests sent to find out whether a create or a delete took effect, or whether a concurrent apply
   * duplicated a resource.
   */
  readonly lookUps: number;
  readonly interrupted: boolean;
}

/** The result of an apply that had nothing to do. */
export const EMPTY_APPLY_RESULT: ApplyResult = {
  outcomes: [],
  tokens: [],
  diagnostics: [],
  lookUps: 0,
  interrupted: false,
};
