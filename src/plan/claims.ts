import { type Claim, findConflicts, type HeldClaim, listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { hasSameFields } from '../kinds/same-fields.ts';
import { type Address, toAddress } from '../model/address.ts';
import { sendsNothing } from '../model/change.ts';
import type { Mark } from '../model/mark.ts';
import { isOwnedBy } from '../model/ownership.ts';
import type { Place } from '../model/place.ts';
import type { Plan, SafetyViolation } from '../model/plan.ts';
import type { DesiredResource, FieldPath, LiveResource, Spec } from '../model/state.ts';
import type { ChangeDecision } from './decide.ts';
import { describeLifecycleLineToAdd, isUnmarked } from './duplicates.ts';
import type { ResourcePair } from './match.ts';
import type { PlanInput } from './plan-input.ts';

/** Why the service will reject a write: another live resource still has a unique value after the plan. */
export interface ClaimConflict {
  readonly rule: 'claimed-elsewhere';
  readonly address: Address;
  /** The reason, as a clause: `hostports … is claimed by …`. */
  readonly why: string;
  readonly remedy: string;
  readonly place: Place;
  /** Whether a resource without a manifest has the value, which this run keeps. */
  readonly isByKept?: boolean | undefined;
}

interface CheckedClaims {
  readonly conflicts: readonly ClaimConflict[];
  /** Those of values that a stack of the same run will free. */
  readonly late: readonly ClaimConflict[];
}

/**
 * Finds each claim of a unique value that another live resource still has after this plan. `kept`: the resources without a
 * manifest that this run keeps.
 */
export function checkClaimsAgainstLive(
  decisions: readonly ChangeDecision[],
  kept: readonly ChangeDecision[],
  input: PlanInput,
): CheckedClaims {
  const keptIds = new Set(kept.map(({ pair }) => pair.live?.id));
  const byId = new Map(decisions.map((decision) => [decision.pair.live?.id, decision]));
  const wanted = decisions.flatMap((decision) =>
    listClaimed(decision).map((claim): PlanClaim => ({ ...claim, holder: decision.pair.live?.id, decision })),
  );
  const kinds = new Set(decisions.filter((one) => listClaimed(one).length > 0).map(({ pair }) => pair.kind));
  const held = [...kinds].flatMap((kind) =>
    (input.live.resources.get(kind.name) ?? []).flatMap((resource) =>
      listKept(kind, resource, byId.get(resource.id)).map(
        (claim): PlanClaim => ({ ...claim, holder: resource.id, resource }),
      ),
    ),
  );
  const found = findConflicts([...wanted, ...held]).flatMap((claims) => {
    const resource = claims.findLast((claim) => claim.resource !== undefined)?.resource;
    if (resource === undefined) return [];
    const claimant = createClaimant(resource, byId.get(resource.id), { keptIds, ...input });
    return claims.flatMap((claim) =>
      claim.decision === undefined || claim.holder === resource.id
        ? []
        : listConflictOf(claim, claim.decision, claimant, input),
    );
  });
  return {
    conflicts: found.filter(({ isLate }) => !isLate),
    late: found.filter(({ isLate }) => isLate),
  };
}

/** Lists the unique values that a live resource has now, and after the plan. */
function listKept(kind: Kind, resource: LiveResource, decision: ChangeDecision | undefined): readonly Claim[] {
  const now = listClaims(kind, resource.spec);
  if (decision === undefined) return now;
  const final = new Set(listClaims(kind, pickFinalSpec(resource, decision)).map(({ key }) => key));
  return now.filter(({ key }) => final.has(key));
}

function createClaimant(
  resource: LiveResource,
  decision: ChangeDecision | undefined,
  { desired, findTaker, keptIds }: PlanInput & { readonly keptIds: ReadonlySet<string | undefined> },
): Claimant {
  const isOurs = isOwnedBy(resource, desired.stack.name);
  const isOutsideTargets = isOurs && decision === undefined;
  return {
    resource,
    isOurs,
    isOutsideTargets,
    taker: isOutsideTargets ? findTaker?.(toAddress(resource.kind, resource.mark?.name ?? ''))?.stack : undefined,
    isByKept: keptIds.has(resource.id),
  };
}

/** Returns the safety rules that a plan breaks because the service will reject claims of unique values. */
export function listClaimViolations(
  conflicts: readonly ClaimConflict[],
  mode: Plan['mode'],
): readonly SafetyViolation[] {
  return conflicts.map(({ rule, address, why, remedy, place }) => ({
    rule,
    message: `${address}: ${why}.`,
    remedy: joinSentences(remedy, describeRejectionConsents(address, mode)),
    addresses: [address],
    places: [{ message: address, place }],
  }));
}

/** Lines after the first are for the user to copy, so the consents come before a remedy with such lines. */
function joinSentences(remedy: string, consents: string): string {
  return remedy.includes('\n') ? `${consents} ${remedy}` : `${remedy} ${consents}`;
}

/** How to apply a plan although the service will reject a write to this address. */
export function describeRejectionConsents(address: string, mode: Plan['mode']): string {
  return `To ${mode} everything that does not depend on it, use --exclude ${address}. To send it anyway, use --allow-rejected ${address}.`;
}

/** Lists the unique values that the resource has after the change. Empty if the change is a no-op or a delete. */
function listClaimed({ action, pair, form }: ChangeDecision): readonly Claim[] {
  if (sendsNothing(action) || form === undefined || pair.desired === undefined) return [];
  return listClaims(pair.kind, form.normal);
}

/**
 * The spec that a live resource has after the plan, including ignored fields. Empty if the plan deletes, replaces
 * or releases it: then the plan claims no values for it.
 */
function pickFinalSpec({ spec }: LiveResource, decision: ChangeDecision | undefined): Spec {
  if (decision === undefined || sendsNothing(decision.action)) return spec;
  return decision.form !== undefined && decision.action !== 'replace' ? decision.form.normal : {};
}

/** A unique value that a change claims, or that a live resource still has after the plan. `holder`: the id, if there is one. */
interface PlanClaim extends Claim, HeldClaim {
  readonly decision?: ChangeDecision | undefined;
  readonly resource?: LiveResource | undefined;
}

interface Claimant {
  readonly resource: LiveResource;
  readonly isOurs: boolean;
  /** Whether the stack owns the resource, but the targets of the plan exclude it. */
  readonly isOutsideTargets: boolean;
  /** The stack that takes over the resource from this stack. `undefined` if none does. */
  readonly taker: string | undefined;
  /** Whether the resource has no manifest, and this run keeps it. */
  readonly isByKept: boolean;
}

interface FoundConflict extends ClaimConflict {
  /** Whether a stack of the same run will free the value. */
  readonly isLate: boolean;
}

function listConflictOf(
  { field, value, key }: Claim,
  decision: ChangeDecision,
  claimant: Claimant,
  { isInRun = () => false }: PlanInput,
): readonly FoundConflict[] {
  const { pair } = decision;
  const { desired, address } = pair;
  const { resource } = claimant;
  if (desired === undefined) return [];
  // If `stack` is part of the run, it frees the value. Otherwise its manifests would still claim the value, and an
  // earlier check would have stopped both stacks.
  const stack = claimant.isOurs ? claimant.taker : resource.mark?.stack;
  const isLate = stack !== undefined && isInRun(stack);
  return [
    {
      rule: 'claimed-elsewhere',
      address,
      isLate,
      isByKept: claimant.isByKept,
      why: `${field} ${value} is claimed by ${resource.kind} ${resource.id}, ${describeStack(resource)}${describeLostMark(resource, decision)}`,
      remedy: isLate ? formatLateRemedy(claimant, pair) : formatClaimRemedy(claimant, pair),
      place: desired.locate(['spec', ...chooseClaimPath(pair.kind, desired.spec, { field, key })]),
    },
  ];
}

/** A new resource of the same kind may be the other stack's resource, whose document has moved here. */
function formatLateRemedy({ resource: { kind, mark }, isOurs }: Claimant, { kind: own, desired, live }: ResourcePair) {
  if (isOurs || mark === undefined || desired === undefined || live !== undefined || kind !== own.name) return LATE;
  const value = { stack: mark.stack, name: mark.name };
  const line = describeLifecycleLineToAdd(desired, { name: 'renamed_from', value });
  return `${LATE}\nIf ${toAddress(kind, mark.name)} is the same resource, keep it: ${line}`;
}

const LATE =
  'That stack is applied in the same run. This write follows its writes, and fails if they do not free the value.';

/** Finds the path of a claimed value in a spec. Falls back to the top-level field. */
function chooseClaimPath(kind: Kind, spec: Spec, { field, key }: Pick<Claim, 'field' | 'key'>): FieldPath {
  return listClaims(kind, spec).find((claim) => claim.key === key)?.path ?? [field];
}

function describeStack({ kind, mark }: LiveResource): string {
  return mark === undefined ? 'which no stack manages' : `which is ${kind}/${mark.name} of the stack ${mark.stack}`;
}

/** What it means that the holder of a unique value has all fields of a new resource, and no metadata. */
function describeLostMark(holder: LiveResource, { action, pair: { kind }, form }: ChangeDecision): string {
  const isSame = holder.kind === kind.name && form !== undefined && hasSameFields(kind, holder.spec, form.normal);
  if (action !== 'create' || !isSame || !isUnmarked(holder)) return '';
  return ', with the same fields and no metadata: if an apply created it, the service lost its mark and cannot be managed';
}

function formatClaimRemedy(
  { resource, isOutsideTargets, isOurs, isByKept, taker }: Claimant,
  { desired, live }: ResourcePair,
): string {
  const { kind, id, mark } = resource;
  if (isByKept) {
    const isRenamed = isOurs && live === undefined && desired?.kind === kind && mark !== undefined;
    const line = isRenamed && describeLifecycleLineToAdd(desired, { name: 'renamed_from', value: mark.name });
    return `That resource is in no manifest, and is kept in this run. A run that deletes it makes this change.${line ? `\nIf it was only renamed, ${line}` : ''}`;
  }
  if (taker !== undefined) return `Apply the stack ${taker} first, which takes it over, or both in one run.`;
  if (isOutsideTargets) return `Add --target ${kind}/${mark?.name}, so that the plan removes it there first.`;
  if (isOurs || live !== undefined || desired === undefined) return 'Remove it there first, or choose another value.';
  if (mark !== undefined) return formatHandOverRemedy(desired, mark);
  return `To adopt that resource as ${kind}/${desired.name}, ${describeLifecycleLineToAdd(desired, { name: 'adopt', value: id })}`;
}

/**
 * The remedy if another stack owns the resource that has the claimed value. The resource may be in use, so to take it
 * without the consent of that stack's team is the last option that the remedy names.
 */
function formatHandOverRemedy(desired: DesiredResource, { stack, name }: Mark) {
  const line = describeLifecycleLineToAdd(desired, { name: 'renamed_from', value: { stack, name } });
  return [
    'Choose another value, or agree with the team of that stack that its resource moves here.',
    `For that, remove its document there, and ${line}`,
    `If ${stack} is the former name of this stack, write it into the metadata of the Stack: renamed_from: ${stack}`,
  ].join('\n');
}
