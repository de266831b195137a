import type { Address } from './address.ts';
import type { Action, Origin } from './change.ts';
import type { Danger } from './danger.ts';
import { type Diagnostic, hasErrors } from './diagnostic.ts';
import type { Json } from './json.ts';
import type { GuardViolation } from './plan.ts';
import type { LiveResource, Spec } from './state.ts';

/**
 * How a resource compares with its manifest. `in-sync`: equal. `drifted`: changed at the service. `pending`: the manifest changed and was not applied.
 * `drifted-and-pending`: both. `differs`: no digest shows which side changed (HTTPS modules). `missing`: never applied, or deleted at the service. `unowned`:
 * it exists without the mark of the stack. `file-differs`: equal, but the file that it is written to is missing or has other content. `to-prune`: it has the
 * mark, and no manifest any more.
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

/** Every state, in the order in which reports show them: the most severe first. */
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

/** One field that is not as it should be, in normal form. */
export interface DriftedField {
  /** The top-level field of the spec that it is in; absent: it is about the lifecycle or the mark. */
  readonly field?: string;
  readonly path: string;
  /** The value in the manifest or the saved plan; absent: none, or the service's choice. If only the service's value changed, it is the last applied one. */
  readonly expected?: Json;
  /** The live value; absent if there is none. */
  readonly live?: Json;
  readonly origin: Origin;
  /** The field cannot be changed in place. */
  readonly forcesReplace: boolean;
}

/** The path of a difference in the mark itself: whether the resource is protected. */
export const PROTECT_PATH = 'lifecycle.protect';

/** One resource of the stack, compared. */
export interface ResourceDrift {
  readonly address: Address;
  /** Id of the live resource that keeps the address; absent if this is not a duplicate. */
  readonly duplicateOf?: string;
  readonly kind: string;
  readonly state: DriftState;
  /** Id of the live resource; absent: there is none. */
  readonly id?: string;
  readonly differences: readonly DriftedField[];
  /** The spec in the manifest of a missing resource, in normal form; absent: there are differences instead, or it is unknown. */
  readonly expected?: Spec;
  /** Top-level fields that drifted from unknown values: a saved plan has only digests of the fields that it leaves alone. */
  readonly moved?: readonly string[];
  /** Whose it is, as its manifest or its mark says; absent: nobody says. */
  readonly owner?: string;
  /** What the differences don't say: that it is due to be renewed. */
  readonly reason?: string;
  /** What the next apply does to it; absent: nothing, or it is not known, because a saved plan was compared with. */
  readonly next?: NextAction;
  /** Dangers of the changes at the service, the most severe first; absent: none. */
  readonly dangers?: readonly Danger[];
  /** When what it holds ends, RFC 3339; absent: it does not. */
  readonly validUntil?: string;
}

/** What the next apply does. `write-file`: the resource stays, its file is written. */
export type NextAction = Exclude<Action, 'no-op'> | 'write-file';

/** A live resource that the stack does not own. */
export interface UnownedResource {
  readonly kind: string;
  readonly id: string;
  readonly description: string;
  /** The stack that owns it; absent: it is unmanaged. */
  readonly stack?: string;
}

/** The live state, compared with the manifests or with a saved plan. Holds no secrets. */
export interface Drift {
  readonly stack: string;
  readonly baseUrl: string;
  /** When it was looked at, RFC 3339. */
  readonly at: string;
  /** The saved plan that it was compared with; absent: manifests. */
  readonly against?: string;
  /** When that plan was made, RFC 3339. */
  readonly plannedAt?: string;
  /** The commit of the manifests, or of those that the plan was made of; absent: no pipeline says it. */
  readonly commit?: string;
  /** The addresses that it was narrowed to; empty: everything. */
  readonly targets: readonly string[];
  /** Sorted by address. */
  readonly resources: readonly ResourceDrift[];
  /** Kinds that were read; what others hold is not known. */
  readonly kinds: readonly string[];
  /** Live resources that are not the stack's, by kind and id. */
  readonly strangers: readonly UnownedResource[];
  /** Diagnostics of the manifests and of the live state. */
  readonly diagnostics: readonly Diagnostic[];
  /** Safety rules that refuse the next apply unless a flag allows what it does. */
  readonly violations: readonly GuardViolation[];
  /** Ids that have a name, by address. */
  readonly externals: Readonly<Record<string, string>>;
  /** Number of requests that it took. */
  readonly requests: number;
}

/** Counts of live resources of the kinds that were read, by who manages them. */
export interface Coverage {
  readonly owned: number;
  readonly foreign: number;
  readonly unmanaged: number;
  /** Share that this or another stack owns, 0 to 1; 1 when there is nothing. */
  readonly share: number;
}

/** Whether anything differs. An obstacle to the next apply does not count, such as a value that another resource has claimed. */
export function hasDrift({ resources, diagnostics }: Drift): boolean {
  return resources.some(({ state }) => state !== 'in-sync') || hasErrors(diagnostics);
}

/** Whether everything that was asked for was compared: not when a target names nothing. */
export function isComplete({ diagnostics }: Drift): boolean {
  return !diagnostics.some(({ code }) => code === 'unknown-target');
}

/** The coverage of an account. Attached modules are no resources of their own. */
export function countCoverage({ resources, kinds, strangers }: Drift): Coverage {
  const isOurs = ({ id, kind, state }: ResourceDrift) =>
    id !== undefined && state !== 'unowned' && kinds.includes(kind);
  const owned = resources.filter(isOurs).length;
  const foreign = strangers.filter(({ stack }) => stack !== undefined).length;
  const unmanaged = strangers.length - foreign;
  const all = owned + foreign + unmanaged;
  return { owned, foreign, unmanaged, share: all === 0 ? 1 : (owned + foreign) / all };
}

/** Number of resources in each state. */
export function countDriftStates({ resources }: Pick<Drift, 'resources'>): Readonly<Record<DriftState, number>> {
  const counts = new Map(DRIFT_STATES.map((state) => [state, 0]));
  for (const { state } of resources) counts.set(state, (counts.get(state) ?? 0) + 1);
  return Object.fromEntries(counts) as Record<DriftState, number>; // every state is a key of it
}

/** What a stack owns, and what its manifests attach to, as the service holds it. */
export interface Inventory {
  readonly stack: string;
  readonly baseUrl: string;
  /** Sorted by address. */
  readonly resources: readonly OwnedResource[];
  /** Ids that the manifests have a name for, by the address of the External: for people who read it. */
  readonly externals?: ReadonlyMap<Address, string>;
  /** Number of requests that reading took, retries included. */
  readonly requests: number;
}

/** A live resource with the address that its mark gives it. */
export interface OwnedResource {
  readonly address: Address;
  /** Several resources have the mark of this address. */
  readonly isShared: boolean;
  readonly live: LiveResource;
}
