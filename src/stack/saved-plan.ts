import { resolve } from 'node:path';
import { readPlannedFiles } from '../apply/write-files.ts';
import { readLive } from '../client/read-live.ts';
import { resolveLinks } from '../files/real-path.ts';
import type { PlanFileContent } from '../kinds/plan-file-content.ts';
import { hasErrors } from '../model/diagnostic.ts';
import { toCanonicalJson } from '../model/json.ts';
import type { Plan } from '../model/plan.ts';
import { isCoveredByApproval, type PlanComparison } from '../model/plan.ts';
import type { GuardSettings } from '../model/stack.ts';
import type { LiveState } from '../model/state.ts';
import { comparePlans } from '../plan/compare/compare-plans.ts';
import { createPlan } from '../plan/create-plan.ts';
import { findCrossStackReference } from '../plan/cross-stack-references.ts';
import { decidePlan } from '../plan/decide-plan.ts';
import { type Allowances, countOwnedByKind, listGuardAndProtectionViolations } from '../plan/guard.ts';
import { listWriteToPaths } from '../plan/plan-input.ts';
import {
  checkPlanAgainstLive,
  createStaleCheckRequest,
  listOutputFilesCreatedSincePlan,
  type PlanCheck,
  type StaleItem,
} from '../plan/saved/check-plan.ts';
import { listPlanMismatches } from '../plan/saved/list-plan-mismatches.ts';
import {
  computeLiveBeforePlans,
  findIdsOfAwaitedResources,
  restoreCreationsOfAbandonedResources,
} from '../plan/saved/live-resource-look-up.ts';
import { verifyPlan } from '../plan/saved/verify-plan.ts';
import { StackError } from './host.ts';
import { createLivePlanWithInput, type PlanRequest, type ReadingClient, rehearseAndCheckPlan } from './plan-live.ts';
import { refuseViolations } from './run-plan.ts';

export interface SavedFile {
  readonly plan: Plan;
  /** The name of the plan in messages, usually its file. */
  readonly name: string;
}

export interface SavedPlanToCheck extends SavedFile {
  readonly allowances: Allowances;
  readonly guard: GuardSettings;
  readonly signal?: AbortSignal | undefined;
  /** The folder from which relative file paths in the plan are resolved. */
  readonly cwd: string;
  readonly uid: number | undefined;
  /** Real paths of folders. Each file that the plan writes must be in one of these folders. */
  readonly roots: readonly string[];
}

/**
 * Throws if another version of edgewise made the plan, because only that version knows the meaning of the plan's
 * writes.
 */
export function refuseOtherVersion(
  { plan: { tool }, name }: Pick<SavedPlanToCheck, 'plan' | 'name'>,
  version: string,
): void {
  if (tool.version === version) return;
  const message = `${name} was made by edgewise ${tool.version}, and this is edgewise ${version}.`;
  throw new StackError(message, {
    reason: 'stale',
    remedy: 'Nothing was written. Make a new plan, or apply this plan with the version that made it.',
  });
}

/** Compares a saved plan with the live state. Throws if the plan is stale or a safety rule blocks it now. */
export async function refuseStaleOrBlockedPlan(client: ReadingClient, saved: SavedPlanToCheck): Promise<PlanCheck> {
  const { plan, name, signal, cwd, uid, roots } = saved;
  const live = await readLive(client, { ...createStaleCheckRequest(plan), ...(signal !== undefined && { signal }) });
  const check = checkPlanAgainstLive(plan, live);
  const paths = plan.files.map(({ path }) => path);
  const present = await readPlannedFiles(paths, { cwd, uid, roots });
  const stale = [...check.stale, ...listOutputFilesCreatedSincePlan(plan, { present, texts: check.texts })];
  refuseStale(name, stale);
  refuseUnsafe(saved, live);
  return check;
}

/** Throws if the resource of a planned change has changed since the plan was made. */
function refuseStale(name: string, stale: readonly StaleItem[]): void {
  if (stale.length === 0) return;
  const isAbandoned = stale.every((one) => one.isAbandoned === true);
  throw new StackError(formatStaleMessage(name, stale), isAbandoned ? ABANDONED : STALE);
}

