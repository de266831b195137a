import type { Address } from './address.ts';
import type { Json } from './json.ts';
import type { Mark } from './mark.ts';
import type { Spec } from './state.ts';

/** What happens to one resource. */
export type Action = 'create' | 'update' | 'replace' | 'delete' | 'adopt' | 'release' | 'no-op';

/**
 * Whose difference it is, from the digests in the mark. `manifest`: the manifest differs from what was last applied; `drift`: live does;
 * `both`; `unknown`: nothing was recorded (adopted resources, HTTPS modules).
 */
export type Origin = 'manifest' | 'drift' | 'both' | 'unknown';

/** One field that differs, in normal form. */
export interface Difference {
  /** `hostports`, `backend.backend_id`, `policy.inbound[0].name`, `lifecycle.protect`. */
  readonly path: string;
  /** Live; absent: there is no value. */
  readonly from?: Json;
  /** Desired; absent: there will be no value. An address stands for an id that is known after apply. */
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

/** What the plan does to one resource. */
export interface Change {
  /** `Kind/name`; a duplicate to be pruned is `Kind/name@id`. */
  readonly address: string;
  readonly kind: string;
  readonly action: Action;
  /** Why, when the differences don't say it: "not in the manifests any more". */
  readonly reason?: string;
  readonly differences: readonly Difference[];
  /** What else who approves should know: where a token goes, when a certificate is renewed. */
  readonly notes?: readonly string[];
  /** Fields that only drifted, and that the plan leaves so (`--no-revert-drift`). */
  readonly kept?: readonly string[];
  readonly live?: ChangeStart;
  /** Normal form of what will be there, with addresses for ids known after apply; absent for deletes and no-ops. */
  readonly desired?: Spec;
  /** Whether the resource is, or is to be, protected. */
  readonly protect?: boolean;
}

/** Whether an address is that of a duplicate. */
export function isDuplicateAddress(address: string): boolean {
  return address.includes('@');
}

/** Whether two addresses name the same resource, a duplicate counting as the one that it duplicates. */
export function toBaseAddress(address: string): Address {
  const at = address.indexOf('@');
  return (at < 0 ? address : address.slice(0, at)) as Address; // a change's address is an Address, with `@id` behind it for duplicates
}
