import { type Address, parseAddress, toAddress } from '../model/address.ts';
import { findFormerName } from '../model/mark.ts';
import { isResourceOf, listOwned } from '../model/ownership.ts';
import type { TakingOverStack } from '../model/stack-tree.ts';
import type { CrossStackReference, LiveState } from '../model/state.ts';
import type { PlanInput } from './plan-input.ts';

/**
 * Creates a predicate for addresses without a manifest: whether the plan keeps their live resources. It does if
 * `spec.handed_over` lists the address, or if another stack takes the resource over, or back, and does not own it yet. After the
 * take-over, a resource that still has the mark of this stack is pruned.
 */
export function createHandOverCheck({
  desired: { stack },
  live,
  mode,
  findTaker,
}: PlanInput): (address: Address) => boolean {
  if (mode === 'release') return () => false;
  const handedOver = new Set<string>(stack.handedOver);
  const former = indexFormerStacks(live, stack.name);
  return (address) =>
    handedOver.has(address) || findOpenTaker(address, { live, findTaker, former: former.get(address) }) !== undefined;
}

/** What the resources of a stack were before they moved to it, by their address now. */
function indexFormerStacks(live: LiveState, stack: string): ReadonlyMap<Address, CrossStackReference> {
  return new Map(
    listOwned(live, stack).flatMap(({ address, live: one }) => {
      const former = findFormerName(one);
      if (former === undefined || former.stack === stack) return [];
      return [[address, { stack: former.stack, resource: toAddress(one.kind, former.name) }]];
    }),
  );
}

interface KeptForTaker {
  readonly address: Address;
  readonly id: string;
  readonly taker: TakingOverStack;
}

/**
 * Finds resources that are kept because a stack outside of the run takes them over. `decided`: ids of the live
 * resources in the plan, for which no warning is needed.
 */
export function findKeptForTakers(
  { desired, live, mode, findTaker, isInRun = () => false }: PlanInput,
  decided: ReadonlySet<string | undefined>,
): readonly KeptForTaker[] {
  if (mode === 'release' || findTaker === undefined) return [];
  const handedOver = new Set<string>(desired.stack.handedOver);
  const former = indexFormerStacks(live, desired.stack.name);
  return listOwned(live, desired.stack.name).flatMap(({ address, live: { id } }) => {
    if (decided.has(id) || handedOver.has(address)) return [];
    const taker = findOpenTaker(address, { live, findTaker, former: former.get(address) });
    return taker === undefined || isInRun(taker.stack) ? [] : [{ address, id, taker }];
  });
}

function findOpenTaker(
  address: Address,
  {
    live,
    findTaker,
    former,
  }: Pick<PlanInput, 'live' | 'findTaker'> & { readonly former: CrossStackReference | undefined },
): TakingOverStack | undefined {
  const taker = findTaker?.(address, former);
  return taker !== undefined && hasTaken(taker, live) ? undefined : taker;
}

/** Whether the other stack already owns the resource that it takes over. */
function hasTaken({ stack, as }: TakingOverStack, { resources }: LiveState): boolean {
  const { kind = '', name } = parseAddress(as) ?? {};
  return name !== undefined && (resources.get(kind) ?? []).some((live) => isResourceOf(live, { stack, name }));
}
