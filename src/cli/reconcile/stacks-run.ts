import { listRootsOfPaths } from '../../files/boundary.ts';
import { createSourceFiles } from '../../manifest/source-files.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Plan, PlanComparison } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { StackFolder, StackListing, StackTree } from '../../model/stack-tree.ts';
import { StackError } from '../../model/user-errors.ts';
import { comparePlans } from '../../plan/compare/compare-plans.ts';
import type { KeptPrunes, Surroundings } from '../../plan/plan-input.ts';
import type { CommandLine, Report, StackReportPart, StacksRunReport } from '../../report/report.ts';
import { formatStackSelectionSummary, listFilesWithoutStackLines } from '../../report/view/run-wording.ts';
import { formatCount } from '../../report/view/wording.ts';
import { readDefaultsAbove } from '../../repository/read-stack-tree.ts';
import {
  adviseOnUnselectedStack,
  type SelectedStacks,
  type StackSelectionOptions,
  selectStacks,
} from '../../repository/select-stacks.ts';
import { findMissingCommits, warnOfMissingCommits } from '../../repository/target-branch.ts';
import { listStacksOfRepository } from '../../run/absent-stacks.ts';
import { createOtherStacks, findTakingOverStack, refuseTakeOverWithOldManifest } from '../../run/hand-over.ts';
import { findStackAmongOthers, NO_TREE } from '../../run/neighbours.ts';
import { createPlannedResources, type PlannedResources } from '../../run/planned-resources.ts';
import { forEachSession, type OpenedStack, type Session } from '../../run/session.ts';
import { type ClaimingStack, listStackClaims, listStackConflicts, type StackClaim } from '../../run/stack-claims.ts';
import type { Request } from '../../settings/request.ts';
import type { ConnectionFlags } from '../../settings/table.ts';
import { createAccountKeyContainingSecret } from '../../stack/account-key.ts';
import { hasPlanErrors, type PlanOptions } from '../../stack/plan-live.ts';
import { readValidManifests } from '../../stack/read-manifests.ts';
import { resolveTokenSettings, type TokenFlags } from '../../stack/run-plan.ts';
import { describeServiceOrigin, resolveSettingsFromManifests } from '../../stack/settings.ts';
import { createStack, type RunnableStack } from '../../stack/stack.ts';
import { type Accounts, withAccounts } from '../connection/accounts.ts';
import { refuseMissingDataFile } from '../connection/data-file.ts';
import { type Context, VERSION } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { refuseOverwrittenInputs } from '../output/output-files.ts';
import { exitCodeOfError, getReportedErrorPart, outputReport, outputStacksReport } from '../output/output-report.ts';
import type { FormatFlags } from '../output/present.ts';
import type { Approval } from './approvals.ts';
import { noteTokenCommands } from './artifact-files.ts';
import { listWordsForOneStack } from './plan-flags.ts';

/**
 * A run over a list of stacks. Without --recursive, the list has one stack, which the user names by its manifests. The
 * result is then a report without parts, and an error ends the command.
 */

export interface StackFilterFlags extends Pick<ConnectionFlags, 'baseUrl' | 'keyEnv'> {
  readonly recursive?: boolean;
  readonly stack?: readonly string[];
  readonly changedSince?: string | undefined;
}

export function toStackFilter({ stack = [], changedSince, baseUrl, keyEnv }: StackFilterFlags): StackSelectionOptions {
  return { names: stack, since: changedSince, baseUrl, keyEnv };
}

export interface StacksFlags
  extends StackFilterFlags,
    ConnectionFlags,
    TokenFlags,
    FormatFlags,
    Pick<Request, 'policies'> {}

export interface StacksRun {
  readonly selected: SelectedStacks;
  /** The selected stacks on their way. */
  readonly sessions: readonly Session[];
  /** Whether the stacks are folders that were selected. Otherwise the user names the only one by its manifests. */
  readonly isOfMany: boolean;
  /** The words that name the stacks: a folder of many, or the manifests of one. */
  readonly paths: readonly string[];
  readonly flags: StacksFlags;
  readonly command: string;
  readonly accounts: Accounts;
  readonly signal: AbortSignal;
  readonly context: Context;
  /** Effects of the plans so far on resources that other stacks refer to. Later plans take them into account. */
  readonly planned: PlannedResources;
  /** The unique values that the stacks read so far claim. */
  readonly claims: StackClaim[];
  /** Asks git, once in a run, which commits of its target branch a pull request lacks. */
  readonly findMissing: (tree: StackTree) => ReturnType<typeof findMissingCommits>;
  /** Lists the stacks of the repository around those of the run, which it reads once. */
  readonly listAround: () => readonly StackFolder[];
}

