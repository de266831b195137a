import { findOwnedKindOfId, listReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Address } from '../model/address.ts';
import type { Place } from '../model/place.ts';
import type { GoneId } from '../model/plan.ts';
import { NO_OTHER_STACKS } from '../model/stack-tree.ts';
import type { ChangeDecision } from './decide.ts';
import type { PlanInput } from './plan-input.ts';

interface MissingAdoption {
  readonly address: Address;
  readonly kind: ChangeDecision['pair']['kind'];
  /** The id that no resource has. */
  readonly id: string;
  readonly place: Place;
}

/** Finds creates whose `lifecycle.adopt` names a resource that does not exist. */
export function findMissingAdoptions(decisions: readonly ChangeDecision[]): readonly MissingAdoption[] {
  return decisions.flatMap(({ action, pair: { address, kind, desired } }) => {
    const id = desired?.lifecycle.adopt;
    if (action !== 'create' || desired === undefined || id === undefined) return [];
    return [{ address, kind, id, place: desired.locate(['lifecycle', 'adopt']) }];
  });
}

/**
 * Lists the ids that the plan replaces by new ones, and those that manifests refer to, of which no resource that was read
 * has one. Sorted by id.
 */
export function listGoneIds(decisions: readonly ChangeDecision[], input: PlanInput): readonly GoneId[] {
  const { desired, mode, others = NO_OTHER_STACKS } = input;
  if (mode !== 'apply') return [];
  const uses = Map.groupBy(listUses(input), ({ id }) => id);
  const created = new Map(findMissingAdoptions(decisions).map(({ id, address }) => [id, address]));
  const adopting = new Map(
    uses.size === 0 ? [] : Array.from(desired.resources, ([address, { lifecycle }]) => [lifecycle.adopt, address]),
  );
  return [...new Set([...created.keys(), ...uses.keys()])].sort().map((id) => {
    const own = created.get(id) ?? adopting.get(id);
    const places = (uses.get(id) ?? []).map(({ place }) => place);
    return own === undefined ? { id, ...others.findAdopting(id), places } : { id, address: own, places };
  });
}

/** The ids of kinds that were read which manifests refer to, and no resource has. */
function listUses({ desired, live }: PlanInput): readonly { readonly id: string; readonly place: Place }[] {
  const ids = new Map(Array.from(live.resources, ([kind, all]) => [kind, new Set(all.map(({ id }) => id))]));
  const isGone = (id: string): boolean => ids.get(findOwnedKindOfId(id)?.name ?? '')?.has(id) === false;
  const written = Array.from(desired.externals, ([address, id]) => ({ id, place: desired.locateExternal?.(address) }));
  const inFields = [...desired.resources.values()].flatMap(({ kind, written: spec, locate }) =>
    listReferences(getKind(kind), spec).map(({ value, path }) => ({ id: value, place: locate(['spec', ...path]) })),
  );
  return [...written, ...inFields].flatMap(({ id, place }) =>
    place !== undefined && isGone(id) ? [{ id, place }] : [],
  );
}
