import { getKind } from '../kinds/tables/registry.ts';
import { formatAddress } from '../model/address.ts';
import { type Action, type Change, type Difference, isAdoptOrTakeOverAction, isHiddenChange } from '../model/change.ts';
import type {
  Drift,
  DriftedField,
  DriftState,
  NextApplyAction,
  ResourceDrift,
  UnownedResource,
} from '../model/drift.ts';
import { assertNever } from '../model/errors.ts';
import { isOwnedBy } from '../model/ownership.ts';
import type { Plan, PlannedFile } from '../model/plan.ts';
import type { DesiredState, LiveResource, LiveState, Spec } from '../model/state.ts';
import { addValidityDangerToDrift, listDangersCausedByDrift } from './dangers.ts';
import { createAdoptionCandidateSearch, createUnownedHolderSearch } from './duplicates.ts';

/** Input of `computeDrift` in addition to the plan. */
export interface DriftInput {
  readonly live: LiveState;
  /** By the clock of the service. */
  readonly now: Date;
  /** By the clock of this machine. Default: `now`. */
  readonly localNow?: Date | undefined;
  /** Default: no manifest says when a resource begins. */
  readonly desired?: Pick<DesiredState, 'resources'>;
}

/**
 * Compares the live state with the manifests, and finds for each difference whether the live value or the manifest
 * changed. `plan` covers the whole stack and is never applied.
 */
export function computeDrift(plan: Plan, { live, now, localNow = now, desired }: DriftInput): Drift {
  const { stack, baseUrl, made, targets, exclusions, externals, diagnostics, violations, requests } = plan;
  const all = new Map([...live.resources.values()].flat().map((resource) => [resource.id, resource]));
  const taken = new Set(plan.changes.map((change) => change.live?.id));
  const findCandidate = createAdoptionCandidateSearch(live, taken);
  const findHolder = createUnownedHolderSearch(live, { taken, stack });
  const conflicts = violations.filter(({ rule }) => rule === 'claimed-elsewhere').flatMap(({ addresses }) => addresses);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ address }) => address);
  const refused = new Set([...errors, ...conflicts]);
  const resources = plan.changes.map((change) => {
    const found = all.get(change.live?.id ?? '');
    const isNew = change.action === 'create';
    const [kind, spec] = [getKind(change.kind), change.desired ?? {}];
    const candidate = isNew ? findCandidate(kind, spec) : undefined;
    const holder = isNew && candidate === undefined ? findHolder(kind, spec) : undefined;
    const drift =
      findUnowned(change, { found, candidate, holder }) ??
      withFile(createResourceDrift(change, found, { stack, account: live }), plan.files);
    return refused.has(change.address) ? withoutNext(drift) : drift;
  });
  const ours = resources.filter(({ state }) => state !== 'unowned');
  return {
    stack,
    baseUrl,
    at: localNow.toISOString(),
    ...(made?.commit !== undefined && { commit: made.commit }),
    targets,
    ...(exclusions !== undefined && { exclusions }),
    resources: sortDriftByAddress(
      resources.map((resource) => {
        const stated = desired?.resources.get(resource.address)?.spec ?? {};
        return addValidityDangerToDrift(resource, { now, isStartStated: hasStart(resource, stated) });
      }),
    ),
    kinds: [...live.resources.keys()],
    unowned: listUnowned({ stack, known: new Set(ours.map(({ id }) => id)) }, live),
    diagnostics,
    violations,
    externals,
    requests: requests.read,
  };
}

/** Removes the next action of a resource with an error, because a plan with errors is never applied. */
function withoutNext({ next: _, ...rest }: ResourceDrift): ResourceDrift {
  return rest;
}

/** Live resources that may match a change. */
interface UnownedCandidates {
  readonly found: LiveResource | undefined;
  readonly candidate: LiveResource | undefined;
  /** A resource with a unique value that the manifest claims. */
  readonly holder: LiveResource | undefined;
}

/**
 * Returns the drift of a change whose live resource the stack does not own: an adoption, or a create for which a
 * matching resource exists. `undefined` for other changes.
 */
function findUnowned(
  { address, kind, action, differences, owner }: Change,
  { found, candidate, holder }: UnownedCandidates,
): ResourceDrift | undefined {
  const fields = differences.map(toDriftedField);
  const base = { address, kind, state: 'unowned', differences: fields, ...(owner !== undefined && { owner }) } as const;
  if (found !== undefined && isAdoptOrTakeOverAction(action)) {
    const how = action === 'adopt' ? `adopts it: ${formatAdoptLine(found)}` : 'takes it over';
    return { ...base, id: found.id, reason: `${describeUnownedReason(found)}; its manifest ${how}`, next: action };
  }
  if (candidate !== undefined) {
    const reason = `${describeUnownedReason(candidate)}; to adopt it, add to its manifest: ${formatAdoptLine(candidate)}`;
    return { ...base, id: candidate.id, reason, next: 'create' };
  }
  if (holder === undefined) return undefined;
  const hint = holder.mark === undefined ? `; to adopt it, add to the manifest: ${formatAdoptLine(holder)}` : '';
  return {
    ...base,
    id: holder.id,
    reason: `${describeUnownedReason(holder)}, and has a unique value that the manifest claims${hint}`,
    next: 'create',
  };
}

