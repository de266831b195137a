import { type Address, formatAddress } from './address.ts';
import type { Danger } from './danger.ts';
import type { Json } from './json.ts';
import { isRefusalRecord, type Mark, type Retirement } from './mark.ts';
import type { Place } from './place.ts';
import type { Spec } from './state.ts';
import type { PlannedTokenSink } from './token-sink.ts';

/** The actions that change a resource, in the order of reports: destructive actions first. */
export const CHANGE_ACTIONS = [
  'delete',
  'replace',
  'withhold',
  'update',
  'release',
  'take-over',
  'adopt',
  'create',
] as const;

export type ChangingAction = (typeof CHANGE_ACTIONS)[number];

/** Actions that most plans lack. A report omits their number if it is 0. */
const RARE_ACTIONS: ReadonlySet<Action> = new Set(['withhold', 'release', 'take-over']);

/** All actions, in the order of reports. */
export const ACTIONS = [...CHANGE_ACTIONS, 'no-op'] as const;

/** What a plan does to one resource. `withhold`: it would create or replace it, but the service refused that before, so nothing is sent. */
export type Action = (typeof ACTIONS)[number];

/**
 * The cause of a difference, as the digests in the mark show. `manifest`: the manifest changed since the last apply.
 * `drift`: the live value changed. `both`: both changed. `unknown`: no digest shows the cause (adoptions, HTTPS
 * modules).
 */
export type DifferenceCause = 'manifest' | 'drift' | 'both' | 'unknown';

/** A field whose live and desired values differ. Both values are in normal form. */
export interface Difference {
  /** The top-level field of the spec that contains the value. Absent: the value is in the lifecycle or the mark. */
  readonly field?: string;
  /** The path of the value: `hostports`, `backend.backend_id`, `policy.inbound[0].name`, `lifecycle.protect`. */
  readonly path: string;
  /** The live value. Absent if there is none. */
  readonly from?: Json | undefined;
  /**
   * The desired value. A reference whose id is not known yet is an address. Absent if there is no value, or if the
   * service chooses it.
   */
  readonly to?: Json | undefined;
  readonly origin: DifferenceCause;
  /** Whether the resource must be replaced, because the field is immutable. */
  readonly forcesReplace: boolean;
  /**
   * The service does not show the live value, so nothing can be compared: each apply writes the field. Such a
   * difference is no change for `--detailed-exitcode`, and no drift. Absent for all other differences.
   */
  readonly isHidden?: true;
}

/** A value that `lifecycle.ignore` leaves to others, and that differs from the manifest. Both are in normal form. */
export interface LeftValue {
  /** The path in `lifecycle.ignore`. */
  readonly ignored: string;
  /** The path of the value: `ignored`, or a part of it. */
  readonly path: string;
  /** The live value. Absent if there is none. */
  readonly from?: Json | undefined;
  /** The value in the manifest. Absent if it has none. */
  readonly to?: Json | undefined;
}

/** A text that the service shows in another spelling than the manifest. It is no difference. Both are in normal form. */
export interface OtherSpelling {
  /** The field. */
  readonly path: string;
  /** The live text. */
  readonly from: Json;
  /** The text in the manifest. */
  readonly to: Json;
}

export interface LiveBeforeChange {
  readonly id: string;
  /** The spec in normal form. Absent for a no-op, unless the resource is an attached module. */
  readonly spec?: Spec | undefined;
  /** Without the job that wrote it, which changes with each write. */
  readonly mark?: Omit<Mark, 'by'> | undefined;
  /** The modules whose switch the response contained. The mark records them. */
  readonly switches?: readonly string[] | undefined;
}

/** Whether a change starts from the record of a refused creation, and not from the resource of its address. */
export function isRecordInChange({ id, mark }: LiveBeforeChange): boolean {
  return isRefusalRecord({ id, mark });
}

/** When an unchanged resource is next replaced, or ends. */
export interface DueDate {
  /** RFC 3339. */
  readonly at: string;
  /** `expires`: its validity ends, and no apply replaces it before. */
  readonly event: (typeof DUE_EVENTS)[number];
}

