import type { AcceptResult } from '../accept/accept-drift.ts';
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import type { Drift, StackInventory } from '../model/drift.ts';
import { assertNever, InvariantError } from '../model/errors.ts';
import type { ApplyResult } from '../model/outcome.ts';
import type { Locate } from '../model/place.ts';
import { isSamePlan, type Plan, type PlanComparison, type SafetyViolation } from '../model/plan.ts';
import type { StackFolder, StackTree } from '../model/stack-tree.ts';
import type { DesiredState } from '../model/state.ts';
import { InvalidManifests, StackError } from '../model/user-errors.ts';
import type { Validation } from '../model/validation.ts';
import { listBlockingViolations } from '../plan/guard.ts';
import type { KeptPrunes } from '../plan/plan-input.ts';
import type { Consents } from '../settings/request.ts';
import type { ServiceSettings } from '../settings/table.ts';
import type { Account } from '../stack/account.ts';
import { createAccountKeyContainingSecret } from '../stack/account-key.ts';
import { NotApprovedError } from '../stack/approval.ts';
import type { Host } from '../stack/host.ts';
import type { PreparedApply, RunnableStack } from '../stack/stack.ts';
import { orderStacks } from './order-stacks.ts';
import type { PlannedResources } from './planned-resources.ts';
import { addExchangeViolations } from './value-exchanges.ts';

/** A stack on its way through a run. It gains members with each step, and reports read them. */
export interface Session {
  /** The stack, as it was selected. */
  readonly folder: StackFolder;
  /** Finds the manifest of an address, as soon as the manifests were read. */
  locate?: Locate | undefined;
  /** Which host its requests go to, and what sets that. For errors of the service. */
  service?: string | undefined;
  opened?: OpenedStack | undefined;
  validation?: Validation;
  /** Its plan, without the findings of the run. */
  plan?: Plan;
  /** How the plan differs from the one that approves it or, after a question, from the one that was shown. */
  comparison?: PlanComparison | undefined;
  /** The name of the plan that approves it. Absent: none is needed, or the plan was shown to the user. */
  approvedBy?: string | undefined;
  /** Why the plan keeps what it would prune. */
  keptPrunes?: KeptPrunes;
  prepared?: PreparedApply | undefined;
  result?: ApplyResult;
  drift?: Drift;
  accepted?: AcceptResult;
  inventory?: StackInventory;
  /** What it has beside the other stacks of the run. */
  readonly findings: Findings;
  /** Why one of many stacks has no result. The others continue. */
  error?: unknown;
}

/** A stack whose manifests were read. */
export interface OpenedStack {
  /** The stack among those around it. */
  readonly folder: StackFolder;
  /** The stacks of the repository, or those below the folder of a run over many. */
  readonly tree: StackTree;
  readonly state: DesiredState;
  readonly settings: ServiceSettings;
  readonly stack: RunnableStack;
  readonly account: Account;
}

interface Findings {
  /** Errors: another stack claims the same unique values. */
  conflicts: readonly Diagnostic[];
  /** It exchanges unique values with others, so that none can be the first. */
  exchanges: readonly SafetyViolation[];
  /** Why the stacks that it depends on are not applied, as it was found: a later step may make one of them ready. */
  blockedBy: readonly Refusal[];
  /** What says so in its plan. */
  blocked?: Diagnostic;
}

export function createSession(folder: StackFolder): Session {
  return { folder, findings: { conflicts: [], exchanges: [], blockedBy: [] } };
}

/** What the steps of a run share. */
export interface Run {
  readonly sessions: readonly Session[];
  /** Whether the stacks are folders that were selected. Otherwise the user names the only one, and its error ends the run. */
  readonly isOfMany: boolean;
  readonly signal: AbortSignal;
  readonly context: Host & {
    /** Whether an error of one stack ends the whole run. Absent: none does. */
    readonly endsRun?: (error: unknown) => boolean;
  };
  /** What the user allows a plan to do. */
  readonly consentTo: (plan: Plan) => Consents;
  /** Effects of the plans so far on resources that other stacks refer to. Later plans take them into account. */
  readonly planned: PlannedResources;
}

/**
 * Takes each stack a step further. If that fails for one of many, the error is its result, and the others continue. Stacks
 * of one account take the step one after another, to limit memory; accounts run in parallel.
 */
export async function forEachSession(
  { sessions, isOfMany, signal, context }: Pick<Run, 'sessions' | 'isOfMany' | 'signal' | 'context'>,
  step: (session: Session) => Promise<void>,
): Promise<void> {
  const byFolder = new Map(sessions.map((session) => [session.folder, session]));
  const { ordered, circles } = orderStacks([...byFolder.keys()]);
  const groups = Map.groupBy(ordered, (folder) => createAccountKeyContainingSecret(folder, context));
  const take = async (session: Session): Promise<void> => {
    const circle = circles.get(session.folder);
    if (circle !== undefined) throw circle;
    await step(session);
    session.error = undefined;
  };
  const takeOrNote = (session: Session): Promise<void> =>
    isOfMany
      ? take(session).catch((error: unknown) => {
          if (context.endsRun?.(error) === true) throw error;
          session.error = error;
        })
      : take(session);
  await Promise.all(
    [...groups.values()].map(async (group) => {
      for (const folder of group) {
        signal.throwIfAborted();
        const session = byFolder.get(folder);
        if (session !== undefined) await takeOrNote(session);
      }
    }),
  );
  signal.throwIfAborted();
}

