import type { Diagnostic } from './diagnostic.ts';
import type { LiveResource } from './state.ts';
import type { Write, WriteId } from './write.ts';

interface Applied {
  readonly outcome: 'applied';
  readonly write: Write;
  readonly id: string | undefined;
  /** What the service computed for the resource, where the answer showed it whole; never a token. */
  readonly computed?: LiveResource['computed'];
}

/** How one write ended. */
export type Outcome =
  | Applied
  /** Found done already, when a plan file is applied again. */
  | (Applied & { readonly alreadyDone: true })
  /** No answer came to its creation, and it was found by its mark. */
  | (Applied & { readonly found: true })
  | {
      readonly outcome: 'failed';
      readonly write: Write;
      readonly message: string;
      /** HTTP status of the service's refusal; absent: no answer of it says why. */
      readonly status?: number;
      /** Path of the field of the spec that the service names, such as `policy.inbound[0].name`. */
      readonly field?: string;
      readonly isAuthentication: boolean;
      /** A POST whose answer never came: it may have taken effect. The next plan finds out by the mark. */
      readonly isUnknown: boolean;
      /** There was no connection: nothing reached the service. */
      readonly isUnsent?: true;
    }
  | {
      readonly outcome: 'skipped';
      readonly write: Write;
      readonly message: string;
      /** Ids of the writes that it waited for in vain; empty: interrupted, or the service cannot be reached. */
      readonly waitedFor: readonly WriteId[];
      /** It was not tried, because those before it could not be sent. */
      readonly isUnreachable?: true;
    };

/** How one file of the plan ended. */
export interface FileOutcome {
  readonly address: string;
  readonly path: string;
  readonly outcome: Outcome['outcome'];
  /** Why it was not written. */
  readonly message?: string;
}

/** What happens during an apply, as it happens. */
export type ApplyEvent =
  | { readonly event: 'write-started'; readonly write: Write }
  | { readonly event: 'write-ended'; readonly result: Outcome; readonly done: number; readonly total: number }
  | { readonly event: 'diagnostic'; readonly diagnostic: Diagnostic };

/** How an apply ended: every write of the plan once, in plan order. */
export interface ApplyResult {
  readonly outcomes: readonly Outcome[];
  /** Where tokens of new credentials went, by address. */
  readonly tokens: readonly { readonly address: string; readonly place: string; readonly rescued: boolean }[];
  /** Every file of the plan once. */
  readonly files: readonly FileOutcome[];
  /** Warnings about changes and creations of concurrent applies. */
  readonly diagnostics: readonly Diagnostic[];
  /** List requests in addition to the writes: what became of a creation, and whether a concurrent apply created a duplicate. */
  readonly lookUps: number;
  readonly interrupted: boolean;
  /** With a wait: what became of each resource that the service goes on with after a write, once. */
  readonly waited?: readonly WaitResult[];
}

/** What became of a resource that was waited for. */
export interface WaitResult {
  readonly address: string;
  readonly id: string;
  /** `ready`: as asked for. `failed`: the service has given up until something is mended. `unfinished`: when the wait was over, it was not ready. */
  readonly state: 'ready' | 'failed' | 'unfinished';
  /** How far it is, as the service says; absent: ready. */
  readonly message?: string;
  readonly remedy?: string;
  /** What the service computed, as last read. */
  readonly computed?: LiveResource['computed'];
}
