import type { Diagnostic } from './diagnostic.ts';
import type { LiveResource } from './state.ts';
import type { Write, WriteId } from './write.ts';

interface Applied {
  readonly outcome: 'applied';
  readonly write: Write;
  readonly id: string | undefined;
  /**
   * Computed fields in the response to the write. Absent if the response did not have all of them. Never contains a
   * token.
   */
  readonly computed?: LiveResource['computed'];
}

/** The result of one write. */
export type Outcome =
  | Applied
  /** Not sent, because an earlier apply of the same plan file had already done it. */
  | (Applied & { readonly alreadyDone: true })
  /** The create had no response, but the resource was found by its mark. */
  | (Applied & { readonly found: true })
  | {
      readonly outcome: 'failed';
      readonly write: Write;
      readonly message: string;
      /** HTTP status of the rejection. Absent: no response of the service caused the failure. */
      readonly status?: number;
      /** Path of the spec field that the service names in its response, such as `policy.inbound[0].name`. */
      readonly field?: string;
      readonly isAuthentication: boolean;
      /** A POST without a response, which may have taken effect. The next plan finds the resource by its mark. */
      readonly isUnknown: boolean;
      /** There was no connection, so the request did not reach the service. */
      readonly isUnsent?: true;
    }
  | {
      readonly outcome: 'skipped';
      readonly write: Write;
      readonly message: string;
      /**
       * Ids of the dependencies that did not succeed. Empty: the apply was interrupted, or the service cannot be
       * reached.
       */
      readonly waitedFor: readonly WriteId[];
      /** Not tried, because earlier writes could not reach the service. */
      readonly isUnreachable?: true;
    };

/** The result of writing one file of the plan. */
export interface FileOutcome {
  readonly address: string;
  readonly path: string;
  readonly outcome: Outcome['outcome'];
  /** Why the file was not written. Absent if it was. */
  readonly message?: string;
}

/** An event of a running apply, reported when it happens. */
export type ApplyEvent =
  | { readonly event: 'write-started'; readonly write: Write }
  | { readonly event: 'write-ended'; readonly result: Outcome; readonly done: number; readonly total: number }
  | { readonly event: 'diagnostic'; readonly diagnostic: Diagnostic };

/** The result of an apply. */
export interface ApplyResult {
  readonly outcomes: readonly Outcome[];
  /**
   * The sinks that received the tokens of new credentials, by address. `rescued`: the token's own sink failed, so the
   * rescue sink received it.
   */
  readonly tokens: readonly { readonly address: string; readonly place: string; readonly rescued: boolean }[];
  /** Every file of the plan. */
  readonly files: readonly FileOutcome[];
  /** Warnings, such as about concurrent changes. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * Number of list requests. They find out whether a create took effect, and whether a concurrent apply created a
   * duplicate.
   */
  readonly lookUps: number;
  readonly interrupted: boolean;
  /** If the apply waited: the state of each resource that the service was still processing after its write. */
  readonly waited?: readonly WaitResult[];
}

/** The state of a resource after the apply waited for it. */
export interface WaitResult {
  readonly address: string;
  readonly id: string;
  /**
   * `ready`: the service has finished. `failed`: the service stopped, and continues only after the cause is fixed.
   * `unfinished`: not ready when the waiting time ended.
   */
  readonly state: 'ready' | 'failed' | 'unfinished';
  /** The status that the service reports. Absent if the resource is ready. */
  readonly message?: string;
  readonly remedy?: string;
  /** The computed fields, as last read. */
  readonly computed?: LiveResource['computed'];
}
