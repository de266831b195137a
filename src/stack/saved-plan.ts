import { resolve } from 'node:path';
import { readFiles } from '../apply/write-files.ts';
import { readLive } from '../client/read-live.ts';
import { resolveLinks } from '../files/boundary.ts';
import type { PlanDocument } from '../kinds/request-body.ts';
import { hasErrors } from '../model/diagnostic.ts';
import { toCanonicalJson } from '../model/json.ts';
import type { Plan } from '../model/plan.ts';
import { isCoveredBy, type PlanComparison } from '../model/plan-comparison.ts';
import type { GuardSettings } from '../model/stack.ts';
import type { LiveState } from '../model/state.ts';
import { comparePlans } from '../plan/compare/compare-plans.ts';
import { createPlan } from '../plan/create-plan.ts';
import { findForeign } from '../plan/cross-stack-references.ts';
import { decidePlan } from '../plan/decide-plan.ts';
import { listFilePaths } from '../plan/files.ts';
import { type Allowances, countOwned, guardPlan, listBlockingViolations } from '../plan/guard.ts';
import {
  checkPlan,
  createStaleCheckRequest,
  listAppeared,
  type PlanCheck,
  type StaleItem,
} from '../plan/saved/check-plan.ts';
import { computeLiveBefore, countAsCreated, listAwaitedIds } from '../plan/saved/finder.ts';
import { listUnlike } from '../plan/saved/list-unlike.ts';
import { verifyPlan } from '../plan/saved/verify-plan.ts';
import { StackError } from './host.ts';
import { type PlanRequest, planLive, type Reader, tryPlan } from './plan-live.ts';

/** A plan that was saved. */
export interface SavedFile {
  readonly plan: Plan;
  /** What it is called in messages: its file. */
  readonly name: string;
}

/** A saved plan, and the options of its check. */
export interface SavedPlan extends SavedFile {
  readonly allowances: Allowances;
  readonly guard: GuardSettings;
  readonly signal?: AbortSignal | undefined;
  /** What the paths of its files are relative to. */
  readonly cwd: string;
  /** Real paths of the folders below which its files may lie. */
  readonly roots: readonly string[];
}

/** The meaning of a plan's writes is known only to the version that made it. */
export function refuseOtherVersion({ plan: { tool }, name }: Pick<SavedPlan, 'plan' | 'name'>, version: string): void {
  if (tool.version === version) return;
  const message = `${name} was made by edgewise ${tool.version}, and this is edgewise ${version}.`;
  throw new StackError(message, {
    reason: 'stale',
    remedy: 'Make a new plan, or apply it with the version that made it. Nothing was written.',
  });
}

/** Compares a saved plan with the live state. Throws when it is stale, or when a safety rule blocks it now. */
export async function checkSaved(client: Reader, saved: SavedPlan): Promise<PlanCheck> {
  const { plan, name, signal, cwd, roots } = saved;
  const live = await readLive(client, { ...createStaleCheckRequest(plan), ...(signal !== undefined && { signal }) });
  const check = checkPlan(plan, live);
  const paths = plan.files.map(({ path }) => path);
  const present = await readFiles(paths, { cwd, roots });
  const moved = [...check.moved, ...listAppeared(plan, { present, texts: check.texts })];
  refuseMoved(name, moved);
  refuseStanding(saved, live);
  return check;
}

/** Throws when something that a plan would change has changed since it was made. */
function refuseMoved(name: string, moved: readonly StaleItem[]): void {
  if (moved.length === 0) return;
  const isAbandoned = moved.every((one) => one.isAbandoned === true);
  throw new StackError(toStaleMessage(name, moved), isAbandoned ? ABANDONED : STALE);
}

