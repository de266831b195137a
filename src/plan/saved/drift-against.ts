import { renderTimeSpan } from '../../kinds/duration.ts';
import type { Field } from '../../kinds/field.ts';
import { isModule, type Kind } from '../../kinds/kind.ts';
import { type AttachedModulesToRead, selectModulesOfAttachedResource } from '../../kinds/paths.ts';
import { alignLiveSpec, fillAllOmittedFields, isValueHidden } from '../../kinds/read-response.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import type { Change } from '../../model/change.ts';
import { type ClockSkew, listClockSkewWarnings, NO_SKEW } from '../../model/clock.ts';
import { type Drift, type DriftedField, type DriftState, PROTECT_PATH, type ResourceDrift } from '../../model/drift.ts';
import { isSameJson } from '../../model/json.ts';
import { IGNORED_FIELD_DIGEST, isEqualMark, type Mark, toFieldDigest } from '../../model/mark.ts';
import type { Plan } from '../../model/plan.ts';
import type { LiveResource, LiveState } from '../../model/state.ts';
import {
  computeDriftState,
  describeUnownedReason,
  hasStart,
  listUnowned,
  pickValidity,
  sortDriftByAddress,
  toDriftedField,
} from '../compute-drift.ts';
import { computeLiveDigest } from '../create-change.ts';
import { addValidityDangerToDrift, listDangersCausedByDrift, listDangersOfDriftedDelete } from '../dangers.ts';
import { type ComparableLiveSpec, listHiddenFieldWarnings } from '../decide-plan.ts';
import { diffSpecs } from '../diff.ts';
import { alignStoredForms, findFieldDefaultDigest } from '../differences.ts';
import { formatTextAsFileContent } from '../plan-input.ts';
import { listKindsEnabledForStack, type ReadRequest } from '../select-targets.ts';
import {
  createLiveResourceLookUp,
  isCreateOrReplace,
  type LiveResourceLookUp,
  resolveAndNormalizeSpec,
} from './live-resource-look-up.ts';

/** Returns the reads for `computeDriftFromSavedPlan`: all kinds in use, and the modules that the plan found or sets. */
export function createDriftReadRequest(plan: Plan): ReadRequest {
  const attached = plan.changes.filter(({ kind }) => getKind(kind).role === 'attached');
  return { kinds: listKindsEnabledForStack(plan.settings), attachments: attached.map(createComparedAttachment) };
}

export interface DriftFromSavedPlanContext {
  readonly live: LiveState;
  /** Contents of the files that the plan writes, by path. */
  readonly present: ReadonlyMap<string, string>;
  /** By the clock of the service. */
  readonly now: Date;
  /** By the clock of this machine. Default: `now`. */
  readonly localNow?: Date;
  /** How the two clocks differ. Default: they do not. */
  readonly clock?: ClockSkew;
  /** The path of the plan file, for reports. */
  readonly file: string;
}

/** Compares the live state with the state that an apply of a saved plan would have produced. */
export function computeDriftFromSavedPlan(
  plan: Plan,
  { live, present, now, localNow = now, clock = NO_SKEW, file }: DriftFromSavedPlanContext,
): Drift {
  const found = createLiveResourceLookUp(plan, live);
  const desired = new Map(plan.changes.map(({ address, desired: spec = {} }) => [address, spec]));
  const { stack, baseUrl, made, targets, externals } = plan;
  const resources = plan.changes
    .flatMap((change) => compareChange(change, { ...found, stack }))
    .map((resource) => withFile(resource, plan.files, { live, present }));
  const known = new Set(resources.filter(({ state }) => state !== 'unowned').map(({ id }) => id));
  return {
    stack,
    baseUrl,
    at: localNow.toISOString(),
    against: file,
    ...(made !== undefined && { plannedAt: made.at }),
    ...(made?.commit !== undefined && { commit: made.commit }),
    targets,
    resources: sortDriftByAddress(
      resources.map((resource) =>
        addValidityDangerToDrift(resource, {
          now,
          isStartStated: hasStart(resource, desired.get(resource.address) ?? {}),
        }),
      ),
    ),
    kinds: [...live.resources.keys()],
    unowned: listUnowned({ stack, known }, live),
    diagnostics: [
      ...listClockSkewWarnings(clock, renderTimeSpan),
      ...listHiddenFieldWarnings(plan.changes.flatMap((change) => listComparedLive(change, found))),
    ],
    violations: [],
    externals,
    requests: live.requests,
  };
}

/**
 * Finds the live resource of a change: for a create or a replace, the new resource with its mark. For other changes, or
 * if there is no new resource, the resource from which the change started.
 */
function findResult(change: Change, found: LiveResourceLookUp): LiveResource | undefined {
  return isCreateOrReplace(change) ? (found.findCreated(change) ?? found.start(change)) : found.start(change);
}