export interface StackResult {
  readonly report: Report;
  readonly exitCode: ExitCode;
  readonly options?: StackReportPart['options'];
}

interface RunRequest {
  readonly flags: StacksFlags & Request;
  readonly command: string;
}

/** Selects the stacks, runs the task on them, and closes every account even if the task fails. */
export async function withStacks(
  named: readonly string[],
  { flags, command }: RunRequest,
  whole: Context,
  task: (run: StacksRun) => Promise<ExitCode>,
): Promise<ExitCode> {
  const isOfMany = flags.recursive === true;
  const reading = { ...whole, files: createSourceFiles() };
  const paths = named.map((path) => path || '.'); // a variable that is not set
  const context = isOfMany ? confineFilesToRepository(getRoot(paths), reading) : reading;
  const selected = isOfMany ? await selectStacks(getRoot(paths), toStackFilter(flags), context) : selectOne(paths);
  if (isOfMany) refuseSingleResourceFlags(flags, { names: flags.stack ?? [], count: selected.stacks.length });
  for (const line of listFilesWithoutStackLines(createListing(selected)))
    context.stderr.write(`${toPrintable(line)}\n`);
  const notes = {
    planned: createPlannedResources(),
    claims: [],
    findMissing: createMissingCommitsLookUp(context),
    listAround: createStacksAroundLookUp(
      { tree: selected.tree, baseUrl: flags.baseUrl, keyEnv: flags.keyEnv },
      context,
    ),
  };
  const sessions = selected.stacks.map((folder): Session => ({ folder }));
  const run = { selected, sessions, isOfMany, paths, flags, command, context, ...notes };
  return withAccounts(context, (use) => task({ ...run, ...use }));
}

/** The only stack of a run, of which nothing is known before its manifests are read. */
function selectOne([path = '.']: readonly string[]): SelectedStacks {
  const empty = { describes: new Set<string>(), adopts: new Map<string, never>() };
  const unknown = { dependsOn: [], takes: [], inputs: [], policies: [], formerNames: [], ...empty };
  const stacks = [{ name: '', folder: path, file: path, ...unknown }];
  return { tree: { ...NO_TREE, root: path, stacks }, stacks };
}

/**
 * Confines the files that manifests may name to the repository of the tree, else to the tree itself. Throws if Defaults of
 * another user are above the tree.
 */
export function confineFilesToRepository<
  T extends Pick<Context, 'cwd' | 'uid' | 'root' | 'env' | 'offered' | 'offeredSecrets'>,
>(tree: string, context: T): T {
  readDefaultsAbove(tree, context);
  // Behind a link out of the working folder, a run of one stack may name files in both.
  const roots = listRootsOfPaths([tree], context);
  return { ...context, root: roots.at(-1), rootsBeside: roots.slice(0, -1) };
}

function getRoot(paths: readonly string[]): string {
  const [root = '.', ...more] = paths;
  if (more.length === 0 && root !== '-') return root;
  const message = '--recursive takes one folder: the one that contains the stacks.';
  throw new StackError(message, { reason: 'invalid', remedy: 'Name one folder that contains all of them.' });
}

function createMissingCommitsLookUp(context: Context): StacksRun['findMissing'] {
  let found: ReturnType<typeof findMissingCommits> | undefined;
  return (tree) => {
    found ??= findMissingCommits(tree, context);
    return found;
  };
}

function createStacksAroundLookUp(...known: Parameters<typeof listStacksOfRepository>): StacksRun['listAround'] {
  let found: readonly StackFolder[] | undefined;
  return () => {
    found ??= listStacksOfRepository(...known);
    return found;
  };
}

function createListing({ tree, ...selected }: SelectedStacks): StackListing {
  const { root, stacks, filesWithoutStack, diagnostics } = tree;
  return { root, total: stacks.length, filesWithoutStack, diagnostics, ...selected };
}