/** Throws when a plan file says something else than the manifests. */
function refuseUnlike(name: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  const shown = lines.slice(0, MAX_LINES).map((line) => `  ${line}`);
  const rest = lines.length > MAX_LINES ? [`  and ${lines.length - MAX_LINES} more`] : [];
  const message = [`${name} is not the plan that the manifests give now:`, ...shown, ...rest];
  throw new StackError(message, {
    reason: 'stale',
    remedy:
      'Nothing was written. Give the apply the options that the plan was made with (such as --target, --rotate, --take-over), or make a new plan and have that approved.',
  });
}

/** Differences that are listed; more tell a reader nothing that these do not. */
const MAX_LINES = 50;

const ABANDONED = {
  reason: 'stale',
  remedy: 'Nothing was written. Apply it with --manifests, which creates it again, or make a new plan.',
} as const;

const STALE = {
  reason: 'stale',
  remedy: 'Nothing was written. Make a new plan and have that approved.',
} as const;

/** Checks the safety rules again on the live state: the file could have been edited. */
function refuseStanding({ plan, allowances, guard }: SavedPlan, live: LiveState): void {
  const { changes, stack } = plan;
  const owned = countOwned(live, stack);
  const marks = new Map([...live.resources.values()].flat().map(({ id, mark }) => [id, mark?.protect === true]));
  const known = changes.map((change) =>
    marks.get(change.live?.id ?? '') === true ? { ...change, protect: true } : change,
  );
  // No command saves a plan of `destroy`: a file that claims to be one is checked against the limits too.
  const violations = guardPlan({
    changes: known,
    owned,
    settings: guard,
    stack,
    mode: 'apply',
    // Targets of a file that was edited would let it pass.
    isTargeted: false,
  });
  refuseViolations(violations, allowances);
}

/** Throws for the first violated safety rule without consent. */
export function refuseViolations(violations: Plan['violations'], allowances: Allowances): void {
  const [first] = listBlockingViolations(violations, allowances);
  if (first !== undefined) throw new StackError(first.message, { reason: 'refused', remedy: first.remedy });
}

function toStaleMessage(name: string, moved: readonly StaleItem[]): readonly string[] {
  const lines = moved.map(({ address, field, message, planned, live }) => {
    if (field === undefined) return `  ${address}: ${message}`;
    const from = planned === undefined ? 'nothing' : toCanonicalJson(planned);
    return `  ${address}: ${field} was ${from} when the plan was made and is ${toCanonicalJson(live ?? null)} now`;
  });
  return [`${name} is stale, because live values changed after it was made:`, ...lines];
}

/** An approved plan. */
export interface PlanApproval {
  readonly plan: Plan;
  /** What it is called in messages: its file. */
  readonly name: string;
}

