import { join, resolve } from 'node:path';
import { findRepository } from '../../files/boundary.ts';
import { resolveLinks } from '../../files/real-path.ts';
import { suggestRemedy } from '../../manifest/suggest.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { StackInventory } from '../../model/drift.ts';
import { countSkipped, type Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { StackFolder, StackTree } from '../../model/stack-tree.ts';
import type { DesiredState } from '../../model/state.ts';
import { isPolicyMatch, type Policy } from '../../policy/evaluate.ts';
import { renderResultJson } from '../../report/machine/json.ts';
import { createStackEntry } from '../../report/machine/stacks.ts';
import type { CommandLine, StackReportPart } from '../../report/report.ts';
import { numberReport } from '../../report/view/redact.ts';
import { applyStacks } from '../../run/apply-stacks.ts';
import { refuseTakeOverWithOldManifest } from '../../run/hand-over.ts';
import { createAbsentStackNotes, findStackAmongOthers, NO_TREE, type StackAmongOthers } from '../../run/neighbours.ts';
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
import { pickRequest, type RequestScope } from '../../settings/request.ts';
import { findSetting } from '../../settings/resolve.ts';
import { createAccountKeyContainingSecret } from '../../stack/account-key.ts';
import { readManifests } from '../../stack/read-manifests.ts';
import { refuseToWriteUntrusted, resolveServiceSettings } from '../../stack/settings.ts';
import type { GetOptions } from '../../stack/stack.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { detectInvocation } from '../output/invocation.ts';
import { refuseOverwrittenInputs } from '../output/output-files.ts';
import { createApplyCommandLine } from './apply-command.ts';
import type { ApprovedPlans } from './approvals.ts';
import { writePlanFile } from './plan-file.ts';
import type { PlanFlags } from './plan-flags.ts';
import { clearPlanFolder, NO_STACK_FILE, namePlanFiles } from './plan-folder.ts';
import { createPresenter } from './present-run.ts';
import type { ApplyFlags } from './question.ts';
import { confirm, withAnswer } from './question.ts';
import { computeWorstExitCode, createParts, reportStacksRun, sayDrift, sayPlan, sayValidation } from './report-run.ts';
import {
  createReadingContext,
  listPathsOf,
  openSession,
  recordClaims,
  type StacksFlags,
  type StacksRun,
  withStacks,
} from './stacks-run.ts';

/**
 * The runs over a list of stacks: select the stacks (`withStacks`), read their manifests, read what is live once for each
 * account, plan, rehearse and compare with the approval (`planEach`), show and ask, apply, report (`applyStacks`).
 * `plan`, `drift`, `get` and `validate` end earlier. --recursive and its filters decide only which stacks the first step
 * returns; without them it is the one that the paths name.
 */

interface StacksToApply {
  readonly flags: ApplyFlags;
  readonly mode: Plan['mode'];
  /** The approved plans. Default: nothing has to be approved. */
  readonly approved?: ApprovedPlans | undefined;
}

/** Plans stacks, shows the plans, asks the user once, and applies them. */
export async function runApply(
  paths: readonly string[],
  { flags, mode, approved = () => () => undefined }: StacksToApply,
  context: Context,
): Promise<ExitCode> {
  refuseToWriteUntrusted(context);
  const { yes: isAgreed = false } = flags;
  // What a plan approves does not depend on whether somebody is asked.
  const isAsked = !isAgreed && flags.approved === undefined;
  const consentTo = (plan: Plan) => (isAgreed ? flags : withAnswer(plan, flags));
  return withStacks(paths, { flags, command: mode, consentTo }, context, async (run) => {
    await planStacks(run, {
      options: { ...pickRequest(flags), mode, isAsked },
      findApproval: approved(run.selected),
      open: async (session) => {
        const opened = await openSession(run, session);
        for (const warning of await opened.stack.removeTokenLeftovers())
          context.stderr.write(`Warning: ${toPrintable(warning)}\n`);
        return opened;
      },
    });
    run.context.files?.forget(); // an apply may take hours
    const { showPlans, formatQuestion, startProgress, report } = createPresenter(run);
    showPlans(run.sessions);
    const ask = (ready: readonly Session[]) => confirm(formatQuestion(ready), ready, { flags, context: run.context });
    await applyStacks(run, { ask: isAgreed ? undefined : ask, onOtherEnd: showPlans, start: startProgress });
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
      options: { ...pickRequest(flags), mode: 'apply' },
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
    const { selected, isOfMany, signal } = run;
    const { baseUrl, keyEnv } = flags;
    const noteAbsent = createAbsentStackNotes({ ...selected, baseUrl, keyEnv }, run.context);
    await planEachSession(run, async (session) => {
      const { stack, ...opened } = session.opened ?? (await openSession(run, session));
      const onPlanned = (plan: Plan): void => {
        session.plan = plan;
        notePlan(run, opened, plan);
      };
      const others = createOtherStacksLookUps(run, opened);
      const drift = await stack.drift({ signal, ...pickRequest(flags), ...others, onPlanned });
      session.drift = isOfMany ? noteAbsent(drift) : drift;
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
    });
    return show(run);
  });
}

interface ValidationRun {
  readonly flags: StacksFlags & { readonly strict?: boolean };
  /** Turns a diagnostic into the one to show. */
  readonly toShown: (diagnostic: Diagnostic) => Diagnostic;
}

/** Validates stacks. Sends no request. */
export async function runValidate(
  paths: readonly string[],
  { flags, toShown }: ValidationRun,
  context: Context,
): Promise<ExitCode> {
  return withStacks(paths, { flags, command: 'validate' }, context, async (run) => {
    await forEachSession(run, (session) => validate(run, session, toShown));
    noteConflicts(run);
    return reportStacksRun(run, createParts(run, sayValidation));
  });
}

interface StackToCheck {
  readonly folder: StackFolder;
  readonly state: DesiredState;
  /** The stacks around the only stack of the run, if it has a name. */
  readonly found: StackAmongOthers | undefined;
}

/** Makes the checks of a plan that need neither a key nor a request. The base URL may be that of another environment. */
async function checkLikePlan(run: StacksRun, { folder, state, found }: StackToCheck): Promise<void> {
  const { context, flags, accounts, selected } = run;
  const sources = { flags, env: context.env, layers: state.stack.layers };
  const hasBaseUrl = findSetting('baseUrl', sources) !== undefined;
  const settings = hasBaseUrl ? resolveServiceSettings(sources) : undefined;
  if (settings !== undefined && run.isOfMany) accounts.checkSettings(settings, folder.file);
  await refuseOverwrittenInputs(flags, settings ?? {}, context);
  await refuseTakeOverWithOldManifest(found?.folder ?? folder, found?.tree ?? selected.tree, context);
  const account = createAccountKeyContainingSecret(folder, context);
  recordClaims({ folder, account, state, tokens: state.stack.tokens }, run);
}

/** Returns all stacks of the repository. `undefined` if the run sees only some of them, or if there is no repository. */
function findWholeTree(run: StacksRun, found: StackAmongOthers | undefined): StackTree | undefined {
  const { selected, context } = run;
  const { cwd } = context;
  if (!run.isOfMany)
    return found !== undefined && findRepository(resolve(cwd, found.folder.folder), context) !== undefined
      ? found.tree
      : undefined;
  const root = resolveLinks(resolve(cwd, selected.tree.root));
  return findRepository(root, context) === root ? selected.tree : undefined;
}

/** Warns of policies whose `match.stacks` matches no stack of the repository. A name that cannot be read matches all. */
function listUnusedStackPatterns(policies: readonly Policy[], tree: StackTree | undefined): readonly Diagnostic[] {
  const { stacks, unread } = tree ?? NO_TREE;
  const names = stacks.map(({ name }) => name);
  if (names.length === 0 || unread.length > 0 || names.includes('')) return [];
  return policies.flatMap(({ document: { name, match, locate } }) =>
    (match.stacks ?? []).flatMap((pattern, index): readonly Diagnostic[] => {
      if (names.some((one) => isPolicyMatch(pattern, one))) return [];
      return [
        {
          code: 'pattern-unused',
          severity: 'warning',
          message: `Policy/${name}: spec.match.stacks has \`${pattern}\`, which matches no stack of the repository`,
          remedy: suggestRemedy(pattern, names) ?? 'Correct it, or remove it. `*` stands for any text.',
          place: locate(['spec', 'match', 'stacks', index]),
        },
      ];
    }),
  );
}

async function validate(run: StacksRun, session: Session, toShown: ValidationRun['toShown']): Promise<void> {
  const { folder } = session;
  const { isOfMany, flags, context } = run;
  const options = { requireStack: isOfMany, lint: 'all', policies: flags.policies ?? [] } as const;
  const read = await readManifests(listPathsOf(run, folder), createReadingContext(run), options);
  const { state, files, subject } = read;
  const isNamed = state !== undefined && !isOfMany && subject.stack !== undefined;
  const found = isNamed ? findStackAmongOthers({ state, locate: subject.locate }, context, flags) : undefined;
  if (state !== undefined) await checkLikePlan(run, { folder, state, found });
  const unused = listUnusedStackPatterns(read.policies, findWholeTree(run, found));
  const diagnostics = [...read.diagnostics, ...(found?.diagnostics ?? []), ...unused].map(toShown);
  const addresses = [...(state?.resources.keys() ?? [])];
  const name = isOfMany ? folder.name || undefined : subject.stack;
  const stack = name === undefined ? {} : { stack: name };
  session.locate = subject.locate;
  session.validation = {
    ...{ diagnostics, files, resources: addresses.length, addresses, skipped: countSkipped(read) },
    ...stack,
  };
}
