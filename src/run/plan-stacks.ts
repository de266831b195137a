import { isSamePlan, type Plan, type PlanComparison } from '../model/plan.ts';
import type { StackFolder } from '../model/stack-tree.ts';
import { comparePlans } from '../plan/compare/compare-plans.ts';
import type { Surroundings } from '../plan/plan-input.ts';
import { adviseOnUnselectedStack, type SelectedStacks } from '../repository/select-stacks.ts';
import { createAccountKeyContainingSecret } from '../stack/account-key.ts';
import type { PlanOptions } from '../stack/plan-live.ts';
import type { RunnableStack } from '../stack/stack.ts';
import { noteBlockedDependents } from './blocked-dependents.ts';
import { createOtherStacks, findTakingOverStack } from './hand-over.ts';
import { keepPrunesBesideRefusedStacks } from './kept-prunes.ts';
import { notePlan, type OpenedStack, planEachSession, type Run, type Session } from './session.ts';
import { listStackConflicts, type StackClaim } from './stack-claims.ts';
import { listExchangeViolations } from './value-exchanges.ts';

/** A run that plans. */
export interface PlanningRun extends Run {
  readonly selected: SelectedStacks;
  /** The unique values that the stacks read so far claim. */
  readonly claims: StackClaim[];
  /** Lists the stacks of the repository around those of the run, which it reads once. */
  readonly listAround: () => readonly StackFolder[];
}

/** What approves the plan of a stack. Without `plan`, it approves nothing, and `name` says why. */
export interface Approval {
  readonly plan?: Plan;
  /** Its name in messages: usually its file. */
  readonly name: string;
}

/** Finds what approves the plan of a stack. `undefined`: it needs no approval. */
export type FindApproval = (folder: StackFolder) => Approval | undefined;

/** How the stacks of a run are planned. */
interface Planning {
  readonly options: PlanOptions;
  /** Reads the manifests of a stack. Called once, before it is planned. */
  readonly open: (session: Session) => Promise<OpenedStack>;
  readonly findApproval: FindApproval;
}

/**
 * Reads the manifests of each stack and what is live, plans, rehearses, and compares with the approval. Then finds the
 * stacks that exchange values or depend on a blocked one, and plans again what has to keep its prunes beside a stack
 * that is refused.
 */
export async function planStacks(run: PlanningRun, { options, open, findApproval }: Planning): Promise<void> {
  const plan = async (session: Session, approval: Approval | undefined): Promise<void> => {
    const { stack, ...opened } = session.opened ?? (await open(session));
    const { keptPrunes } = session;
    const all = { ...options, ...createOtherStacksLookUps(run, opened), keptPrunes, signal: run.signal };
    session.comparison = approval && (await planAsApproved(stack, approval, all));
    session.approvedBy = approval?.name;
    session.plan = session.comparison?.after ?? (await stack.plan(all));
    notePlan(run, opened, session.plan);
  };
  await planEachSession(run, (session) => plan(session, findApproval(session.folder)));
  noteConflicts(run);
  noteExchanges(run);
  if (options.mode !== 'apply') return;
  noteBlockedDependents(run);
  await keepPrunesBesideRefusedStacks(run, async (session) => {
    // What keeps more than an approved plan is within it. Else the plan may be approved as it is without the prunes.
    const isApproved = session.comparison === undefined || isSamePlan(session.comparison);
    await plan(session, isApproved ? undefined : findApproval(session.folder));
  });
  noteBlockedDependents(run); // what was planned again may be refused now, or ready
}

/** What approves nothing is an empty plan: then everything that the new plan does is not approved. */
async function planAsApproved(
  stack: RunnableStack,
  { plan: approved, name }: Approval,
  options: PlanOptions,
): Promise<PlanComparison> {
  if (approved !== undefined) return stack.compare(approved, options, name);
  const plan = await stack.plan(options);
  return comparePlans({ ...plan, changes: [], writes: [] }, plan);
}

/**
 * Creates the functions with which the plan of one stack finds out about other stacks: whether one takes over an
 * address, what their plans change, and which of them the run applies.
 */
export function createOtherStacksLookUps(
  { planned, selected, isOfMany, context, listAround }: PlanningRun,
  { folder, tree }: Pick<OpenedStack, 'folder' | 'tree'>,
): Omit<Surroundings, 'keptPrunes' | 'mayDeleteAdopted'> {
  const { stacks } = selected;
  const account = createAccountKeyContainingSecret(folder, context);
  const findPlanned = planned.of(account);
  const isInRun = (name: string): boolean =>
    stacks.some(
      (other) =>
        other !== folder && other.name === name && createAccountKeyContainingSecret(other, context) === account,
    );
  return {
    findTaker: (address, former) => {
      const taker = findTakingOverStack(folder, { tree, address, former });
      if (taker?.isByMark !== true || !isInRun(taker.stack)) return taker;
      const outcome = findPlanned({ stack: taker.stack, resource: taker.as }, undefined);
      if (outcome === undefined) planned.awaiting.add(folder);
      return outcome !== undefined && 'isCreated' in outcome ? undefined : taker;
    },
    others: createOtherStacks(folder, () => (isOfMany ? [...tree.stacks, ...listAround()] : tree.stacks)),
    findPlanned,
    adviseOnOtherStack: (name) => (isOfMany ? adviseOnUnselectedStack(name, selected) : undefined),
    isInRun,
  };
}

/** Finds the stacks that claim the same unique value as another one. The errors name the other stack. */
export function noteConflicts({ sessions, claims }: Pick<PlanningRun, 'sessions' | 'claims'>): void {
  const errors = listStackConflicts(claims);
  for (const { folder, findings } of sessions) findings.conflicts = errors.get(folder) ?? [];
}

/**
 * Finds the stacks that exchange unique values with others of their account. A stack with a conflicting claim is no part
 * of an exchange: it is not applied, whatever the others do.
 */
export function noteExchanges({ sessions }: Pick<Run, 'sessions'>): void {
  const planned = sessions.flatMap(({ folder, plan, locate, opened, findings }) =>
    plan === undefined || locate === undefined || findings.conflicts.length > 0
      ? []
      : [{ folder, plan, locate, account: opened?.account }],
  );
  const accounts = Map.groupBy(planned, ({ account }) => account);
  const found = new Map([...accounts.values()].flatMap((own) => [...listExchangeViolations(own)]));
  for (const { folder, findings } of sessions) findings.exchanges = found.get(folder) ?? [];
}
