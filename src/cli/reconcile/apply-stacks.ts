import { assertDefined } from '../../model/errors.ts';
import { isAsAdopted } from '../../model/mark.ts';
import type { ApplyResult } from '../../model/outcome.ts';
import { isIncomplete, isSamePlan, type Plan, type PlanComparison } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import { StackError } from '../../model/user-errors.ts';
import { listBlockingViolations } from '../../plan/guard.ts';
import type { ComparisonReport, StackReportPart } from '../../report/report.ts';
import { formatShortList } from '../../report/view/danger-view.ts';
import { applyAccount, type StackEnd, type StackInApply } from '../../run/apply-account.ts';
import { orderStacks } from '../../run/order-stacks.ts';
import { createPlannedResources } from '../../run/planned-resources.ts';
import type { Session } from '../../run/session.ts';
import type { Consents } from '../../settings/request.ts';
import type { Account } from '../../stack/account.ts';
import { hasPlanErrors } from '../../stack/plan-live.ts';
import { EMPTY_APPLY_RESULT } from '../../stack/run-plan.ts';
import type { PreparedApply } from '../../stack/stack.ts';
import { EXIT } from '../exit-code.ts';
import type { FormatFlags } from '../output/present.ts';
import { isRefusedPart } from './blocked-dependents.ts';
import { exitCodeOfApply, type PlanFlags } from './plan-flags.ts';
import type { RunPresenter } from './present-run.ts';
import {
  computeWorstExitCode,
  createFailedPart,
  createStackReportPart,
  type PlannedStack,
  planForEachStack,
  planOpenedStack,
  type StackFilterFlags,
  type StackResult,
  type StacksRun,
} from './stacks-run.ts';

/** Flags of the commands that write. */
export interface ApplyFlags extends PlanFlags, FormatFlags, StackFilterFlags {
  readonly yes?: boolean;
  /** A plan file or a folder of plans. The new plan must be as this one approves it. Otherwise nothing is written. */
  readonly approved?: string;
}

/** An apply of a run. */
export interface ApplyRun {
  readonly run: StacksRun;
  readonly flags: ApplyFlags;
  /** The stacks whose plans are shown to the user, also those without changes. */
  readonly planned: Map<StackFolder, PlannedStack>;
  /** The stacks to apply: their plans have changes and are not blocked. */
  readonly ready: Map<StackFolder, PlannedStack>;
  /** The applies of the ready stacks, before their first write. */
  readonly prepared: Map<StackFolder, PreparedApply>;
}

/** Classifies a planned stack: ready, without changes, or blocked. A ready stack is added to `ready`. */
export function classifyPlannedStack(
  { flags, ready, planned }: ApplyRun,
  folder: StackFolder,
  candidate: PlannedStack,
): StackResult {
  const { plan, opened } = candidate;
  const { locate } = opened;
  const options = { locate };
  ready.delete(folder);
  planned.delete(folder);
  const refused = findStackRefusal(candidate, flags);
  if (refused !== undefined) return { ...refused, options };
  planned.set(folder, candidate);
  if (plan.writes.length === 0) {
    const exitCode = isIncomplete(plan) ? EXIT.failed : EXIT.success;
    return { report: { about: 'apply', plan, result: EMPTY_APPLY_RESULT }, exitCode, options };
  }
  ready.set(folder, candidate);
  return { report: { about: 'plan', plan, blocking: [] }, exitCode: EXIT.success, options };
}

/**
 * Returns why a plan must not be applied: another plan than the approved one, errors, a violation without consent, or a
 * stack that it depends on.
 */
function findStackRefusal(
  { plan, comparison, name, blocked }: PlannedStack,
  flags: ApplyFlags,
): StackResult | undefined {
  const blocking = listBlockingViolations(plan.violations, withAnswer(plan, flags));
  if (comparison !== undefined && !isSamePlan(comparison))
    return { report: createApprovalReport(comparison, name), exitCode: EXIT.stale };
  const report = { about: 'plan', plan, blocking } as const;
  if (hasPlanErrors(plan)) return { report, exitCode: EXIT.invalid };
  if (blocking.length > 0) return { report, exitCode: EXIT.refused };
  return blocked && { report, exitCode: blocked.exitCode };
}

/** What the flags allow, and the answer to the question of the apply, if it asks. */
function withAnswer(plan: Plan, flags: ApplyFlags): Consents {
  if (flags.yes === true) return flags;
  return { ...flags, allowTakeOver: listStacksToTakeOver(plan), allowRenamedBack: listRenamedBack(plan) };
}

/** The credentials and certificates that a plan renames back. */
function listRenamedBack({ violations }: Plan): readonly string[] {
  return violations.flatMap(({ rule, addresses }) => (rule === 'renamed-back' ? addresses : []));
}

/** The stacks whose resources a plan takes over, as far as that needs consent. */
function listStacksToTakeOver({ violations }: Plan): readonly string[] {
  return violations.flatMap(({ rule, stack }) => (rule === 'take-over' && stack !== undefined ? [stack] : []));
}

