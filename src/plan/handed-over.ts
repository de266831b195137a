import { type Address, parseAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isResourceOf, listOwned } from '../model/ownership.ts';
import type { FindTakingOverStack, TakingOverStack } from '../model/stack-tree.ts';
import type { LiveState } from '../model/state.ts';
import type { ChangeDecision } from './decide.ts';
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

/**
 * Warnings on resources that are kept because another stack may take them over. `decided`: ids of the live resources in
 * the plan, for which no warning is needed.
 */
export function listKeptForHandOverWarnings(
  { desired, live, mode, findTaker }: PlanInput,
  decided: ReadonlySet<string | undefined>,
): readonly Diagnostic[] {
  if (mode === 'release' || findTaker === undefined) return [];
  const handedOver = new Set<string>(desired.stack.handedOver);
  return listOwned(live, desired.stack.name).flatMap(({ address, live: { id } }): readonly Diagnostic[] => {
    if (decided.has(id) || handedOver.has(address)) return [];
    const { stack = '', doubt } = findOpenTaker(address, { live, findTaker }) ?? {};
    if (doubt === undefined) return [];
    return [
      {
        code: 'kept-for-hand-over',
        severity: 'warning',
        message: `${address} (${id}) is in no manifest, and is kept: ${formatTaker(stack)} may take it over, and ${doubt}`,
        remedy:
          'Correct that and plan again. Until then, edgewise deletes no resource that another stack may take over.',
        address,
      },
    ];
  });
}

/**
 * Warnings on deletes of resources that another stack takes over, or may take over. That stack is in the same
 * repository, but not part of the run.
 */
export function checkDeletesTakenOverElsewhere(
  decisions: readonly ChangeDecision[],
  { desired, live, findNeighbour }: Pick<PlanInput, 'desired' | 'live' | 'findNeighbour'>,
): readonly Diagnostic[] {
  const own = desired.stack.name;
  return decisions.flatMap(({ action, pair: { address, by } }): readonly Diagnostic[] => {
    if (action !== 'delete' || by !== 'mark') return [];
    const taker = findOpenTaker(address, { live, findTaker: findNeighbour });
    if (taker === undefined) return [];
    const { how, first } = describeTaker(taker);
    return [
      {
        code: 'taken-elsewhere',
        severity: 'warning',
        message: `${address} would be deleted here, and ${how}`,
        remedy: `${first}, or both in one run with -R. Until then, keep it with spec.handed_over: [${address}] in the Stack of ${own}.`,
        address,
      },
    ];
  });
}

/** Texts about the stack that takes over: `how` for the message, `first` for the remedy. */
function describeTaker({ stack, as, folder, doubt }: TakingOverStack): Readonly<Record<'how' | 'first', string>> {
  if (doubt !== undefined)
    return { how: `${formatTaker(stack)} may take it over: ${doubt}`, first: 'Correct that and apply it first' };
  return { how: `the stack ${stack} takes it over as ${as}`, first: `Apply the stack in ${folder} first` };
}

function formatTaker(stack: string): string {
  return stack === '' ? 'a manifest' : `the stack ${stack}`;
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
  const { kind = '', name } = (as && parseAddress(as)) ?? {};
  return name !== undefined && (resources.get(kind) ?? []).some((live) => isResourceOf(live, { stack, name }));
}
