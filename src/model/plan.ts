import type { Address } from './address.ts';
import type { Change } from './change.ts';
import type { Diagnostic, SourcePlace } from './diagnostic.ts';
import type { GuardSettings } from './stack.ts';
import type { CrossStackReference, ManifestInput } from './state.ts';
import type { Write } from './write.ts';

/** Version of the plan file format. */
export const PLAN_FORMAT = 3;

/** A file that applying the plan writes, as a whole. */
export interface PlannedFile {
  /** The resource whose value it holds. */
  readonly address: string;
  /** Relative to the working folder, or absolute. */
  readonly path: string;
  /** The content of the file; absent: known after apply. */
  readonly text?: string;
  /** A file with other content exists there, and is replaced. */
  readonly replaces?: true;
}

/** A resource of ours without a manifest that the plan does not delete (`--no-delete`). */
export interface SuppressedDelete {
  readonly address: Address;
  /** Id of the live resource that keeps the address; absent if this is not a duplicate. */
  readonly duplicateOf?: string;
  readonly kind: string;
  readonly id: string;
  /** Why it would be deleted. */
  readonly reason: string;
}

/** A safety rule that the plan breaks. */
export interface GuardViolation {
  readonly rule: 'protect' | 'delete-share' | 'nothing-described' | 'policy' | 'rejected-write';
  readonly message: string;
  /** The flag that lets it through. No flag does for a policy. */
  readonly remedy: string;
  readonly addresses: readonly string[];
  /** Name of the policy. */
  readonly policy?: string;
  /** The positions of the resource and the policy. */
  readonly places?: readonly { readonly message: string; readonly place: SourcePlace }[];
}

/** How a run talks to the service. */
export interface ConnectionSettings {
  readonly versionHeader: string;
  readonly pageSize: number;
  readonly concurrency: number;
  /** `120/60s`, or `none`. */
  readonly rateLimit: string;
}

/** The settings of the run that made a plan. */
export interface PlanSettings extends ConnectionSettings {
  /** The variable that held the API key, where the Stack names one. */
  readonly keyEnv?: string;
  /** When deletes need consent. */
  readonly guard: GuardSettings;
  /** The kinds that the stack uses; others were not read. Absent: every kind. */
  readonly kinds?: readonly string[];
}

/** The origin of a plan. For readers: it is neither checked nor applied. */
interface PlanOrigin {
  /** RFC 3339. */
  readonly at: string;
  /** The commit of the manifests, where the environment says it. */
  readonly commit?: string;
}

/** What applying the manifests would do. Immutable, serialisable, and without secrets. */
export interface Plan {
  readonly format: typeof PLAN_FORMAT;
  readonly tool: { readonly name: 'edgewise'; readonly version: string };
  /** Absent: unknown. */
  readonly made?: PlanOrigin;
  readonly stack: string;
  readonly baseUrl: string;
  /** `destroy`: made to delete everything, so the guard on deletes does not apply. `release`: takes marks off and does nothing else. */
  readonly mode: 'apply' | 'destroy' | 'release';
  /** How it connects to the service. Token sinks are not in it: changes show them for approval, and an apply compares them. */
  readonly settings: PlanSettings;
  /** The addresses that it was narrowed to; empty: everything. */
  readonly targets: readonly string[];
  /** Other stacks whose resources it may take over. */
  readonly takeOver: readonly string[];
  readonly inputs: readonly ManifestInput[];
  /** The paths that were planned, as they were given: an apply that is not told takes these. Absent: the manifests were no files. */
  readonly manifests?: readonly string[];
  /** Ids that the manifests have a name for, by the address of the External: for those who read the plan. */
  readonly externals: Readonly<Record<string, string>>;
  /** Resources of other stacks whose ids are known after those are applied, by the address of the External; absent: none. */
  readonly awaitedReferences?: Readonly<Record<Address, CrossStackReference>>;
  /** The label or annotation that says whose a resource is. */
  readonly ownerLabel?: string;
  /** Deletes, replaces, updates, releases, adoptions, creates, no-ops; by address within each. */
  readonly changes: readonly Change[];
  /** What it would delete, but for `--no-delete`; absent: nothing. */
  readonly suppressedDeletes?: readonly SuppressedDelete[];
  /** In an order that is valid when they are made one after another. */
  readonly writes: readonly Write[];
  /** Written when the writes are over; no others are. */
  readonly files: readonly PlannedFile[];
  readonly diagnostics: readonly Diagnostic[];
  readonly violations: readonly GuardViolation[];
  /** How it went when it was tried in memory; absent: it was not tried, or there was nothing to try. */
  readonly rehearsal?: Rehearsal;
  readonly requests: {
    /** What reading took. */
    readonly read: number;
    /** What applying this plan takes: its writes, and lists of each kind that another apply could make the same of. */
    readonly apply: number;
    /** How many lists are needed is only known when they are asked for: `apply` is the least. Absent: it is exact. */
    readonly mayTakeMore?: boolean;
    /** The least time in milliseconds that those take within the rate limit. */
    readonly leastMs: number;
  };
}

/** The result of trying a plan on a copy of the account in memory. The diagnostics of the plan have the findings. */
interface Rehearsal {
  /** Number of writes that were tried. */
  readonly writes: number;
  /** Number of those that the copy rejected, or that waited for one in vain. */
  readonly rejected: number;
  /** Number of changes that a plan after it would still make. */
  readonly remaining: number;
  /** Number of tokens that would be made and delivered. */
  readonly tokens: number;
  /** Ids that the plan sends although no response showed that they exist; absent: none. */
  readonly unchecked?: readonly string[];
}
