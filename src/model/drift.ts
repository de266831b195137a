import type { Address } from './address.ts';
import type { Change, Difference } from './change.ts';
import type { ClockSkew } from './clock.ts';
import { countInCondition } from './conditions.ts';
import type { Danger } from './danger.ts';
import { hasErrors } from './diagnostic.ts';
import type { Plan } from './plan.ts';
import type { LiveResource } from './state.ts';

/** How a live resource compares with its manifest. */
export type DriftState =
  | 'in-sync'
  | 'drifted'
  | 'pending'
  | 'drifted-and-pending'
  | 'differs'
  | 'missing'
  | 'unowned'
  | 'to-prune';

/** What each state means. The order is that of reports: the most severe first. */
export const DRIFT_STATE_MEANINGS: Readonly<Record<DriftState, string>> = {
  missing: 'does not exist: it was never applied, or was deleted at the service',
  drifted: 'was changed at the service: a live value differs from what the mark remembers of the last apply',
  'drifted-and-pending': 'was changed at the service and in its manifest',
  differs: 'differs, and either side may have changed: modules of HTTPS edges and routes have no mark',
  unowned: 'exists without the mark of the stack; the report shows the line that adopts it, if one line is enough',
  pending: 'its manifest was changed and not applied yet, or it is due for renewal',
  'to-prune': 'has the mark of the stack and no manifest, or is a duplicate',
  'in-sync': 'equals its manifest',
};

/** Every state, in the order of reports: the most severe first. */
export const DRIFT_STATES = Object.keys(DRIFT_STATE_MEANINGS) as readonly DriftState[]; // `Object.keys` returns plain strings

/** The path of a difference in protection. The mark contains the live value. */
export const PROTECT_PATH = 'lifecycle.protect';

/** A change of the plan, with what happened to the resource at the service since the last apply. */
export interface DriftedChange extends Change {
  readonly state: DriftState;
  /**
   * Dangers of what happened, from the expected to the live value, the most severe first. Absent if there are none.
   * `dangers` are those of the next apply.
   */
  readonly driftDangers?: readonly Danger[] | undefined;
  /**
   * Only for a create: the id of the live resource that matches the manifest, or has a unique value that it claims, and
   * does not have the mark of the stack. `differences` compare it with the manifest. Absent if there is none.
   */
  readonly besideId?: string | undefined;
  /** The end of the validity of the live resource, RFC 3339. Absent if the validity has no end. */
  readonly validUntil?: string | undefined;
  /** The start of the validity, RFC 3339. Absent if the resource has none. */
  readonly validFrom?: string | undefined;
}

/** A live resource that the stack does not own. */
export interface UnownedResource {
  readonly kind: string;
  readonly id: string;
  readonly description: string;
  /** The stack that owns the resource. Absent if no stack does. */
  readonly stack?: string | undefined;
  /** Only in a run over many stacks, if that stack is not in this repository. Absent: it is, or this is unknown. */
  readonly absence?: 'not-here' | undefined;
}

/** The parts of a plan that drift has too, with the same meaning. */
type DriftedPlan = Pick<
  Plan,
  | 'stack'
  | 'baseUrl'
  | 'targets'
  | 'exclusions'
  | 'externals'
  | 'crossStackReferences'
  | 'skipped'
  | 'teamLabel'
  | 'diagnostics'
  | 'violations'
  | 'requests'
>;

/**
 * What happened at the service since the last apply: a plan of the manifests, read in the other direction. As in the
 * plan, the differences lead from the live to the desired value; reports show them from the expected to the live value.
 * Contains no secrets.
 */
export interface Drift extends DriftedPlan {
  /** When the live state was read, and the commit of the manifests. */
  readonly made: NonNullable<Plan['made']>;
  /** In the order of the plan. */
  readonly changes: readonly DriftedChange[];
  /** The kinds that were read. Resources of other kinds are unknown. */
  readonly kinds: readonly string[];
  /** Live resources that the stack does not own, sorted by kind, then id. */
  readonly unowned: readonly UnownedResource[];
}

/** The id of the live resource. `undefined` if there is none. */
export function findDriftedId({ live, besideId }: DriftedChange): string | undefined {
  return live?.id ?? besideId;
}