/** Throws if a plan file differs from the plan that the manifests produce. `lines`: the differences. */
function refuseDifferent(name: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  const shown = lines.slice(0, MAX_LINES).map((line) => `  ${line}`);
  const rest = lines.length > MAX_LINES ? [`  and ${lines.length - MAX_LINES} more`] : [];
  const message = [`${name} differs from the plan of the current manifests:`, ...shown, ...rest];
  throw new StackError(message, {
    reason: 'stale',
    remedy:
      'Nothing was written. Apply with the options that the plan was made with (such as --target, --exclude, --rotate, --take-over), or make a new plan and have it approved.',
  });
}

/** The maximum number of differences in a message: two screens. The remedy is the same for all. */
const MAX_LINES = 50;

const ABANDONED = {
  reason: 'stale',
  remedy:
    'Nothing was written. Apply the plan with --manifests, so that the resource is created again, or make a new plan.',
} as const;

const STALE = {
  reason: 'stale',
  remedy: 'Nothing was written. Make a new plan and have it approved.',
} as const;

/** Checks the safety rules again with the live state, because the plan file may have been edited. */
function refuseUnsafe({ plan, allowances, guard }: SavedPlanToCheck, live: LiveState): void {
  const { changes, stack } = plan;
  const owned = countOwnedByKind(live, stack);
  const marks = new Map([...live.resources.values()].flat().map(({ id, mark }) => [id, mark?.protect === true]));
  const known = changes.map((change) =>
    marks.get(change.live?.id ?? '') === true ? { ...change, protect: true } : change,
  );
  // Always use the limits of `apply`. No command saves a plan of `destroy`, so if the file says `destroy`, it was
  // edited.
  const violations = listGuardAndProtectionViolations({
    changes: known,
    owned,
    settings: guard,
    stack,
    mode: 'apply',
    // Do not use the plan's targets, because edited targets would skip a check.
    isTargeted: false,
  });
  refuseViolations(violations, allowances);
}

function formatStaleMessage(name: string, stale: readonly StaleItem[]): readonly string[] {
  const lines = stale.map(({ address, field, message, planned, live }) => {
    if (field === undefined) return `  ${address}: ${message}`;
    const from = planned === undefined ? 'nothing' : toCanonicalJson(planned);
    return `  ${address}: ${field} was ${from} when the plan was made and is ${toCanonicalJson(live ?? null)} now`;
  });
  return [`${name} is stale, because live values changed after it was made:`, ...lines];
}

export interface NamedPlan {
  readonly plan: Plan;
  /** The name of the approved plan in messages, usually its file. */
  readonly name: string;
}

/** The plan contains changes that the approved plan does not. Nothing was written. */
export class PlanExceedsApprovalError extends StackError {
  override readonly name = 'NotApproved';
  readonly comparison: PlanComparison;

  constructor(comparison: PlanComparison, name: string) {
    super(
      `The plan contains changes that ${name} does not approve${comparison.mismatch === undefined ? '' : `: ${comparison.mismatch}`}.`,
      {
        reason: 'stale',
        remedy: NOT_APPROVED_REMEDY,
      },
    );
    this.comparison = comparison;
  }
}

const NOT_APPROVED_REMEDY = 'Nothing was written. Make a new plan and have it approved.';

/** Throws if a plan cannot be used as an approved plan: another version of edgewise made it, or it contains errors. */
export function refuseUnusableApproval({ plan, name }: NamedPlan, version: string): void {
  refuseOtherVersion({ plan, name }, version);
  if (!hasErrors(plan.diagnostics)) return;
  throw new StackError(`${name} contains errors, so it cannot be used as an approved plan.`, {
    reason: 'stale',
    remedy: NOT_APPROVED_REMEDY,
  });
}

/**
 * Compares a plan with an approved plan. An interrupted apply may already have sent some writes of the approved plan.
 */
export function compareWithApproved(plan: Plan, approved: NamedPlan, cwd: string): PlanComparison {
  const paths = plan.files.map(({ path }) => path);
  return comparePlans(
    withPaths(approved.plan, paths, cwd),
    restoreCreationsOfAbandonedResources(plan, approved.plan).plan,
  );
}

/** Throws `NotApproved` if a plan contains changes that the approved plan does not. */
export function refuseUnapproved(plan: Plan, approved: NamedPlan, cwd: string): void {
  const comparison = compareWithApproved(plan, approved, cwd);
  if (!isCoveredByApproval(comparison)) throw new PlanExceedsApprovalError(comparison, approved.name);
}

