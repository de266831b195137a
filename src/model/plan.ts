import type { Address } from './address.ts';
import type { Change } from './change.ts';
import type { Diagnostic, SourcePlace } from './diagnostic.ts';
import type { GuardSettings } from './stack.ts';
import type { CrossStackReference, ManifestInput } from './state.ts';
import type { Write } from './write.ts';

/** Version of the plan file format. */
export const PLAN_FORMAT = 3;

/** A file that an apply of the plan writes as a whole. */
export interface PlannedFile {
  /** The address of the resource whose value the file contains. */
  readonly address: string;
  /** Relative to the working folder, or absolute. */
  readonly path: string;
  /** The content of the file. Absent: known only after apply. */
  readonly text?: string;
  /** The write replaces an existing file with other content. */
  readonly replaces?: true;
}

/** A resource of the stack without a manifest that the plan keeps because of `--no-delete`. */
export interface SuppressedDelete {
  readonly address: Address;
  /** Id of the live resource that keeps the address. Absent if this is not a duplicate. */
  readonly duplicateOf?: string;
  readonly kind: string;
  readonly id: string;
  /** Why the plan would delete it without `--no-delete`. */
  readonly reason: string;
}

/** A safety rule that the plan breaks. */
export interface GuardViolation {
  readonly rule: 'protect' | 'delete-share' | 'nothing-described' | 'policy' | 'rejected-write';
  readonly message: string;
  /** The flag that allows the violation. No flag allows a violation of a policy. */
  readonly remedy: string;
  readonly addresses: readonly string[];
  /** The name of the policy that the plan violates. */
  readonly policy?: string;
  /** The positions of the resource's manifest and of the policy. */
  readonly places?: readonly { readonly message: string; readonly place: SourcePlace }[];
}

/** How a run connects to the service. */
export interface ConnectionSettings {
  readonly versionHeader: string;
  readonly pageSize: number;
  readonly concurrency: number;
  /** Such as `120/60s`, or `none`. */
  readonly rateLimit: string;
}

/** The settings of the run that created a plan. */
export interface PlanSettings extends ConnectionSettings {
  /** The variable of the API key. Absent if the Stack names none. */
  readonly keyEnv?: string;
  readonly guard: GuardSettings;
  /** The kinds that the stack uses. Other kinds are not read. Absent: all kinds. */
  readonly kinds?: readonly string[];
}

/** When and from which commit a plan was created. For readers only: no run checks or applies it. */
interface PlanOrigin {
  /** RFC 3339. */
  readonly at: string;
  /** The commit of the manifests. Absent if the environment does not name it. */
  readonly commit?: string;
}

/** What an apply of the manifests would do. Immutable, serialisable, and without secrets. */
export interface Plan {
  readonly format: typeof PLAN_FORMAT;
  readonly tool: { readonly name: 'edgewise'; readonly version: string };
  /** When and from which commit the plan was created. Absent: unknown. */
  readonly made?: PlanOrigin;
  readonly stack: string;
  readonly baseUrl: string;
  /** `destroy`: deletes everything, so the limit on deletes does not apply. `release`: only removes marks. */
  readonly mode: 'apply' | 'destroy' | 'release';
  /**
   * Settings of the run, without token sinks. Changes contain the sinks, so that the reader approves them, and an apply
   * compares them.
   */
  readonly settings: PlanSettings;
  /** The addresses to which the plan is limited. Empty: all. */
  readonly targets: readonly string[];
  /** Other stacks whose resources the plan may take over. */
  readonly takeOver: readonly string[];
  readonly inputs: readonly ManifestInput[];
  /**
   * The manifest paths, as the user gave them. An apply without paths uses them. Absent: the manifests were not files.
   */
  readonly manifests?: readonly string[];
  /** Ids that an External names, by its address. For readers. */
  readonly externals: Readonly<Record<string, string>>;
  /**
   * Resources of other stacks whose ids are known only after those stacks are applied, by the address of the External.
   * Absent: none.
   */
  readonly awaitedReferences?: Readonly<Record<Address, CrossStackReference>>;
  /** The name of the label or annotation whose value is a resource's owner. */
  readonly ownerLabel?: string;
  /** Sorted by action (deletes, replaces, updates, releases, adoptions, creates, no-ops), then by address. */
  readonly changes: readonly Change[];
  /** Deletes that the plan leaves out because of `--no-delete`. Absent: none. */
  readonly suppressedDeletes?: readonly SuppressedDelete[];
  /** Sorted so that sending one after another is valid. */
  readonly writes: readonly Write[];
  /** Files to write after the last write. No other files are written. */
  readonly files: readonly PlannedFile[];
  readonly diagnostics: readonly Diagnostic[];
  readonly violations: readonly GuardViolation[];
  /** The result of the rehearsal. Absent: the plan was not rehearsed, or has no writes. */
  readonly rehearsal?: Rehearsal;
  readonly requests: {
    /** Number of requests sent to read the live state. */
    readonly read: number;
    /**
     * Number of requests that an apply of this plan sends: its writes, and list requests of each kind in which a
     * concurrent apply could create a duplicate.
     */
    readonly apply: number;
    /**
     * An apply may send more than `apply` requests, because the number of list pages is known only when they are read.
     * Absent: `apply` is exact.
     */
    readonly mayTakeMore?: boolean;
    /** Minimum duration of the apply within the rate limit, in milliseconds. */
    readonly leastMs: number;
  };
}

/** The result of a rehearsal. Its findings are diagnostics of the plan. */
interface Rehearsal {
  /** Number of writes that the rehearsal tried. */
  readonly writes: number;
  /** Number of writes that the copy of the account rejected, or that depend on a rejected one. */
  readonly rejected: number;
  /** Number of changes in a second plan, computed after the rehearsal. */
  readonly remaining: number;
  /** Number of tokens that an apply would create and deliver. */
  readonly tokens: number;
  /** Ids that the plan sends although no response showed that they exist. Absent: none. */
  readonly unchecked?: readonly string[];
}
