import type { Address } from './address.ts';
import { type Change, type ChangingAction, type Difference, formatChangeAddress, isHiddenChange } from './change.ts';
import { countInCondition } from './conditions.ts';
import type { Danger } from './danger.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { Json } from './json.ts';
import type { Place } from './place.ts';
import type { GuardSettings } from './stack.ts';
import type { CrossStackReference, DesiredState, ManifestFileDigest } from './state.ts';
import { formatWriteAddress, type Write } from './write.ts';

/**
 * The version of the format of plan files, and of every other result as JSON.
 *
 * @example
 * const isPlan = typeof value === 'object' && value !== null && 'format' in value && value.format === PLAN_FORMAT;
 */
export const PLAN_FORMAT = 7;

/** Manifests that git has, but did not check out. A plan must not take them for removed. */
export interface MissingManifests {
  /** Files that a sparse checkout leaves out, and folders of submodules that are not there. */
  readonly files: readonly string[];
  /** Why more may be missing. Absent if the list is complete. */
  readonly doubt?: string | undefined;
}

/** A safety rule that the plan breaks. */
export interface SafetyViolation {
  readonly rule:
    | 'protect'
    | 'delete-share'
    | 'nothing-described'
    | 'manifests-missing'
    | 'take-over'
    | 'renamed-back'
    | 'policy'
    | 'rejected-write'
    | 'claimed-elsewhere'
    | 'value-exchange';
  readonly message: string;
  /** What the user can do, such as the flag that allows the violation. No flag allows a violation of a policy. */
  readonly remedy: string;
  readonly addresses: readonly string[];
  /** Only if `rule` is `policy`. */
  readonly policy?: string;
  /** Only if `rule` is `take-over`: the stack whose resources the plan takes over. */
  readonly stack?: string;
  /** The positions of the resource's manifest and of the policy. */
  readonly places?: readonly { readonly message: string; readonly place: Place }[] | undefined;
}

/** An id in manifests that no resource of the account has any more, as after the account was emptied. */
export interface GoneId {
  readonly id: string;
  /** What has, or will have, a new id in its place. Absent: no manifest of the repository adopts it. */
  readonly address?: Address;
  /** The stack of the address. Absent: that of the plan. */
  readonly stack?: string;
  /** Where manifests still refer to it. */
  readonly places: readonly Place[];
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
  readonly keyEnv?: string | undefined;
  readonly guard: GuardSettings;
  /** The kinds that the stack uses. Other kinds are not read. Absent: all kinds. */
  readonly kinds?: readonly string[] | undefined;
}

/** The options of the run that created a plan, besides its targets. */
export interface PlanOptionSettings {
  /** The addresses of `--rotate`, sorted. */
  readonly rotate: readonly string[];
  /** The addresses of `--retire`, sorted. */
  readonly retire: readonly string[];
}

/** A change of an approved plan, or a part of one, that is live already. */
export interface DoneChange {
  /** As in reports, with the id of a duplicate. */
  readonly address: string;
  readonly action: ChangingAction;
  /** The paths of the differences that are live. Absent if the whole change is done. */
  readonly paths?: readonly string[] | undefined;
}

/** The numbers of documents and files among the manifests that belong to other tools. */
export interface SkippedCounts {
  /** Documents with the `apiVersion` and kind of another tool. */
  readonly documents: number;
  /** Files that `spec.skip_files` names. */
  readonly files: number;
}

/**
 * Whether an apply of the plan leaves the stack undone: the run keeps what the stack would prune, or does not try again
 * what the service refused.
 */
export function isIncomplete(plan: Pick<Plan, 'diagnostics' | 'changes'>): boolean {
  return countInCondition(plan, 'kept') > 0 || plan.changes.some(({ action }) => action === 'withhold');
}

/** Whether an apply would change anything, apart from writing again what the service does not show. */
export function hasKnownWrites({ changes, writes }: Pick<Plan, 'changes' | 'writes'>): boolean {
  const rewritten = new Set(changes.filter(isHiddenChange).map(formatChangeAddress));
  return writes.some((write) => !rewritten.has(formatWriteAddress(write)));
}

/** Counts what is skipped. `undefined` if there is nothing. */
export function countSkipped({ skipped }: Pick<DesiredState, 'skipped'>): SkippedCounts | undefined {
  const { documents = 0, files = [] } = skipped ?? {};
  return documents + files.length === 0 ? undefined : { documents, files: files.length };
}

/** When and from which commit a plan was created. For readers only: no run checks or applies it. */
interface PlanOrigin {
  /** The time of creation, RFC 3339. */
  readonly at: string;
  /** The commit of the manifests. Absent if the environment does not name it. */
  readonly commit?: string | undefined;
}

