import { normalizeField } from '../../kinds/normalize.ts';
import { mapReferences } from '../../kinds/references.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import type { CreatedIds } from '../../kinds/write-request.ts';
import { type Address, toAddress } from '../../model/address.ts';
import type { Change } from '../../model/change.ts';
import type { Json } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import type { LiveResource, LiveState, Spec } from '../../model/state.ts';
import { findForeign } from '../foreign.ts';
import { listKnownIds } from '../known-ids.ts';

/** Look-ups in what is live now, by what a saved plan says. */
export interface Finder {
  /** The resource that a change starts from. */
  readonly start: (change: Change) => LiveResource | undefined;
  /** A resource with the mark of a creation that was not there when the plan was made. */
  readonly bearer: (change: Change) => LiveResource | undefined;
  /** Everything of the stack that bears a name. */
  readonly bearing: (address: Address) => readonly LiveResource[];
  /** What exists of the plan's creations, by address. */
  readonly created: ReadonlyMap<Address, LiveResource>;
  /** Their ids. */
  readonly ids: CreatedIds;
}

/** Makes the look-ups of a plan in what is live. */
export function createFinder(plan: Plan, live: LiveState): Finder {
  const all = [...live.resources.values()].flat();
  const byId = new Map(all.map((resource) => [resource.id, resource]));
  const ours = all.filter(({ mark }) => mark?.stack === plan.stack);
  const byAddress = Map.groupBy(ours, ({ kind, mark }) => toAddress(kind, mark?.name ?? ''));
  const known = listKnownIds(plan);
  const bearing = (address: Address) => byAddress.get(address) ?? [];
  const bearer = ({ address }: Change) => bearing(address).find(({ id }) => !known.has(id));
  const found = plan.changes.filter(isCreation).map((change) => [change.address, bearer(change)] as const);
  const created = new Map(found.flatMap(([address, one]) => (one === undefined ? [] : [[address, one]])));
  return {
    start: ({ address, live: start }) => live.attachments.get(address) ?? byId.get(start?.id ?? ''),
    bearer,
    bearing,
    created,
    ids: new Map([...listAwaitedIds(plan, live), ...[...created].map(([address, { id }]) => [address, id] as const)]),
  };
}

/** The ids of other stacks' resources that were not there when the plan was made. */
function listAwaitedIds({ awaited = {} }: Plan, live: LiveState): readonly (readonly [string, string])[] {
  return Object.entries(awaited).flatMap(([address, foreign]) => {
    const id = findForeign(foreign, live)?.id;
    return id === undefined ? [] : [[address, id] as const];
  });
}

/** Whether a change makes a new resource. */
export function isCreation({ action }: Change): boolean {
  return action === 'create' || action === 'replace';
}

/** A spec in normal form, with the ids of what was created since for their addresses. */
export function resolveSpec(kindName: string, spec: Spec, ids: CreatedIds): Spec {
  const kind = getKind(kindName);
  const resolved = mapReferences(kind, spec, ({ value }) => ids.get(value) ?? value);
  const entries = Object.entries(resolved).map(([name, value]): [string, Json] => {
    const field = kind.fields[name];
    return [name, field === undefined ? value : normalizeField(field, value)];
  });
  return Object.fromEntries(entries);
}
