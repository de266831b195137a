import { type Address, toAddress } from './address.ts';
import { isCopiedMark, isRefusalRecord, isRetiring, type Mark } from './mark.ts';
import type { LiveResource, LiveState } from './state.ts';

/**
 * Whose a live resource is, by its mark. Everything that finds, counts, keeps or deletes resources of a stack uses these
 * functions: no other file compares the stack or the name of a live mark.
 */

/** What a mark names: a resource of a stack. */
interface ResourceOfStack {
  readonly stack: string;
  readonly name: string;
}

/** Whether the stack owns the resource: it has its mark. A copy of a mark counts, because the stack prunes copies. */
export function isOwnedBy({ mark }: { readonly mark: Mark | undefined }, stack: string): boolean {
  return mark?.stack === stack;
}

/** Whether the mark is that of a resource of a stack, or a copy of it. */
export function hasMarkOf({ mark }: { readonly mark?: Mark | undefined }, { stack, name }: ResourceOfStack): boolean {
  return mark?.stack === stack && mark.name === name;
}

/** Whether two marked resources belong to one stack. Symmetrical. */
export function isOfSameStack({ mark }: Pick<LiveResource, 'mark'>, other: Pick<LiveResource, 'mark'>): boolean {
  return mark !== undefined && mark.stack === other.mark?.stack;
}

/** Whether the marks of two resources have one name. Symmetrical. */
export function isOfSameName({ mark }: Pick<LiveResource, 'mark'>, other: Pick<LiveResource, 'mark'>): boolean {
  return mark !== undefined && mark.name === other.mark?.name;
}

/**
 * Whether a live resource may be the one that others mean by the names of its stack and of itself. A copy never is, and
 * neither is an old one that retires, nor the record of a refused creation. If several resources are, `sortByPrecedence` finds the one that the stack keeps.
 */
export function isResourceOf(live: Pick<LiveResource, 'id' | 'mark'>, named: ResourceOfStack): boolean {
  return hasMarkOf(live, named) && !isCopiedMark(live) && !isRetiring(live) && !isRefusalRecord(live);
}

/** A live resource with the address that its mark gives it in its stack. */
export interface MarkedResource {
  readonly address: Address;
  readonly stack: string;
  readonly live: LiveResource;
}

/** Lists the live resources that have a mark, of whatever stack. */
export function listMarked({ resources }: Pick<LiveState, 'resources'>): readonly MarkedResource[] {
  return [...resources.values()].flat().flatMap((live) => {
    const { kind, mark } = live;
    return mark === undefined ? [] : [{ address: toAddress(kind, mark.name), stack: mark.stack, live }];
  });
}

/** Lists the live resources that the stack owns. */
export function listOwned(state: Pick<LiveState, 'resources'>, stack: string): readonly MarkedResource[] {
  return listMarked(state).filter((one) => isOwnedBy(one.live, stack));
}

/** Whether the beginning of a mark that the service cut names a stack. */
export function isCutMarkOf(mark: { readonly stack?: string | undefined }, stack: string): boolean {
  return mark.stack === stack;
}
