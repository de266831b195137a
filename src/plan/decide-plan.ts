import { formatRoundedDuration, renderTimeSpan } from '../kinds/duration.ts';
import type { FieldType } from '../kinds/field.ts';
import { isRotatable, type Kind } from '../kinds/kind.ts';
import { isReferable, listReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { toAddress } from '../model/address.ts';
import { sendsNothing } from '../model/change.ts';
import { type ClockSkew, listClockSkewWarnings, NO_SKEW } from '../model/clock.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import { isOwnedBy, listOwned } from '../model/ownership.ts';
import type { DesiredResource, LiveResource, LiveState, Spec } from '../model/state.ts';
import { type ClaimConflict, checkClaimsAgainstLive } from './claims.ts';
import { createChange } from './create-change.ts';
import {
  type ChangeDecision,
  decideActions,
  listMissingSinkErrors,
  listReplacingAdoptionErrors,
  listValidityAndRotationDiagnostics,
  VALIDITY_WARNING_SHARE,
} from './decide.ts';
import { listAdoptionHints, listMissingFormerNameWarnings, listRenameHints } from './duplicates.ts';
import { createHandOverCheck, createKeptPruneWarning, listKeptForHandOverWarnings } from './handed-over.ts';
import {
  addDependents,
  createLeftOutWarning,
  excludeChanges,
  formatDecidedAddress,
  type LeftOut,
} from './leave-out.ts';
import { listLostMarkErrors } from './lost-marks.ts';
import { matchResources } from './match.ts';
import { createOrderedWrites } from './order.ts';
import { omitAllDesiredResources, type PlanInput } from './plan-input.ts';
import { listRefusalWarnings } from './refused-creations.ts';
import { selectTargetPairs } from './select-targets.ts';
import { findManifestValidForMs, readFieldTime } from './validity.ts';

export interface DecidedPlan {
  readonly decisions: readonly ChangeDecision[];
  readonly diagnostics: readonly Diagnostic[];
  /** Claims of unique values that the service will reject. */
  readonly conflicts: readonly ClaimConflict[];
  /** Whether an owned resource that the manifests describe is left out. */
  readonly leavesOutDescribed: boolean;
}

interface DecidedChanges extends Pick<DecidedPlan, 'decisions'> {
  /** Resources without a manifest that are kept because another stack of the run is unknown. */
  readonly kept: readonly ChangeDecision[];
  readonly matched: ReturnType<typeof matchResources>;
  readonly selected: ReturnType<typeof selectTargetPairs>;
}

/** Pairs desired with live resources, selects the pairs of the targets, and decides the action of each pair. */
export function decideChanges(input: PlanInput): DecidedChanges {
  const { desired, live, mode, targets, takeOver = [], rotated = [] } = input;
  const wanted = mode === 'release' ? omitAllDesiredResources(desired) : desired;
  const matched = matchResources(wanted, live, { takeOver, isLeft: createHandOverCheck(input) });
  const selected = selectTargetPairs(matched.pairs, wanted, targets);
  const stack = desired.stack.name;
  const rotate = input.rotate.filter((address) => !rotated.includes(address));
  const decided = decideActions(selected.pairs, { ...input, rotate, stack });
  const kept = input.keptPrunes === undefined ? [] : listPrunes(decided);
  return { matched, selected, kept, decisions: decided.filter((decision) => !kept.includes(decision)) };
}

/** Lists what has no manifest any more, each with its old resource. Duplicates and replaced resources are no prunes. */
function listPrunes(decisions: readonly ChangeDecision[]): readonly ChangeDecision[] {
  const prunes = decisions.filter(({ action, pair }) => action === 'delete' && pair.by === 'mark');
  const addresses = new Set(prunes.map(({ pair }) => pair.address));
  const old = decisions.filter(({ pair }) => pair.by === 'retirement' && addresses.has(pair.address));
  return [...prunes, ...old];
}

/**
 * Decides the changes, and adds the diagnostics on them. Leaves out what `--exclude` names, and changes that claim a
 * value of a resource that the run keeps; both with everything that depends on them.
 */
export function decidePlan(input: PlanInput): DecidedPlan {
  const { live, desired } = input;
  const changes = decideChanges(input);
  const stack = desired.stack.name;
  const known = new Set<string>(listOwned(live, stack).map(({ address }) => address));
  const excluded = excludeChanges(changes.decisions, input, known);
  const kept = withoutLeftOut(changes, excluded.leftOut);
  const skipped = findChangesBlockedByKept(kept, input);
  const decided = describeDecisions(withoutLeftOut(kept, skipped), input);
  const isLeftOut = (address = ''): boolean => excluded.leftOut.has(address) || skipped.has(address);
  const isOfManifests = (found: Diagnostic) => found.severity === 'error' && input.diagnostics.includes(found);
  const isOwned = ({ pair }: ChangeDecision): boolean =>
    pair.by === 'mark' && pair.desired !== undefined && pair.live !== undefined;
  return {
    ...decided,
    leavesOutDescribed: changes.decisions.some((one) => isOwned(one) && isLeftOut(formatDecidedAddress(one))),
    diagnostics: [
      ...decided.diagnostics.filter((found) => !isLeftOut(found.address) || isOfManifests(found)),
      ...excluded.diagnostics,
      ...Array.from(skipped, ([address, reason]) => createLeftOutWarning(address, reason)),
    ],
  };
}

function withoutLeftOut(changes: DecidedChanges, leftOut: LeftOut): DecidedChanges {
  if (leftOut.size === 0) return changes;
  const isPlanned = (decision: ChangeDecision): boolean => !leftOut.has(formatDecidedAddress(decision));
  return { ...changes, decisions: changes.decisions.filter(isPlanned) };
}

/** The changes that claim a value of a resource that the run keeps, and everything that depends on them. */
function findChangesBlockedByKept(decided: DecidedChanges, input: PlanInput): LeftOut {
  const { decisions, kept } = decided;
  if (kept.length === 0) return new Map();
  const conflicts = checkClaims(decided, input).conflicts.filter(({ isByKept }) => isByKept);
  if (conflicts.length === 0) return new Map();
  const changes = decisions.map((decision) => createChange(decision, []));
  const writes = createOrderedWrites(changes, input.desired.stack.name);
  return addDependents(new Map(conflicts.map(({ address, why, remedy }) => [address, { why, help: remedy }])), {
    writes,
  });
}

function checkClaims(
  { decisions, kept }: DecidedChanges,
  { live, desired, isInRun, findTaker }: PlanInput,
): ReturnType<typeof checkClaimsAgainstLive> {
  const stack = desired.stack.name;
  const context = {
    stack,
    isInRun,
    findTaker,
    kept: new Set(kept.map(({ pair }) => pair.live?.id)),
  };
  return checkClaimsAgainstLive(decisions, live, context);
}

/** Adds the diagnostics on the changes. */
function describeDecisions(changes: DecidedChanges, input: PlanInput): Omit<DecidedPlan, 'leavesOutDescribed'> {
  const { matched, selected, decisions, kept } = changes;
  const { desired, live, now } = input;
  const stack = desired.stack.name;
  const claims = checkClaims(changes, input);
  const diagnostics = [
    ...input.diagnostics.filter((found) => found.severity === 'error' || selected.concerns(found)),
    ...matched.diagnostics.filter(selected.concerns),
    ...selected.diagnostics,
    ...listReplacingAdoptionErrors(decisions),
    ...listValidityAndRotationDiagnostics(decisions, input),
    ...claims.diagnostics,
    ...listCrossStackUsers(decisions, live, stack),
    ...listKeptForHandOverWarnings(input, new Set(matched.pairs.map(({ live: one }) => one?.id))).filter(
      selected.concerns,
    ),
    ...kept.map((decision) => createKeptPruneWarning(decision, input.keptPrunes)),
    ...listMissingFormerNameWarnings(decisions, { live, stack }),
    ...listRenameHints(decisions),
    ...listAdoptionHints(decisions, live),
    ...listLostMarkErrors(decisions, live, stack),
    ...listClockSkewWarnings(input.clock ?? NO_SKEW, renderTimeSpan),
    ...listUncertainValidityErrors(decisions, input.clock ?? NO_SKEW),
    ...listHealthWarnings(decisions, now),
    ...listRefusalWarnings(decisions),
    ...listRetainedValueWarnings(decisions),
    ...listLongValidityWarnings(decisions),
    ...listHiddenFieldWarnings(decisions.flatMap(listComparedLive)),
    ...listMissingSinkErrors(decisions, input),
    ...decisions.filter(canLockOut).map(createLockoutWarning),
  ];
  return { decisions, diagnostics, conflicts: claims.conflicts };
}

/**
 * Returns the live resource of a decision with the fields to compare: all fields of the desired spec except those in
 * `lifecycle.ignore`. Empty if there is no live resource or no manifest.
 */
function listComparedLive({ pair, form }: ChangeDecision): readonly ComparableLiveSpec[] {
  const { kind, live, desired } = pair;
  if (live === undefined || desired === undefined || form === undefined) return [];
  const isCompared = (name: string) => form.normal[name] !== undefined && !desired.lifecycle.ignore.includes(name);
  return [{ kind, live: live.spec, desired: form.normal, isCompared, ignored: desired.lifecycle.ignore }];
}

function canLockOut({ action, form, pair }: ChangeDecision): boolean {
  return !sendsNothing(action) && form !== undefined && pair.kind.canLockOut(form.normal);
}

function createLockoutWarning({ pair }: ChangeDecision): Diagnostic {
  const { address, desired } = pair;
  return {
    code: 'lockout',
    severity: 'warning',
    message: `${address} restricts the API, the dashboard or agents, and may lock out the user who applies it`,
    remedy: 'Make sure that its IP policies allow the address that edgewise runs from. It is written last.',
    address,
    place: desired?.locate(['spec']),
  };
}

/**
 * Diagnostics on live resources that fail at the service or expire soon. Includes resources that the plan does not
 * change, but not those that it deletes or replaces.
 */
function listHealthWarnings(decisions: readonly ChangeDecision[], now: Date): readonly Diagnostic[] {
  return decisions.flatMap((decision) => {
    const { desired } = decision.pair;
    const isSkipped = decision.action === 'delete' || decision.action === 'create' || decision.action === 'replace';
    return isSkipped || desired === undefined
      ? []
      : [
          ...listHealthFindings(decision, desired),
          ...listExpiryWarnings(decision, desired, now),
          ...listNotValidYetWarnings(decision, desired, now),
        ];
  });
}

function listHealthFindings({ pair }: ChangeDecision, desired: DesiredResource): readonly Diagnostic[] {
  return pair.kind.checkHealth(pair.live?.computed ?? {}).map(({ message, remedy, field }) => ({
    code: 'resource-unhealthy',
    severity: 'warning',
    message: `${pair.address}: ${message}`,
    remedy,
    address: pair.address,
    place: desired.locate(['spec', field]),
  }));
}

/**
 * Warnings on certificates that expire soon. Skips certificates with `renew_before`: they are replaced in time. Skips
 * certificates whose manifest sets the end: `listManifestExpiryWarnings` warns about them.
 */
function listExpiryWarnings(decision: ChangeDecision, desired: DesiredResource, now: Date): readonly Diagnostic[] {
  const { kind, live, address } = decision.pair;
  const after = readFieldTime(live?.spec ?? {}, kind.validity?.after);
  const until = findUnstatedTime(decision, 'until');
  const isRenewed = desired.lifecycle.settings['renew_before'] !== undefined;
  if (after === undefined || until === undefined || isRenewed) return [];
  const leftMs = until - now.getTime();
  if (leftMs > (until - after) * VALIDITY_WARNING_SHARE) return [];
  const when = leftMs > 0 ? `expires in ${renderTimeSpan(leftMs)}` : `expired ${renderTimeSpan(-leftMs)} ago`;
  return [
    {
      code: 'certificate-validity',
      severity: 'warning',
      message: `${address} ${when}; only an apply after its end replaces it`,
      remedy: `Set lifecycle.renew_before, so that it is replaced in time, or replace it now with --rotate ${address}.`,
      address,
      place: desired.locate(),
    },
  ];
}

/** Warnings on certificates that begin later although their manifest does not say when: the clock was wrong. */
function listNotValidYetWarnings(decision: ChangeDecision, desired: DesiredResource, now: Date): readonly Diagnostic[] {
  const { address } = decision.pair;
  const after = findUnstatedTime(decision, 'after');
  if (after === undefined || after <= now.getTime()) return [];
  return [
    {
      code: 'certificate-validity',
      severity: 'warning',
      message: `${address} is not valid yet: it begins in ${renderTimeSpan(after - now.getTime())}`,
      remedy: `To replace it by one that is valid now, use --rotate ${address}.`,
      address,
      place: desired.locate(),
    },
  ];
}

/** The start or end of a live certificate, in milliseconds. `undefined`: it has none, or its manifest states it. */
function findUnstatedTime({ pair, form }: ChangeDecision, end: 'after' | 'until'): number | undefined {
  const field = pair.kind.validity?.[end];
  const isStated = readFieldTime(form?.written ?? {}, field) !== undefined;
  return isStated ? undefined : readFieldTime(pair.live?.spec ?? {}, field);
}

/**
 * Errors on new certificates whose validity begins when they are created, if it is unknown which clock is right: they
 * would be valid at another time than meant.
 */
function listUncertainValidityErrors(
  decisions: readonly ChangeDecision[],
  { isDoubtful, skewMs }: ClockSkew,
): readonly Diagnostic[] {
  if (!isDoubtful) return [];
  return decisions.flatMap(({ action, pair: { kind, desired, address } }): readonly Diagnostic[] => {
    const isCreated = action === 'create' || action === 'replace';
    if (!isCreated || desired === undefined || findManifestValidForMs(kind, desired) === undefined) return [];
    const difference = skewMs === 0 ? '' : `, which differ by ${renderTimeSpan(Math.abs(skewMs))}`;
    return [
      {
        code: 'clock-skew',
        severity: 'error',
        message: `${address} would begin now, and it is unknown which clock is right${difference}`,
        remedy: 'Set the clock of this machine, or set times in the manifest instead of lifecycle.valid_for.',
        address,
        place: desired.locate(['lifecycle', 'valid_for']),
      },
    ];
  });
}

/** Warnings on fields that keep their value although the manifest no longer sets them. */
function listRetainedValueWarnings(decisions: readonly ChangeDecision[]): readonly Diagnostic[] {
  return decisions.flatMap(({ pair, action, differences }) => {
    const { kind, desired, address } = pair;
    if (desired === undefined || action === 'replace' || action === 'withhold') return [];
    return differences.flatMap(({ path, from, to }): Diagnostic[] => {
      if (to !== undefined || kind.fields[path]?.keepsLiveValue !== true) return [];
      const value = typeof from === 'string' ? from : JSON.stringify(from ?? null);
      const rotation = isRotatable(kind) ? ` To let the service choose again, add --rotate ${address}.` : '';
      return [
        {
          code: 'unset-field-kept',
          severity: 'warning',
          message: `${address}: spec.${path} is no longer set in the manifest, but keeps the value ${value}, because the service chooses a value only for new resources`,
          remedy: `To keep the value, set ${path}: ${value}. Another value replaces the resource.${rotation}`,
          address,
          place: desired.locate(['spec']),
        },
      ];
    });
  });
}

/**
 * A validity longer than the default by this factor counts as set by a user. The factor is well above 1, because
 * services backdate validities a little.
 */
const MIN_LENGTH_RATIO = 2;

/**
 * Warns if a resource is valid for much longer than the default although its manifest sets no validity. Probably
 * `lifecycle.valid_for` was removed; the mark does not record it.
 */
function listLongValidityWarnings(decisions: readonly ChangeDecision[]): readonly Diagnostic[] {
  return decisions.flatMap(({ pair, action, form }): Diagnostic[] => {
    const { kind, desired, live, address } = pair;
    const { validity } = kind;
    if (validity === undefined || desired === undefined || live === undefined || form === undefined) return [];
    const { after, until, defaultMs } = validity;
    const isStated = form.written[until] !== undefined || findManifestValidForMs(kind, desired) !== undefined;
    const isOurs = pair.by === 'mark' && !desired.lifecycle.ignore.includes(until);
    if (action === 'replace' || isStated || !isOurs) return [];
    const lengthMs = (readFieldTime(live.spec, until) ?? 0) - (readFieldTime(live.spec, after) ?? 0);
    if (lengthMs <= MIN_LENGTH_RATIO * defaultMs) return [];
    const length = formatRoundedDuration(lengthMs);
    return [
      {
        code: 'unset-field-kept',
        severity: 'warning',
        message: `${address}: it is valid for ${length}, but its manifest sets no length; a replacement would be valid for ${formatRoundedDuration(defaultMs)}`,
        remedy: `To keep the length, set lifecycle.valid_for. To replace it now, add --rotate ${address}.`,
        address,
        place: desired.locate(['spec']),
      },
    ];
  });
}

/**
 * Warnings on deletes and replaces of resources to which resources of other stacks still refer. Each warning names the
 * referring resources.
 */
function listCrossStackUsers(
  decisions: readonly ChangeDecision[],
  { resources }: LiveState,
  stack: string,
): readonly Diagnostic[] {
  const removed = decisions.filter(
    ({ action, pair }) => (action === 'delete' || action === 'replace') && isReferable(pair.kind),
  );
  if (removed.length === 0) return [];
  const users = Map.groupBy(
    [...resources.values()].flat().flatMap((one) => (isOwnedBy(one, stack) ? [] : listUses(one))),
    ({ id }) => id,
  );
  return removed.flatMap(({ action, pair: { address, live } }): readonly Diagnostic[] => {
    const names = [...new Set((users.get(live?.id ?? '') ?? []).map(({ user }) => user))].sort();
    if (names.length === 0) return [];
    return [
      {
        code: 'used-elsewhere',
        severity: 'warning',
        message: `${address} would be ${action === 'delete' ? 'deleted' : 'replaced'}, and ${names.join(', ')} ${names.length === 1 ? 'refers' : 'refer'} to it`,
        remedy: 'Change the resources that refer to it first: the service does not delete a resource in use.',
        address,
      },
    ];
  });
}

function listUses({ kind, spec, mark }: LiveResource): readonly { readonly id: string; readonly user: string }[] {
  if (mark === undefined) return [];
  const user = `${toAddress(kind, mark.name)} of the stack ${mark.stack}`;
  return listReferences(getKind(kind), spec).map(({ value }) => ({ id: value, user }));
}

interface ComparableLiveSpec {
  readonly kind: Kind;
  readonly live: Spec;
  /** The spec to compare with, in normal form. */
  readonly desired: Spec;
  readonly isCompared: (name: string) => boolean;
  /** Default: no part of a field is ignored. */
  readonly ignored?: readonly string[] | undefined;
}

/** Returns one warning for each kind with compared fields that the service does not show. It names each field once. */
function listHiddenFieldWarnings(compared: readonly ComparableLiveSpec[]): readonly Diagnostic[] {
  const found = new Map<string, Set<string>>();
  for (const { kind, live, desired, isCompared, ignored = [] } of compared)
    for (const [name, { type }] of kind.specFields) {
      if (!isCompared(name)) continue;
      for (const path of listHiddenFields(type, { live: live[name], desired: desired[name], path: name }))
        if (!ignored.includes(path)) found.set(kind.name, (found.get(kind.name) ?? new Set()).add(path));
    }
  return [...found]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([kind, paths]) => createNotShownWarning(kind, [...paths].sort()));
}

