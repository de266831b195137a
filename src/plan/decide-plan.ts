import { listReferences } from '../kinds/references.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isAsAdopted } from '../model/mark.ts';
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
import { findLookAlikes } from './lost-marks.ts';
import { matchResources } from './match.ts';
import { createOrderedWrites } from './order.ts';
import { omitAllDesiredResources, type PlanInput } from './plan-input.ts';
import { selectTargetPairs } from './select-targets.ts';
import { findPredecessors, type Predecessors } from './take-over.ts';
import { listPlanWarnings } from './warnings.ts';
import { findWayBack } from './way-back.ts';

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
  readonly matched: Omit<MatchedPlan, 'wanted'>;
  readonly selected: ReturnType<typeof selectTargetPairs>;
}

/** Pairs desired with live resources, selects the pairs of the targets, and decides the action of each pair. */
export function decideChanges(input: PlanInput): DecidedChanges {
  const { desired, targets, rotated = [] } = input;
  const { wanted, ...matched } = matchWithWayBack(input);
  const selected = selectTargetPairs(matched.pairs, wanted, targets);
  const stack = desired.stack.name;
  const rotate = input.rotate.filter((address) => !rotated.includes(address));
  const decided = decideActions(selected.pairs, { ...input, rotate, stack });
  const keptPrunes = input.keptPrunes === undefined ? listKeptAdoptions(decided, input) : listPrunes(decided);
  return {
    matched,
    selected,
    kept: keptPrunes,
    decisions: decided.filter((decision) => !keptPrunes.includes(decision)),
  };
}

interface MatchedPlan extends ReturnType<typeof matchResources> {
  readonly wanted: PlanInput['desired'];
  /** Addresses of manifests whose former resource is not renamed back, which a warning says. */
  readonly unclear: ReadonlySet<string | undefined>;
}

function matchWithWayBack(input: PlanInput): MatchedPlan {
  const { desired, live, mode, others = NO_OTHER_STACKS } = input;
  const wanted = mode === 'release' ? omitAllDesiredResources(desired) : desired;
  const formerNames = mode === 'apply' ? (desired.stack.formerNames ?? []) : [];
  const options = { formerNames, others, isLeft: createHandOverCheck(input) };
  const matched = matchResources(wanted, live, options);
  const { pairs } = matched;
  const back = findWayBack({ wanted, live, pairs, ...options });
  const { diagnostics } = back;
  const found = back.wanted === wanted ? matched : matchResources(back.wanted, live, options);
  return {
    pairs: found.pairs,
    diagnostics: [...found.diagnostics, ...diagnostics],
    wanted: back.wanted,
    unclear: new Set(diagnostics.map(({ address }) => address)),
  };
}

/** Lists what has no manifest any more, each with its old resource. Duplicates and replaced resources are no prunes. */
function listPrunes(
  decisions: readonly ChangeDecision[],
  isMeant: (decision: ChangeDecision) => boolean = () => true,
): readonly ChangeDecision[] {
  const prunes = decisions.filter((one) => one.action === 'delete' && one.pair.by === 'mark' && isMeant(one));
  const addresses = new Set(prunes.map(({ pair }) => pair.address));
  const old = decisions.filter(({ pair }) => pair.by === 'retirement' && addresses.has(pair.address));
  return [...prunes, ...old];
}

/**
 * Lists what would be deleted although people made it, and edgewise has changed nothing on it since it was adopted, with
 * what it refers to: the service does not delete that while it is in use.
 */
function listKeptAdoptions(
  decisions: readonly ChangeDecision[],
  { mode, allowAdopted = [] }: PlanInput,
): readonly ChangeDecision[] {
  if (mode !== 'apply' || allowAdopted === 'asked') return [];
  const used = new Set<string>();
  const isKept = ({ pair: { address, live } }: ChangeDecision): boolean =>
    live !== undefined && (used.has(live.id) || (isAsAdopted(live) && !allowAdopted.includes(address)));
  for (;;) {
    const keptPrunes = listPrunes(decisions, isKept);
    const before = used.size;
    for (const { pair } of keptPrunes)
      for (const { value } of listReferences(pair.kind, pair.live?.spec ?? {})) used.add(value);
    if (used.size === before) return keptPrunes;
  }
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
  const changesLeft = withoutLeftOut(changes, excluded.leftOut);
  const skipped = findChangesBlockedByKept(changesLeft, input);
  const decided = describeDecisions(withoutLeftOut(changesLeft, skipped), input);
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
  const lookAlikes = findLookAlikes(decisions, { ...input, paired });
  const isSaid = ({ code, address }: Diagnostic): boolean =>
    code === 'predecessor-unclear' && matched.unclear.has(address) && address !== undefined;
  const diagnostics = [
    ...input.diagnostics.filter((found) => found.severity === 'error' || selected.concerns(found)),
    ...matched.diagnostics.filter(selected.concerns),
    ...selected.diagnostics,
    ...listPlanWarnings({ decisions, kept, paired, lateClaims: claims.late, predecessors, lookAlikes, input }).filter(
      (found) => selected.concerns(found) && !isSaid(found),
    ),
  ];
  return { decisions, diagnostics, predecessors, conflicts: claims.conflicts };
}
