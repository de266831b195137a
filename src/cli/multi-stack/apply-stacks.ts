import { isEmptyWork, type Plan } from '../../model/plan.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import { listWriteToPaths } from '../../plan/plan-input.ts';
import { formatCount } from '../../report/view/wording.ts';
import type { SelectedStacks } from '../../repository/select-stacks.ts';
import { toServiceId } from '../../stack/account-key.ts';
import type { NamedPlan } from '../../stack/approval.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { readApprovedPlan, refuseApprovedWithSavedPlan } from '../reconcile/apply-plan.ts';
import { listManifestPathsForPlan } from '../reconcile/plan-file.ts';
import { toPlanOptions } from '../reconcile/plan-flags.ts';
import { type ApplyRun, type ApplyStacksFlags, classifyPlannedStack, showPlansAndApply } from './apply-ready.ts';
import { findIndexedPlanFolder, type IndexedPlanFolder } from './plan-folder.ts';
import {
  createFailedStack,
  failConflictingStacks,
  forEachStack,
  openStackFolder,
  planOpenedStack,
  runTaskOnSelectedStacks,
  type StackResult,
  type StacksRun,
} from './stacks-run.ts';

interface StacksToApply {
  readonly flags: ApplyStacksFlags;
  readonly mode: 'apply' | 'destroy';
}

/** Plans every stack below a folder, shows the plans, asks the user once, and applies the plans. */
export async function planAndApplyStacks(
  paths: readonly string[],
  { flags, mode }: StacksToApply,
  context: Context,
): Promise<ExitCode> {
  const { approved } = flags;
  const approvals =
    approved === undefined ? undefined : await readApprovals(await findPlans(approved, context), context);
  return applySelectedStacks(paths, { flags, mode, approvals }, context);
}

async function findPlans(folder: string, context: Context): Promise<IndexedPlanFolder> {
  const found = await findIndexedPlanFolder(folder, context);
  if (found !== undefined) return found;
  throw new CommandError(
    `${folder} is not a folder of plans. With --recursive, each stack needs its own approved plan.`,
    {
      exitCode: EXIT.invalid,
      remedy: 'Name a folder that edgewise plan -R -o FOLDER wrote, or apply only the stack of that plan.',
    },
  );
}

/**
 * Applies the stacks of a folder of plans, each if its plan is as the saved one approves it. The short form of
 * `--approved`: the manifests are those that the folder names, unless `--manifests` names others.
 */
export async function applyPlanFolder(
  plans: IndexedPlanFolder,
  flags: ApplyStacksFlags,
  context: Context,
): Promise<ExitCode> {
  const { folder, manifests, stacks } = plans;
  refuseApprovedWithSavedPlan(flags);
  const roots = listManifestPathsForPlan({ name: folder, manifests }, flags.manifests ?? [], context);
  if (roots.length > 1) {
    const message = `--manifests names ${roots.length} folders, but a folder of plans is compared with the stacks below one folder.`;
    throw new CommandError(message, { exitCode: EXIT.invalid, remedy: 'Name one folder that contains all of them.' });
  }
  const approvals = await readApprovals(plans, context);
  // Include the stacks that were in the run but have no plan: stacks with a plan may depend on them.
  const names = [...new Set([...approvals.plans.map(({ plan }) => plan.stack), ...stacks])];
  if (names.length === 0)
    throw new CommandError(`${folder} contains no plan for any stack below ${roots.join(', ')}.`, STALE);
  const selected = { ...flags, stack: names, isOfPlans: true };
  return applySelectedStacks(roots, { flags: selected, mode: 'apply', approvals }, context);
}

interface ApprovedPlan extends NamedPlan {
  readonly serviceId: string;
}

/** The approved plans of a folder. */
interface Approvals {
  readonly folder: string;
  readonly plans: readonly ApprovedPlan[];
  /** The names of all stacks of the runs that made the plans, including stacks without a plan. */
  readonly reviewed: readonly string[];
}

const STALE = {
  exitCode: EXIT.stale,
  remedy: 'Nothing was written. Make the plans again with edgewise plan -R -o FOLDER, and have those approved.',
} as const;

async function readApprovals({ folder, files, stacks }: IndexedPlanFolder, context: Context): Promise<Approvals> {
  const { onSubject: _, budget: __, ...quiet } = context; // these plans already count towards the read budget
  const plans: ApprovedPlan[] = [];
  for (const file of files) {
    const approved = await readApprovedPlan(file, quiet);
    plans.push({ ...approved, serviceId: toServiceId(approved.plan.baseUrl, context) });
  }
  refuseDuplicatePlans(plans);
  return { folder, plans, reviewed: stacks };
}

function refuseDuplicatePlans(plans: readonly ApprovedPlan[]): void {
  const groups = Map.groupBy(plans, ({ plan, serviceId }) =>
    JSON.stringify([plan.stack, serviceId, plan.settings.keyEnv]),
  );
  const twice = [...groups.values()].find((members) => members.length > 1);
  if (twice === undefined) return;
  const names = twice.map(({ name }) => name).join(' and ');
  throw new CommandError(`${names} are both plans of the stack ${twice[0]?.plan.stack} on ${twice[0]?.plan.baseUrl}.`, {
    exitCode: EXIT.invalid,
    remedy: 'Keep the one that was approved.',
  });
}

type ApprovedPlansByFolder = ReadonlyMap<StackFolder, ApprovedPlan>;