/** A plan does something that the approved one did not. Nothing was written. */
export class NotApproved extends StackError {
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

/** What to do when a plan is not the one that was approved. */
const NOT_APPROVED_REMEDY = 'Nothing was written. Make a new plan and have that approved.';

/** Throws when a plan cannot approve anything: another version made it, or it could not be applied itself. */
export function refuseUnfit({ plan, name }: PlanApproval, version: string): void {
  refuseOtherVersion({ plan, name }, version);
  if (!hasErrors(plan.diagnostics)) return;
  throw new StackError(`${name} contains errors, so it cannot be used as an approved plan.`, {
    reason: 'stale',
    remedy: NOT_APPROVED_REMEDY,
  });
}

/** Compares a plan with one that was approved, of which an apply may have broken off. */
export function compareWithApproved(plan: Plan, approved: PlanApproval, cwd: string): PlanComparison {
  const paths = plan.files.map(({ path }) => path);
  return comparePlans(withPaths(approved.plan, paths, cwd), countAsCreated(plan, approved.plan).plan);
}

/** Throws `NotApproved` when a plan does anything that an approved one did not. */
export function refuseUnapproved(plan: Plan, approved: PlanApproval, cwd: string): void {
  const comparison = compareWithApproved(plan, approved, cwd);
  if (!isCoveredBy(comparison)) throw new NotApproved(comparison, approved.name);
}

/**
 * Plans again what a plan file says, and gives that plan when it is the same. Otherwise throws `StackError`: something that the file touches has changed since, or
 * the manifests ask for something else. One reading serves both. Sends GETs only.
 */
export async function replan(client: Reader, given: SavedFile, request: PlanRequest): Promise<Plan> {
  const planned = await planLive(client, request);
  const paths = listFilePaths(planned.input.desired);
  const file = { ...given, plan: withPaths(given.plan, paths, request.cwd) };
  const checked = checkPlan(withoutAwaited(file.plan, planned.whole), planned.whole);
  const present = planned.input.files;
  const moved = checked.moved.filter(({ isAbandoned }) => isAbandoned !== true);
  refuseMoved(file.name, [...moved, ...listAppeared(file.plan, { present, texts: checked.texts })]);
  const again = await tryPlan(withoutRotated(planned, file.plan, checked), request);
  const check = { ...checked, ids: new Map([...checked.ids, ...listAwaitedIds(file.plan, planned.whole)]) };
  const isSame = listUnlike(file.plan, again, check).length === 0;
  // Something of the file, or of those that are applied with it, may be done: what it says of the whole is of before that.
  const before = isSame ? again : await planBefore(planned, file.plan, request);
  refuseUnlike(file.name, listUnlike(file.plan, again, { ...check, before }));
  return again;
}

/** The plan as it was when nothing of a file was done, nor of those that are applied with it. */
async function planBefore({ input, whole }: Planned, file: Plan, request: PlanRequest): Promise<Plan> {
  const { savedBeside = [] } = request;
  const earlier = { ...input, live: computeLiveBefore(input.live, [file, ...savedBeside]) };
  const plan = createPlan(earlier, decidePlan(earlier));
  // What waits for another stack was not tried.
  const isTried = file.awaitedReferences === undefined && request.rehearsal !== false;
  return tryPlan({ plan, input: earlier, whole }, { ...request, rehearsal: isTried });
}

/** What the file rotates is rotated once, however often it is asked for: what came of it stays. */
function withoutRotated(planned: Planned, file: Plan, { done }: PlanCheck): Planned {
  const { input } = planned;
  const made = new Set<string>(
    file.writes.flatMap(({ id, type, address }) => (type === 'create' && done.has(id) ? [address] : [])),
  );
  const rotate = input.rotate.filter((address) => !made.has(address));
  if (rotate.length === input.rotate.length) return planned;
  const left = { ...input, rotate };
  return { ...planned, plan: createPlan(left, decidePlan(left)), input: left };
}

type Planned = Awaited<ReturnType<typeof planLive>>;

/** What another stack of the same run has yet to make is looked for when its turn has come. */
function withoutAwaited({ awaitedReferences = {}, ...plan }: Plan, live: LiveState): Plan {
  const made = Object.entries(awaitedReferences).filter(([, foreign]) => findForeign(foreign, live) !== undefined);
  return { ...plan, awaitedReferences: Object.fromEntries(made) };
}

/** A plan from another machine with the file paths of this one: how the manifests were named there, `m` or `/work/m`, does not matter. */
function withPaths(plan: Plan, paths: readonly string[], cwd: string): Plan {
  const toPlace = (path: string): string => resolveLinks(resolve(cwd, path));
  const named = new Map(paths.map((path) => [toPlace(path), path]));
  return { ...plan, files: plan.files.map((file) => ({ ...file, path: named.get(toPlace(file.path)) ?? file.path })) };
}

/** The plan of a document, when it does what it shows and nothing else. */
export function verifyShown(name: string, document: PlanDocument): Plan {
  const plan = verifyPlan(document);
  if (typeof plan !== 'string') return plan;
  throw new StackError(`${name} would make changes that it does not show: ${plan}.`, {
    reason: 'invalid',
    remedy: 'It was edited. Make a new plan and have that approved.',
  });
}