/** Runs a task for each stack. If the task fails for one of many stacks, the error is the result of that stack. */
export async function forEachStack(
  run: StacksRun,
  task: (session: Session) => Promise<StackResult>,
): Promise<readonly StackReportPart[]> {
  const results = new Map<Session, StackResult>();
  await forEachSession(
    run.sessions,
    async (session) => {
      results.set(session, await task(session));
    },
    run,
  );
  return run.sessions.map((session) => {
    const result = session.error === undefined ? results.get(session) : undefined;
    return result === undefined ? createFailedPart(session, run) : createStackReportPart(session.folder, result);
  });
}

/**
 * Like `forEachStack`, for a task that plans a stack. It plans those again that keep what a later one may take back: then
 * it is known whether that one does.
 */
export async function planForEachStack(
  run: StacksRun,
  task: (session: Session) => Promise<StackResult>,
): Promise<readonly StackReportPart[]> {
  const parts = await forEachStack(run, task);
  const sessions = run.sessions.filter(({ folder }) => run.planned.awaiting.has(folder));
  if (sessions.length === 0) return parts;
  const again = await forEachStack({ ...run, sessions }, task);
  const byFolder = new Map(again.map((part) => [part.folder, part]));
  return parts.map((part) => byFolder.get(part.folder) ?? part);
}

export function createStackReportPart(
  { name, folder, keyEnv }: StackFolder,
  { report, exitCode, options = {} }: StackResult,
): StackReportPart {
  return { name, folder, keyEnv, report, exitCode, options };
}

/** The part of a stack whose error is its result. */
export function createFailedPart({ folder, error, service }: Session, { command }: StacksRun): StackReportPart {
  const { name, file } = folder;
  const place = { file, line: 1, column: 1 };
  const failure = { command, stack: name || undefined, service, ...getReportedErrorPart(error) };
  return createStackReportPart(folder, {
    report: { about: 'failure', failure },
    exitCode: exitCodeOfError(error),
    options: { locate: (address) => (address === undefined ? place : undefined) },
  });
}

/** Reads the manifests of a stack, looks for the stacks around it, and finds its account. Sends no request. */
export async function openSession(
  run: StacksRun,
  session: Session,
  { lint }: { readonly lint?: 'for-plan' | undefined } = {},
): Promise<OpenedStack> {
  const { flags, command, accounts, isOfMany, context } = run;
  const { folder: selected } = session;
  // `get` makes no plan that a policy could reject.
  const policies = command === 'get' ? undefined : (flags.policies ?? []);
  const read = await readValidManifests(listPathsOf(run, selected), createReadingContext(run), {
    lint,
    policies,
  });
  const { state, locate } = read;
  const settings = resolveSettingsFromManifests({ flags }, context, state.stack.layers);
  const service = describeServiceOrigin({ flags, env: context.env, layers: state.stack.layers });
  session.service = service;
  if (!isOfMany) context.onSubject?.({ service });
  if (command === 'get' || command === 'drift') refuseMissingDataFile(settings, context);
  const found = isOfMany ? undefined : findStackAmongOthers({ state, settings, locate }, context, flags);
  const { folder, tree, diagnostics } = found ?? { folder: selected, tree: run.selected.tree, diagnostics: [] };
  await refuseOverwrittenInputs(flags, settings, context);
  const tokens = resolveTokenSettings(flags, state.stack.tokens, state.stack.name);
  if (command === 'apply') noteTokenCommands(tokens, context);
  const account = accounts.get(settings, folder.file);
  if (checksClaims(command)) recordClaims({ folder: selected, account, state, tokens }, run);
  const missing = command === 'plan' ? await run.findMissing(tree) : undefined;
  const behind = missing && warnOfMissingCommits(missing, folder);
  const all = [...read.diagnostics, ...diagnostics, ...(behind === undefined ? [] : [behind])];
  const parts = {
    state,
    settings,
    validateEdited: read.validateEdited,
    diagnostics: all,
    policies: read.policies,
    tokens,
  };
  const stack = createStack({ ...parts, version: VERSION }, account, context);
  session.opened = { folder, tree, state, locate, settings, stack, account };
  return session.opened;
}

/** The paths of the manifests of a stack. */
export function listPathsOf({ isOfMany, paths }: StacksRun, { folder }: StackFolder): readonly string[] {
  return isOfMany ? [folder] : paths;
}

