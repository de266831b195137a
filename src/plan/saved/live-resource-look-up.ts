import { normalizeField } from '../../kinds/normalize.ts';
import { mapReferences } from '../../kinds/references.ts';
import type { CreatedIds } from '../../kinds/request-body.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { type Address, toAddress } from '../../model/address.ts';
import type { Change } from '../../model/change.ts';
import type { Json } from '../../model/json.ts';
import { isOwnIdInMark } from '../../model/mark.ts';
import type { Plan } from '../../model/plan.ts';
import type { LiveResource, LiveState, Spec } from '../../model/state.ts';
import { findCrossStackReference } from '../cross-stack-references.ts';
import { computeChangesWithDangers } from '../dangers.ts';
import { isTokenUndelivered } from '../precedence.ts';

/** Finds the live resources that belong to the changes of a saved plan. */
export interface LiveResourceLookUp {
  /** The resource from which a change started, as it is live now. `undefined` if it no longer exists. */
  readonly start: (change: Change) => LiveResource | undefined;
  /**
   * The resource that has the mark of the change and was created after planning. If there are several, prefers one
   * whose token was delivered.
   */
  readonly findCreated: (change: Change) => LiveResource | undefined;
  /**
   * All resources with the mark of the change that were created after planning and whose token was not delivered. Each
   * interrupted apply may have left one.
   */
  readonly abandoned: (change: Change) => readonly LiveResource[];
  /** All resources of the stack with this address in their mark. */
  readonly listMarked: (address: Address) => readonly LiveResource[];
  /** The resources that the plan creates and that exist now, by address. */
  readonly created: ReadonlyMap<Address, LiveResource>;
  /** The ids of `created` and of the awaited resources of other stacks, by address. */
  readonly ids: CreatedIds;
}

export function createLiveResourceLookUp(plan: Plan, live: LiveState): LiveResourceLookUp {
  const all = [...live.resources.values()].flat();
  const byId = new Map(all.map((resource) => [resource.id, resource]));
  const ours = all.filter(({ mark }) => mark?.stack === plan.stack);
  const byAddress = Map.groupBy(ours, ({ kind, mark }) => toAddress(kind, mark?.name ?? ''));
  const known = listKnownIds(plan);
  const listMarked = (address: Address) => byAddress.get(address) ?? [];
  const appeared = ({ address }: Change) => listMarked(address).filter(({ id }) => !known.has(id));
  const isAbandoned = (live: LiveResource) => isTokenUndelivered(getKind(live.kind), live);
  const findCreated = (change: Change) => {
    const all = appeared(change);
    return all.find((live) => !isAbandoned(live)) ?? all[0];
  };
  const found = plan.changes.filter(isCreateOrReplace).map((change) => [change.address, findCreated(change)] as const);
  const created = new Map(found.flatMap(([address, one]) => (one === undefined ? [] : [[address, one]])));
  return {
    start: ({ address, live: start }) => live.attachments.get(address) ?? byId.get(start?.id ?? ''),
    findCreated,
    abandoned: (change) => appeared(change).filter(isAbandoned),
    listMarked,
    created,
    ids: new Map([
      ...findIdsOfAwaitedResources(plan, live),
      ...[...created].map(([address, { id }]) => [address, id] as const),
    ]),
  };
}

/** The ids of the awaited resources of other stacks that exist now, by the address of the `External`. */
export function findIdsOfAwaitedResources(
  { crossStackReferences = {} }: Plan,
  live: LiveState,
): readonly (readonly [string, string])[] {
  return Object.entries(crossStackReferences).flatMap(([address, foreign]) => {
    const id = findCrossStackReference(foreign, live)?.id;
    return id === undefined ? [] : [[address, id] as const];
  });
}

export function isCreateOrReplace({ action }: Change): boolean {
  return action === 'create' || action === 'replace';
}

/** Returns a spec in normal form. Ids replace the addresses of resources that exist now. */
export function resolveAndNormalizeSpec(kindName: string, spec: Spec, ids: CreatedIds): Spec {
  const kind = getKind(kindName);
  const resolved = mapReferences(kind, spec, ({ value }) => ids.get(value) ?? value);
  const entries = Object.entries(resolved).map(([name, value]): [string, Json] => {
    const field = kind.fields[name];
    return [name, field === undefined ? value : normalizeField(field, value)];
  });
  return Object.fromEntries(entries);
}

/** A plan that creates the abandoned resources again, instead of replacing them. */
interface RestoredPlan {
  readonly plan: Plan;
  /** Addresses of the resources that are created again because their token was lost. */
  readonly renewed: ReadonlySet<Address>;
}

/**
 * Turns the replacement of an abandoned resource back into a creation, as in `shown`, the plan that the user approved.
 * A resource is abandoned if `shown` creates its address but does not contain the resource itself, and its mark records
 * no delivered token. Nothing can use such a resource.
 */