/** The report of an apply whose plan is not as approved or, without a name of an approved plan, not as shown. */
function createApprovalReport(comparison: PlanComparison, approvedName: string | undefined): ComparisonReport {
  const command = approvedName === undefined ? 'question' : 'apply';
  const names = { before: approvedName ?? 'the plan that was shown', after: 'The plan' };
  return { about: 'comparison', command, comparison, names };
}

/**
 * Prepares the applies of the ready stacks. A stack that needs an unknown secret is not applied: its error is the result
 * or, if it is the only one, ends the command. Throws if a token could not be rescued: then no stack is applied.
 */
export async function prepareReadyStacks(
  { run, flags, ready, prepared }: ApplyRun,
  shown: readonly StackReportPart[],
): Promise<readonly StackReportPart[]> {
  const prepare = async (part: StackReportPart, index: number): Promise<StackReportPart> => {
    const session = run.sessions[index];
    const one = session && ready.get(session.folder);
    if (session === undefined || one === undefined) return part;
    const { folder } = session;
    try {
      prepared.set(folder, await one.opened.stack.prepareApply(one.plan, withAnswer(one.plan, flags)));
      return part;
    } catch (error) {
      ready.delete(folder);
      return createEndedPart(run, session, error);
    }
  };
  const parts = await Promise.all(shown.map(prepare));
  for (const { testRescue } of prepared.values()) await testRescue();
  return parts;
}

/**
 * Asks the user, and plans every stack that was shown once more. Returns the results if nothing may be written: there is
 * nothing to do, or a plan is not as shown. `undefined`: the plans in `ready` can be applied.
 */
export async function askAndPlanAgain(
  applying: ApplyRun,
  shown: readonly StackReportPart[],
  presenter: RunPresenter,
): Promise<readonly StackReportPart[] | undefined> {
  const { run, flags, ready } = applying;
  if (ready.size === 0) return shown;
  if (flags.yes === true) return undefined;
  await confirm(run, presenter.formatQuestion([...ready.values()], shown), { asked: [...ready.values()], flags });
  const again = await planAgain(applying, shown);
  const differing = again.filter(({ exitCode }, index) => exitCode !== shown[index]?.exitCode);
  if (differing.length === 0 && ready.size > 0) return undefined;
  presenter.showPlans(differing);
  return again;
}

interface Asked {
  readonly asked: readonly PlannedStack[];
  /** The flags with what is allowed without an answer. */
  readonly flags: Pick<PlanFlags, 'allowTakeOver' | 'allowAdopted'>;
}

/** What a plan deletes although people made it, and edgewise has changed nothing on it since it was adopted. */
function listAdoptedToDelete({ mode, changes }: Plan): readonly string[] {
  if (mode !== 'apply') return [];
  return changes.flatMap(({ action, address, duplicateOf, live }) =>
    action === 'delete' &&
    duplicateOf === undefined &&
    live !== undefined &&
    isAsAdopted({ id: live.id, mark: live.mark })
      ? [address]
      : [],
  );
}

/** The word that is typed for such deletes. */
const ADOPTED = 'adopted';

/** A sentence of a question on some addresses: the first ones, and how many more. The plan above it has all. */
function formatAsked(said: string, addresses: readonly string[]): string {
  return addresses.length === 0 ? '' : ` ${said}: ${formatShortList(addresses.map(toPrintable))}.`;
}

/** Asks the user. Who destroys stacks, or takes over resources of others, names them: a yes is typed by habit. */
async function confirm({ context }: StacksRun, question: string, { asked, flags }: Asked): Promise<void> {
  const allowed = flags.allowTakeOver ?? [];
  const destroyed = asked.filter(({ plan }) => plan.mode === 'destroy').map(({ plan }) => plan.stack);
  const taken = asked.flatMap(({ plan }) => listStacksToTakeOver(plan)).filter((stack) => !allowed.includes(stack));
  const owners = [...new Set(taken)].sort();
  const made = asked
    .flatMap(({ plan }) => listAdoptedToDelete(plan))
    .filter((address) => flags.allowAdopted?.includes(address) !== true);
  const names = [...destroyed, ...owners, ...(made.length === 0 ? [] : [ADOPTED])];
  const accepted = names.length === 0 ? 'yes' : names.join(' ');
  const taking = owners.length === 0 ? '' : ` It takes over resources of ${owners.map(toPrintable).join(' and ')}.`;
  const kept = [...new Set(asked.flatMap(({ plan }) => listRenamedBack(plan)))].sort();
  const keeping = formatAsked('These keep what was handed out', kept);
  const deleting = formatAsked('It deletes what was adopted and never changed, which --yes keeps', made);
  const answer = await context.ask(
    `${question}${taking}${keeping}${deleting} Only "${toPrintable(accepted)}" is accepted: `,
  );
  if (answer?.trim() === accepted) return;
  if (answer === undefined && owners.length > 0)
    throw new StackError(
      `This apply takes over resources of ${owners.join(' and ')}, and there is no terminal to ask.`,
      {
        reason: 'refused',
        remedy: `If that is right, use --yes with ${owners.map((stack) => `--allow-take-over ${stack}`).join(' ')}. Nothing was written.`,
      },
    );
  if (answer !== undefined) throw new StackError('Declined: nothing was written.', { reason: 'interrupted' });
  throw new StackError('Edgewise cannot ask for confirmation: there is no terminal.', {
    reason: 'invalid',
    remedy: 'Use --yes to apply without asking. Nothing was written.',
  });
}

