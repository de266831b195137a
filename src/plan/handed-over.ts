import { type Address, parseAddress } from '../model/address.ts';
import { isResourceOf, listOwned } from '../model/ownership.ts';
import type { FindTakingOverStack, TakingOverStack } from '../model/stack-tree.ts';
import type { LiveState } from '../model/state.ts';
import type { PlanInput } from './plan-input.ts';

/**
 * Creates a predicate for addresses without a manifest: whether the plan keeps their live resources. It does if
 * `spec.handed_over` lists the address, or if another stack takes the resource over and does not own it yet. After the
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
  return (address) => handedOver.has(address) || findOpenTaker(address, { live, findTaker }) !== undefined;
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
  return listOwned(live, desired.stack.name).flatMap(({ address, live: { id } }) => {
    if (decided.has(id) || handedOver.has(address)) return [];
    const taker = findOpenTaker(address, { live, findTaker });
    return taker === undefined || isInRun(taker.stack) ? [] : [{ address, id, taker }];
  });
}

function findOpenTaker(
  address: Address,
  { live, findTaker }: Pick<PlanInput, 'live'> & { readonly findTaker?: FindTakingOverStack | undefined },
): TakingOverStack | undefined {
  const taker = findTaker?.(address);
  return taker !== undefined && hasTaken(taker, live) ? undefined : taker;
}

/** Whether the other stack already owns the resource that it takes over. */
function hasTaken({ stack, as }: TakingOverStack, { resources }: LiveState): boolean {
  const { kind = '', name } = parseAddress(as) ?? {};
  return name !== undefined && (resources.get(kind) ?? []).some((live) => isResourceOf(live, { stack, name }));
}