export const DUE_EVENTS = ['rotates', 'renews', 'expires'] as const;

/** A planned change of one resource. Its writes are computed from this value alone. */
export interface Change {
  /** Not unique: a duplicate has the address of the resource that keeps it. `formatChangeAddress` tells them apart. */
  readonly address: Address;
  /** Only for a duplicate or an old one that retires: the id of the resource that keeps the address. */
  readonly duplicateOf?: string | undefined;
  /** Only for an old resource that another one has replaced: from when on an apply deletes it, RFC 3339. */
  readonly retiresAt?: string | undefined;
  /** Only for a duplicate or an old one: it is protected, or may be the protected original, so its delete needs consent. */
  readonly isOriginal?: true;
  /** The kind, as in the address: nothing parses that to find it. */
  readonly kind: string;
  /** What happens to the resource. Not how many writes it takes: those are in the plan. */
  readonly action: Action;
  /** For people, not to branch on. The reason, if the differences do not show it, such as "not in the manifests any more". */
  readonly reason?: string | undefined;
  /**
   * The fields that differ and are written. Not to build requests: hidden values are not in it. Empty for a create: `desired`
   * has all fields. What differs and is not written is in `leftToOthers` and `otherSpellings`, so that nothing which writes,
   * approves or warns can take it for a difference.
   */
  readonly differences: readonly Difference[];
  /**
   * Reasons to look twice at the change, sorted by group, then by severity. Absent if there are none. Part of the plan,
   * so that every report shows the same dangers. Not to be computed again in a report, and none is a refusal.
   */
  readonly dangers?: readonly Danger[] | undefined;
  /** The sink that receives the new token. Never has the token. Absent if the change creates no token, or no sink is set. */
  readonly token?: PlannedTokenSink | undefined;
  /** Only for a create or replace: everyone may use the new resource, because its manifest asks for no restriction. */
  readonly isOpenToEveryone?: true | undefined;
  /** Further facts for the user who approves the plan, such as that the token of a renamed credential is not moved. Not to branch on. */
  readonly notes?: readonly string[];
  /** Only for a no-op: what time will do to the resource. Absent if nothing is due. */
  readonly due?: DueDate | undefined;
  /** Live values that differ from the manifest and that `lifecycle.ignore` leaves alone. Absent if there are none. */
  readonly leftToOthers?: readonly LeftValue[] | undefined;
  /** Texts that the service spells otherwise, and that no apply sends again. Absent if there are none. */
  readonly otherSpellings?: readonly OtherSpelling[] | undefined;
  /** What was read before the plan. Not to be taken for what is live when a write is sent. */
  readonly live?: LiveBeforeChange | undefined;
  /**
   * The desired spec in normal form, with addresses for ids known only after apply. Absent for deletes and no-ops. Not to
   * be sent: `sent` and the writes have what is.
   */
  readonly desired?: Spec | undefined;
  /**
   * Digest of the values in the manifest that are in clear and hidden, also in fields that do not differ. Absent if there
   * are none, or if `desired` is absent.
   */
  readonly hiddenDigest?: string | undefined;
  /** Values to send, by field, if their form differs from the normal form in `desired`. Not to be compared with what is live. */
  readonly sent?: Spec | undefined;
  /**
   * Paths in `lifecycle.ignore`: fields, and parts of fields, such as `backends.bkdhr_…`. They keep their live values, and
   * the mark records them as unmanaged. Not to be left out of a request that replaces the whole field.
   */
  readonly ignored?: readonly string[];
  /** How long the created resource is valid, in milliseconds from its creation, not from the plan. */
  readonly validForMs?: number | undefined;
  /** Only for a replace: how long the old resource stays, in milliseconds. Absent: it is deleted at once. */
  readonly keepOldForMs?: number | undefined;
  /** The old resource that this one replaced, if it is still there. The mark keeps it, and this change does not delete it. */
  readonly retires?: Retirement | undefined;
  /** Whether the manifest sets `lifecycle.protect`. If so, the mark will record it. Not whether the live resource is protected. */
  readonly protect?: boolean;
  /**
   * The team of the resource, from the label or annotation that the Stack names. If there is no manifest, the team
   * comes from the mark, or else from the metadata. The mark records the team unless the text is too long. Not to decide
   * what a stack may change.
   */
  readonly team?: string | undefined;
  /** Labels and annotations of the manifest, for reports and policies. Never sent to the service. */
  readonly labels?: Readonly<Record<string, string>>;
  /** As `labels`: never sent to the service. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The start of the manifest, for messages only. Absent: the resource has no manifest. */
  readonly place?: Place | undefined;
}