/**
 * The live resources of one account that no stack of the repository manages, without those that the state `unowned`
 * shows. `drifts`: all drifts of the account, which may have read different kinds.
 */
export function listUnmanaged(drifts: readonly Drift[]): readonly UnownedResource[] {
  const shown = new Set(
    drifts.flatMap(({ changes }) => changes.filter(({ state }) => state === 'unowned').map(findDriftedId)),
  );
  const unmanaged = drifts.flatMap(({ unowned }) =>
    unowned.filter(({ stack, absence, id }) => (stack === undefined || absence !== undefined) && !shown.has(id)),
  );
  return [...new Map(unmanaged.map((one) => [one.id, one])).values()];
}

/** Whether the live value of a field may have been changed at the service. False if only the manifest changed. */
export function isOfService({ origin, isHidden }: Difference): boolean {
  return origin !== 'manifest' && isHidden !== true;
}

/** Numbers of live resources, by owner: this stack, another stack, or none. Counts only kinds that were read. */
export interface OwnershipCoverage {
  readonly owned: number;
  readonly ofOtherStacks: number;
  readonly unmanaged: number;
  /** Share of live resources that this or another stack owns, 0 to 1. If there are no live resources: 1. */
  readonly share: number;
}

/**
 * Whether a resource is not in sync or there is an error. `violations` do not count: they only block an apply.
 * @example
 * process.exitCode = hasDrift(drift) ? 2 : 0;
 */
export function hasDrift({ changes, diagnostics }: Drift): boolean {
  return changes.some(({ state }) => state !== 'in-sync') || hasErrors(diagnostics);
}

/** Whether every target was compared. False if a target names an unknown resource. */
export function isEveryTargetCompared(drift: Drift): boolean {
  return countInCondition(drift, 'uncompared') === 0;
}

/**
 * Counts the live resources by owner. Attached modules do not count as resources.
 * @example
 * const coverage = countResourcesByOwner(drift);
 */
export function countResourcesByOwner({ changes, kinds, unowned }: Drift): OwnershipCoverage {
  const isOurs = ({ live, kind, state }: DriftedChange) =>
    live !== undefined && state !== 'unowned' && kinds.includes(kind);
  const owned = changes.filter(isOurs).length;
  const ofOtherStacks = unowned.filter(({ stack }) => stack !== undefined).length;
  const unmanaged = unowned.length - ofOtherStacks;
  const all = owned + ofOtherStacks + unmanaged;
  return { owned, ofOtherStacks, unmanaged, share: all === 0 ? 1 : (owned + ofOtherStacks) / all };
}

export function countDriftStates({ changes }: Pick<Drift, 'changes'>): Readonly<Record<DriftState, number>> {
  const counts = new Map(DRIFT_STATES.map((state) => [state, 0]));
  for (const { state } of changes) counts.set(state, (counts.get(state) ?? 0) + 1);
  return Object.fromEntries(counts) as Record<DriftState, number>; // the map has every state
}

/** The live resources that a stack owns, and the live edges and routes to which its manifests attach modules. */
export interface StackInventory {
  readonly stack: string;
  readonly baseUrl: string;
  /** Sorted by address. */
  readonly resources: readonly OwnedResource[];
  /** Maps the address of an `External` to the id that it names. For reports. */
  readonly externals?: ReadonlyMap<Address, string>;
  /** Number of requests sent to read the resources, including retries. */
  readonly requests: number;
  /** How the clock of the service differs from that of this machine. Absent: unknown. */
  readonly clock?: ClockSkew;
}

/** A live resource and its address in the stack that owns it. */
export interface OwnedResource {
  /** `Kind/id` if no stack owns it. */
  readonly address: Address;
  /** Only of a resource that the user names by id, and this stack does not own: the stack that does. null: none does. */
  readonly owner?: string | null | undefined;
  /** Whether another live resource has a mark with this address. An old one that retires does not count. */
  readonly isShared: boolean;
  /** From when on an apply deletes it, because another one has replaced it, RFC 3339. Absent if it does not retire. */
  readonly retiresAt?: string | undefined;
  readonly live: LiveResource;
}
