import { ACTIONS, type Change } from '../model/change.ts';
import { type Diagnostic, hasErrors, isLintWarning, limitWarningsPerLintRule } from '../model/diagnostic.ts';
import { countSkipped, PLAN_FORMAT, type Plan } from '../model/plan.ts';
import { isDelete, type Write } from '../model/write.ts';
import { toAskedMembers } from './asked-members.ts';
import { listClaimViolations } from './claims.ts';
import { createChange } from './create-change.ts';
import { computeChangesWithDangers } from './dangers.ts';
import type { ChangeDecision } from './decide.ts';
import { type DecidedPlan, decidePlan } from './decide-plan.ts';
import { estimateRequests } from './estimate-requests.ts';
import { listGoneIds } from './gone-ids.ts';
import { countOwnedByKind, listGuardAndProtectionViolations } from './guard.ts';
import { findSinkOfNewToken } from './new-tokens.ts';
import { listNotes } from './notes.ts';
import { createOrderedWrites } from './order.ts';
import type { PlanInput } from './plan-input.ts';
import { listTakenByStack, listTakeOverViolations } from './take-over.ts';
import { listUnknownSecretWarnings } from './unknown-secrets.ts';
import { keepsSecret, listRenamedBackViolations } from './way-back.ts';

/**
 * Computes the changes and writes that make the live state equal to the manifests. Pure: the order of the input does
 * not affect the plan. A plan with an error among its diagnostics has no writes.
 * @example
 * const plan = createPlan(input);
 * console.log(plan.changes.map(({ action, address }) => `${action} ${address}`));
 */
export function createPlan(input: PlanInput): Plan {
  return createPlanWithDecisions(input).plan;
}

/** Creates a plan, and returns it with the decisions that it follows from. */
export function createPlanWithDecisions(input: PlanInput): Pick<DecidedPlan, 'decisions'> & { readonly plan: Plan } {
  const decided = decidePlan(input);
  const { decisions } = decided;
  const decidedChanges = listChanges(decisions, input);
  const writes = hasErrors(decided.diagnostics) ? [] : createOrderedWrites(decidedChanges, input.desired.stack.name);
  const changes = addDangers(explainDeletedFirst(decidedChanges, writes), decided, input);
  const diagnostics = listDiagnostics(decided, { changes, writes }, input);
  const violations = listViolations(changes, decided, input);
  const goneIds = listGoneIds(decisions, input);
  const plan: Plan = {
    ...describeInput(input),
    takeOver: [...listTakenByStack(decisions).keys()].sort(),
    ...(goneIds.length > 0 && { goneIds }),
    changes,
    writes,
    diagnostics,
    violations,
    requests: estimateRequests({ changes, writes, diagnostics }, input),
  };
  return { plan, decisions };
}

type ResultMember = 'takeOver' | 'goneIds' | 'changes' | 'writes' | 'diagnostics' | 'violations' | 'requests';

/** What a plan says about the input that it was made from. */
function describeInput(input: PlanInput): Omit<Plan, ResultMember> {
  const { desired, awaited = {} } = input;
  return {
    format: PLAN_FORMAT,
    tool: { name: 'edgewise', version: input.version },
    made: { at: (input.localNow ?? input.now).toISOString(), commit: input.commit },
    stack: desired.stack.name,
    baseUrl: input.baseUrl,
    settings: input.settings,
    ...toAskedMembers(input),
    // Only the digests, so that the bytes of the manifests are not kept during an apply.
    inputs: desired.inputs
      .map(({ file, digest }) => ({ file, digest }))
      .sort((left, right) => (left.file < right.file ? -1 : 1)),
    skipped: countSkipped(desired),
    ...(Object.keys(awaited).length > 0 && { crossStackReferences: awaited }),
    externals: Object.fromEntries([...desired.externals].sort(([left], [right]) => (left < right ? -1 : 1))),
    teamLabel: desired.stack.teamLabel,
  };
}

function listChanges(decisions: readonly ChangeDecision[], input: PlanInput): readonly Change[] {
  const { teamLabel } = input.desired.stack;
  return decisions
    .map((decision) => {
      const token = findSinkOfNewToken(decision, input.tokens);
      return createChange(decision, { token, teamLabel, notes: listNotes(decision, token, input) });
    })
    .sort((left, right) => ACTIONS.indexOf(left.action) - ACTIONS.indexOf(right.action));
}

/**
 * Adds a reason to each replace that deletes before it creates: the user must know why neither resource exists in
 * between.
 */
function explainDeletedFirst(changes: readonly Change[], writes: readonly Write[]): readonly Change[] {
  const deleted = new Set<string>();
  const createdAfterDelete = new Set<string>();
  for (const write of writes) {
    if (isDelete(write) && write.duplicateOf === undefined) deleted.add(write.address);
    if (write.purpose === 'create' && deleted.has(write.address)) createdAfterDelete.add(write.address);
  }
  const isDeletedFirst = ({ action, address, reason }: Change) =>
    action === 'replace' && reason === undefined && createdAfterDelete.has(address);
  return changes.map((change) => (isDeletedFirst(change) ? { ...change, reason: DELETED_FIRST } : change));
}

const DELETED_FIRST =
  'the old one is deleted before the new one is created, because a unique value must be freed first';

function addDangers(
  changes: readonly Change[],
  { decisions, predecessors }: DecidedPlan,
  { desired, live, now }: PlanInput,
): readonly Change[] {
  const renewedBack = decisions.filter(keepsSecret);
  return computeChangesWithDangers({
    changes,
    stack: desired.stack.name,
    live,
    now,
    predecessors,
    renamedBack: new Set(renewedBack.map(({ pair }) => pair.address)),
  });
}

function listDiagnostics(
  decided: DecidedPlan,
  { changes, writes }: Pick<Plan, 'changes' | 'writes'>,
  { desired }: PlanInput,
): readonly Diagnostic[] {
  const changesOf = Map.groupBy<string, Change>(changes, ({ address }) => address);
  return limitWarningsPerLintRule(
    [...decided.diagnostics, ...listUnknownSecretWarnings(writes, desired)],
    desired.inputs,
    (found) => (changesOf.get(found.address ?? '') ?? []).some((change) => isCausedByChange(found, change)),
  );
}

/** Whether a change causes a diagnostic: a lint warning on a created resource or on a changed field. */
function isCausedByChange(diagnostic: Diagnostic, { action, differences, duplicateOf }: Change): boolean {
  if (duplicateOf !== undefined || !isLintWarning(diagnostic) || action === 'no-op') return false;
  return action === 'create' || differences.some(({ field }) => field !== undefined && field === diagnostic.field);
}

function listViolations(
  changes: readonly Change[],
  { decisions, conflicts, leavesOutDescribed }: DecidedPlan,
  input: PlanInput,
): Plan['violations'] {
  const { desired, live, mode, targets = [], missing } = input;
  return [
    ...listGuardAndProtectionViolations({
      changes,
      owned: countOwnedByKind(live, desired.stack.name),
      settings: desired.stack.guard,
      stack: desired.stack.name,
      mode,
      isTargeted: targets.length > 0,
      missing,
      leavesOutDescribed,
    }),
    ...listTakeOverViolations(decisions, input),
    ...listRenamedBackViolations(decisions, input),
    ...listClaimViolations(conflicts, mode),
  ];
}