/** Formats the address of the changed resource: `Kind/name`, or `Kind/name@id` for a duplicate. */
export function formatChangeAddress({ address, duplicateOf, live }: Change): string {
  return formatAddress({ address, id: live?.id, duplicateOf });
}

/** The differences of which both values are known. What the service does not show has neither drifted nor stayed. */
export function listKnownDifferences({ differences }: Pick<Change, 'differences'>): readonly Difference[] {
  return differences.filter(({ isHidden }) => isHidden !== true);
}

/** Whether a change only writes fields that cannot be compared, because the service does not show them. */
export function isHiddenChange(change: Pick<Change, 'action' | 'differences'>): boolean {
  const { action, differences } = change;
  return action === 'update' && differences.length > 0 && listKnownDifferences(change).length === 0;
}

/** Whether a change deletes an old resource that another one has replaced. */
export function isRetirement({ action, retiresAt }: Change): boolean {
  return action === 'delete' && retiresAt !== undefined;
}

/** Whether the manifest or the live mark protects the resource. Of the duplicates, only the original is protected. */
export function isProtected({ protect, live, duplicateOf, isOriginal }: Change): boolean {
  if (duplicateOf !== undefined) return isOriginal === true;
  return protect === true || live?.mark?.protect === true;
}

export type Totals = Readonly<Record<Action, number>>;

/**
 * Number of resources by action, under the names that JSON output and policies use: `unchanged` instead of `no-op`, and
 * `takeOver`, because names in policies contain no hyphen.
 */
export type PublishedTotals = Readonly<
  Record<Exclude<Action, 'no-op' | 'take-over'> | 'unchanged' | 'takeOver', number>
>;

/** The actions whose numbers a report shows, in the order of reports. */
export function listShownActions<T extends Action>(actions: readonly T[], totals: Totals): readonly T[] {
  return actions.filter((action) => totals[action] > 0 || !RARE_ACTIONS.has(action));
}

/** Formats an action for people, as a verb. */
export function formatAction(action: Action): string {
  return action === 'take-over' ? 'take over' : action;
}

/** Whether an action sends nothing. */
export function sendsNothing(action: Action): action is 'no-op' | 'withhold' {
  return action === 'no-op' || action === 'withhold';
}

/** Whether there is a new resource after the change. */
export function isCreation({ action }: Pick<Change, 'action'>): boolean {
  return action === 'create' || action === 'replace';
}

/** Whether the stack has no such resource any more after the change. */
export function isRemoval({ action }: Pick<Change, 'action'>): boolean {
  return action === 'delete' || action === 'release';
}

/** Whether an action, or the write that does it, gives an existing resource the mark of this stack. */
export function isAdoptOrTakeOverAction<T extends string>(action: T): action is T & ('adopt' | 'take-over') {
  return action === 'adopt' || action === 'take-over';
}

export function countActions(changes: readonly Change[]): Totals {
  const totals = new Map<Action, number>(ACTIONS.map((action) => [action, 0]));
  for (const { action } of changes) totals.set(action, (totals.get(action) ?? 0) + 1);
  return Object.fromEntries(totals) as Totals; // the map has every action
}

export function countActionsForDisplay(changes: readonly Change[]): PublishedTotals {
  const { 'no-op': unchanged, 'take-over': takeOver, ...totals } = countActions(changes);
  return { ...totals, takeOver, unchanged };
}
