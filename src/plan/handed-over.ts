import { type Address, parseAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isResourceOf, listOwned } from '../model/ownership.ts';
import type { FindTakingOverStack, TakingOverStack } from '../model/stack-tree.ts';
import type { LiveState } from '../model/state.ts';
import type { ChangeDecision } from './decide.ts';
import type { KeptPrunes, PlanInput } from './plan-input.ts';

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

/**
 * Warnings on resources that are kept because a stack outside of the run takes them over. `decided`: ids of the live
 * resources in the plan, for which no warning is needed.
 */
export function listKeptForHandOverWarnings(
  { desired, live, mode, findTaker, isInRun = () => false }: PlanInput,
  decided: ReadonlySet<string | undefined>,
): readonly Diagnostic[] {
  if (mode === 'release' || findTaker === undefined) return [];
  const handedOver = new Set<string>(desired.stack.handedOver);
  return listOwned(live, desired.stack.name).flatMap(({ address, live: { id } }): readonly Diagnostic[] => {
    if (decided.has(id) || handedOver.has(address)) return [];
    const taker = findOpenTaker(address, { live, findTaker });
    if (taker === undefined || isInRun(taker.stack)) return [];
    const { stack, folder, as } = taker;
    const [who, remedy] =
      stack === ''
        ? [`${folder}, which belongs to no stack,`, `Add a Stack document to the folder of ${folder}, and apply it.`]
        : [`the stack ${stack}`, `Apply the stack in ${folder}. The order does not matter.`];
    return [
      {
        code: 'kept-for-hand-over',
        severity: 'warning',
        message: `${address} (${id}) is in no manifest, and is kept: ${who} takes it over as ${as}`,
        remedy,
        address,
      },
    ];
  });
}

/** The warning on a resource without a manifest that is kept because another stack of the run is unknown. */
export function createKeptPruneWarning(
  { pair: { address, live } }: ChangeDecision,
  { why, remedy }: KeptPrunes = { why: '', remedy: '' },
): Diagnostic {
  return {
    code: 'kept-prune',
    severity: 'warning',
    message: `${address} (${live?.id}) is in no manifest, and is kept in this run: ${why}`,
    remedy,
    address,
  };
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
