import { assertDefined } from '../../model/errors.ts';
import type { Plan } from '../../model/plan.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import { listWriteToPaths } from '../../plan/plan-input.ts';
import type { SelectedStacks } from '../../repository/select-stacks.ts';
import type { NamedPlan, SavedFile } from '../../stack/saved-plan.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import {
  type ApplyFlags,
  announceSkippedManifestCheck,
  findDifferencesBeyondApprovedPlan,
  prepareSavedPlanWithoutManifests,
  readApprovedPlanFile,
  readSavedPlanFile,
  refuseApprovedWithSavedPlan,
} from '../reconcile/apply-plan.ts';
import { createLocateAtPlanFileStart, listManifestPathsForPlan, readPlanFile } from '../reconcile/plan-file.ts';
import { refusePlanFileMismatchingExternals, toConsentOptions, toPlanOptions } from '../reconcile/plan-flags.ts';
import { type ApplyRun, type ApplyStacksFlags, classifyPlannedStack, showPlansAndApply } from './apply-ready.ts';
import { findIndexedPlanFolder, type IndexedPlanFolder } from './plan-folder.ts';
import {
  failConflictingStacks,
  forEachStack,
  openStackFolder,
  planOpenedStack,
  refuseSingleResourceFlags,
  runTaskOnSelectedStacks,
  runWithSelectedStacks,
  type StackResult,
  type StacksRun,
} from './stacks-run.ts';

interface StacksToApply {
  readonly flags: ApplyStacksFlags;
  readonly mode: 'apply' | 'destroy';
  /**
   * Returns the saved plan of a stack, which the new plan must equal. Throws if the stack has no saved plan. Absent:
   * new plans are not compared with saved plans.
   */
  readonly getSaved?: (folder: StackFolder) => SavedFile;
  /** All plans that `findSaved` can return. */
  readonly savedPlans?: readonly Plan[];
}

/** Plans every stack below a folder, shows the plans, asks the user once, and applies the plans. */
export async function planAndApplyStacks(
  paths: readonly string[],
  { flags, mode, getSaved: findSaved, savedPlans = [] }: StacksToApply,
  context: Context,
): Promise<ExitCode> {
  const findApproval = await readApprovals(flags, context);
  return runTaskOnSelectedStacks(paths, { flags, command: mode }, context, async (asked) => {
    const run = findSaved === undefined ? asked : withUnplanned(asked);
    const applying: ApplyRun = { run, flags, mode, ready: new Map() };
    const planned = await forEachStack(run, (folder) => {
      const saved = findSaved?.(folder);
      const beside = savedPlans.filter((plan) => isBeside(plan, saved?.plan));
      return planOne(applying, folder, { saved, beside, approved: findApproval?.(folder) });
    });
    return showPlansAndApply(
      applying,
      await failConflictingStacks(run, planned, (folder) => void applying.ready.delete(folder)),
    );
  });
}

/**
 * Adds the names of stacks that have no plan in the folder of plans, so that the report lists them. They were not
 * planned, or their plan was removed.
 */
function withUnplanned({ selected, ...run }: StacksRun): StacksRun {
  const { tree, stacks } = selected;
  const unplanned = tree.stacks.filter((one) => !stacks.includes(one)).map(({ name }) => name);
  return { ...run, selected: { ...selected, unplanned } };
}

/** Earlier plans that the new plan of a stack is compared with. */
interface KnownPlans {
  /** The new plan is applied only if it equals this plan. `undefined`: the new plan is not compared. */
  readonly saved: SavedFile | undefined;
  /** Saved plans of other stacks of the run. */
  readonly beside: readonly Plan[];
  /** The new plan is applied only if it does no more than this plan. `undefined`: no approval is required. */
  readonly approved: NamedPlan | undefined;
}

