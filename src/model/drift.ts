import type { Address } from './address.ts';
import type { Action, DifferenceCause, LeftValue } from './change.ts';
import type { ClockSkew } from './clock.ts';
import type { Danger } from './danger.ts';
import { type Diagnostic, hasErrors } from './diagnostic.ts';
import type { Json } from './json.ts';
import type { SafetyViolation } from './plan.ts';
import type { LiveResource, Spec } from './state.ts';

/**
 * How a live resource compares with its manifest.
 * - `in-sync`: the resource and the manifest are equal.
 * - `drifted`: the resource was changed at the service.
 * - `pending`: the manifest was changed and not yet applied.
 * - `drifted-and-pending`: both were changed.
 * - `differs`: they differ, but no digest shows which of them was changed (HTTPS modules).
 * - `missing`: the resource was never applied, or was deleted at the service.
 * - `unowned`: the resource exists without the mark of the stack.
 * - `file-differs`: in sync, but the file that the manifest names is missing or has other content.
 * - `to-prune`: the resource has the mark of the stack, but no manifest.
 */
export type DriftState =
  | 'in-sync'
  | 'drifted'
  | 'pending'
  | 'drifted-and-pending'
  | 'differs'
  | 'missing'
  | 'unowned'
  | 'file-differs'
  | 'to-prune';

/** Every state, in the order of reports: the most severe first. */
export const DRIFT_STATES: readonly DriftState[] = [
  'missing',
  'drifted',
  'drifted-and-pending',
  'differs',
  'unowned',
  'file-differs',
  'pending',
  'to-prune',
  'in-sync',
];

/** A field whose live value differs from the expected value. Both values are in normal form. */
export interface DriftedField {
  /** The top-level field of the spec that contains the value. Absent: the value is in the lifecycle or the mark. */
  readonly field?: string;
  readonly path: string;
  /** The value in the manifest. Absent if there is none or the service chooses it. */
  readonly expected?: Json;
  /** The live value. Absent if there is none. */
  readonly live?: Json;
  readonly origin: DifferenceCause;
  /** Whether the resource must be replaced, because the field is immutable. */
  readonly forcesReplace: boolean;
}

/** The path of a difference in protection. The mark contains the live value. */
export const PROTECT_PATH = 'lifecycle.protect';

/** The drift of one resource of the stack. */
export interface ResourceDrift {
  readonly address: Address;
  /** Only for a duplicate: the id of the resource that keeps the address. */
  readonly duplicateOf?: string;
  readonly kind: string;
  readonly state: DriftState;
  /** Id of the live resource. Absent if there is none. */
  readonly id?: string;
  readonly differences: readonly DriftedField[];
  /** Only for a missing resource: the spec of the manifest, in normal form. Absent if it is unknown. */
  readonly expected?: Spec;
  /** The owner of the resource, from the manifest or the mark. Absent if neither has an owner. */
  readonly owner?: string;
  /** The reason for the state, if the differences do not show it, such as a due renewal. */
  readonly reason?: string;
  /** What the next apply does to the resource. Absent if it does nothing, or if the resource has an error. */
  readonly next?: NextApplyAction;
  /** Live values that differ from the manifest and that `lifecycle.ignore` leaves alone. Absent if there are none. */
  readonly leftToOthers?: readonly LeftValue[];
  /** Dangers of the changes made at the service, the most severe first. Absent if there are none. */
  readonly dangers?: readonly Danger[];
  /** The end of the validity of the resource, RFC 3339. Absent if the validity has no end. */
  readonly validUntil?: string;
  /** The start of the validity, RFC 3339. Absent if the resource has none. */
  readonly validFrom?: string;
}

/** What the next apply does to a resource. `write-file`: it writes only the file that the manifest names. */
export type NextApplyAction = Exclude<Action, 'no-op'> | 'write-file';

/** A live resource that the stack does not own. */
export interface UnownedResource {
  readonly kind: string;
  readonly id: string;
  readonly description: string;
  /** The stack that owns the resource. Absent if no stack does. */
  readonly stack?: string;
}

/** The live state, compared with the manifests. Contains no secrets. */
export interface Drift {
  readonly stack: string;
  readonly baseUrl: string;
  /** When the live state was read, RFC 3339. */
  readonly at: string;
  /** The commit of the manifests. Absent if unknown. */
  readonly commit?: string;
  /** The addresses to which the comparison was limited. Empty if it was not limited. */
  readonly targets: readonly string[];
  /** The addresses that are left out, together with everything that depends on them. Absent if there are none. */
  readonly exclusions?: readonly string[];
  /** Sorted by address. */
  readonly resources: readonly ResourceDrift[];
  /** The kinds that were read. Resources of other kinds are unknown. */
  readonly kinds: readonly string[];
  /** Live resources that the stack does not own, sorted by kind, then id. */
  readonly unowned: readonly UnownedResource[];
  /** Diagnostics of the manifests and of the live state. */
  readonly diagnostics: readonly Diagnostic[];
  /** Safety rules that block the next apply unless the user consents. */
  readonly violations: readonly SafetyViolation[];
  /** Maps the address of an `External` to the id that it names. */
  readonly externals: Readonly<Record<string, string>>;
  /** Number of requests sent for the comparison. */
  readonly requests: number;
}

/** Numbers of live resources, by owner: this stack, another stack, or none. Counts only kinds that were read. */
export interface OwnershipCoverage {
  readonly owned: number;
  readonly ofOtherStacks: number;
  readonly unmanaged: number;
  /** Share of live resources that this or another stack owns, 0 to 1. If there are no live resources: 1. */
  readonly share: number;
}

/** Whether a resource is not in sync or there is an error. `violations` do not count: they only block an apply. */
export function hasDrift({ resources, diagnostics }: Drift): boolean {
  return resources.some(({ state }) => state !== 'in-sync') || hasErrors(diagnostics);
}

/** Whether every target was compared. False if a target names an unknown resource. */
export function isEveryTargetCompared({ diagnostics }: Drift): boolean {
  return !diagnostics.some(({ code }) => code === 'unknown-target');
}

/** Counts the live resources by owner. Attached modules do not count as resources. */
export function countResourcesByOwner({ resources, kinds, unowned }: Drift): OwnershipCoverage {
  const isOurs = ({ id, kind, state }: ResourceDrift) =>
    id !== undefined && state !== 'unowned' && kinds.includes(kind);
  const owned = resources.filter(isOurs).length;
  const foreign = unowned.filter(({ stack }) => stack !== undefined).length;
  const unmanaged = unowned.length - foreign;
  const all = owned + foreign + unmanaged;
  return { owned, ofOtherStacks: foreign, unmanaged, share: all === 0 ? 1 : (owned + foreign) / all };
}

export function countDriftStates({ resources }: Pick<Drift, 'resources'>): Readonly<Record<DriftState, number>> {
  const counts = new Map(DRIFT_STATES.map((state) => [state, 0]));
  for (const { state } of resources) counts.set(state, (counts.get(state) ?? 0) + 1);
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

/** A live resource and its address in the stack. */
export interface OwnedResource {
  readonly address: Address;
  /** Whether several live resources have a mark with this address. */
  readonly isShared: boolean;
  readonly live: LiveResource;
}