/**
 * Assigns each plan to its stack of the repository: the one for its service and key, else one of its name that no other
 * plan is for. The comparison of the two then names what differs.
 */
function assignPlans(plans: readonly ApprovedPlan[], stacks: readonly StackFolder[]): ApprovedPlansByFolder {
  const assigned = new Map<StackFolder, ApprovedPlan>();
  const open = new Set(plans);
  const assign = (isFor: (plan: ApprovedPlan, stack: StackFolder) => boolean): void => {
    for (const stack of stacks) {
      if (assigned.has(stack)) continue;
      const [found, ...others] = [...open].filter((one) => one.plan.stack === stack.name && isFor(one, stack));
      if (found === undefined || others.length > 0) continue;
      assigned.set(stack, found);
      open.delete(found);
    }
  };
  assign((one, { serviceId, keyEnv }) => one.serviceId === serviceId && one.plan.settings.keyEnv === keyEnv);
  assign((one, { serviceId }) => one.serviceId === serviceId);
  assign(() => true);
  return assigned;
}

/** Throws if the repository lacks the stack of a plan: its deletion was not part of the review. */
function refuseVanishedStacks(
  { plans, folder }: Approvals,
  assigned: ApprovedPlansByFolder,
  { root }: SelectedStacks['tree'],
): void {
  const known = new Set(assigned.values());
  const vanished = plans.filter((one) => !known.has(one));
  if (vanished.length === 0) return;
  const names = vanished.map(({ plan: { stack, baseUrl, settings } }) => {
    const key = settings.keyEnv === undefined ? '' : ` with the key in ${settings.keyEnv}`;
    return `${stack} on ${baseUrl}${key}`;
  });
  throw new CommandError(
    `${folder} approves plans of ${names.join(', ')}, but there is no such stack below ${root}.`,
    STALE,
  );
}

interface SelectedStacksToApply extends StacksToApply {
  readonly approvals: Approvals | undefined;
}

async function applySelectedStacks(
  paths: readonly string[],
  { flags, mode, approvals }: SelectedStacksToApply,
  context: Context,
): Promise<ExitCode> {
  return runTaskOnSelectedStacks(paths, { flags, command: mode }, context, async (asked) => {
    const { tree } = asked.selected;
    const assigned = assignPlans(approvals?.plans ?? [], tree.stacks);
    if (approvals !== undefined) refuseVanishedStacks(approvals, assigned, tree);
    const run = flags.isOfPlans === true ? withUnplanned(asked) : asked;
    const applying: ApplyRun = { run, flags, mode, ready: new Map(), planned: new Map() };
    const unapproved: string[] = [];
    const planned = await forEachStack(run, (folder) =>
      planOne(applying, folder, { approvals, approved: assigned.get(folder), unapproved }),
    );
    refuseMissingPlans(unapproved, approvals);
    const shown = await failConflictingStacks(run, planned, (folder) => {
      applying.ready.delete(folder);
      applying.planned.delete(folder);
    });
    return showPlansAndApply(applying, shown);
  });
}

/**
 * Throws if a stack was in a run that made the plans, has something to do, and its plan is missing. A plan may have
 * been removed.
 */
function refuseMissingPlans(unapproved: readonly string[], approvals: Approvals | undefined): void {
  const missing = unapproved.filter((name) => approvals?.reviewed.includes(name));
  if (missing.length === 0) return;
  const message = `${approvals?.folder} has no plan for ${missing.join(', ')}, which was in the run that made the plans and has something to do.`;
  throw new CommandError(message, STALE);
}

/**
 * Adds the names of stacks that were not in the run that made the plans, so that the report lists them: they were not
 * planned.
 */
function withUnplanned({ selected, ...run }: StacksRun): StacksRun {
  const { tree, stacks } = selected;
  const unplanned = tree.stacks.filter((one) => !stacks.includes(one)).map(({ name }) => name);
  return { ...run, selected: { ...selected, unplanned } };
}

interface StackApproval {
  readonly approvals: Approvals | undefined;
  /** The approved plan of the stack. Absent: `approvals` has none. */
  readonly approved: NamedPlan | undefined;
  /** Gets the name of the stack if it has something to do and no approved plan. */
  readonly unapproved: string[];
}

async function planOne(
  applying: ApplyRun,
  folder: StackFolder,
  { approvals, approved, unapproved }: StackApproval,
): Promise<StackResult> {
  const { run, flags, mode } = applying;
  const opened = await openStackFolder(run, folder, {
    ...(mode === 'apply' && { lint: 'for-plan' }),
    listOutputs: listWriteToPaths,
  });
  const options = toPlanOptions(flags, mode);
  const planned = await planOpenedStack(run, opened, { options, approved });
  if (approvals === undefined || approved !== undefined || isEmptyWork(planned.plan))
    return classifyPlannedStack(applying, { ...planned, opened, options });
  unapproved.push(folder.name);
  return createFailedStack(createUnreviewedError(folder, planned.plan, approvals), folder, run.command);
}

function createUnreviewedError({ name }: StackFolder, { changes }: Plan, { folder }: Approvals): CommandError {
  const count = changes.filter(({ action }) => action !== 'no-op').length;
  return new CommandError(
    `${name} was not part of the review: ${folder} has no plan for it, and it has ${formatCount(count, 'change')}.`,
    STALE,
  );
}