/** Plans every stack that was shown once more, and compares it with what was shown. Replaces the plans in `ready`. */
async function planAgain(
  { run: shownRun, ...applying }: ApplyRun,
  shown: readonly StackReportPart[],
): Promise<readonly StackReportPart[]> {
  const run = { ...shownRun, planned: createPlannedResources() };
  for (const { opened } of applying.planned.values()) opened.account.forget();
  const parts = new Map(run.sessions.map((session, index) => [session, shown[index]]));
  return planForEachStack(run, async (session): Promise<StackResult> => {
    const { folder } = session;
    const known = applying.planned.get(folder);
    if (known === undefined) {
      const part = assertDefined(parts.get(session), `what was shown of ${folder.folder}`);
      return { ...part, exitCode: computeWorstExitCode([part.exitCode]) };
    }
    const { opened, options, plan, keptPrunes } = known;
    const approved = { plan, name: 'the plan that was shown' };
    const { comparison, ...again } = await planOpenedStack(run, opened, { options, approved, keptPrunes });
    if (comparison === undefined || isSamePlan(comparison))
      return classifyPlannedStack({ ...applying, run }, folder, { ...known, ...again, comparison });
    const report = createApprovalReport(comparison, undefined);
    return { report, exitCode: EXIT.stale, options: { locate: opened.locate } };
  });
}

/** Applies the ready stacks: those of an account one after another, accounts side by side. */
export async function applyReadyStacks(
  applying: ApplyRun,
  planned: readonly StackReportPart[],
  presenter: RunPresenter,
): Promise<readonly StackReportPart[]> {
  const { run, ready } = applying;
  const progress = presenter.startProgress([...ready.values()]);
  const accounts = Map.groupBy(ready, ([, { opened }]) => opened.account);
  const ends = await Promise.all(
    [...accounts].map(([account, members]) =>
      applyToAccount(applying, { account, members: new Map(members), planned, progress }),
    ),
  ).finally(() => progress.end());
  const results = new Map(ends.flatMap((account) => [...account]));
  return planned.map((part, index) => {
    const session = run.sessions[index];
    const end = session && results.get(session.folder);
    if (session === undefined || end === undefined) return part;
    if ('error' in end) return createEndedPart(run, session, end.error);
    return createStackReportPart(session.folder, createApplied(end.result, ready.get(session.folder)));
  });
}

interface AccountToApply {
  readonly account: Account;
  readonly members: ReadonlyMap<StackFolder, PlannedStack>;
  readonly planned: readonly StackReportPart[];
  readonly progress: ReturnType<RunPresenter['startProgress']>;
}

async function applyToAccount(
  { run, prepared }: ApplyRun,
  { account, members, planned, progress }: AccountToApply,
): Promise<ReadonlyMap<StackFolder, StackEnd>> {
  const { stacks } = run.selected;
  const { ordered } = orderStacks(stacks);
  const toApply = (folder: StackFolder): StackInApply => {
    const one = members.get(folder);
    const part = planned[stacks.indexOf(folder)];
    const isBlocked = one === undefined && part !== undefined && isRefusedPart(part);
    const own = prepared.get(folder);
    if (one === undefined || own === undefined) return { folder, isBlocked };
    const { plan, opened } = one;
    const options = { ...progress.follow(opened.folder), signal: run.signal };
    return { folder, isBlocked: false, ready: { plan, prepared: own, options } };
  };
  const order = run.command === 'destroy' ? ordered.toReversed() : ordered;
  return applyAccount(account.write, order.map(toApply));
}

function createApplied(result: ApplyResult, applied: PlannedStack | undefined): StackResult {
  const plan = applied?.plan;
  if (plan === undefined) throw new Error('A stack was applied without a plan');
  const exitCode = computeWorstExitCode([exitCodeOfApply(result), ...(isIncomplete(plan) ? [EXIT.failed] : [])]);
  return { report: { about: 'apply', plan, result }, exitCode, options: { locate: applied?.opened.locate } };
}

/** The part of a stack whose apply did not start. The error of the only stack ends the command. */
function createEndedPart(run: StacksRun, session: Session, error: unknown): StackReportPart {
  if (!run.isOfMany) throw error;
  session.error = error;
  return createFailedPart(session, run);
}
