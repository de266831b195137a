import { listClaims } from '../kinds/claims.ts';
import { getKind } from '../kinds/tables/registry.ts';
import {
  type Action,
  type Change,
  type Difference,
  isAdoptOrTakeOverAction,
  isHiddenChange,
  isRecordInChange,
  isRetirement,
  listKnownDifferences,
} from '../model/change.ts';
import type { Drift, DriftedChange, DriftState, UnownedResource } from '../model/drift.ts';
import { assertNever } from '../model/errors.ts';
import { isOwnedBy } from '../model/ownership.ts';
import type { Plan } from '../model/plan.ts';
import type { DesiredState, LiveResource, LiveState, Spec } from '../model/state.ts';
import { createDriftDangerList, listValidityDangers } from './dangers.ts';
import { listSpecDifferences } from './differences.ts';
import { createAdoptionCandidateSearch, createUnownedHolderSearch } from './duplicates.ts';

/** Input of `computeDrift` in addition to the plan. */
export interface DriftInput {
  readonly live: LiveState;
  /** By the clock of the service. */
  readonly now: Date;
  /** Default: no manifest says when a resource begins. */
  readonly desired?: Pick<DesiredState, 'resources'>;
}

/**
 * Reads a plan in the other direction: what happened at the service since the last apply. `plan` covers the whole stack
 * and is never applied.
 * @example
 * const drift = computeDrift(plan, { live, desired, now: new Date() });
 */
export function computeDrift(plan: Plan, { live, now, desired }: DriftInput): Drift {
  const { stack, baseUrl, made, targets, exclusions, externals, crossStackReferences, teamLabel } = plan;
  const { diagnostics, violations, requests, skipped } = plan;
  const all = new Map([...live.resources.values()].flat().map((resource) => [resource.id, resource]));
  const findBeside = createBesideSearch(plan, live);
  const listDangers = createDriftDangerList(stack, live);
  const pruned = new Set(plan.changes.flatMap((one) => (isPruned(one) ? [one.address] : [])));
  const changes = plan.changes.map(omitRecord).map((change): DriftedChange => {
    const found = all.get(change.live?.id ?? '');
    const beside = findBeside(change);
    const compared = beside === undefined ? change : compareWithBeside(change, beside, stack);
    const validity = found === undefined ? {} : pickValidity(found);
    const isStartSet = hasStart(change, desired?.resources.get(change.address)?.spec ?? {});
    const dangers = [
      ...listValidityDangers({ kind: change.kind, ...validity }, { now, isStartSet }),
      ...listDangers(compared, beside ?? found),
    ];
    const team = change.team ?? change.live?.mark?.team;
    return {
      ...compared,
      team,
      ...describeState(compared, { found, beside, isDue: isRetirement(change) && !pruned.has(change.address) }),
      ...(dangers.length > 0 && { driftDangers: dangers }),
      ...validity,
    };
  });
  const ours = changes.filter(({ state }) => state !== 'unowned');
  return {
    stack,
    baseUrl,
    made: made ?? { at: now.toISOString() },
    targets,
    exclusions,
    externals,
    crossStackReferences,
    skipped,
    teamLabel,
    changes,
    kinds: [...live.resources.keys()],
    unowned: listUnowned({ stack, known: new Set(ours.map((change) => change.live?.id)) }, live),
    diagnostics,
    violations,
    requests,
  };
}

/** What is described and has only the record of a refused creation does not exist. */
function omitRecord(change: Change): Change {
  const { action, live } = change;
  const isDescribed = action === 'replace' || action === 'withhold';
  if (!isDescribed || live === undefined || !isRecordInChange(live)) return change;
  return { ...change, action: action === 'replace' ? 'create' : action, live: undefined, differences: [] };
}

/**
 * Creates a search for the live resource beside which a change would create a second one: it does not have the mark of
 * the stack, and matches the manifest or has a unique value that the manifest claims.
 */
function createBesideSearch({ stack, changes }: Plan, live: LiveState): (change: Change) => LiveResource | undefined {
  const taken = new Set(changes.map((change) => change.live?.id));
  const listCandidates = createAdoptionCandidateSearch(live, taken);
  const findHolder = createUnownedHolderSearch(live, { taken, stack });
  return ({ action, kind: name, desired = {} }) => {
    if (action !== 'create') return undefined;
    const kind = getKind(name);
    const [candidate, ...others] = listCandidates(kind, desired);
    return candidate !== undefined && others.length === 0 ? candidate : findHolder(kind, desired);
  };
}

/** Compares the manifest of a resource to create with the live resource that is there instead. */
function compareWithBeside(change: Change, beside: LiveResource, stack: string): DriftedChange {
  const { address, kind, desired = {}, ignored = [], validForMs } = change;
  const compared = { kind: getKind(kind), live: beside, ignored, validForMs, address, stack, normal: desired };
  const differences =
    beside.kind === kind ? listSpecDifferences({ ...compared, protect: change.protect === true }) : [];
  return { ...change, state: 'unowned', besideId: beside.id, differences };
}

