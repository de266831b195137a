import type { Address } from './address.ts';
import type { Change, Difference } from './change.ts';
import type { Danger } from './danger.ts';
import type { Diagnostic, SourcePlace } from './diagnostic.ts';
import type { JsonObject } from './json.ts';
import type { GuardSettings } from './stack.ts';
import type { CrossStackReference, ManifestFileDigest } from './state.ts';
import type { Write } from './write.ts';

export const PLAN_FORMAT = 3;

/** A file that an apply of the plan writes as a whole. */
export interface PlannedFile {
  /** The address of the resource whose value the file contains. */
  readonly address: string;
  /** Relative to the working folder, or absolute. */
  readonly path: string;
  /** The content of the file. Absent if it is known only after apply. */
  readonly text?: string;
  /** True: the file exists with other content, and is replaced. */
  readonly replaces?: true;
}

/** A resource of the stack that has no manifest, but is kept because of `--no-delete`. */
export interface SuppressedDelete {
  readonly address: Address;
  /** Only for a duplicate: the id of the resource that keeps the address. */
  readonly duplicateOf?: string;
  readonly kind: string;
  readonly id: string;
  /** Why the resource would be deleted without `--no-delete`. */
  readonly reason: string;
}

/** Manifests that git has, but did not check out. A plan must not take them for removed. */
export interface MissingManifests {
  /** Files that a sparse checkout leaves out, and folders of submodules that are not there. */
  readonly files: readonly string[];
  /** Why more may be missing. Absent if the list is complete. */
  readonly doubt?: string;
}

/** A safety rule that the plan breaks. */
export interface SafetyViolation {
  readonly rule:
    | 'protect'
    | 'delete-share'
    | 'nothing-described'
    | 'manifests-missing'
    | 'policy'
    | 'rejected-write'
    | 'claimed-elsewhere';
  readonly message: string;
  /** What the user can do, such as the flag that allows the violation. No flag allows a violation of a policy. */
  readonly remedy: string;
  readonly addresses: readonly string[];
  /** Only if `rule` is `policy`. */
  readonly policy?: string;
  /** The positions of the resource's manifest and of the policy. */
  readonly places?: readonly { readonly message: string; readonly place: SourcePlace }[];
}

/** How a run connects to the service. */
export interface RequestSettings {
  readonly versionHeader: string;
  readonly pageSize: number;
  readonly concurrency: number;
  /** Such as `120/60s`, or `none`. */
  readonly rateLimit: string;
}

/** The settings of the run that created a plan. */
export interface PlanSettings extends RequestSettings {
  /** The environment variable of the API key. Absent if the Stack names none. */
  readonly keyEnv?: string;
  readonly guard: GuardSettings;
  /** The kinds that the stack uses. Other kinds are not read. Absent: all kinds. */
  readonly kinds?: readonly string[];
}

/** When and from which commit a plan was created. For readers only: no run checks or applies it. */
interface PlanOrigin {
  /** The time of creation, RFC 3339. */
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
   * Settings of the run, without token sinks. The changes contain these, so that they are approved, and compared at
   * apply.
   */
  readonly settings: PlanSettings;
  /** The addresses to which the plan is limited. Empty if it is not limited. */
  readonly targets: readonly string[];
  /** The addresses that the plan leaves out, together with everything that depends on them. Absent if there are none. */
  readonly exclusions?: readonly string[];
  /** Names of other stacks whose resources the plan may take over. */
  readonly takeOver: readonly string[];
  readonly inputs: readonly ManifestFileDigest[];
  /** The manifest paths, as the user gave them. An apply uses them by default. Absent: the manifests were not files. */
  readonly manifests?: readonly string[];
  /** Maps the address of an `External` to the id that it names. For readers of the plan. */
  readonly externals: Readonly<Record<string, string>>;
  /**
   * Maps the address of an `External` to a resource of another stack. The id of that resource is known only after the
   * other stack is applied. Absent if there is no such `External`.
   */
  readonly crossStackReferences?: Readonly<Record<Address, CrossStackReference>>;
  /** The name of the label or annotation whose value is a resource's owner. */
  readonly ownerLabel?: string;
  /** Sorted by action (deletes, replaces, updates, releases, adoptions, creates, no-ops), then by address. */
  readonly changes: readonly Change[];
  /** Deletes that the plan omits because of `--no-delete`. Absent if there are none. */
  readonly suppressedDeletes?: readonly SuppressedDelete[];
  /** Sorted so that the writes can be sent one after another. */
  readonly writes: readonly Write[];
  /** The files that an apply writes after its last request. It writes no other files. */
  readonly files: readonly PlannedFile[];
  readonly diagnostics: readonly Diagnostic[];
  readonly violations: readonly SafetyViolation[];
  /** The result of the rehearsal. Absent: the plan was not rehearsed, or has no writes. */
  readonly rehearsal?: Rehearsal;
  readonly requests: {
    /** Number of requests sent to read the live state. */
    readonly read: number;
    /** Number of requests of an apply: writes, and list requests to find duplicates that concurrent applies created. */
    readonly apply: number;
    /**
     * Whether an apply may send more requests, because the number of list pages is unknown. Absent: `apply` is exact.
     */
    readonly mayTakeMore?: boolean;
    /**
     * Number of writes before which an apply reads the resource again, unless it has read it within the last five
     * seconds. Not part of `apply`. Absent if there are none.
     */
    readonly readAgain?: number;
    /** Minimum duration of the apply within the rate limit, in milliseconds. */
    readonly leastMs: number;
  };
}

