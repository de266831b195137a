import { join } from 'node:path';
import type { StackInventory } from '../../model/drift.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { renderResultJson } from '../../report/machine/json.ts';
import { createStackEntry } from '../../report/machine/stacks.ts';
import type { CommandLine, StackReportPart } from '../../report/report.ts';
import { numberReport } from '../../report/view/redact.ts';
import { applyStacks } from '../../run/apply-stacks.ts';
import { noteAbsentStacks } from '../../run/neighbours.ts';
import { createOtherStacksLookUps, noteConflicts, noteExchanges, planStacks } from '../../run/plan-stacks.ts';
import {
  findRefusal,
  forEachSession,
  listReady,
  notePlan,
  type OpenedStack,
  planEachSession,
  type Session,
} from '../../run/session.ts';
import type { RequestScope } from '../../settings/request.ts';
import type { GetOptions } from '../../stack/stack.ts';
import type { Context } from '../context.ts';
import { computeWorstExitCode, EXIT, type ExitCode } from '../exit-code.ts';
import { detectInvocation } from '../output/invocation.ts';
import { createApplyCommandLine } from './apply-command.ts';
import type { AssignApprovals } from './approvals.ts';
import { writePlanFile } from './plan-file.ts';
import type { PlanFlags } from './plan-flags.ts';
import { clearPlanFolder, NO_STACK_FILE, namePlanFiles } from './plan-folder.ts';
import { createPresenter } from './present-run.ts';
import { type ApplyFlags, confirm, withAnswer } from './question.ts';
import { createParts, reportStacksRun, sayDrift, sayPlan } from './report-run.ts';
import { openSession, type StacksFlags, type StacksRun, withStacks } from './with-stacks.ts';

/**
 * The commands on stacks that read the service: each takes a list of stacks, also of one. What it does with them is in the
 * room `run`. --recursive and its filters decide only which stacks `withStacks` selects; without them it is the one that
 * the paths name. `accept` and `validate` have files of their own.
 */

interface StacksToApply {
  readonly flags: ApplyFlags;
  readonly mode: Plan['mode'];
  /** Default: nothing has to be approved. */
  readonly assignApprovals?: AssignApprovals | undefined;
}

/** Plans stacks, asks the user once, and applies the plans. The manifests are trusted: the command has checked it. */
export async function runApply(
  paths: readonly string[],
  { flags, mode, assignApprovals = () => () => undefined }: StacksToApply,
  context: Context,
): Promise<ExitCode> {
  const { yes: isAgreed = false } = flags;
  // The answer covers them. Not with an approved plan, although the user is asked: it was made without an answer.
  const mayDeleteAdopted = !isAgreed && flags.approved === undefined;
  const consentTo = (plan: Plan) => (isAgreed ? flags : withAnswer(plan, flags));
  return withStacks(paths, { flags, command: mode, consentTo }, context, async (run) => {
    await planStacks(run, {
      options: { ...flags, mode, mayDeleteAdopted },
      findApproval: assignApprovals(run.selected), // throws if a plan is for no stack
      open: async (session) => {
        const opened = await openSession(run, session);
        for (const warning of await opened.stack.removeTokenLeftovers())
          context.stderr.write(`Warning: ${toPrintable(warning)}\n`);
        return opened;
      },
    });
    run.context.files?.forget(); // an apply may take hours
    const { showPlans, formatQuestion, createFollower, report } = createPresenter(run);
    showPlans(run.sessions);
    const ask = (ready: readonly Session[]) => confirm(formatQuestion(ready), ready, { flags, context: run.context });
    await applyStacks(run, { ask: isAgreed ? undefined : ask, onOtherEnd: showPlans, createFollower });
    return report();
  });
}

export interface PlanStacksFlags extends StacksFlags, PlanFlags {
  /** The file of the plan; for many stacks, a folder with a plan file for each. */
  readonly out?: string;
  readonly detailedExitcode?: boolean;
}

/** Plans stacks, and saves the plans. Sends GET requests only. */
export async function runPlan(paths: readonly string[], flags: PlanStacksFlags, context: Context): Promise<ExitCode> {
  const { out, recursive } = flags;
  if (out !== undefined && recursive === true) await clearPlanFolder(out, context);
  return withStacks(paths, { flags, command: 'plan' }, context, async (run) => {
    await planStacks(run, {
      options: { ...flags, mode: 'apply' },
      findApproval: () => undefined,
      open: (session) => openSession(run, session),
    });
    const parts = createParts(run, (session) => sayPlan(session, run, flags));
    if (out !== undefined) await writePlans(out, run, parts);
    return reportStacksRun(run, parts, {
      applyCommand: findApplyCommand(run, flags),
      exitCode: exitCodeOfPlans(run, parts),
    });
  });
}

