import type { Diagnostic } from '../model/diagnostic.ts';
import { listOwned } from '../model/ownership.ts';
import { NO_OTHER_STACKS } from '../model/stack-tree.ts';
import { type ClaimConflict, checkClaimsAgainstLive } from './claims.ts';
import { createChange } from './create-change.ts';
import { type ChangeDecision, decideActions } from './decide.ts';
import { createHandOverCheck } from './handed-over.ts';
import {
  addDependents,
  createLeftOutWarning,
  excludeChanges,
  formatDecidedAddress,
  type LeftOut,
} from './leave-out.ts';
import { matchResources } from './match.ts';
import { createOrderedWrites } from './order.ts';
import { omitAllDesiredResources, type PlanInput } from './plan-input.ts';
import { selectTargetPairs } from './select-targets.ts';
import { findPredecessors, type Predecessors } from './take-over.ts';
import { listPlanWarnings } from './warnings.ts';

export interface DecidedPlan {
  readonly decisions: readonly ChangeDecision[];
  readonly diagnostics: readonly Diagnostic[];
  /** Claims of unique values that the service will reject. */
  readonly conflicts: readonly ClaimConflict[];
  readonly predecessors: Predecessors;
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
  const { desired, live, mode, targets, others = NO_OTHER_STACKS, rotated = [] } = input;
  const wanted = mode === 'release' ? omitAllDesiredResources(desired) : desired;
  const matched = matchResources(wanted, live, {
    formerNames: mode === 'apply' ? (desired.stack.formerNames ?? []) : [],
    others,
    isLeft: createHandOverCheck(input),
  });
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
  const claims = checkClaims(changes, input);
  const predecessors = findPredecessors(decisions, input);
  const paired = new Set(matched.pairs.map(({ live }) => live?.id));
  const diagnostics = [
    ...input.diagnostics.filter((found) => found.severity === 'error' || selected.concerns(found)),
    ...matched.diagnostics.filter(selected.concerns),
    ...selected.diagnostics,
    ...listPlanWarnings({ decisions, kept, paired, lateClaims: claims.late, predecessors, input }).filter(
      selected.concerns,
    ),
  ];
  return { decisions, diagnostics, predecessors, conflicts: claims.conflicts };
}