interface ComparedField {
  readonly live: Json | undefined;
  readonly desired: Json | undefined;
  /** Without list indexes. */
  readonly path: string;
}

/** Lists the paths of fields that a response omits, except those whose value the manifest leaves to the service. */
function listHiddenFields(type: FieldType, { live, desired, path }: ComparedField): readonly string[] {
  if (live === undefined) return [path];
  if (type.type === 'object' && isJsonObject(live)) {
    const wanted = isJsonObject(desired) ? desired : {};
    return Object.entries(type.fields)
      .filter(([name, { serviceDefault }]) => !serviceDefault || wanted[name] !== undefined)
      .flatMap(([name, field]) =>
        listHiddenFields(field.type, { live: live[name], desired: wanted[name], path: `${path}.${name}` }),
      );
  }
  if (type.type !== 'list' || !isJsonArray(live)) return [];
  const wanted = isJsonArray(desired) ? desired : [];
  return live.flatMap((member, index) => listHiddenFields(type.of, { live: member, desired: wanted[index], path }));
}

function createNotShownWarning(kind: string, paths: readonly string[]): Diagnostic {
  const it = paths.length === 1 ? 'it' : 'them';
  const isWritten = getKind(kind).role === 'attached';
  return {
    code: 'shown-otherwise',
    severity: 'warning',
    message: `${kind}: the service does not show ${paths.join(', ')}, so ${paths.length === 1 ? 'it is' : 'they are'} not compared`,
    remedy: isWritten
      ? `Each apply writes ${it}, unless the value in the manifest is empty or the default. Edgewise cannot detect changes to ${it}: check ${it} at the service.`
      : `Edgewise cannot detect changes to ${it}. Check ${it} at the service.`,
  };
}
