import { type Address, formatAddress } from './address.ts';
import type { Danger } from './danger.ts';
import type { ManifestStart } from './diagnostic.ts';
import type { Json } from './json.ts';
import type { Mark } from './mark.ts';
import type { Spec } from './state.ts';
import type { TokenPlace } from './token-place.ts';

/** The actions of a plan on one resource, in reading order: destructive ones first. */
export const CHANGE_ACTIONS = ['delete', 'replace', 'update', 'release', 'adopt', 'create'] as const;

/** What a plan does to one resource, if anything. */
export type ChangeAction = (typeof CHANGE_ACTIONS)[number];

/** The same with those that stay as they are, which come last. */
export const ACTIONS = [...CHANGE_ACTIONS, 'no-op'] as const;

/** What happens to one resource. */
export type Action = (typeof ACTIONS)[number];

/**
 * Whose difference it is, from the digests in the mark. `manifest`: the manifest differs from what was last applied; `drift`: live does;
 * `both`; `unknown`: nothing was recorded (adopted resources, HTTPS modules).
 */
export type Origin = 'manifest' | 'drift' | 'both' | 'unknown';

/** One field that differs, in normal form. */
export interface Difference {
  /** The top-level field of the spec that it is in; absent: it is about the lifecycle or the mark. */
  readonly field?: string;
  /** `hostports`, `backend.backend_id`, `policy.inbound[0].name`, `lifecycle.protect`. */
  readonly path: string;
  /** The live value; absent if there is none. */
  readonly from?: Json;
  /** The desired value; absent if there will be none, or the service chooses it. An address replaces an id that is known after apply. */
  readonly to?: Json;
  readonly origin: Origin;
  /** The field cannot be changed in place. */
  readonly forcesReplace: boolean;
}

/** The live resource that a change starts from. */
export interface ChangeStart {
  readonly id: string;
  /** Digest of its normal form and mark: it has moved when this differs. */
  readonly digest: string;
  /** Normal form; left out of no-ops, but for those of attached modules. */
  readonly spec?: Spec;
  readonly mark?: Mark;
}

/** What the plan does to one resource. Its writes are computed from it, and from nothing else. */
export interface Change {
  readonly address: Address;
  /** Id of the live resource that keeps the address; absent if this is not a duplicate. */
  readonly duplicateOf?: string;
  readonly kind: string;
  readonly action: Action;
  /** Why, when the differences don't say it: "not in the manifests any more". */
  readonly reason?: string;
  /** Field by field; empty for a create, whose fields are in `desired`. */
  readonly differences: readonly Difference[];
  /** Why it deserves a second look, by group, the gravest first; absent: no reason. Decided when the plan is made; every report shows the same. */
  readonly dangers?: readonly Danger[];
  /** The sink of the new token. Absent: no token is created, or no sink is set. */
  readonly token?: TokenPlace;
  /** What else who approves should know: that a token stays where it is, when a certificate is renewed. */
  readonly notes?: readonly string[];
  /** Fields that only drifted, and that the plan leaves so (`--no-revert-drift`). */
  readonly kept?: readonly string[];
  readonly live?: ChangeStart;
  /** Normal form of what will be there, with addresses for ids known after apply; absent for deletes and no-ops. */
  readonly desired?: Spec;
  /** Fields that are sent in another form than `desired` has them in, which means the same. */
  readonly sent?: Spec;
  /** Fields that another owner manages: they keep their live values, and the mark lists them as not ours. */
  readonly ignored?: readonly string[];
  /** The validity of the created resource, from its creation. */
  readonly validForMs?: number;
  /** The manifest protects it: its mark will say so. */
  readonly protect?: boolean;
  /** The name that its mark will remember as the one before. */
  readonly was?: string;
  /** Whose it is, as the label or annotation says that the stack names; without a manifest its mark, or its metadata. Its mark will say so where it is short. */
  readonly owner?: string;
  /** The labels and annotations of its manifest, for readers and for rules; they are never sent. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Where its manifest starts. */
  readonly place?: ManifestStart;
}

/** How people see which resource a change is about. */
export function formatChangeAddress({ address, duplicateOf, live }: Change): string {
  return formatAddress({ address, id: live?.id, ...(duplicateOf !== undefined && { duplicateOf }) });
}

/** Whether the resource is protected, or is to be. */
export function isProtected({ protect, live }: Change): boolean {
  return protect === true || live?.mark?.protect === true;
}

/** Number of resources by what happens to them. */
export type Totals = Readonly<Record<Action, number>>;

/** The same as programs read it. */
export type ShownTotals = Readonly<Record<Exclude<Action, 'no-op'> | 'unchanged', number>>;

/** Number of changes of each action. */
export function countActions(changes: readonly Change[]): Totals {
  const totals = { delete: 0, replace: 0, update: 0, release: 0, adopt: 0, create: 0, 'no-op': 0 };
  for (const { action } of changes) totals[action] += 1;
  return totals;
}

/** Number of changes of each action, for programs. */
export function countShownActions(changes: readonly Change[]): ShownTotals {
  const { 'no-op': unchanged, ...totals } = countActions(changes);
  return { ...totals, unchanged };
}
