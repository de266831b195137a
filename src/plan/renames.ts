import { type Address, toAddress } from '../model/address.ts';
import type { DesiredResource, DesiredState, LiveResource } from '../model/state.ts';

/** The live resources that bear our mark, by the address in it. */
export type Owned = ReadonlyMap<Address, readonly LiveResource[]>;

/** The live resources of a manifest, and the name that they bear if it is not its own yet. */
export interface Bearers {
  readonly live: readonly LiveResource[];
  readonly formerName?: string;
}

/**
 * Finds the live resources of a manifest: those with its name or, if there are none, with the name that it was renamed from.
 * When names are swapped or passed on between resources, the mark records the former name of each: without it, a completed
 * rename could not be told from a pending one.
 */
export class Renames {
  readonly #desired: DesiredState;
  readonly #owned: Owned;
  readonly #successors: ReadonlyMap<Address, DesiredResource>;

  constructor(desired: DesiredState, owned: Owned) {
    this.#desired = desired;
    this.#owned = owned;
    const renamed = [...desired.resources.values()].flatMap((resource) => {
      const before = toFormerAddress(resource);
      return before === undefined ? [] : [[before, resource] as const];
    });
    this.#successors = new Map(renamed);
  }

  /** What belongs to a manifest. */
  bearersOf(resource: DesiredResource): Bearers {
    const formerName = resource.lifecycle.renamedFrom;
    const settled = this.#settled(resource);
    if (formerName !== undefined && this.#takes(resource)) return { live: this.#offered(resource), formerName };
    const successor = this.#successors.get(resource.address);
    const isTaken = successor !== undefined && this.#takes(successor);
    return { live: isTaken ? settled : this.#bearing(resource.address) };
  }

  /** Whether a resource whose name has no manifest any more belongs to a renamed one. */
  isTaken(address: Address): boolean {
    const successor = this.#successors.get(address);
    return successor !== undefined && this.#takes(successor);
  }

  /** The name to remember in the mark of a resource whose own name another one takes. */
  toRemember(resource: DesiredResource): string | undefined {
    return this.#successors.has(resource.address) ? resource.lifecycle.renamedFrom : undefined;
  }

  #takes(resource: DesiredResource): boolean {
    return this.#settled(resource).length === 0 && this.#offered(resource).length > 0;
  }

  /** The resources that keep the name: all, unless another manifest was renamed from it. */
  #settled(resource: DesiredResource): readonly LiveResource[] {
    const bearing = this.#bearing(resource.address);
    const successor = this.#successors.get(resource.address);
    const isGivenAway = successor !== undefined && (this.#isInCircle(resource) || this.#takes(successor));
    return isGivenAway ? bearing.filter((live) => hasArrived(resource, live)) : bearing;
  }

  /** The resources with the former name, except those that have just received it. */
  #offered(resource: DesiredResource): readonly LiveResource[] {
    const before = toFormerAddress(resource);
    if (before === undefined) return [];
    const holder = this.#desired.resources.get(before);
    return this.#bearing(before).filter((live) => holder === undefined || !hasArrived(holder, live));
  }

  #isInCircle({ address }: DesiredResource): boolean {
    const seen = new Set<Address>();
    let next = this.#successors.get(address);
    while (next !== undefined && next.address !== address && !seen.has(next.address)) {
      seen.add(next.address);
      next = this.#successors.get(next.address);
    }
    return next?.address === address;
  }

  #bearing(address: Address): readonly LiveResource[] {
    return this.#owned.get(address) ?? [];
  }
}

function hasArrived({ lifecycle }: DesiredResource, { mark }: LiveResource): boolean {
  return lifecycle.renamedFrom !== undefined && mark?.was === lifecycle.renamedFrom;
}

function toFormerAddress({ kind, lifecycle }: DesiredResource): Address | undefined {
  return lifecycle.renamedFrom === undefined ? undefined : toAddress(kind, lifecycle.renamedFrom);
}