function describeUnownedReason({ mark, markError }: LiveResource): string {
  if (mark !== undefined) return `it has the mark of the stack ${mark.stack}`;
  return markError === undefined ? 'it has no mark' : 'its mark cannot be read';
}

function formatAdoptLine({ id }: LiveResource): string {
  return `lifecycle: { adopt: ${id} }`;
}

/** Sorts by the address as shown in reports, which includes the id of a duplicate. */
function sortDriftByAddress(resources: readonly ResourceDrift[]): readonly ResourceDrift[] {
  const shown = resources.map((resource) => ({ resource, address: formatAddress(resource) }));
  return shown.sort((left, right) => (left.address < right.address ? -1 : 1)).map(({ resource }) => resource);
}

function createResourceDrift(
  change: Change,
  live: LiveResource | undefined,
  account: { readonly stack: string; readonly account: LiveState },
): ResourceDrift {
  const { address, desired, duplicateOf, kind, reason, leftToOthers, owner = live?.mark?.owner } = change;
  const action = isHiddenChange(change) ? 'no-op' : change.action;
  const fields = change.differences.filter(({ isHidden }) => !isHidden).map(toDriftedField);
  const drifted = { kind, fields, expected: desired, live: change.live?.spec };
  const dangers = listDangersCausedByDrift(drifted, { ...account, owner });
  return {
    address,
    ...(duplicateOf !== undefined && { duplicateOf }),
    kind,
    state: computeState(action, fields),
    ...(change.live !== undefined && { id: change.live.id }),
    differences: fields,
    ...(owner !== undefined && { owner }),
    ...(action === 'create' && desired !== undefined && { expected: desired }),
    ...(reason !== undefined && { reason }),
    ...(action !== 'no-op' && { next: action }),
    ...(leftToOthers !== undefined && { leftToOthers }),
    ...(dangers.length > 0 && { dangers }),
    ...(live !== undefined && pickValidity(live)),
  };
}

/** Reverses a difference: in a plan it leads from live to desired, in a drift report from expected to live. */
function toDriftedField({ field, path, from: live, to: expected, ...rest }: Difference): DriftedField {
  return {
    ...(field !== undefined && { field }),
    path,
    ...(expected !== undefined && { expected }),
    ...(live !== undefined && { live }),
    ...rest,
  };
}

/** Adds a reason if the file for the resource's value (`lifecycle.write_to`) is missing or has other content. */
function withFile(resource: ResourceDrift, files: readonly PlannedFile[]): ResourceDrift {
  const file = files.find(({ address, text }) => address === resource.address && text !== undefined);
  if (file === undefined || resource.duplicateOf !== undefined) return resource;
  const finding = `${file.path} ${file.replaces === true ? 'has other content' : 'is missing'}`;
  const reason = resource.reason === undefined ? finding : `${resource.reason}; ${finding}`;
  const next: NextApplyAction = 'write-file';
  return { ...resource, reason, ...(resource.state === 'in-sync' && { state: 'file-differs', next }) };
}

/** Whether a spec says when the validity of a resource begins. */
function hasStart({ kind }: Pick<ResourceDrift, 'kind'>, spec: Spec): boolean {
  return spec[getKind(kind).validity?.after ?? ''] !== undefined;
}

/** The validity of a live resource. An empty object if the resource has none. */
function pickValidity({ kind, spec }: LiveResource): Pick<ResourceDrift, 'validFrom' | 'validUntil'> {
  const { validity } = getKind(kind);
  const [validFrom, validUntil] = [spec[validity?.after ?? ''], spec[validity?.until ?? '']];
  return {
    ...(typeof validFrom === 'string' && { validFrom }),
    ...(typeof validUntil === 'string' && { validUntil }),
  };
}

function computeState(action: Action, differences: readonly DriftedField[]): DriftState {
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
      return computeDriftState(differences);
    default:
      return assertNever(action);
  }
}

/** Derives the drift state from the origins of differences. Without differences, the change is a pending renewal. */
function computeDriftState(differences: readonly Pick<Difference, 'origin'>[]): DriftState {
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
    ...(mark !== undefined && { stack: mark.stack }),
  };
}

function byId(left: UnownedResource, right: UnownedResource): number {
  return left.id < right.id ? -1 : 1;
}
