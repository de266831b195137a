import type { Address } from './address.ts';
import type { LiveResource } from './state.ts';

/** What a stack owns, and what its manifests attach to, as the service holds it. */
export interface Inventory {
  readonly stack: string;
  readonly baseUrl: string;
  /** Sorted by address. */
  readonly resources: readonly OwnedResource[];
  /** Number of requests that reading took, retries included. */
  readonly requests: number;
}

/** A live resource with the address that its mark gives it. */
export interface OwnedResource {
  readonly address: Address;
  /** Several bear the mark of this address: none of them is told from the others by it. */
  readonly isShared: boolean;
  readonly live: LiveResource;
}
