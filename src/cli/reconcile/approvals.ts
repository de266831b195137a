import { escapePath, quoteForShell } from '../../model/shell-words.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import { StackError } from '../../model/user-errors.ts';
import type { SelectedStacks } from '../../repository/select-stacks.ts';
import type { FindApproval } from '../../run/plan-stacks.ts';
import { toServiceId } from '../../stack/account-key.ts';
import type { NamedPlan } from '../../stack/approval.ts';
import { parsePlanFileEntry } from '../../stack/parse-plan.ts';
import { hasPlanErrors } from '../../stack/plan-live.ts';
import type { Context } from '../context.ts';
import { isPlanFile, readPlanFile, readPlanText } from './plan-file.ts';
import { isPlanFolder, listPlanFiles } from './plan-folder.ts';

/**
 * Approved plans: `--approved` names a plan file or, for many stacks, a folder of plans. They are compared with new plans,
 * and that is all. Nothing in them names what is read, run or chosen.
 */

/** Assigns approved plans to the selected stacks. Throws if a plan is for no stack of the repository. */
export type AssignApprovals = (selected: SelectedStacks) => FindApproval;

interface ApprovalFlags {
  readonly recursive?: boolean;
  /** A plan file or a folder of plans. The new plan must be as this one approves it. Otherwise nothing is written. */
  readonly approved?: string;
}

/** Throws if one of the paths is a plan file or a folder of plans, which approves and cannot be applied. */
export async function refusePlansAsManifests(
  paths: readonly string[],
  context: Pick<Context, 'cwd' | 'budget'>,
): Promise<void> {
  for (const path of paths) {
    const isFolder = await isPlanFolder(path, context);
    if (!isFolder && !(await isPlanFile(path, context))) continue;
    const [what = '', ...words] = isFolder ? ['a folder of plans', '-R', 'FOLDER'] : ['a plan', 'MANIFESTS'];
    const line = ['edgewise', 'apply', ...words, '--approved', escapePath(path)].map(quoteForShell).join(' ');
    throw new StackError(`${path} is ${what}, not manifests.`, {
      reason: 'invalid',
      remedy: `Name the manifests that it was made from: ${line}`,
    });
  }
}

/** Reads the plans of `--approved`: for one stack a file, for many a folder. */
export async function readApprovedPlans(
  { approved, recursive }: ApprovalFlags,
  context: Context,
): Promise<AssignApprovals> {
  if (approved === undefined) return () => () => undefined;
  if (recursive === true) return approveFolder(await readPlanFolder(approved, context));
  const plan = await readApprovedPlan(approved, context);
  return () => () => plan;
}

/** Reads an approved plan. `name` is its file. What the file calls done is not taken from it. */
async function readApprovedPlan(file: string, context: Context): Promise<NamedPlan> {
  const { done: _, ...plan } = await readPlanFile(file, { ...context, onlyFiles: true });
  return { plan, name: file };
}

interface ApprovedPlan extends NamedPlan {
  readonly serviceId: string;
}

/** The approved plans of a folder. */
interface PlanFolder {
  readonly folder: string;
  readonly plans: readonly ApprovedPlan[];
}

const STALE = {
  reason: 'stale',
  remedy: 'Nothing was written. Make the plans again with edgewise plan -R -o FOLDER, and have those approved.',
} as const;

/** Reads a folder of plans. A file that has no plan, or one with errors, approves nothing. */
async function readPlanFolder(folder: string, context: Context): Promise<PlanFolder> {
  const plans: ApprovedPlan[] = [];
  for (const name of await listPlanFiles(folder, context)) {
    const { plan: saved } = parsePlanFileEntry(readPlanText(name, { ...context, onlyFiles: true }), name);
    if (saved === undefined || hasPlanErrors(saved)) continue;
    const { done: _, ...plan } = saved;
    plans.push({ plan, name, serviceId: toServiceId(plan.baseUrl, context) });
  }
  refuseDuplicatePlans(plans);
  return { folder, plans };
}

function refuseDuplicatePlans(plans: readonly ApprovedPlan[]): void {
  const groups = Map.groupBy(plans, ({ plan, serviceId }) =>
    JSON.stringify([plan.stack, serviceId, plan.settings.keyEnv]),
  );
  const twice = [...groups.values()].find((members) => members.length > 1);
  if (twice === undefined) return;
  const names = twice.map(({ name }) => name).join(' and ');
  throw new StackError(`${names} are both plans of the stack ${twice[0]?.plan.stack} on ${twice[0]?.plan.baseUrl}.`, {
    reason: 'invalid',
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
  { plans, folder }: PlanFolder,
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
  throw new StackError(
    `${folder} approves plans of ${names.join(', ')}, but there is no such stack below ${root}.`,
    STALE,
  );
}

function approveFolder({ folder: name, plans }: PlanFolder): AssignApprovals {
  return ({ tree }) => {
    const assigned = assignPlans(plans, tree.stacks);
    refuseVanishedStacks({ folder: name, plans }, assigned, tree);
    return (stack) => assigned.get(stack) ?? { name: `an empty plan, because ${name} has none for this stack` };
  };
}
