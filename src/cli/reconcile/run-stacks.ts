import { join, resolve } from 'node:path';
import { findRepository } from '../../files/boundary.ts';
import { resolveLinks } from '../../files/real-path.ts';
import { suggestRemedy } from '../../manifest/suggest.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { hasDrift, isEveryTargetCompared, type StackInventory } from '../../model/drift.ts';
import { countSkipped, isSamePlan, type Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { StackFolder, StackTree } from '../../model/stack-tree.ts';
import type { DesiredState } from '../../model/state.ts';
import { listBlockingViolations } from '../../plan/guard.ts';
import { isPolicyMatch, type Policy } from '../../policy/evaluate.ts';
import { renderResultJson } from '../../report/machine/json.ts';
import { createStackEntry } from '../../report/machine/stacks.ts';
import type { CommandLine, Report, StackReportPart } from '../../report/report.ts';
import { numberReport } from '../../report/view/redact.ts';
import { createAbsentStackNotes } from '../../run/absent-stacks.ts';
import { refuseTakeOverWithOldManifest } from '../../run/hand-over.ts';
import { findStackAmongOthers, NO_TREE, type StackAmongOthers } from '../../run/neighbours.ts';
import { forEachSession, type OpenedStack, type Session } from '../../run/session.ts';
import { listStackConflicts } from '../../run/stack-claims.ts';
import { addExchangeViolations, listExchangeViolations } from '../../run/value-exchanges.ts';
import { pickRequest, type RequestScope } from '../../settings/request.ts';
import { findSetting } from '../../settings/resolve.ts';
import { createAccountKeyContainingSecret } from '../../stack/account-key.ts';
import type { PlanOptions } from '../../stack/plan-live.ts';
import { readManifests } from '../../stack/read-manifests.ts';
import { refuseToWriteUntrusted, resolveServiceSettings } from '../../stack/settings.ts';
import type { GetOptions } from '../../stack/stack.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode, exitCodeOfValidation } from '../exit-code.ts';
import { detectInvocation } from '../output/invocation.ts';
import { refuseOverwrittenInputs } from '../output/output-files.ts';
import { createApplyCommandLine } from './apply-command.ts';
import {
  type ApplyFlags,
  type ApplyRun,
  applyReadyStacks,
  askAndPlanAgain,
  classifyPlannedStack,
  prepareReadyStacks,
} from './apply-stacks.ts';
import type { ApprovedPlans, FindApproval } from './approvals.ts';
import { addBlockedDependent, findBlockedDependents, isRefusedPart } from './blocked-dependents.ts';
import { keepPrunesBesideUnknownStacks } from './kept-prunes.ts';
import { writePlanFile } from './plan-file.ts';
import { exitCodeOfPlan, type PlanFlags } from './plan-flags.ts';
import { clearPlanFolder, NO_STACK_FILE, namePlanFiles } from './plan-folder.ts';
import { createPresenter } from './present-run.ts';
import {
  computeWorstExitCode,
  createOtherStacksLookUps,
  createReadingContext,
  createStackReportPart,
  failConflictingStacks,
  forEachStack,
  listPathsOf,
  notePlan,
  openSession,
  type PlannedStack,
  planForEachStack,
  planOpenedStack,
  recordClaims,
  reportStacksRun,
  type StackResult,
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
export async function applyStacks(
  paths: readonly string[],
  { flags, mode, approved = () => () => undefined }: StacksToApply,
  context: Context,
): Promise<ExitCode> {
  refuseToWriteUntrusted(context);
  // What a plan approves does not depend on whether somebody is asked.
  const isAsked = flags.yes !== true && flags.approved === undefined;
  return withStacks(paths, { flags, command: mode }, context, async (run) => {
    const applying: ApplyRun = { run, flags, planned: new Map(), ready: new Map(), prepared: new Map() };
    const planned = await planEach(run, {
      options: { ...pickRequest(flags), mode, isAsked },
      findApproval: approved(run.selected),
      start: async ({ stack }) => {
        for (const warning of await stack.removeTokenLeftovers())
          context.stderr.write(`Warning: ${toPrintable(warning)}\n`);
      },
      describe: (folder, one) => classifyPlannedStack(applying, folder, one),
      drop: (folder) => {
        applying.ready.delete(folder);
        applying.planned.delete(folder);
      },
    });
    run.context.files?.forget(); // an apply may take hours
    const presenter = createPresenter(run);
    presenter.showPlans(planned);
    const prepared = await prepareReadyStacks(applying, planned);
    const ended = await askAndPlanAgain(applying, prepared, presenter);
    if (ended !== undefined) return presenter.report(ended);
    return presenter.report(await applyReadyStacks(applying, prepared, presenter));
  });
}

/** How the stacks of a run are planned, and what is reported of each plan. */
interface Planning {
  readonly options: PlanOptions;
  readonly describe: (folder: StackFolder, planned: PlannedStack) => StackResult;
  /** Called with each stack before it is planned. */
  readonly start?: (opened: OpenedStack) => Promise<void>;
  /** Default: no plan needs an approval. */
  readonly findApproval?: FindApproval;
  /** Called with each stack that gets errors after it was described, because it conflicts with another. */
  readonly drop?: (folder: StackFolder) => void;
}

/**
 * Reads the manifests of each stack and what is live, plans, rehearses, and compares with the approval. Then refuses stacks
 * that exchange values or depend on a blocked one, and plans again what has to keep its prunes beside an unknown stack.
 */
async function planEach(
  run: StacksRun,
  { options, describe, start, findApproval = () => undefined, drop }: Planning,
): Promise<readonly StackReportPart[]> {
  const known = new Map<StackFolder, PlannedStack>();
  const open = async (session: Session): Promise<OpenedStack> => {
    const lint = options.mode === 'apply' ? 'for-plan' : undefined;
    const opened = await openSession(run, session, { lint });
    await start?.(opened);
    return opened;
  };
  const made = await planForEachStack(run, async (session) => {
    const { folder } = session;
    const opened = session.opened ?? (await open(session));
    const plan = await planOpenedStack(run, opened, { options, approved: findApproval(folder) });
    const planned = { ...plan, opened, options };
    known.set(folder, planned);
    return describe(folder, planned);
  });
  const checked = await failConflictingStacks(run, made, drop);
  const exchanges = findExchanges(run, known);
  const describeAgain = (
    parts: readonly StackReportPart[],
    found: ReadonlyMap<StackFolder, unknown>,
    describeOne: typeof describe,
  ): readonly StackReportPart[] =>
    parts.map((part, index) => {
      const folder = run.selected.stacks[index];
      const planned = folder && found.has(folder) ? known.get(folder) : undefined;
      return folder === undefined || planned === undefined
        ? part
        : createStackReportPart(folder, describeOne(folder, planned));
    });
  const describeWithExchanges = (folder: StackFolder, planned: PlannedStack): StackResult => {
    const found = exchanges.get(folder);
    return describe(
      folder,
      found === undefined ? planned : { ...planned, plan: addExchangeViolations(planned.plan, found) },
    );
  };
  const refused = describeAgain(checked, exchanges, describeWithExchanges);
  if (options.mode !== 'apply') return refused;
  const dependents = findBlockedDependents(run, refused);
  const describeWhole = (folder: StackFolder, planned: PlannedStack): StackResult =>
    describeWithExchanges(folder, addBlockedDependent(planned, dependents.get(folder)));
  const blocked = describeAgain(refused, dependents, describeWhole);
  return keepPrunesBesideUnknownStacks(run, blocked, async (folder, keptPrunes) => {
    const before = known.get(folder);
    if (before === undefined) return undefined;
    // What keeps more than an approved plan is within it. Else the plan may be approved as it is without the prunes.
    const isApproved = before.comparison === undefined || isSamePlan(before.comparison);
    const approved = isApproved ? undefined : findApproval(folder);
    const again = await planOpenedStack(run, before.opened, { options: before.options, approved, keptPrunes });
    return describeWhole(folder, { ...before, ...again, keptPrunes });
  });
}

/**
 * Finds the stacks of the run that exchange unique values with others of their account, with the violations. A stack with
 * a conflicting claim is no part of an exchange: it is not applied, whatever the others do.
 */
function findExchanges(
  { claims }: Pick<StacksRun, 'claims'>,
  planned: ReadonlyMap<StackFolder, { readonly plan: Plan; readonly opened: OpenedStack }>,
): ReadonlyMap<StackFolder, Plan['violations']> {
  const conflicts = listStackConflicts(claims);
  const members = Array.from(planned, ([folder, { plan, opened }]) => ({
    folder,
    plan,
    locate: opened.locate,
    account: opened.account,
  }));
  const accounts = Map.groupBy(
    members.filter(({ folder }) => !conflicts.has(folder)),
    ({ account }) => account,
  );
  return new Map([...accounts.values()].flatMap((own) => [...listExchangeViolations(own)]));
}

export interface PlanStacksFlags extends StacksFlags, PlanFlags {
  /** The file of the plan; for many stacks, a folder with a plan file for each. */
  readonly out?: string;
  readonly detailedExitcode?: boolean;
}

/** Plans stacks, and saves the plans. Sends GET requests only. */
export async function planStacks(
  paths: readonly string[],
  flags: PlanStacksFlags,
  context: Context,
): Promise<ExitCode> {
  const { out, recursive } = flags;
  if (out !== undefined && recursive === true) await clearPlanFolder(out, context);
  return withStacks(paths, { flags, command: 'plan' }, context, async (run) => {
    const describe = (_: StackFolder, { plan, opened, blocked }: PlannedStack): StackResult => {
      const blocking = listBlockingViolations(plan.violations, flags);
      const report = { about: 'plan', plan, blocking } as const;
      const exitCode = blocked?.exitCode ?? exitCodeOfPlan(plan, blocking, flags);
      return { report, exitCode, options: { locate: opened.locate } };
    };
    const parts = await planEach(run, { options: { ...pickRequest(flags), mode: 'apply' }, describe });
    if (out !== undefined) await writePlans(out, run, parts);
    return reportStacksRun(run, parts, {
      applyCommand: findApplyCommand(run, parts, flags),
      exitCode: exitCodeOfPlans(parts),
    });
  });
}

/**
 * The exit code of a run that plans. With --detailed-exitcode, what an apply of the run would send counts before what it
 * would leave undone.
 */
function exitCodeOfPlans(parts: readonly StackReportPart[]): ExitCode {
  const codes = parts.map(({ exitCode }) => exitCode);
  if (!codes.includes(EXIT.changes)) return computeWorstExitCode(codes);
  return computeWorstExitCode(parts.map((part) => (isRefusedPart(part) ? part.exitCode : EXIT.changes)));
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
function findApplyCommand(
  run: StacksRun,
  parts: readonly StackReportPart[],
  flags: PlanStacksFlags,
): CommandLine | undefined {
  const { selected, isOfMany, paths, context } = run;
  const plans = parts.flatMap(({ report }) => (report.about === 'plan' ? [report.plan] : []));
  const repeated = { flags, env: context.env, invocation: detectInvocation(context) };
  if (isOfMany) {
    if (parts.some(isRefusedPart) || plans.every(({ writes }) => writes.length === 0)) return undefined;
    return createApplyCommandLine({ paths: [selected.tree.root], ...repeated });
  }
  return createApplyCommandLine({ paths: paths.length === 0 ? ['.'] : paths, ...repeated });
}

/** Compares stacks with the live state. Sends GET requests only. */
export async function compareStacksWithLive(
  paths: readonly string[],
  flags: StacksFlags & RequestScope,
  context: Context,
): Promise<ExitCode> {
  return withStacks(paths, { flags, command: 'drift' }, context, async (run) => {
    const noteAbsent = createAbsentStackNotes(
      { ...run.selected, baseUrl: flags.baseUrl, keyEnv: flags.keyEnv },
      run.context,
    );
    const planned = new Map<StackFolder, { readonly plan: Plan; readonly opened: OpenedStack }>();
    const parts = await planForEachStack(run, async (session): Promise<StackResult> => {
      const { folder } = session;
      const opened = session.opened ?? (await openSession(run, session));
      const { stack, locate, settings } = opened;
      const compared = await stack.drift({
        signal: run.signal,
        ...pickRequest(flags),
        ...createOtherStacksLookUps(run, opened),
        onPlanned: (plan) => {
          planned.set(folder, { plan, opened });
          notePlan(run, opened, plan);
        },
      });
      const drift = run.isOfMany ? noteAbsent(compared) : compared;
      const report: Report = run.isOfMany
        ? { about: 'drift', drift }
        : { about: 'drift', drift, keyEnv: settings.keyEnv };
      const differs = hasDrift(drift) ? EXIT.changes : EXIT.success;
      return { report, exitCode: isEveryTargetCompared(drift) ? differs : EXIT.invalid, options: { locate } };
    });
    const exchanges = findExchanges(run, planned);
    const refused = parts.map(({ report, ...part }, index) => {
      const folder = run.selected.stacks[index];
      const own = folder === undefined ? undefined : exchanges.get(folder);
      const drift = report.about === 'drift' && own && addExchangeViolations(report.drift, own);
      return { ...part, report: drift ? { ...report, drift } : report };
    });
    return reportStacksRun(run, await failConflictingStacks(run, refused));
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
export async function getFromStacks(
  paths: readonly string[],
  { flags, query, select, show }: InventoryRun,
  context: Context,
): Promise<ExitCode> {
  return withStacks(paths, { flags, command: 'get' }, context, async (run) => {
    await forEachSession(
      run.sessions,
      async (session) => {
        const opened = await openSession(run, session);
        session.inventory = select(opened, await opened.stack.get({ ...query, signal: run.signal }));
      },
      run,
    );
    return show(run);
  });
}

interface ValidationRun {
  readonly flags: StacksFlags & { readonly strict?: boolean };
  /** Turns a diagnostic into the one to show. */
  readonly toShown: (found: Diagnostic) => Diagnostic;
}

/** Validates stacks. Sends no request. */
export async function validateStacks(
  paths: readonly string[],
  { flags, toShown }: ValidationRun,
  context: Context,
): Promise<ExitCode> {
  return withStacks(paths, { flags, command: 'validate' }, context, async (run) => {
    const parts = await forEachStack(run, ({ folder }) => validateStack(run, folder, toShown));
    return reportStacksRun(run, await failConflictingStacks(run, parts));
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

async function validateStack(
  run: StacksRun,
  folder: StackFolder,
  toShown: ValidationRun['toShown'],
): Promise<StackResult> {
  const options = { requireStack: run.isOfMany, lint: 'all', policies: run.flags.policies ?? [] } as const;
  const read = await readManifests(listPathsOf(run, folder), createReadingContext(run), options);
  const { state, files, subject } = read;
  const isNamed = state !== undefined && !run.isOfMany && subject.stack !== undefined;
  const found = isNamed ? findStackAmongOthers({ state, locate: subject.locate }, run.context, run.flags) : undefined;
  if (state !== undefined) await checkLikePlan(run, { folder, state, found });
  const unused = listUnusedStackPatterns(read.policies, findWholeTree(run, found));
  const diagnostics = [...read.diagnostics, ...(found?.diagnostics ?? []), ...unused].map(toShown);
  const addresses = [...(state?.resources.keys() ?? [])];
  const name = run.isOfMany ? folder.name || undefined : subject.stack;
  const stack = name === undefined ? {} : { stack: name };
  return {
    report: {
      about: 'validation',
      command: 'validate',
      validation: { diagnostics, files, resources: addresses.length, addresses, skipped: countSkipped(read), ...stack },
    },
    exitCode: state === undefined ? EXIT.invalid : exitCodeOfValidation(diagnostics),
    options: { locate: subject.locate },
  };
}