/** The result of a rehearsal. Its findings are diagnostics of the plan. */
interface Rehearsal {
  /** Number of writes that the rehearsal tried. */
  readonly writes: number;
  /** Number of writes that the copy of the account rejected, including writes that depend on a rejected one. */
  readonly rejected: number;
  /** Number of changes in a second plan, which is computed after the rehearsal. */
  readonly remaining: number;
  /** Number of tokens that an apply would create and deliver. */
  readonly tokens: number;
  /** Ids that the plan sends although no response showed that they exist. Absent if there are none. */
  readonly unchecked?: readonly string[];
}

/** A field that one plan changes, and the other plan leaves alone or changes to another value. */
export interface ExtraField {
  /** The difference in the plan with the change. A created resource has only `to`, a deleted one only `from`. */
  readonly difference: Difference;
  /** The difference in the other plan. Absent: the other plan leaves the field alone. */
  readonly other?: Pick<Difference, 'from' | 'to'>;
}

/** A change of one plan that the other plan does not contain, or contains only in part. */
export interface ExtraChange {
  readonly change: Change;
  /** The change of the same resource in the other plan. Absent if the other plan does not change the resource. */
  readonly other?: Change;
  /** Empty if the whole change is extra, because the other plan has no action or another action for the resource. */
  readonly fields: readonly ExtraField[];
  /** Dangers that the other plan does not show. */
  readonly dangers: readonly Danger[];
  /** Notes that the other plan does not show, such as about a token sink. */
  readonly notes: readonly string[];
}

/** All changes and files that one plan has and the other does not have. */
export interface ExtraChanges {
  /** Sorted as in the plan that contains the changes. */
  readonly changes: readonly ExtraChange[];
  readonly files: readonly PlannedFile[];
}

/** The differences between two plans. Ignores the order of changes, and ids that the service generates. */
export interface PlanComparison {
  readonly before: Plan;
  readonly after: Plan;
  /** Why the plans cannot be compared (different stack, service or mode). Absent if they can. */
  readonly mismatch?: string;
  /** Changes and files of the later plan, `after`, that the earlier plan does not have. */
  readonly more: ExtraChanges;
  /**
   * Changes and files of the earlier plan, `before`, that the later plan does not have. Omits fields that both plans
   * change: their entries in `more` contain both values.
   */
  readonly less: ExtraChanges;
}

/** Whether an approval of the earlier plan covers the later plan, because `after` does no more than `before`. */
export function isCoveredByApproval({ mismatch, more }: PlanComparison): boolean {
  return mismatch === undefined && isNothing(more);
}

/** Whether both plans do the same. */
export function isSamePlan(comparison: PlanComparison): boolean {
  return isCoveredByApproval(comparison) && isNothing(comparison.less);
}

function isNothing({ changes, files }: ExtraChanges): boolean {
  return changes.length + files.length === 0;
}

/** Whether a JSON object is what a failed run wrote, such as into the file of `plan -o`. */
export function isFailureReport(value: JsonObject): boolean {
  return value['ok'] === false && 'command' in value && !('apiVersion' in value);
}