async function planOne(
  applying: ApplyRun,
  folder: StackFolder,
  { saved, beside, approved }: KnownPlans,
): Promise<StackResult> {
  const { run, flags, mode } = applying;
  const opened = await openStackFolder(run, folder, {
    ...(mode === 'apply' && { lint: 'for-plan' }),
    listOutputs: listWriteToPaths,
  });
  if (saved !== undefined) refusePlanFileMismatchingExternals(saved, opened);
  const plan = await planOpenedStack(run, opened, { ...toPlanOptions(flags, mode), savedBeside: beside }, saved);
  const { stack, pooled, locate } = opened;
  const unapproved = findDifferencesBeyondApprovedPlan(plan, approved, run.context);
  if (unapproved !== undefined) return { report: unapproved, exitCode: EXIT.stale, options: { locate } };
  const consent = toConsentOptions(flags);
  return classifyPlannedStack(applying, folder, {
    plan,
    pooled,
    locate,
    apply: (options) => stack.apply(plan, { ...consent, ...options }),
  });
}

/** Whether a plan is for another stack of the same service. */
function isBeside(plan: Plan, saved: Plan | undefined): boolean {
  return plan.baseUrl === saved?.baseUrl && plan.stack !== saved.stack;
}

/** Returns a function that finds a stack's approved plan in `--approved`. `undefined`: no approval is required. */
async function readApprovals(
  { approved }: ApplyFlags,
  context: Context,
): Promise<((folder: StackFolder) => NamedPlan) | undefined> {
  if (approved === undefined) return undefined;
  const found = await findIndexedPlanFolder(approved, context);
  if (found === undefined)
    throw new CommandError(
      `${approved} is not a folder of plans. With --recursive, each stack needs its own approved plan.`,
      {
        exitCode: EXIT.invalid,
        remedy: 'Name a folder that edgewise plan -R -o FOLDER wrote, or apply only the stack of that plan.',
      },
    );
  const { onSubject: _, budget: __, ...quiet } = context; // these plans already count towards the read budget
  const approvals = new Map<StackFolder, NamedPlan>();
  const { stacks } = await selectPlans(found.folder, found.files, context);
  for (const one of stacks) approvals.set(one, await readApprovedPlanFile(one.file, quiet));
  return (folder) => assertDefined(approvals.get(createStackFolder(folder, stacks)), 'an approved plan');
}

/**
 * Applies the saved plans of a folder, and nothing else. With manifests, computes each plan again, and applies it only
 * if it equals the saved plan. Without manifests, trusts each plan, but rejects a plan if a resource that it touches
 * has changed since.
 */
export async function applyPlanFolder(
  plans: IndexedPlanFolder,
  flags: ApplyStacksFlags,
  context: Context,
): Promise<ExitCode> {
  const { folder, files, manifests } = plans;
  refuseApprovedWithSavedPlan(flags);
  const roots = listManifestPathsForPlan({ name: folder, manifests }, flags.manifests ?? [], context);
  const selected = await selectPlans(folder, files, context);
  refuseSingleResourceFlags(flags, { names: [], count: selected.stacks.length });
  if (roots.length > 0) return applyAgain(selected.stacks, { flags, roots, stacks: plans.stacks }, context);
  announceSkippedManifestCheck(folder, context);
  return runWithSelectedStacks(selected, { flags, command: 'apply' }, context, async (run) => {
    const applying: ApplyRun = { run, flags, mode: 'apply', ready: new Map() };
    return showPlansAndApply(applying, await forEachStack(run, (one) => prepareOne(applying, one)));
  });
}

interface AgainFlags {
  readonly flags: ApplyStacksFlags;
  /** Folders of the manifests. */
  readonly roots: readonly string[];
  /** Names of all stacks of the runs that made the plans. */
  readonly stacks: readonly string[];
}