/**
 * What an apply of the manifests would do. Immutable, serialisable, and without secrets. A plan that was read from a file
 * is a limit, not an instruction: nothing in it may name a file, a program, a host or an option of a run. Each member says
 * what else it may not be used for.
 */
export interface Plan {
  /** Decides whether this version can read the plan. Not to convert one of another version: it is made again. */
  readonly format: typeof PLAN_FORMAT;
  /** Not to decide what a plan means: only `format` does. */
  readonly tool: { readonly name: 'edgewise'; readonly version: string };
  /** When and from which commit the plan was created. Not to decide whether it is stale: compare it. Absent: unknown. */
  readonly made?: PlanOrigin;
  /** Not to find the manifests, nor to claim what is live: ownership is in the mark of each resource. */
  readonly stack: string;
  /** Only compared with that of the run, and shown. Not to send a request to: an edited file would get the API key. */
  readonly baseUrl: string;
  /** `destroy`: deletes everything, so the limit on deletes does not apply. `release`: only removes marks. */
  readonly mode: 'apply' | 'destroy' | 'release';
  /**
   * Settings of the run, without token sinks. The changes contain these, so that they are approved, and compared at
   * apply. Not to run with: a run resolves its own.
   */
  readonly settings: PlanSettings;
  /** Compared and shown. Not a consent: the flags of the run that applies give it. */
  readonly options: PlanOptionSettings;
  /** The addresses to which the plan is limited. Not to limit the run that applies it. Empty if it is not limited. */
  readonly targets: readonly string[];
  /** The addresses that the plan leaves out, together with everything that depends on them. Absent if there are none. */
  readonly exclusions?: readonly string[] | undefined;
  /** Names of other stacks whose resources the plan takes over. Not a consent: a flag or an answer of the run is. */
  readonly takeOver: readonly string[];
  /** To tell which files changed since. Not to read them: the run names what it reads. */
  readonly inputs: readonly ManifestFileDigest[];
  /** What is among the manifests and belongs to other tools. For readers. Absent if there is nothing. */
  readonly skipped?: SkippedCounts | undefined;
  /** Maps the address of an `External` to the id that it names. For readers of the plan, not for requests. */
  readonly externals: Readonly<Record<string, string>>;
  /**
   * Maps the address of an `External` to a resource of another stack. The id of that resource is known only after the
   * other stack is applied. Absent if there is no such `External`.
   */
  readonly crossStackReferences?: Readonly<Record<Address, CrossStackReference>> | undefined;
  /** What needs a new id, for readers: others may have the old one. Not to be adopted. Absent if there is nothing. */
  readonly goneIds?: readonly GoneId[] | undefined;
  /** The name of the label or annotation whose value is a resource's team. For readers: the mark says whose a resource is. Not to find that. */
  readonly teamLabel?: string | undefined;
  /** The salt of the digests in the changes. Absent if there are none. */
  readonly hiddenSalt?: string | undefined;
  /** What people approve, and what two plans are compared by. Not to send: `writes` are. Sorted by action (deletes, replaces, updates, releases, adoptions, creates, no-ops), then by address. */
  readonly changes: readonly Change[];
  /** Sorted so that they can be sent one after another. Not to say what changes: several may be for one change. */
  readonly writes: readonly Write[];
  /** Their codes and severities decide; their texts may change, and nothing may depend on them. */
  readonly diagnostics: readonly Diagnostic[];
  /** All of them, also those with consent. Not to refuse a plan as they are: `listBlockingViolations` applies the consents. */
  readonly violations: readonly SafetyViolation[];
  /** What an approved plan contains beyond this plan. Absent: nothing, or the plan was not compared with an approved one. */
  readonly done?: readonly DoneChange[];
  /** The result of the rehearsal. No proof that the service will accept the writes. Absent: the plan was not rehearsed, or has no writes. */
  readonly rehearsal?: Rehearsal;
  /** For readers: not compared, and no limit on what an apply sends. */
  readonly requests: {
    /** Number of requests sent to read the live state. */
    readonly read: number;
    /**
     * The least number of requests of an apply: the writes, one list request for each kind in which a concurrent apply
     * could create the same resource, and those that verify deletes (`apply/verify-deletes.ts`).
     */
    readonly apply: number;
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
  /** Number of writes that claim a value which another stack of the run frees first. Absent: there is none. */
  readonly awaiting?: number;
  /** Number of changes in a second plan, which is computed after the rehearsal. */
  readonly remaining: number;
  /** Number of tokens that an apply would create and deliver. */
  readonly tokens: number;
  /** Ids that the plan sends although no response showed that they exist. Absent if there are none. */
  readonly unchecked?: readonly string[];
}

/**
 * Which side differs from the earlier plan: the manifests (or the options of the run), what is live, or both; or the run,
 * of which one plan leaves the change out, such as a delete beside a stack that is refused. Absent: the two plans alone
 * do not show it.
 */
export type ChangedSide = 'manifests' | 'live' | 'both' | 'run';

export function toChangedSide(hasManifestsChanged: boolean, hasLiveChanged: boolean): ChangedSide | undefined {
  if (hasManifestsChanged) return hasLiveChanged ? 'both' : 'manifests';
  return hasLiveChanged ? 'live' : undefined;
}

/**
 * Digests of what manifests have in clear and no plan file shows, by address. An approval has one of them. `undefined`:
 * it may have none.
 */
export type HiddenDigests = ReadonlyMap<string, readonly (string | undefined)[]>;

/** Whether the digest of an approved change is one of those of its manifest. */
export function isHiddenAsApproved({ address, hiddenDigest }: Change, digests: HiddenDigests): boolean {
  return (digests.get(address) ?? [undefined]).includes(hiddenDigest);
}

/** Instead of a path: one digest covers all hidden values of a resource that its manifest has in clear. */
export const HIDDEN_VALUES_PATH = 'hidden values';

/** A field that one plan changes, and the other plan leaves alone or changes to another value. */
export interface ExtraField {
  /** The difference in the plan with the change. A created resource has only `to`, a deleted one only `from`. */
  readonly difference: Difference;
  /** The difference in the other plan. Absent: the other plan leaves the field alone. */
  readonly other?: Pick<Difference, 'from' | 'to'> | undefined;
  readonly changed?: ChangedSide | undefined;
  /** Only for hidden values: the digests of the two plans have different salts, so the values may be equal. */
  readonly isUncompared?: true;
}

/** A change of one plan that the other plan does not contain, or contains only in part. */
export interface ExtraChange {
  readonly change: Change;
  /** The change of the same resource in the other plan. Absent if the other plan does not change the resource. */
  readonly other?: Change | undefined;
  /** Whether the other plan has no change of the resource, or one that cannot be compared field by field. */
  readonly isWhole: boolean;
  /** Empty if the whole change is extra. */
  readonly fields: readonly ExtraField[];
  /** Dangers that the other plan does not show. */
  readonly dangers: readonly Danger[];
  /** Only if the whole change is extra. */
  readonly changed?: ChangedSide | undefined;
}

/** A part of the plan, other than its changes, that must be equal and is not. */
export interface MemberDifference {
  /** The name for people, such as `the variable of the API key`. */
  readonly name: string;
  /** The value in the earlier plan. Absent if it has none. */
  readonly before?: Json | undefined;
  /** The value in the later plan. Absent if it has none. */
  readonly after?: Json | undefined;
}

/** The differences between two plans. Ignores the order of changes, texts for readers, counts and times. */
export interface PlanComparison {
  readonly before: Plan;
  readonly after: Plan;
  /** Settings, options and consents that differ. */
  readonly members: readonly MemberDifference[];
  /** Changes of the later plan, `after`, that the earlier plan does not have. Sorted as in that plan. */
  readonly more: readonly ExtraChange[];
  /**
   * Changes of the earlier plan, `before`, that the later plan does not have. Sorted as in that plan. Omits fields that
   * both plans change: their entries in `more` contain both values. Omits what is in `done`.
   */
  readonly less: readonly ExtraChange[];
  /**
   * What the earlier plan contains and is live already. Empty unless the comparison knows the live resources that the
   * later plan was made from.
   */
  readonly done: readonly DoneChange[];
}

/**
 * Whether both plans do the same, apart from what is done already. Then an approval of one covers the other.
 * @example
 * if (!isSamePlan(comparePlans(approved, plan))) console.error('not as approved');
 */
export function isSamePlan({ members, more, less }: PlanComparison): boolean {
  return members.length + more.length + less.length === 0;
}

/** The ids of all live resources in a plan. */
export function listKnownIds({ changes }: Pick<Plan, 'changes'>): ReadonlySet<string> {
  return new Set(changes.flatMap(({ live }) => (live === undefined ? [] : [live.id])));
}

/** The ids of the resources that a plan deletes. */
export function listDeletedIds({ changes }: Pick<Plan, 'changes'>): ReadonlySet<string> {
  return new Set(changes.flatMap(({ action, live }) => (action === 'delete' && live !== undefined ? [live.id] : [])));
}
