import type { Plan } from '../../model/plan.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import { formatCount } from '../../report/view/wording.ts';
import type { SelectedStacks } from '../../repository/select-stacks.ts';
import { toServiceId } from '../../stack/account-key.ts';
import type { NamedPlan } from '../../stack/approval.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { listManifestPathsForPlan, readPlanFile } from './plan-file.ts';
import { findIndexedPlanFolder, type IndexedPlanFolder } from './plan-folder.ts';
import { createFailedStack, type StackFilterFlags, type StackResult, type StacksRun } from './stacks-run.ts';

/** The approved plans of a run. */
interface Approval {
  readonly run: StacksRun;
  /** Returns the approved plan of a stack. `undefined`: there is none. */
  readonly findPlan: (folder: StackFolder) => NamedPlan | undefined;
  /** Returns the result of a stack whose plan has something to do and was not approved. */
  readonly refuse: (folder: StackFolder, plan: Plan) => StackResult | undefined;
  /** Throws if an approved plan is missing. Called after every stack was planned. */
  readonly refuseMissing: () => void;
}

/** Assigns approved plans to the stacks of a run. Throws if a plan is for no stack. */
export type ApprovedPlans = (run: StacksRun) => Approval;

export const approveAnything: ApprovedPlans = (run) => ({
  run,
  findPlan: () => undefined,
  refuse: () => undefined,
  refuseMissing: () => undefined,
});

/** An apply of approved plans: the manifests that they are compared with, and the stacks. */
export interface ApprovedApply {
  readonly paths: readonly string[];
  readonly filter: StackFilterFlags;
  readonly approved: ApprovedPlans;
}

/**
 * Reads a saved plan. The short form of `--approved`: the manifests are those that the file names, unless `--manifests`
 * names others.
 */
export async function readSavedPlan(file: string, flags: ApprovalFlags, context: Context): Promise<ApprovedApply> {
  refuseApprovedWithSavedPlan(flags);
  const approved = await readApprovedPlan(file, context);
  const { manifests } = approved.plan;
  const paths = listManifestPathsForPlan({ name: file, manifests }, flags.manifests ?? [], context);
  return { paths, filter: {}, approved: approvePlan(approved) };
}

interface ApprovalFlags {
  readonly recursive?: boolean;
  /** A plan file or a folder of plans. The new plan must be as this one approves it. Otherwise nothing is written. */
  readonly approved?: string;
  /** The manifests of a saved plan. */
  readonly manifests?: readonly string[];
}

function refuseApprovedWithSavedPlan({ approved }: ApprovalFlags): void {
  if (approved === undefined) return;
  const message = 'A saved plan is already approved, so it takes no --approved.';
  throw new CommandError(message, { exitCode: EXIT.invalid });
}

/** Reads the plans of `--approved`: for one stack a file, for many a folder. */
export async function readApprovedPlans(
  { approved, recursive }: ApprovalFlags,
  context: Context,
): Promise<ApprovedPlans> {
  if (approved === undefined) return approveAnything;
  if (recursive !== true) return approvePlan(await readApprovedPlan(approved, context));
  return approveFolder(await readApprovals(await findPlans(approved, context), context));
}

function approvePlan(approved: NamedPlan): ApprovedPlans {
  return (run) => ({ ...approveAnything(run), findPlan: () => approved });
}

/** Reads an approved plan. `name` is its file. What the file calls done is not taken from it. */
async function readApprovedPlan(file: string, context: Context): Promise<NamedPlan> {
  const { done: _, ...plan } = await readPlanFile(file, context);
  return { plan, name: file };
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
 * Reads a folder of plans. The short form of `--approved` for the stacks of the folder: the manifests are those that the
 * folder names, unless `--manifests` names others.
 */
export async function readSavedPlans(
  plans: IndexedPlanFolder,
  flags: ApprovalFlags,
  context: Context,
): Promise<ApprovedApply> {
  const { folder, manifests, stacks } = plans;
  refuseApprovedWithSavedPlan(flags);
  const paths = listManifestPathsForPlan({ name: folder, manifests }, flags.manifests ?? [], context);
  if (paths.length > 1) {
    const message = `--manifests names ${paths.length} folders, but a folder of plans is compared with the stacks below one folder.`;
    throw new CommandError(message, { exitCode: EXIT.invalid, remedy: 'Name one folder that contains all of them.' });
  }
  const approvals = await readApprovals(plans, context);
  // Include the stacks that were in the run but have no plan: stacks with a plan may depend on them. If the run had no
  // stack, because none has changed, there is nothing to do.
  const names = [...new Set([...approvals.plans.map(({ plan }) => plan.stack), ...stacks])];
  const approved: ApprovedPlans = (run) => approveFolder(approvals)(withUnplanned(run));
  return { paths, filter: { recursive: true, stack: names, isOfPlans: true }, approved };
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

function approveFolder(approvals: Approvals): ApprovedPlans {
  return (run) => {
    const { tree } = run.selected;
    const assigned = assignPlans(approvals.plans, tree.stacks);
    refuseVanishedStacks(approvals, assigned, tree);
    const unapproved: string[] = [];
    return {
      run,
      findPlan: (folder) => assigned.get(folder),
      refuse: (folder, plan) => {
        if (assigned.has(folder) || plan.writes.length === 0) return undefined;
        unapproved.push(folder.name);
        return createFailedStack(createUnreviewedError(folder, plan, approvals), folder, run.command);
      },
      refuseMissing: () => refuseMissingPlans(unapproved, approvals),
    };
  };
}

/**
 * Throws if a stack was in a run that made the plans, has something to do, and its plan is missing. A plan may have
 * been removed.
 */
function refuseMissingPlans(unapproved: readonly string[], { folder, reviewed }: Approvals): void {
  const missing = unapproved.filter((name) => reviewed.includes(name));
  if (missing.length === 0) return;
  const message = `${folder} has no plan for ${missing.join(', ')}, which was in the run that made the plans and has something to do.`;
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

function createUnreviewedError({ name }: StackFolder, { changes }: Plan, { folder }: Approvals): CommandError {
  const count = changes.filter(({ action }) => action !== 'no-op').length;
  return new CommandError(
    `${name} was not part of the review: ${folder} has no plan for it, and it has ${formatCount(count, 'change')}.`,
    STALE,
  );
}
