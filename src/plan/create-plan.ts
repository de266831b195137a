import { findApiTypeOfSshKey, parseKeyComment } from '../kinds/formats.ts';
import { ACTIONS, type Change } from '../model/change.ts';
import { listAddressesInCondition } from '../model/conditions.ts';
import { type Diagnostic, hasErrors, isLintWarning, limitWarningsPerLintRule } from '../model/diagnostic.ts';
import { countSkipped, PLAN_FORMAT, type Plan } from '../model/plan.ts';
import { computeMinimumRequestTimeMs, parseRateLimit, type RateLimit, RECENT_STATE_MS } from '../model/stack.ts';
import type { DesiredState } from '../model/state.ts';
import type { PlannedTokenSink } from '../model/token-sink.ts';
import { formatTokenVariables } from '../model/token-variables.ts';
import { isCreate, isDelete, type Write } from '../model/write.ts';
import { listClaimViolations } from './claims.ts';
import { createChange } from './create-change.ts';
import { computeChangesWithDangers } from './dangers.ts';
import { type ChangeDecision, findSinkOfNewToken, listExistingTokenNotes, listMetadataNotes } from './decide.ts';
import { type DecidedPlan, decidePlan } from './decide-plan.ts';
import { isCreateWithoutClaims } from './duplicates.ts';
import { listGoneIds } from './gone-ids.ts';
import { countOwnedByKind, listGuardAndProtectionViolations } from './guard.ts';
import { createOrderedWrites } from './order.ts';
import { listReleaseDespiteManifestNotes, type PlanInput } from './plan-input.ts';
import { countReliantWrites } from './relied-writes.ts';
import { listTakenByStack, listTakeOverViolations } from './take-over.ts';
import { listUnknownSecretWarnings } from './unknown-secrets.ts';
import { keepsSecret, listRenamedBackViolations } from './way-back.ts';

/**
 * Computes the changes and writes that make the live state equal to the manifests. Pure: the order of the input does
 * not affect the plan. A plan with an error among its diagnostics has no writes. `decided`: the decisions for the same
 * input, if they were made already.
 * @example
 * const plan = createPlan(input);
 * console.log(plan.changes.map(({ action, address }) => `${action} ${address}`));
 */
export function createPlan(input: PlanInput, decided: DecidedPlan = decidePlan(input)): Plan {
  const { desired, mode, targets, exclusions = [] } = input;
  const { decisions, diagnostics, conflicts, predecessors } = decided;
  const isInvalid = hasErrors(diagnostics);
  const listed = listPlannedChanges(decisions, input);
  const writes = isInvalid ? [] : createOrderedWrites(listed, desired.stack.name);
  const goneIds = listGoneIds(decisions, input);
  const changesOf = Map.groupBy<string, Change>(listed, ({ address }) => address);
  const changes = computeChangesWithDangers({
    changes: explainDeletedFirst(listed, writes),
    stack: desired.stack.name,
    live: input.live,
    now: input.now,
    predecessors,
    renamedBack: new Set(decisions.filter(keepsSecret).map(({ pair }) => pair.address)),
  });
  return {
    format: PLAN_FORMAT,
    tool: { name: 'edgewise', version: input.version },
    made: {
      at: (input.localNow ?? input.now).toISOString(),
      commit: input.commit,
    },
    stack: desired.stack.name,
    baseUrl: input.baseUrl,
    mode,
    settings: input.settings,
    options: {
      rotate: input.rotate.toSorted(),
      retire: (input.retire ?? []).toSorted(),
    },
    targets: targets.toSorted(),
    ...(exclusions.length > 0 && { exclusions: exclusions.toSorted() }),
    takeOver: [...listTakenByStack(decisions).keys()].sort(),
    inputs: listInputs(desired),
    skipped: countSkipped(desired),
    ...(Object.keys(input.awaited ?? {}).length > 0 && { crossStackReferences: input.awaited ?? {} }),
    externals: Object.fromEntries([...desired.externals].sort(([left], [right]) => (left < right ? -1 : 1))),
    ...(goneIds.length > 0 && { goneIds }),
    ownerLabel: desired.stack.ownerLabel,
    changes,
    writes,
    diagnostics: limitWarningsPerLintRule(
      [...diagnostics, ...listUnknownSecretWarnings(writes, desired)],
      desired.inputs,
      (one) => isCausedByChange(one, changesOf),
    ),
    violations: [
      ...listViolations(changes, input, decided),
      ...listTakeOverViolations(decisions, input),
      ...listRenamedBackViolations(decisions, input),
      ...listClaimViolations(conflicts, mode),
    ],
    requests: estimateRequests(writes, { changes, diagnostics }, input),
  };
}

/** Whether a change causes a diagnostic: a lint warning on a created resource or on a changed field. */
function isCausedByChange(diagnostic: Diagnostic, changesOf: ReadonlyMap<string, readonly Change[]>): boolean {
  const { address = '', field } = diagnostic;
  const isCaused = ({ action, differences, duplicateOf }: Change): boolean => {
    if (duplicateOf !== undefined) return false;
    if (!isLintWarning(diagnostic) || action === 'no-op') return false;
    return action === 'create' || (field !== undefined && differences.some((one) => one.field === field));
  };
  return (changesOf.get(address) ?? []).some(isCaused);
}