/** The context in which manifests are read. A failure of one of many stacks is reported in its part. */
export function createReadingContext(run: StacksRun): Context {
  const { onSubject, ...quiet } = run.context;
  return run.isOfMany || onSubject === undefined ? quiet : { ...quiet, onSubject };
}

/** Whether conflicting claims stop this command. They do not stop `get` and `destroy`, which write no claimed value. */
function checksClaims(command: string): boolean {
  return command !== 'get' && command !== 'destroy';
}

export function recordClaims(stack: ClaimingStack, { claims, context }: Pick<StacksRun, 'claims' | 'context'>): void {
  claims.push(...listStackClaims(stack, context));
}

/** How a stack is planned. With `approved`, the new plan is compared with that plan, or with an empty one. */
interface StackPlanRequest {
  readonly options: PlanOptions;
  readonly approved?: Approval | undefined;
  readonly keptPrunes?: KeptPrunes | undefined;
}

/** A plan of a stack, and its comparison with the plan of that name, if there is one. */
export interface StackPlan {
  readonly plan: Plan;
  readonly comparison: PlanComparison | undefined;
  readonly name: string | undefined;
}

/** A planned stack, with what its plan was made from. */
export interface PlannedStack extends StackPlan {
  readonly opened: OpenedStack;
  readonly options: PlanOptions;
  readonly keptPrunes?: KeptPrunes | undefined;
  /** Set if a stack that this one depends on is not applied. */
  readonly blocked?: BlockedDependent | undefined;
}

/** Why a planned stack is not applied in this run, although nothing is wrong with its own plan. */
export interface BlockedDependent {
  /** The exit code of the stack that it depends on. */
  readonly exitCode: ExitCode;
  readonly warning: Diagnostic;
}

/** Plans a stack, with regard to earlier plans of the run. */
export async function planOpenedStack(
  run: StacksRun,
  opened: OpenedStack,
  { options, approved, keptPrunes }: StackPlanRequest,
): Promise<StackPlan> {
  const { folder, tree, stack } = opened;
  await refuseTakeOverWithOldManifest(folder, tree, run.context);
  const all = { ...options, ...createOtherStacksLookUps(run, opened), keptPrunes, signal: run.signal };
  const comparison = approved && (await compareWithApproval(stack, approved, all));
  const plan = comparison?.after ?? (await stack.plan(all));
  notePlan(run, opened, plan);
  return { plan, comparison, name: approved?.name };
}

/** What approves nothing is an empty plan: then everything that the new plan does is not approved. */
async function compareWithApproval(
  stack: RunnableStack,
  { plan: approved, name }: Approval,
  options: PlanOptions,
): Promise<PlanComparison> {
  if (approved !== undefined) return stack.compare(approved, options, name);
  const plan = await stack.plan(options);
  return comparePlans({ ...plan, changes: [], writes: [] }, plan);
}

/** Lets later plans of the run know what a plan does to resources that they refer to. */
export function notePlan({ planned, context }: StacksRun, { folder }: OpenedStack, plan: Plan): void {
  if (!hasPlanErrors(plan)) planned.note(createAccountKeyContainingSecret(folder, context), plan);
}

/**
 * Creates the functions with which the plan of one stack finds out about other stacks: whether one takes over an
 * address, what their plans change, and which of them the run applies.
 */
export function createOtherStacksLookUps(
  run: StacksRun,
  { folder, tree }: Pick<OpenedStack, 'folder' | 'tree'>,
): Omit<Surroundings, 'keptPrunes' | 'isAsked'> {
  const { planned, selected, context } = run;
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
    others: createOtherStacks(folder, () => (run.isOfMany ? [...tree.stacks, ...run.listAround()] : tree.stacks)),
    findPlanned,
    adviseOnOtherStack: (name) => (run.isOfMany ? adviseOnUnselectedStack(name, selected) : undefined),
    isInRun,
  };
}

export function createStacksReport(
  { selected, command, accounts, flags }: StacksRun,
  parts: readonly StackReportPart[],
): StacksRunReport {
  const requests = accounts.countReads();
  const selection = formatStackSelectionSummary(createListing(selected));
  const { tree, changes } = selected;
  return {
    command,
    root: tree.root,
    names: flags.stack,
    selection,
    removals: changes,
    ...(requests > 0 && { requests }),
    parts,
  };
}