/**
 * Like `forEachSession`, for a step that plans a stack. It plans those again that keep what a later one may take back: then
 * it is known whether that one does.
 */
export async function planEachSession(run: Run, plan: (session: Session) => Promise<void>): Promise<void> {
  await forEachSession(run, plan);
  const sessions = run.sessions.filter(({ folder }) => run.planned.awaiting.has(folder));
  if (sessions.length > 0) await forEachSession({ ...run, sessions }, plan);
}

/** Lets later plans of the run know what a plan does to resources that they refer to. */
export function notePlan({ planned, context }: Run, { folder }: Pick<OpenedStack, 'folder'>, plan: Plan): void {
  if (!hasErrors(plan.diagnostics)) planned.note(createAccountKeyContainingSecret(folder, context), plan);
}

/**
 * The plan, with the findings of the run. A rehearsal is dropped where it is of an apply that does not come.
 * `undefined`: the stack was not planned.
 */
export function findPlan({ plan, findings: { blocked, exchanges } }: Session): Plan | undefined {
  if (plan === undefined || (blocked === undefined && exchanges.length === 0)) return plan;
  const rest = addExchangeViolations(plan, exchanges);
  return blocked === undefined ? rest : { ...rest, diagnostics: [blocked, ...rest.diagnostics] };
}

/** Why a stack is not applied. */
export type Refusal =
  | { readonly why: 'error'; readonly error: unknown }
  | { readonly why: 'differs'; readonly comparison: PlanComparison }
  | { readonly why: 'errors'; readonly plan: Plan }
  | {
      readonly why: 'violations';
      readonly plan: Plan;
      readonly blocking: readonly [SafetyViolation, ...SafetyViolation[]];
    }
  | { readonly why: 'dependency'; readonly blockedBy: readonly Refusal[] }
  | { readonly why: 'conflict' };

/**
 * Why a stack is not applied: its plan cannot be made, is another than was approved or shown, has errors, or a violation
 * without consent, or the run has found something. `undefined`: nothing refuses it.
 */
export function findRefusal(session: Session, { consentTo }: Pick<Run, 'consentTo'>): Refusal | undefined {
  const { error, comparison, findings } = session;
  if (error !== undefined) return { why: 'error', error };
  if (comparison !== undefined && !isSamePlan(comparison)) return { why: 'differs', comparison };
  const plan = findPlan(session);
  if (plan !== undefined && hasErrors(plan.diagnostics)) return { why: 'errors', plan };
  const [first, ...more] = plan === undefined ? [] : listBlockingViolations(plan.violations, consentTo(plan));
  if (plan !== undefined && first !== undefined) return { why: 'violations', plan, blocking: [first, ...more] };
  if (findings.blocked !== undefined) return { why: 'dependency', blockedBy: findings.blockedBy };
  return findings.conflicts.length > 0 ? { why: 'conflict' } : undefined;
}

/** Why a stack is not applied, as a clause. */
export function describeRefusal(refusal: Refusal): string {
  switch (refusal.why) {
    case 'error':
      return refusal.error instanceof InvalidManifests ? 'cannot be read' : 'cannot be planned';
    case 'differs':
      return 'is not as approved';
    case 'errors':
    case 'conflict':
      return 'cannot be planned';
    case 'violations':
      return 'is refused';
    case 'dependency':
      return 'is not applied';
    default:
      return assertNever(refusal);
  }
}

/** The error with which one stack is refused. `undefined`: nothing refuses it. */
export function createRefusalError(session: Session, run: Pick<Run, 'consentTo'>): unknown {
  const refusal = findRefusal(session, run);
  switch (refusal?.why) {
    case 'error':
      return refusal.error;
    case 'differs':
      return new NotApprovedError(refusal.comparison, session.approvedBy ?? SHOWN_PLAN);
    case 'errors':
      return new InvalidManifests(refusal.plan.diagnostics);
    case 'violations': {
      const [{ message, remedy }] = refusal.blocking;
      return new StackError(message, { reason: 'refused', remedy });
    }
    case 'dependency':
    case 'conflict':
      return new InvariantError('A stack that was named alone waits for another one');
    default:
      return undefined;
  }
}

/** The name of a plan that the user was asked about. */
export const SHOWN_PLAN = 'the plan that was shown';

/** The stacks whose plans can be applied, and change something. */
export function listReady(run: Pick<Run, 'sessions' | 'consentTo'>): readonly Session[] {
  return run.sessions.filter((session) => isReady(session, run));
}

export function isReady(session: Session, run: Pick<Run, 'consentTo'>): boolean {
  return (session.plan?.writes.length ?? 0) > 0 && findRefusal(session, run) === undefined;
}
