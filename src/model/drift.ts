import type { Address } from './address.ts';
import type { Action, Origin } from './change.ts';
import type { Danger } from './danger.ts';
import { type Diagnostic, hasErrors } from './diagnostic.ts';
import type { Json } from './json.ts';
import type { GuardViolation } from './plan.ts';
import type { LiveResource, Spec } from './state.ts';

/**
 * How a live resource compares with its manifest.
 * - `in-sync`: equal.
 * - `drifted`: changed at the service.
 * - `pending`: the manifest changed and was not applied.
 * - `drifted-and-pending`: both.
 * - `differs`: no digest shows which side changed (HTTPS modules).
 * - `missing`: never applied, or deleted at the service.
 * - `unowned`: exists without the mark of the stack.
 * - `file-differs`: equal, but the file that the manifest names is missing or has other content.
 * - `to-prune`: has the mark, but no longer a manifest.
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

/** One field whose live value differs, in normal form. */
export interface DriftedField {
  /** The top-level field of the spec that contains it. Absent: the difference is in the lifecycle or the mark. */
  readonly field?: string;
  readonly path: string;
  /**
   * The value in the manifest or the saved plan; if only the live value changed, the last applied value. Absent: there
   * is none, or the service chooses it.
   */
  readonly expected?: Json;
  /** The live value. Absent if there is none. */
  readonly live?: Json;
  readonly origin: Origin;
  /** The field is immutable, so the resource is replaced. */
  readonly forcesReplace: boolean;
}

/** The path of the difference "is the resource protected", which is in the mark. */
export const PROTECT_PATH = 'lifecycle.protect';

/** The drift of one resource of the stack. */
export interface ResourceDrift {
  readonly address: Address;
  /** Id of the live resource that keeps the address. Absent if this is not a duplicate. */
  readonly duplicateOf?: string;
  readonly kind: string;
  readonly state: DriftState;
  /** Id of the live resource. Absent if there is none. */
  readonly id?: string;
  readonly differences: readonly DriftedField[];
  /** The manifest's spec of a missing resource, in normal form. Absent: the resource exists, or the spec is unknown. */
  readonly expected?: Spec;
  /**
   * Top-level fields that drifted from a value that is not known, because a saved plan has only digests of fields that
   * it leaves alone.
   */
  readonly moved?: readonly string[];
  /** The owner of the resource, from its manifest or its mark. Absent: neither names one. */
  readonly owner?: string;
  /** A reason that the differences do not show, such as a due renewal. */
  readonly reason?: string;
  /**
   * What the next apply does to the resource. Absent: nothing, or unknown because the comparison was with a saved plan.
   */
  readonly next?: NextAction;
  /** Dangers of the changes made at the service, the most severe first. Absent: none. */
  readonly dangers?: readonly Danger[];
  /** End of the resource's validity, RFC 3339. Absent: it has no end. */
  readonly validUntil?: string;
}

/** What the next apply does to a resource. `write-file`: only writes the resource's file. */
export type NextAction = Exclude<Action, 'no-op'> | 'write-file';

/** A live resource that the stack does not own. */
export interface UnownedResource {
  readonly kind: string;
  readonly id: string;
  readonly description: string;
  /** The stack that owns it. Absent if the resource is unmanaged. */
  readonly stack?: string;
}

/** The live state, compared with the manifests or with a saved plan. Contains no secrets. */
export interface Drift {
  readonly stack: string;
  readonly baseUrl: string;
  /** When the live state was read, RFC 3339. */
  readonly at: string;
  /** The saved plan that the live state was compared with. Absent: it was compared with manifests. */
  readonly against?: string;
  /** When the saved plan was created, RFC 3339. */
  readonly plannedAt?: string;
  /** The commit of the manifests or, with a saved plan, of the manifests of that plan. Absent: unknown. */
  readonly commit?: string;
  /** The addresses to which the comparison was limited. Empty: all. */
  readonly targets: readonly string[];
  /** Sorted by address. */
  readonly resources: readonly ResourceDrift[];
  /** The kinds that were read. Resources of other kinds are unknown. */
  readonly kinds: readonly string[];
  /** Live resources that the stack does not own, by kind and id. */
  readonly unowned: readonly UnownedResource[];
  /** Diagnostics of the manifests and of the live state. */
  readonly diagnostics: readonly Diagnostic[];
  /** Safety rules that block the next apply unless the user consents. */
  readonly violations: readonly GuardViolation[];
  /** Ids that an External names, by its address. */
  readonly externals: Readonly<Record<string, string>>;
  /** Number of requests sent for the comparison. */
  readonly requests: number;
}

/** Counts of live resources of the kinds that were read, by who manages them. */
export interface Coverage {
  readonly owned: number;
  readonly foreign: number;
  readonly unmanaged: number;
  /** Share of the resources that any stack owns, 0 to 1. If there are no resources: 1. */
  readonly share: number;
}

/**
 * Whether anything differs. Obstacles to the next apply are not drift, such as a unique value that another resource
 * claims.
 */
export function hasDrift({ resources, diagnostics }: Drift): boolean {
  return resources.some(({ state }) => state !== 'in-sync') || hasErrors(diagnostics);
}

/** Whether every target was compared. False if a target names no resource. */
export function isComplete({ diagnostics }: Drift): boolean {
  return !diagnostics.some(({ code }) => code === 'unknown-target');
}

/** Computes the coverage of an account. Attached modules do not count as resources. */
export function countCoverage({ resources, kinds, unowned }: Drift): Coverage {
  const isOurs = ({ id, kind, state }: ResourceDrift) =>
    id !== undefined && state !== 'unowned' && kinds.includes(kind);
  const owned = resources.filter(isOurs).length;
  const foreign = unowned.filter(({ stack }) => stack !== undefined).length;
  const unmanaged = unowned.length - foreign;
  const all = owned + foreign + unmanaged;
  return { owned, foreign, unmanaged, share: all === 0 ? 1 : (owned + foreign) / all };
}

export function countDriftStates({ resources }: Pick<Drift, 'resources'>): Readonly<Record<DriftState, number>> {
  const counts = new Map(DRIFT_STATES.map((state) => [state, 0]));
  for (const { state } of resources) counts.set(state, (counts.get(state) ?? 0) + 1);
  return Object.fromEntries(counts) as Record<DriftState, number>; // every state is a key of it
}

/** The live resources that a stack owns, and those that its manifests attach modules to. */
export interface Inventory {
  readonly stack: string;
  readonly baseUrl: string;
  /** Sorted by address. */
  readonly resources: readonly OwnedResource[];
  /** Ids that an External names, by its address. For readers. */
  readonly externals?: ReadonlyMap<Address, string>;
  /** Number of requests sent to read the resources, including retries. */
  readonly requests: number;
}

/** A live resource and the address in its mark. */
export interface OwnedResource {
  readonly address: Address;
  /** Several live resources have a mark with this address. */
  readonly isShared: boolean;
  readonly live: LiveResource;
}