/** Facts on which the state of a resource depends, beside its change. */
interface DriftFacts {
  readonly found: LiveResource | undefined;
  readonly beside: LiveResource | undefined;
  /** Whether it is an old resource that is due, and the one that replaced it is kept. Like a renewal, that is pending. */
  readonly isDue: boolean;
}

function isPruned({ action, duplicateOf }: Change): boolean {
  return action === 'delete' && duplicateOf === undefined;
}

function describeState(change: Change, facts: DriftFacts): Pick<DriftedChange, 'state' | 'reason'> {
  const { action, reason } = change;
  const { found, beside, isDue } = facts;
  if (isDue) return { state: 'pending', reason };
  if (beside !== undefined) return { state: 'unowned', reason: describeBeside(change, beside) };
  if (found !== undefined && isAdoptOrTakeOverAction(action)) {
    const how = action === 'adopt' ? `adopts it: ${formatAdoptLine(found)}` : 'takes it over';
    return { state: 'unowned', reason: `${describeUnownedReason(found)}; its manifest ${how}` };
  }
  // Only a creation is withheld without a live resource.
  if (action === 'withhold' && change.live === undefined) return { state: 'missing', reason };
  return { state: computeState(isHiddenChange(change) ? 'no-op' : action, listKnownDifferences(change)), reason };
}

function describeBeside({ kind, desired = {} }: Change, beside: LiveResource): string {
  const isClaimed = listClaims(getKind(kind), desired).length > 0;
  const shared = isClaimed ? 'has a unique value that the manifest claims' : 'has the fields of the manifest';
  const hint = beside.mark === undefined ? `; to adopt it, add to its manifest: ${formatAdoptLine(beside)}` : '';
  return `${describeUnownedReason(beside)}, and ${shared}${hint}`;
}

function describeUnownedReason({ mark, markError }: LiveResource): string {
  if (mark !== undefined) return `it has the mark of the stack ${mark.stack}`;
  return markError === undefined ? 'it has no mark' : 'its mark cannot be read';
}

function formatAdoptLine({ id }: LiveResource): string {
  return `lifecycle: { adopt: ${id} }`;
}

/** Whether a spec says when the validity of a resource begins. */
function hasStart({ kind }: Pick<Change, 'kind'>, spec: Spec): boolean {
  return spec[getKind(kind).validity?.after ?? ''] !== undefined;
}

/** The validity of a live resource. An empty object if the resource has none. */
function pickValidity({ kind, spec }: LiveResource): Pick<DriftedChange, 'validFrom' | 'validUntil'> {
  const { validity } = getKind(kind);
  const [validFrom, validUntil] = [spec[validity?.after ?? ''], spec[validity?.until ?? '']];
  return {
    ...(typeof validFrom === 'string' && { validFrom }),
    ...(typeof validUntil === 'string' && { validUntil }),
  };
}

function computeState(action: Action, differences: readonly Difference[]): DriftState {
  switch (action) {
    case 'no-op':
      return 'in-sync';
    case 'create':
      return 'missing';
    case 'delete':
    case 'release':
      return 'to-prune';
    case 'adopt':
    case 'take-over':
      return 'unowned';
    case 'update':
    case 'replace':
    case 'withhold':
      return computeDriftState(differences);
    default:
      return assertNever(action);
  }
}

/** Derives the drift state from the origins of differences. Without differences, the change is a pending renewal. */
function computeDriftState(differences: readonly Difference[]): DriftState {
  const origins = new Set(differences.map(({ origin }) => origin));
  const isDrifted = origins.has('drift') || origins.has('both');
  const isPending = origins.has('manifest') || origins.has('both') || differences.length === 0;
  if (isDrifted && isPending) return 'drifted-and-pending';
  if (isDrifted) return 'drifted';
  return isPending ? 'pending' : 'differs';
}

/** Lists live resources of other stacks and live resources without a mark, except those whose id is in `known`. */
export function listUnowned(
  { stack, known }: { readonly stack: string; readonly known: ReadonlySet<string | undefined> },
  live: LiveState,
): readonly UnownedResource[] {
  return [...live.resources.keys()].sort().flatMap((kind) => {
    const others = (live.resources.get(kind) ?? []).filter((one) => !known.has(one.id) && !isOwnedBy(one, stack));
    return others.map(toUnownedResource).sort(byId);
  });
}

function toUnownedResource({ kind, id, spec, mark }: LiveResource): UnownedResource {
  return {
    kind,
    id,
    description: typeof spec['description'] === 'string' ? spec['description'] : '',
    stack: mark?.stack,
  };
}

function byId(left: UnownedResource, right: UnownedResource): number {
  return left.id < right.id ? -1 : 1;
}