/** Shows the report of a run, and returns the most severe exit code of its parts. */
export function reportStacksRun(
  run: StacksRun,
  parts: readonly StackReportPart[],
  { applyCommand, exitCode = computeWorstExitCode(parts.map((part) => part.exitCode)), ...more }: PublishOptions = {},
): Promise<ExitCode> {
  const { flags, context } = run;
  const [one] = parts;
  if (!run.isOfMany && one !== undefined)
    return outputReport(
      one.report,
      { flags, exitCode, applyCommand, locate: one.options.locate, command: run.command, folder: one.folder, ...more },
      context,
    );
  const report = { ...createStacksReport(run, parts), applyCommand };
  return outputStacksReport(report, { flags, exitCode, ...more }, context);
}

type PublishOptions = Pick<Parameters<typeof outputStacksReport>[1], 'isShown'> & {
  readonly applyCommand?: CommandLine | undefined;
  /** Default: the most severe one of the stacks. */
  readonly exitCode?: ExitCode;
};

/** Exit codes, from the least to the most severe. */
const SEVERITY: readonly ExitCode[] = [
  EXIT.success,
  EXIT.changes,
  EXIT.invalid,
  EXIT.refused,
  EXIT.stale,
  EXIT.authentication,
  EXIT.failed,
  EXIT.interrupted,
  EXIT.bug,
];

export function computeWorstExitCode(codes: readonly number[]): ExitCode {
  return SEVERITY.findLast((code) => codes.includes(code)) ?? EXIT.success;
}

/**
 * Throws for flags about single resources, unless `--stack NAME` selects one stack, because several stacks may have the
 * same address. Other filters do not suffice: the number of stacks that they select may change.
 */
function refuseSingleResourceFlags(
  given: Request,
  { names, count }: { readonly names: readonly string[]; readonly count: number },
): void {
  const words = listWordsForOneStack(given);
  if (words.length === 0 || (names.length === 1 && count <= 1)) return;
  const flags = words.join(' and ');
  throw new StackError(
    `${flags} cannot be used for ${formatCount(count, 'stack')}: more than one may contain that address.`,
    {
      reason: 'invalid',
      remedy: 'Choose one stack with --stack NAME, or run the command on its folder. Nothing was sent.',
    },
  );
}

/**
 * Adds an error to the result of each stack that claims the same unique value as another stack. The error names the
 * other stack. `withdraw` is called for each stack with such an error, to remove its plan.
 */
export async function failConflictingStacks(
  run: StacksRun,
  parts: readonly StackReportPart[],
  withdraw: (folder: StackFolder) => Promise<void> | void = () => undefined,
): Promise<readonly StackReportPart[]> {
  const errors = listStackConflicts(run.claims);
  for (const folder of errors.keys()) await withdraw(folder);
  const { stacks } = run.selected;
  return parts.map((part, index) => {
    const folder = stacks[index];
    const found = folder === undefined ? undefined : errors.get(folder);
    return found === undefined ? part : addConflicts(part, found);
  });
}

function addConflicts(
  { options: { locate }, ...part }: StackReportPart,
  errors: readonly Diagnostic[],
): StackReportPart {
  return {
    ...part,
    report: withErrors(part.report, errors),
    exitCode: computeWorstExitCode([part.exitCode, EXIT.invalid]),
    options: { locate },
  };
}

/** Adds errors to a report. The report of an apply that had nothing to write becomes the report of its plan. */
function withErrors(report: Report, errors: readonly Diagnostic[]): Report {
  const add = (found: readonly Diagnostic[] = []): readonly Diagnostic[] => [...errors, ...found];
  // Drop the rehearsal, because it ran without the conflicting stack.
  const addToPlan = ({ rehearsal: _, ...plan }: Plan): Plan => ({ ...plan, diagnostics: add(plan.diagnostics) });
  switch (report.about) {
    case 'plan':
      return { ...report, plan: addToPlan(report.plan) };
    case 'apply':
      return { about: 'plan', plan: addToPlan(report.plan), blocking: [] };
    case 'drift':
      return { ...report, drift: { ...report.drift, diagnostics: add(report.drift.diagnostics) } };
    case 'validation':
      return { ...report, validation: { ...report.validation, diagnostics: add(report.validation.diagnostics) } };
    case 'failure':
      return { ...report, failure: { ...report.failure, diagnostics: add(report.failure.diagnostics) } };
    default:
      return report;
  }
}