/** Compares the intended result of a change with the live resource. Empty if a resource to delete does not exist. */
function compareChange(change: Change, found: LiveResourceLookUp & Pick<Plan, 'stack'>): readonly ResourceDrift[] {
  const { address, duplicateOf, kind } = change;
  const live = findResult(change, found);
  const owner = change.owner ?? change.live?.mark?.owner ?? live?.mark?.owner;
  const base = {
    address,
    ...(duplicateOf !== undefined && { duplicateOf }),
    kind,
    differences: [],
    ...(owner !== undefined && { owner }),
  };
  if (change.action === 'delete') return live === undefined ? [] : [{ ...base, ...pickFacts(live), state: 'to-prune' }];
  if (live === undefined) return [{ ...base, state: 'missing', ...describeDeleted(change) }];
  const isOwned = getKind(kind).role === 'owned' && change.action !== 'release';
  if (isOwned && live.mark?.stack !== found.stack)
    return [{ ...base, ...pickFacts(live), state: 'unowned', reason: describeUnownedReason(live) }];
  const isUnread = change.action === 'no-op' && change.live?.spec === undefined;
  return [
    {
      ...base,
      ...pickFacts(live),
      ...(isUnread ? compareDigests(change, live) : compareSpecs(change, live, found)),
    },
  ];
}

/** The reason and the dangers if a resource was deleted after planning. Empty if it did not exist at planning time. */
function describeDeleted({ kind, live, desired }: Change): Pick<ResourceDrift, 'reason' | 'dangers'> {
  if (live === undefined) return {};
  const dangers = listDangersOfDriftedDelete({ kind, expected: live.spec ?? desired });
  const reason = `deleted at the service: the plan found it there as ${live.id}`;
  return { reason, ...(dangers.length > 0 && { dangers }) };
}

/**
 * Returns the live resource of a change with the fields to compare. For an unchanged resource, the plan contains no
 * spec, so these are the fields with a digest in the mark.
 */
function listComparedLive(change: Change, found: LiveResourceLookUp): readonly ComparableLiveSpec[] {
  const kind = getKind(change.kind);
  const live = findResult(change, found);
  const spec = change.desired ?? change.live?.spec;
  if (live === undefined || change.action === 'delete') return [];
  const compared = new Set(
    spec === undefined ? Object.keys(change.live?.mark?.fields ?? {}) : listCompared(kind, change),
  );
  const ignored = change.ignored ?? [];
  const isCompared = (name: string) =>
    (spec === undefined || spec[name] !== undefined) && compared.has(name) && !ignored.includes(name);
  return [{ kind, live: live.spec, desired: spec ?? {}, isCompared }];
}

/** Adds a reason to an in-sync resource if its planned file is missing or has other content. */
function withFile(
  resource: ResourceDrift,
  files: Plan['files'],
  { live, present }: Pick<DriftFromSavedPlanContext, 'live' | 'present'>,
): ResourceDrift {
  const file = files.find(({ address }) => address === resource.address);
  const one = live.resources.get(resource.kind)?.find(({ id }) => id === resource.id);
  const text = one === undefined ? undefined : formatTextAsFileContent(one.computed[getKind(one.kind).fileField ?? '']);
  if (file === undefined || text === undefined || resource.duplicateOf !== undefined) return resource;
  const there = present.get(file.path);
  if (there === text || resource.state !== 'in-sync') return resource;
  const reason = `${file.path} ${there === undefined ? 'is missing' : 'has other content'}`;
  return { ...resource, reason, state: 'file-differs' };
}

function pickFacts(live: LiveResource): Pick<ResourceDrift, 'id' | 'validFrom' | 'validUntil'> {
  return { id: live.id, ...pickValidity(live) };
}

type Compared = Pick<ResourceDrift, 'state' | 'differences' | 'driftedFields' | 'dangers'>;

/** Compares field by field. A field that still has its value from planning time is pending; any other has drifted. */
function compareSpecs(change: Change, live: LiveResource, { ids }: LiveResourceLookUp): Compared {
  const kind = getKind(change.kind);
  const start = change.live?.spec;
  const names = new Set(listCompared(kind, change));
  const desiredSpec = resolveAndNormalizeSpec(change.kind, change.desired ?? start ?? {}, ids);
  const desired = Object.fromEntries(Object.entries(desiredSpec).filter(([name]) => names.has(name)));
  const before = start && fillAllOmittedFields(kind, start);
  const now = fillAllOmittedFields(kind, live.spec);
  const differences = diffSpecs(kind, alignLiveSpec(kind, alignStoredForms(kind, live, desired), desired), desired).map(
    (difference) => {
      const { field } = difference;
      const isBefore = before !== undefined && isSameJson(before[field] ?? null, now[field] ?? null);
      return toDriftedField({ ...difference, origin: isBefore ? 'manifest' : 'drift' });
    },
  );
  differences.push(...compareProtection(change, live));
  const dangers = listDangersCausedByDrift({ kind: kind.name, fields: differences, expected: desired, live: now });
  if (differences.length > 0)
    return { state: computeDriftState(differences), differences, ...(dangers.length > 0 && { dangers }) };
  return { state: isReplaceDone(change, live) ? 'in-sync' : 'pending', differences };
}