export function restoreCreationsOfAbandonedResources(plan: Plan, shown: Plan): RestoredPlan {
  const known = listKnownIds(shown);
  const creations = new Set<Address>(shown.changes.filter(isCreateOrReplace).map(({ address }) => address));
  const isAbandoned = (change: Change): boolean =>
    creations.has(change.address) && !known.has(change.live?.id ?? '') && isUnused(change, plan);
  const renewed = plan.changes.filter((change) => isRenewal(change) && isAbandoned(change));
  const changes = plan.changes.flatMap((change): readonly Change[] => {
    if (!isRenewal(change) || !isAbandoned(change)) return [change];
    return change.duplicateOf === undefined ? createCreation(change, plan) : [];
  });
  return { plan: { ...plan, changes }, renewed: new Set(renewed.map(({ address }) => address)) };
}

/** Whether a change replaces a resource although no field differs, or deletes a duplicate. */
function isRenewal({ action, duplicateOf, differences }: Change): boolean {
  return duplicateOf === undefined ? action === 'replace' && differences.length === 0 : action === 'delete';
}

function isUnused({ address, kind, live }: Change, { stack }: Plan): boolean {
  const mark = live?.mark;
  if (mark === undefined || mark.stack !== stack || toAddress(kind, mark.name) !== address) return false;
  return isTokenUndelivered(getKind(kind), { mark });
}

function createCreation({ live: _, reason: __, ...change }: Change, plan: Plan): readonly Change[] {
  return computeChangesWithDangers({ ...plan, changes: [{ ...change, action: 'create' }], writes: [] });
}

/** The ids of all live resources in a plan, including those whose delete is suppressed. */
export function listKnownIds({ changes, suppressedDeletes = [] }: Plan): ReadonlySet<string> {
  const started = changes.flatMap(({ live }) => (live === undefined ? [] : [live.id]));
  return new Set([...started, ...suppressedDeletes.map(({ id }) => id)]);
}

/** Reconstructs the live state from before the saved plans were applied, as far as the plans contain that state. */
export function computeLiveBeforePlans(live: LiveState, plans: readonly Plan[]): LiveState {
  return plans.reduce(restoreBefore, live);
}

function restoreBefore({ resources, attachments, ...live }: LiveState, plan: Plan): LiveState {
  const known = listKnownIds(plan);
  const created = new Set<Address>(plan.changes.filter(isCreateOrReplace).map(({ address }) => address));
  const isCreated = ({ kind, id, mark }: LiveResource): boolean =>
    mark?.stack === plan.stack && !known.has(id) && created.has(toAddress(kind, mark.name));
  const starts = plan.changes.flatMap((change) => listStarts(change));
  const byId = new Map(starts.map((start) => [start.id, start]));
  const restore = (resource: LiveResource): LiveResource => {
    const { spec, mark } = byId.get(resource.id) ?? resource;
    return { ...resource, spec, mark };
  };
  return {
    ...live,
    resources: new Map(
      [...resources].map(([kind, all]) => {
        const found = new Set(all.map(({ id }) => id));
        const gone = starts.filter((start) => start.kind === kind && !found.has(start.id));
        return [kind, [...all.filter((one) => !isCreated(one)).map(restore), ...gone]];
      }),
    ),
    attachments: new Map([...attachments].map(([address, one]) => [address, undoModules(address, one, plan)])),
  };
}

/**
 * Restores the modules of an edge or a route as they were before the plan. Does nothing if the change in the plan is
 * for another edge or route.
 */
function undoModules(address: Address, one: LiveResource, { changes }: Plan): LiveResource {
  const start = changes.find((change) => change.address === address)?.live?.spec;
  const ids = getKind(one.kind).specFields.flatMap(([name, { lifecycle }]) =>
    lifecycle === 'immutable' ? [name] : [],
  );
  const isSame = start !== undefined && ids.every((name) => start[name] === one.spec[name]);
  return isSame ? { ...one, spec: { ...one.spec, ...start } } : one;
}

/**
 * The live resource from which a change started. A plan contains no creation times, and a new plan decides by them
 * which of several duplicates it keeps. So a creation time is set here that leads to the same decision.
 */
function listStarts({ kind: name, live, duplicateOf }: Change): readonly LiveResource[] {
  const kind = getKind(name);
  if (live?.spec === undefined || kind.role !== 'owned') return [];
  const { id, spec, mark } = live;
  const isYoungestKept = kind.oneTimeFields.length > 0 && isOwnIdInMark({ id, mark });
  const isOld = isYoungestKept === (duplicateOf !== undefined);
  const computed = { kind: name, id, createdAt: isOld ? '' : END_OF_TIME, markError: undefined, computed: {} };
  return [{ ...computed, spec, mark }];
}

/** A string that sorts after all times in RFC 3339. */
const END_OF_TIME = '9';