function listPlannedChanges(decisions: readonly ChangeDecision[], input: PlanInput): readonly Change[] {
  const { ownerLabel } = input.desired.stack;
  return decisions
    .map((decision) => {
      const token = findSinkOfNewToken(decision, input.tokens);
      const notes = [...listTokenVariableNotes(token, input), ...listPlanNotes(decision, input)];
      return createChange(decision, { notes, token, ownerLabel });
    })
    .sort((left, right) => ACTIONS.indexOf(left.action) - ACTIONS.indexOf(right.action));
}

/** Names what a token command gets from the environment, so that a reviewer sees where the token may go. */
function listTokenVariableNotes(
  token: PlannedTokenSink | undefined,
  { tokenVariables = [] }: PlanInput,
): readonly string[] {
  if (token === undefined || 'directory' in token || tokenVariables.length === 0) return [];
  return [`its token command gets ${formatTokenVariables(tokenVariables)}`];
}

function listViolations(
  changes: readonly Change[],
  { desired, live, mode, targets, missing }: PlanInput,
  { leavesOutDescribed }: DecidedPlan,
): Plan['violations'] {
  return listGuardAndProtectionViolations({
    changes,
    owned: countOwnedByKind(live, desired.stack.name),
    settings: desired.stack.guard,
    stack: desired.stack.name,
    mode,
    isTargeted: targets.length > 0,
    missing,
    leavesOutDescribed,
  });
}

function estimateRequests(
  writes: readonly Write[],
  { changes, diagnostics }: Pick<Plan, 'changes' | 'diagnostics'>,
  { live, settings }: PlanInput,
): Plan['requests'] {
  const limit = parseRateLimit(settings.rateLimit);
  // Each kind in which a concurrent apply could create the same resource is listed at least once.
  const lookUps = new Set(writes.filter(isCreateWithoutClaims).map(({ kind }) => kind)).size;
  const doubtful = listAddressesInCondition({ diagnostics }, 'doubtful');
  const secondMarks = writes.filter((write) => isCreate(write) && doubtful.has(write.address)).length;
  const apply = writes.length + lookUps + countDeleteChecks(writes) + secondMarks;
  const readAgain = countReliantWrites(writes, changes);
  return {
    read: live.requests,
    apply,
    ...(readAgain > 0 && { readAgain }),
    leastMs: limit === undefined ? 0 : computeMinimumRequestTimeMs(apply + countCertainReads(readAgain, limit), limit),
  };
}

/** An apply lists each kind with deletes once more, and reads each deleted module. */
function countDeleteChecks(writes: readonly Write[]): number {
  const kinds = new Set(writes.filter(isDelete).map(({ kind }) => kind));
  return kinds.size + writes.filter(({ method, module }) => method === 'DELETE' && module !== undefined).length;
}

/** The number of reads right before writes that an apply must send, because it cannot send all writes in five seconds. */
function countCertainReads(readAgain: number, { requests, windowMs }: RateLimit): number {
  const windows = Math.ceil(RECENT_STATE_MS / windowMs) + 1;
  return Math.max(0, readAgain - windows * requests);
}

/** Notes on a change for the user who approves it. An unchanged resource has notes only if it is due for renewal. */
function listPlanNotes(decision: ChangeDecision, { desired, mode }: PlanInput): readonly string[] {
  if (decision.action === 'no-op') return decision.notes;
  if (decision.action === 'release') return listReleaseDespiteManifestNotes(decision, desired);
  const skipped = mode === 'apply' ? describeSkippedFiles(decision, desired) : [];
  return [
    ...listExistingTokenNotes(decision),
    ...listMetadataNotes(decision),
    ...describeKeys(decision),
    ...decision.notes,
    ...skipped,
  ];
}

/** A note names at most this many files. */
const MAX_SKIPPED_FILES = 3;

/** Names the lines of `spec.skip_files` that may be the cause of a delete. */
function describeSkippedFiles({ action, pair }: ChangeDecision, { skipped }: DesiredState): readonly string[] {
  const name = pair.live?.mark?.name;
  if (action !== 'delete' || pair.desired !== undefined || name === undefined) return [];
  const files = (skipped?.files ?? []).filter(({ mayDescribe }) => mayDescribe(name));
  const byLine = Map.groupBy(files, ({ pattern }) => `${pattern.file}:${pattern.line}`);
  return Array.from(byLine, ([line, found]) => {
    const named = found.slice(0, MAX_SKIPPED_FILES).map(({ file }) => file);
    const more = found.length - named.length;
    return `may be described in a file that spec.skip_files leaves out (${line}): ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  });
}

/** Describes the public keys of a resource, as in `for an ed25519 key, alice@example.com`. */
function describeKeys({ pair, form }: ChangeDecision): readonly string[] {
  return Object.entries(pair.kind.fields).flatMap(([name, { type }]) => {
    const key = form?.written[name];
    if (type.type !== 'text' || type.format !== 'ssh-public-key' || typeof key !== 'string') return [];
    return [['for an', findApiTypeOfSshKey(key), 'key'].join(' ').concat(parseKeyComment(key).replace(/^(?=.)/, ', '))];
  });
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

/** Reads the digests, so that the bytes of the manifests are not kept during an apply. */
function listInputs({ inputs }: DesiredState): Plan['inputs'] {
  return inputs.map(({ file, digest }) => ({ file, digest })).sort((left, right) => (left.file < right.file ? -1 : 1));
}