/**
 * The exit code of a run that plans. With --detailed-exitcode, what an apply of the run would send counts before what it
 * would leave undone.
 */
function exitCodeOfPlans(run: StacksRun, parts: readonly StackReportPart[]): ExitCode {
  const codes = parts.map(({ exitCode }) => exitCode);
  if (!codes.includes(EXIT.changes)) return computeWorstExitCode(codes);
  const isRefused = run.sessions.map((session) => findRefusal(session, run) !== undefined);
  return computeWorstExitCode(codes.map((code, index) => (isRefused[index] === true ? code : EXIT.changes)));
}

/** Writes the plan file or, for many stacks, one for each, also if its plan failed. Without a stack, one file says so. */
async function writePlans(out: string, run: StacksRun, parts: readonly StackReportPart[]): Promise<void> {
  const write = (file: string, part: StackReportPart | undefined): Promise<void> =>
    writePlanFile(
      file,
      renderResultJson(
        'plan',
        part === undefined ? [] : [createStackEntry({ ...part, report: numberReport(part.report) })],
      ),
      run.context,
    );
  if (!run.isOfMany) return write(out, parts[0]);
  if (parts.length === 0) return write(join(out, NO_STACK_FILE), undefined);
  const names = namePlanFiles(parts);
  for (const [index, part] of parts.entries()) await write(join(out, names[index] ?? ''), part);
}

/** The command line that applies the plans. `undefined`: none can be applied. */
function findApplyCommand(run: StacksRun, flags: PlanStacksFlags): CommandLine | undefined {
  const { sessions, selected, isOfMany, paths, context } = run;
  const repeated = { flags, env: context.env, invocation: detectInvocation(context) };
  if (isOfMany) {
    const isAnyRefused = sessions.some((session) => findRefusal(session, run) !== undefined);
    if (isAnyRefused || listReady(run).length === 0) return undefined;
    return createApplyCommandLine({ paths: [selected.tree.root], ...repeated });
  }
  return createApplyCommandLine({ paths: paths.length === 0 ? ['.'] : paths, ...repeated });
}

/** Compares stacks with the live state. Sends GET requests only. */
export async function runDrift(
  paths: readonly string[],
  flags: StacksFlags & RequestScope,
  context: Context,
): Promise<ExitCode> {
  return withStacks(paths, { flags, command: 'drift' }, context, async (run) => {
    const { selected, isOfMany, signal, listAround } = run;
    await planEachSession(run, async (session) => {
      const { stack, ...opened } = session.opened ?? (await openSession(run, session));
      const onPlanned = (plan: Plan): void => {
        session.plan = plan;
        notePlan(run, opened, plan);
      };
      const others = createOtherStacksLookUps(run, opened);
      const drift = await stack.drift({ signal, ...flags, ...others, onPlanned });
      session.drift = isOfMany ? noteAbsentStacks(drift, { tree: selected.tree, listAround }, run.context) : drift;
    });
    noteConflicts(run);
    noteExchanges(run);
    return reportStacksRun(
      run,
      createParts(run, (session) => sayDrift(session, run)),
    );
  });
}

interface InventoryRun {
  readonly flags: StacksFlags;
  readonly query: Omit<GetOptions, 'signal'>;
  /** Selects what is shown of what a stack owns. */
  readonly select: (opened: OpenedStack, inventory: StackInventory) => StackInventory;
  /** Shows what was read, while the accounts are open. Returns the exit code. */
  readonly show: (run: StacksRun) => ExitCode;
}

/** Reads what stacks own. Sends GET requests only. */
export async function runGet(
  paths: readonly string[],
  { flags, query, select, show }: InventoryRun,
  context: Context,
): Promise<ExitCode> {
  return withStacks(paths, { flags, command: 'get' }, context, async (run) => {
    await forEachSession(run, async (session) => {
      const opened = await openSession(run, session);
      session.inventory = select(opened, await opened.stack.get({ ...query, signal: run.signal }));
      session.opened = undefined; // to limit memory: its manifests are not shown
    });
    return show(run);
  });
}
