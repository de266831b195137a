import type { Diagnostic } from '../model/diagnostic.ts';
import { type ClaimConflict, checkClaimsAgainstLive } from './claims.ts';
import { type ChangeDecision, decideActions } from './decide.ts';
import {
  findKeptPrunes,
  findLeftOut,
  formatDecidedAddress,
  listLeftOutWarnings,
  listUnknownExclusions,
} from './leave-out.ts';
import { findLookAlikes } from './lost-marks.ts';
import type { PlanInput } from './plan-input.ts';
import { selectTargetPairs } from './select-targets.ts';
import { findPredecessors, type Predecessors } from './take-over.ts';
import { listPlanWarnings } from './warnings.ts';
import { matchWithWayBack } from './way-back.ts';

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
  /** Resources without a manifest that this run keeps. */
  readonly kept: readonly ChangeDecision[];
  readonly matched: ReturnType<typeof matchWithWayBack>;
  readonly selected: ReturnType<typeof selectTargetPairs>;
}

/** Pairs desired with live resources, selects the pairs of the targets, and decides the action of each pair. */
export function decideChanges(input: PlanInput): DecidedChanges {
  const { desired, targets = [], rotated = [] } = input;
  const matched = matchWithWayBack(input);
  const selected = selectTargetPairs(matched.pairs, matched.wanted, targets);
  const rotate = input.rotate?.filter((address) => !rotated.includes(address));
  const decided = decideActions(selected.pairs, { ...input, rotate, stack: desired.stack.name });
  const kept = findKeptPrunes(decided, input);
  return { matched, selected, kept, decisions: decided.filter((decision) => !kept.includes(decision)) };
}

/** Decides the changes, leaves out those that the run must not make, checks the others, and says what is wrong with them. */
export function decidePlan(input: PlanInput): DecidedPlan {
  const { matched, selected, kept, decisions: decided } = decideChanges(input);
  const leftOut = findLeftOut(decided, kept, input);
  const isLeftOut = (decision: ChangeDecision): boolean => leftOut.has(formatDecidedAddress(decision));
  const decisions = decided.filter((decision) => !isLeftOut(decision));
  const claims = checkClaimsAgainstLive(decisions, kept, input);
  const predecessors = findPredecessors(decisions, input);
  const paired = new Set(matched.pairs.map(({ live }) => live?.id));
  const lookAlikes = findLookAlikes(decisions, { ...input, paired });
  const warnings = listPlanWarnings({
    decisions,
    kept,
    paired,
    unclear: matched.unclear,
    lateClaims: claims.late,
    predecessors,
    lookAlikes,
    input,
  });
  const isPlanned = (found: Diagnostic): boolean => selected.concerns(found) && !leftOut.has(found.address ?? '');
  return {
    decisions,
    conflicts: claims.conflicts,
    predecessors,
    leavesOutDescribed: decided.filter(isLeftOut).some(isOwnedAndDescribed),
    diagnostics: [
      ...input.diagnostics.filter((found) => found.severity === 'error' || isPlanned(found)),
      ...matched.diagnostics.filter(isPlanned),
      ...selected.diagnostics,
      ...warnings.filter(isPlanned),
      ...listUnknownExclusions(input),
      ...listLeftOutWarnings(leftOut, decided),
    ],
  };
}

function isOwnedAndDescribed({ pair: { by, desired, live } }: ChangeDecision): boolean {
  return by === 'mark' && desired !== undefined && live !== undefined;
}