/**
 * Compares the live protection with the planned one. The difference is pending if the live mark still has the
 * protection from when the plan was made, and drift otherwise.
 */
function compareProtection(
  { action, kind, live: start, protect = false }: Change,
  live: LiveResource,
): readonly DriftedField[] {
  if (live.mark === undefined || action === 'release' || getKind(kind).role !== 'owned') return [];
  if (live.mark.protect === protect) return [];
  const origin = start?.id === live.id && start.mark?.protect === live.mark.protect ? 'manifest' : 'drift';
  return [{ path: PROTECT_PATH, expected: protect, live: live.mark.protect, origin, forcesReplace: false }];
}

/** A replace that changes no field is done once the live resource has another id. */
function isReplaceDone({ action, live: start }: Change, live: LiveResource): boolean {
  return action !== 'replace' || start?.id !== live.id;
}

/**
 * Compares an unchanged resource. The plan contains only its digest and its mark; the field digests in the mark show
 * which fields drifted.
 */
function compareDigests(change: Change, live: LiveResource): Compared {
  if (change.live?.digest === computeLiveDigest(live)) return { state: 'in-sync', differences: [] };
  const kind = getKind(change.kind);
  const driftedFields = listDriftedFields(kind, live, change.live?.mark);
  const differences = compareProtection(change, live);
  if (differences.length > 0) {
    const dangers = listDangersCausedByDrift({ kind: kind.name, fields: differences, expected: {}, live: {} });
    return {
      state: 'drifted',
      differences,
      ...(driftedFields.length > 0 && { driftedFields }),
      ...(dangers.length > 0 && { dangers }),
    };
  }
  if (driftedFields.length === 0 && isPartlyUnknown(kind, live) && isEqualMark(change.live?.mark, live.mark))
    return { state: 'in-sync', differences: [] };
  const state: DriftState = 'drifted';
  return { state, differences: [], driftedFields: driftedFields.length === 0 ? ['metadata'] : driftedFields };
}

/** Whether digests cannot be compared, because the service does not show every field. */
function isPartlyUnknown(kind: Kind, { spec }: LiveResource): boolean {
  return kind.specFields.some(([name, { type }]) => isValueHidden(type, spec[name]));
}

function listDriftedFields(kind: Kind, { spec }: LiveResource, mark: Mark | undefined): readonly string[] {
  const isMoved = (name: string, field: Field): boolean =>
    field.earlierByMs === 0 &&
    !isValueHidden(field.type, spec[name]) &&
    ![findAppliedDigest(kind, name, mark), mark?.stored?.[name]].includes(toFieldDigest(spec[name] ?? null));
  const applied = new Set(listApplied(kind, mark));
  return kind.specFields.flatMap(([name, field]) => (applied.has(name) && isMoved(name, field) ? [name] : []));
}

/** The fields for which a mark has the digest of the last applied value. */
function listApplied(kind: Kind, mark: Mark | undefined): readonly string[] {
  return kind.specFields.flatMap(([name]) => {
    const applied = findAppliedDigest(kind, name, mark);
    return applied === undefined || applied === IGNORED_FIELD_DIGEST ? [] : [name];
  });
}

function findAppliedDigest(kind: Kind, name: string, mark: Mark | undefined): string | undefined {
  return mark?.fields[name] ?? findFieldDefaultDigest(kind, name);
}

/**
 * Lists the fields to compare. Attached modules are compared only if the plan found or sets them, because the plan does
 * not know who owns other modules.
 */
function listCompared(kind: Kind, { desired, live }: Change): readonly string[] {
  return kind.specFields.flatMap(([name, field]) => {
    const isStated = [desired?.[name], live?.spec?.[name]].some((value) => value !== undefined && value !== null);
    return kind.role === 'owned' || !isModule(field) || isStated ? [name] : [];
  });
}

function createComparedAttachment(change: Change): AttachedModulesToRead {
  const kind = getKind(change.kind);
  const compared = new Set(listCompared(kind, change));
  const spec = change.desired ?? change.live?.spec ?? {};
  return selectModulesOfAttachedResource(kind, {
    address: change.address,
    spec,
    isRead: (module) => compared.has(module),
  });
}
