import { isRotatable } from '../../kinds/kind.ts';
import { normalizeField } from '../../kinds/normalize.ts';
import { mapReferences } from '../../kinds/references.ts';
import type { CreatedIds } from '../../kinds/request-body.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { type Address, toAddress } from '../../model/address.ts';
import type { Change } from '../../model/change.ts';
import type { Json } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import type { LiveResource, LiveState, Spec } from '../../model/state.ts';
import { findForeign } from '../cross-stack-references.ts';
import { withDangers } from '../dangers.ts';
import { isUndelivered } from '../match.ts';

/** Look-ups in what is live now, by what a saved plan says. */
export interface Finder {
  /** The resource that a change starts from. */
  readonly start: (change: Change) => LiveResource | undefined;
  /** A resource with the mark of a creation that was not there when the plan was made; of several one with a token. */
  readonly bearer: (change: Change) => LiveResource | undefined;
  /** All such of which nothing shows that their token was delivered: each apply that broke off may have left one. */
  readonly abandoned: (change: Change) => readonly LiveResource[];
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
  const appeared = ({ address }: Change) => bearing(address).filter(({ id }) => !known.has(id));
  const isAbandoned = (live: LiveResource) => isUndelivered(getKind(live.kind), live);
  const bearer = (change: Change) => {
    const all = appeared(change);
    return all.find((live) => !isAbandoned(live)) ?? all[0];
  };
  const found = plan.changes.filter(isCreation).map((change) => [change.address, bearer(change)] as const);
  const created = new Map(found.flatMap(([address, one]) => (one === undefined ? [] : [[address, one]])));
  return {
    start: ({ address, live: start }) => live.attachments.get(address) ?? byId.get(start?.id ?? ''),
    bearer,
    abandoned: (change) => appeared(change).filter(isAbandoned),
    bearing,
    created,
    ids: new Map([...listAwaitedIds(plan, live), ...[...created].map(([address, { id }]) => [address, id] as const)]),
  };
}

/** The ids of other stacks' resources that were not there when the plan was made. */
export function listAwaitedIds(
  { awaitedReferences = {} }: Plan,
  live: LiveState,
): readonly (readonly [string, string])[] {
  return Object.entries(awaitedReferences).flatMap(([address, foreign]) => {
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

/** A plan as it would be if no apply had broken off between a creation and the delivery of its token. */
interface Unbroken {
  readonly plan: Plan;
  /** What is created once more, because nobody has its token. */
  readonly renewed: ReadonlySet<Address>;
}

/**
 * Counts the replacement of what an apply created and abandoned as the creation that the shown plan has. Only what is of no use to anybody counts:
 * it bears the mark of that very address, nothing shows that its token was delivered, and the shown plan did not know it.
 */
export function countAsCreated(plan: Plan, shown: Plan): Unbroken {
  const known = listKnownIds(shown);
  const creations = new Set<Address>(shown.changes.filter(isCreation).map(({ address }) => address));
  const isAbandoned = (change: Change): boolean =>
    creations.has(change.address) && !known.has(change.live?.id ?? '') && isUnused(change, plan);
  const renewed = plan.changes.filter((change) => isRenewal(change) && isAbandoned(change));
  const changes = plan.changes.flatMap((change): readonly Change[] => {
    if (!isRenewal(change) || !isAbandoned(change)) return [change];
    return change.duplicateOf === undefined ? toCreation(change, plan) : [];
  });
  return { plan: { ...plan, changes }, renewed: new Set(renewed.map(({ address }) => address)) };
}

/** Whether it is replaced for the loss of its token alone, or deleted beside what bears the same mark. */
function isRenewal({ action, duplicateOf, differences }: Change): boolean {
  return duplicateOf === undefined ? action === 'replace' && differences.length === 0 : action === 'delete';
}

function isUnused({ address, kind, live }: Change, { stack }: Plan): boolean {
  const mark = live?.mark;
  if (mark === undefined || mark.stack !== stack || toAddress(kind, mark.name) !== address) return false;
  return isUndelivered(getKind(kind), { mark });
}

function toCreation({ live: _, reason: __, ...change }: Change, plan: Plan): readonly Change[] {
  return withDangers({ ...plan, changes: [{ ...change, action: 'create' }], writes: [] });
}

/** Ids of everything that a plan knew of its stack. */
export function listKnownIds({ changes, suppressedDeletes = [] }: Plan): ReadonlySet<string> {
  const started = changes.flatMap(({ live }) => (live === undefined ? [] : [live.id]));
  return new Set([...started, ...suppressedDeletes.map(({ id }) => id)]);
}

/** What was live before anything of saved plans was done, as far as they show it. */
export function computeLiveBefore(live: LiveState, plans: readonly Plan[]): LiveState {
  return plans.reduce(undo, live);
}

function undo({ resources, attachments, ...live }: LiveState, plan: Plan): LiveState {
  const known = listKnownIds(plan);
  const made = new Set<Address>(plan.changes.filter(isCreation).map(({ address }) => address));
  const isMade = ({ kind, id, mark }: LiveResource): boolean =>
    mark?.stack === plan.stack && !known.has(id) && made.has(toAddress(kind, mark.name));
  const starts = plan.changes.flatMap((change) => toStart(change));
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
        return [kind, [...all.filter((one) => !isMade(one)).map(restore), ...gone]];
      }),
    ),
    attachments: new Map([...attachments].map(([address, one]) => [address, undoModules(address, one, plan)])),
  };
}

/** The modules of an edge or a route as they were live. A plan of another edge says nothing of them. */
function undoModules(address: Address, one: LiveResource, { changes }: Plan): LiveResource {
  const start = changes.find((change) => change.address === address)?.live?.spec;
  const ids = getKind(one.kind).specFields.flatMap(([name, { lifecycle }]) =>
    lifecycle === 'immutable' ? [name] : [],
  );
  const isSame = start !== undefined && ids.every((name) => start[name] === one.spec[name]);
  return isSame ? { ...one, spec: { ...one.spec, ...start } } : one;
}

/** What a change starts from, as it was live. Nothing says when what is gone was made: of several with one mark it is as old as lets it be kept, or not. */
function toStart({ kind: name, live, duplicateOf }: Change): readonly LiveResource[] {
  const kind = getKind(name);
  if (live?.spec === undefined || kind.role !== 'owned') return [];
  const { id, spec, mark } = live;
  const isOld = isRotatable(kind) === (duplicateOf !== undefined);
  const computed = { kind: name, id, createdAt: isOld ? '' : END_OF_TIME, markError: undefined, computed: {} };
  return [{ ...computed, spec, mark }];
}

/** Stands behind all times in RFC 3339. */
const END_OF_TIME = '9';
