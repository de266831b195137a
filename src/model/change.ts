import { type Address, formatAddress } from './address.ts';
import type { Danger } from './danger.ts';
import type { ManifestStart } from './diagnostic.ts';
import type { Json } from './json.ts';
import type { Mark } from './mark.ts';
import type { Spec } from './state.ts';
import type { TokenPlace } from './token-place.ts';

/** The actions that change a resource, in reading order: destructive ones first. */
export const CHANGE_ACTIONS = ['delete', 'replace', 'update', 'release', 'adopt', 'create'] as const;

export type ChangeAction = (typeof CHANGE_ACTIONS)[number];

/** All actions, in reading order. */
export const ACTIONS = [...CHANGE_ACTIONS, 'no-op'] as const;

/** What a plan does to one resource. */
export type Action = (typeof ACTIONS)[number];

/**
 * The cause of a difference, according to the digests in the mark. `manifest`: the manifest changed since the last
 * apply. `drift`: the live value changed. `both`: both changed. `unknown`: the mark has no digest (adopted resources,
 * HTTPS modules).
 */
export type Origin = 'manifest' | 'drift' | 'both' | 'unknown';

/** One field whose live and desired values differ, in normal form. */
export interface Difference {
  /** The top-level field of the spec that contains it. Absent: the difference is in the lifecycle or the mark. */
  readonly field?: string;
  /** Such as `hostports`, `backend.backend_id`, `policy.inbound[0].name` or `lifecycle.protect`. */
  readonly path: string;
  /** The live value. Absent if there is none. */
  readonly from?: Json;
  /**
   * The desired value. Absent: there will be none, or the service chooses it. An address is in place of an id that is
   * known only after apply.
   */
  readonly to?: Json;
  readonly origin: Origin;
  /** The field is immutable, so the resource is replaced. */
  readonly forcesReplace: boolean;
}

/** The live resource before the change. */
export interface ChangeStart {
  readonly id: string;
  /** Digest of the normal form and the mark. A different digest at apply means that the plan is stale. */
  readonly digest: string;
  /** The spec in normal form. Absent for no-ops, except those of attached modules. */
  readonly spec?: Spec;
  readonly mark?: Mark;
}

/** A planned change of one resource. Its writes are computed from this value alone. */
export interface Change {
  readonly address: Address;
  /** Id of the live resource that keeps the address. Absent if this is not a duplicate. */
  readonly duplicateOf?: string;
  readonly kind: string;
  readonly action: Action;
  /** The reason, if the differences do not show it, such as "not in the manifests any more". */
  readonly reason?: string;
  /** The differences by field. Empty for a create, whose fields are in `desired`. */
  readonly differences: readonly Difference[];
  /**
   * Why the change deserves a second look: by group, the most severe first. Absent: there is no danger. Computed with
   * the plan, so every report shows the same.
   */
  readonly dangers?: readonly Danger[];
  /** The sink of the new token. Absent: the change creates no token, or no sink is set. */
  readonly token?: TokenPlace;
  /** Other facts for the reader who approves the plan, such as that the token of a renamed credential is not moved. */
  readonly notes?: readonly string[];
  /** Fields that have only drifted, and that the plan leaves alone (`--no-revert-drift`). */
  readonly kept?: readonly string[];
  readonly live?: ChangeStart;
  /**
   * The desired spec in normal form, with addresses in place of ids that are known only after apply. Absent for deletes
   * and no-ops.
   */
  readonly desired?: Spec;
  /** Fields that are sent in another form than in `desired`, with the same meaning. */
  readonly sent?: Spec;
  /** Fields that another owner manages: they keep their live values, and the mark records them as unmanaged. */
  readonly ignored?: readonly string[];
  /** How long the created resource is valid, from its creation. */
  readonly validForMs?: number;
  /** The manifest sets `lifecycle.protect`. The mark will record it. */
  readonly protect?: boolean;
  /** The former name that the mark will record. */
  readonly was?: string;
  /**
   * The owner of the resource. Source: the label or annotation that the Stack names; without a manifest, the mark or
   * the metadata. The mark records it unless it is too long.
   */
  readonly owner?: string;
  /** Labels and annotations of the manifest, for reports and policies. Never sent to the service. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** The start of the resource's manifest. Absent: there is no manifest. */
  readonly place?: ManifestStart;
}

/** Formats the address of a change. A duplicate gets its id: `Kind/name@id`. */
export function formatChangeAddress({ address, duplicateOf, live }: Change): string {
  return formatAddress({ address, id: live?.id, ...(duplicateOf !== undefined && { duplicateOf }) });
}

/** Whether the manifest or the live mark protects the resource. */
export function isProtected({ protect, live }: Change): boolean {
  return protect === true || live?.mark?.protect === true;
}

export type Totals = Readonly<Record<Action, number>>;

/** Number of resources by action, with the keys of JSON output. */
export type ShownTotals = Readonly<Record<Exclude<Action, 'no-op'> | 'unchanged', number>>;

export function countActions(changes: readonly Change[]): Totals {
  const totals = { delete: 0, replace: 0, update: 0, release: 0, adopt: 0, create: 0, 'no-op': 0 };
  for (const { action } of changes) totals[action] += 1;
  return totals;
}

/** Counts changes by action, with the keys of JSON output. */
export function countShownActions(changes: readonly Change[]): ShownTotals {
  const { 'no-op': unchanged, ...totals } = countActions(changes);
  return { ...totals, unchanged };
}