/** Plans the stacks again, and applies each plan that equals the saved plan. */
async function applyAgain(
  plans: readonly StackFolder[],
  { flags, roots, stacks }: AgainFlags,
  context: Context,
): Promise<ExitCode> {
  if (roots.length > 1) {
    const message = `--manifests names ${roots.length} folders, but a folder of plans is compared with the stacks below one folder.`;
    throw new CommandError(message, { exitCode: EXIT.invalid, remedy: 'Name one folder that contains all of them.' });
  }
  const { onSubject: _, budget: __, ...quiet } = context; // these plans already count towards the read budget
  const saved = new Map<StackFolder, SavedFile>();
  for (const one of plans) saved.set(one, await readSavedPlanFile(one.file, quiet));
  // Include the stacks that were in the run but have no plan: stacks with a plan may depend on them.
  const names = [...new Set([...plans.map(({ name }) => name), ...stacks])];
  if (names.length === 0) throw noPlans(roots);
  const getSaved = (folder: StackFolder): SavedFile =>
    assertDefined(saved.get(createStackFolder(folder, plans)), 'a plan file');
  const savedPlans = [...saved.values()].map(({ plan }) => plan);
  return planAndApplyStacks(
    roots,
    { flags: { ...flags, stack: names, isOfPlans: true }, mode: 'apply', getSaved, savedPlans },
    context,
  );
}

/** Finds the plan of a stack. Compares the service too, because two services may each have a stack of that name. */
function createStackFolder({ name, baseUrl, folder }: StackFolder, plans: readonly StackFolder[]): StackFolder {
  const found = plans.filter((plan) => plan.name === name);
  const meant = found.find((plan) => plan.baseUrl === baseUrl) ?? (found.length === 1 ? found[0] : undefined);
  if (meant !== undefined) return meant;
  throw new CommandError(`The folder of plans contains no plan for the stack ${name} in ${folder}.`, {
    exitCode: EXIT.stale,
    remedy: 'Make the plans again with edgewise plan -R -o FOLDER, and have those approved.',
  });
}

function noPlans(roots: readonly string[]): CommandError {
  return new CommandError(`The folder contains no plan for any stack below ${roots.join(', ')}.`, {
    exitCode: EXIT.stale,
    remedy: 'Make the plans again with edgewise plan -R -o FOLDER.',
  });
}

async function prepareOne(applying: ApplyRun, folder: StackFolder): Promise<StackResult> {
  const { run, flags } = applying;
  const { onSubject: _, budget: __, ...quiet } = run.context; // this plan already counts towards the read budget
  const { plan, settings, approved } = await prepareSavedPlanWithoutManifests(
    await readSavedPlanFile(folder.file, quiet),
    flags,
    quiet,
  );
  const pooled = await run.pool.getAccount(settings, folder.file);
  const account = pooled.account.toView(settings);
  const locate = createLocateAtPlanFileStart(folder.file);
  return classifyPlannedStack(applying, folder, {
    plan,
    pooled,
    locate,
    apply: (options) => account.apply(approved, options),
  });
}

/** Returns the plans of a folder as stacks. A stack depends on the stacks that its plan refers to. */
async function selectPlans(root: string, files: readonly string[], context: Context): Promise<SelectedStacks> {
  const { onSubject: _, budget: __, ...quiet } = context; // these plans already count towards the read budget
  const stacks: StackFolder[] = [];
  for (const file of files) {
    const { stack, baseUrl, settings, crossStackReferences = {} } = await readPlanFile(file, quiet);
    const { keyEnv } = settings;
    const needs = [...new Set(Object.values(crossStackReferences).map((foreign) => foreign.stack))];
    const named = { name: stack, folder: file, file, baseUrl, ...(keyEnv !== undefined && { keyEnv }) };
    stacks.push({ ...named, inputs: [], policies: [], dependsOn: needs, takes: [], isRendered: false });
  }
  refuseDuplicatePlans(stacks);
  return { tree: { root, stacks, filesWithoutStack: [], strays: [], diagnostics: [] }, stacks };
}

function refuseDuplicatePlans(stacks: readonly StackFolder[]): void {
  const groups = Map.groupBy(stacks, ({ name, baseUrl }) => `${name} on ${baseUrl}`);
  const twice = [...groups].find(([, members]) => members.length > 1);
  if (twice === undefined) return;
  const [subject, members] = twice;
  const names = members.map(({ file }) => file).join(' and ');
  throw new CommandError(`${names} are both plans of the stack ${subject}.`, {
    exitCode: EXIT.invalid,
    remedy: 'Keep the one that was approved.',
  });
}