/**
 * Plans again, and returns the new plan if it equals the plan file. Throws `StackError` if a resource of the plan has
 * changed since the file was made, or if the manifests now produce another plan. Reads the live state once for both
 * checks. Sends GETs only.
 */
export async function recreateUnchangedPlan(
  client: ReadingClient,
  given: SavedFile,
  request: PlanRequest,
): Promise<Plan> {
  const planned = await createLivePlanWithInput(client, request);
  const paths = listWriteToPaths(planned.input.desired);
  const file = { ...given, plan: withPaths(given.plan, paths, request.cwd) };
  const checked = checkPlanAgainstLive(withoutAwaited(file.plan, planned.whole), planned.whole);
  const present = planned.input.files;
  const stale = checked.stale.filter(({ isAbandoned }) => isAbandoned !== true);
  refuseStale(file.name, [...stale, ...listOutputFilesCreatedSincePlan(file.plan, { present, texts: checked.texts })]);
  const again = await rehearseAndCheckPlan(withoutFinishedRotations(planned, file.plan, checked), request);
  const check = { ...checked, ids: new Map([...checked.ids, ...findIdsOfAwaitedResources(file.plan, planned.whole)]) };
  const isSame = listPlanMismatches(file.plan, again, check).length === 0;
  // If some writes of this or another saved plan of the run were already sent, the totals in the file describe the
  // state before these writes. So the totals are compared with a plan of that earlier state.
  const before = isSame ? again : await planBefore(planned, file.plan, request);
  refuseDifferent(file.name, listPlanMismatches(file.plan, again, { ...check, before }));
  return again;
}

/**
 * Creates the plan for the earlier live state in which no write of this plan file, or of the other saved plans of this
 * run, had been sent.
 */
async function planBefore({ input, whole }: Planned, file: Plan, request: PlanRequest): Promise<Plan> {
  const { savedBeside = [] } = request;
  const earlier = { ...input, live: computeLiveBeforePlans(input.live, [file, ...savedBeside]) };
  const plan = createPlan(earlier, decidePlan(earlier));
  // If the saved plan waits for ids of another stack, it was made without a rehearsal.
  const isTried = file.crossStackReferences === undefined && request.rehearsal !== false;
  return rehearseAndCheckPlan({ plan, input: earlier, whole }, { ...request, rehearsal: isTried });
}

/** Omits rotations of the plan file that are already finished, because a plan rotates a resource only once. */
function withoutFinishedRotations(planned: Planned, file: Plan, { done }: PlanCheck): Planned {
  const { input } = planned;
  const made = new Set<string>(
    file.writes.flatMap(({ id, type, address }) => (type === 'create' && done.has(id) ? [address] : [])),
  );
  const rotate = input.rotate.filter((address) => !made.has(address));
  if (rotate.length === input.rotate.length) return planned;
  const left = { ...input, rotate };
  return { ...planned, plan: createPlan(left, decidePlan(left)), input: left };
}

type Planned = Awaited<ReturnType<typeof createLivePlanWithInput>>;

/**
 * Omits references to resources that another stack of this run has not created yet. Their ids are looked up right
 * before the writes of this stack.
 */
function withoutAwaited({ crossStackReferences = {}, ...plan }: Plan, live: LiveState): Plan {
  const made = Object.entries(crossStackReferences).filter(
    ([, foreign]) => findCrossStackReference(foreign, live) !== undefined,
  );
  return { ...plan, crossStackReferences: Object.fromEntries(made) };
}

/**
 * Replaces each file path in a plan by the path for the same file in `paths`. A plan that was made elsewhere may name
 * the file differently, such as `m` instead of `/work/m`.
 */
function withPaths(plan: Plan, paths: readonly string[], cwd: string): Plan {
  const resolvePath = (path: string): string => resolveLinks(resolve(cwd, path));
  const named = new Map(paths.map((path) => [resolvePath(path), path]));
  return {
    ...plan,
    files: plan.files.map((file) => ({ ...file, path: named.get(resolvePath(file.path)) ?? file.path })),
  };
}

/** Returns the plan of a plan document. Throws `StackError` if its writes differ from the changes that it shows. */
export function getSelfConsistentPlan(name: string, document: PlanFileContent): Plan {
  const plan = verifyPlan(document);
  if (typeof plan !== 'string') return plan;
  throw new StackError(`${name} would make changes that it does not show: ${plan}.`, {
    reason: 'invalid',
    remedy: 'It was edited. Make a new plan and have it approved.',
  });
}
