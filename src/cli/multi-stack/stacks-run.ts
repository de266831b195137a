import { listRootsOfPaths } from '../../files/boundary.ts';
import type { Diagnostic, LocateManifest } from '../../model/diagnostic.ts';
import { assertDefined } from '../../model/errors.ts';
import type { Plan, PlanComparison } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Shard, StackFolder } from '../../model/stack-tree.ts';
import type { DesiredState } from '../../model/state.ts';
import type { CommandLine, Report, StackReportPart, StacksRunReport } from '../../report/report.ts';
import { formatStackSelectionSummary, listFilesWithoutStackLines } from '../../report/view/stacks-view.ts';
import { formatCount } from '../../report/view/wording.ts';
import { ClaimRegistry, listStackClaims, type StackClaimsInput } from '../../repository/claim-registry.ts';
import { findPossibleTakeOverStack, refuseTakeOverWithOldManifest } from '../../repository/hand-over.ts';
import { orderStacks } from '../../repository/order-stacks.ts';
import { createPlannedResources, type PlannedResources } from '../../repository/planned-resources.ts';
import { readDefaultsAbove } from '../../repository/read-stack-tree.ts';
import { type SelectedStacks, type StackSelectionOptions, selectStacks } from '../../repository/select-stacks.ts';
import { isEmbedded } from '../../settings/base-url.ts';
import type { ConnectionFlags } from '../../settings/table.ts';
import { createAccountKeyContainingSecret } from '../../stack/account-key.ts';
import type { NamedPlan } from '../../stack/approval.ts';
import { StackError } from '../../stack/host.ts';
import { hasPlanErrors, type PlanOptions } from '../../stack/plan-live.ts';
import { readValidManifests } from '../../stack/read-manifests.ts';
import { resolveTokenSettings, type TokenFlags } from '../../stack/run-plan.ts';
import { readApiKey, type ServiceSettings } from '../../stack/settings.ts';
import { createSharedAccount, createStack, type SharedAccount, type Stack } from '../../stack/stack.ts';
import { createServiceNotices, printConnectionNotices, type SetNoticeWriter } from '../connection/notices.ts';
import { listenForInterrupts } from '../connection/stack-session.ts';
import { type Context, VERSION } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { refuseOverwrittenInputs } from '../output/output-files.ts';
import { exitCodeOfError, getReportedErrorPart, outputStacksReport } from '../output/output-report.ts';
import type { FormatFlags } from '../output/present.ts';
import { type PlanFlags, resolveStackConnection } from '../reconcile/plan-flags.ts';

export interface StackFilterFlags extends Pick<ConnectionFlags, 'baseUrl' | 'keyEnv'> {
  readonly stack?: readonly string[];
  /** Whether the names in `stack` come from plan files, not from `--stack`. */
  readonly isOfPlans?: boolean;
  readonly changedSince?: string;
  readonly shard?: Shard;
}

export function toStackFilter({
  stack = [],
  isOfPlans = false,
  changedSince,
  shard,
  baseUrl,
  keyEnv,
}: StackFilterFlags): StackSelectionOptions {
  return { names: stack, isOfPlans, since: changedSince, shard, baseUrl, keyEnv };
}

export interface StacksFlags extends StackFilterFlags, ConnectionFlags, TokenFlags, FormatFlags {
  readonly recursive?: boolean;
  /** Files and folders of policies. They apply to every stack. */
  readonly policies?: readonly string[];
}

export interface StacksRun {
  readonly selected: SelectedStacks;
  readonly flags: StacksFlags;
  readonly command: string;
  readonly pool: AccountPool;
  readonly signal: AbortSignal;
  readonly context: Context;
  /** Effects of the plans so far on resources that other stacks refer to. Later plans take them into account. */
  readonly planned: PlannedResources;
  /** The unique values that the stacks read so far claim. */
  readonly claims: ClaimRegistry;
}

/** A stack whose manifests were read. */
export interface OpenedStack {
  readonly folder: StackFolder;
  readonly state: DesiredState;
  readonly diagnostics: readonly Diagnostic[];
  readonly locate: LocateManifest;
  readonly settings: ServiceSettings;
  readonly stack: Stack;
  readonly pooled: PooledAccount;
}

export interface StackResult {
  readonly report: Report;
  readonly exitCode: ExitCode;
  readonly options?: StackReportPart['options'];
}

/** Selects the stacks, runs the task on them, and closes every account even if the task fails. */
export async function runTaskOnSelectedStacks(
  paths: readonly string[],
  { flags, command }: Pick<StacksRun, 'command'> & { readonly flags: StacksFlags & SingleFlags },
  given: Context,
  task: (run: StacksRun) => Promise<ExitCode>,
): Promise<ExitCode> {
  const root = getRoot(paths);
  const context = confineFilesToRepository(root, given);
  const selected = await selectStacks(root, toStackFilter(flags), context);
  refuseSingleResourceFlags(flags, { names: flags.stack ?? [], count: selected.stacks.length });
  return runWithSelectedStacks(selected, { flags, command }, context, task);
}

/** Like `runTaskOnSelectedStacks`, for stacks that are already selected. */
async function runWithSelectedStacks(
  selected: SelectedStacks,
  { flags, command }: Pick<StacksRun, 'flags' | 'command'>,
  context: Context,
  task: (run: StacksRun) => Promise<ExitCode>,
): Promise<ExitCode> {
  for (const line of listFilesWithoutStackLines(createListing(selected)))
    context.stderr.write(`${toPrintable(line)}\n`);
  const { signal, stopListening } = listenForInterrupts(context);
  const pool = createAccountPool(context);
  try {
    return await task({
      selected,
      flags,
      command,
      pool,
      signal,
      context,
      planned: createPlannedResources(),
      claims: new ClaimRegistry(),
    });
  } finally {
    try {
      await pool.close();
    } finally {
      stopListening();
    }
  }
}

/**
 * Confines the files that manifests may name to the repository of the tree, else to the tree itself. Throws if Defaults of
 * another user are above the tree.
 */
export function confineFilesToRepository<T extends Pick<Context, 'cwd' | 'uid' | 'root' | 'env' | 'offered'>>(
  tree: string,
  context: T,
): T {
  readDefaultsAbove(tree, context);
  return { ...context, root: listRootsOfPaths([tree], context).at(-1) };
}

function getRoot(paths: readonly string[]): string {
  const [root = '.', ...more] = paths;
  if (more.length === 0 && root !== '-') return root;
  const message = '--recursive takes one folder: the one that contains the stacks.';
  throw new CommandError(message, { exitCode: EXIT.invalid, remedy: 'Name one folder that contains all of them.' });
}

function createListing({ tree, ...selected }: SelectedStacks) {
  return { root: tree.root, total: tree.stacks.length, filesWithoutStack: tree.filesWithoutStack, ...selected };
}

/**
 * Runs a task for each stack. If the task fails for a stack, the error is the result of that stack, and the other
 * stacks continue. Stacks of one account run one after another, to limit memory; accounts run in parallel.
 */
export async function forEachStack(
  run: StacksRun,
  task: (folder: StackFolder) => Promise<StackResult>,
): Promise<readonly StackReportPart[]> {
  const { selected, command, signal, context } = run;
  const parts = new Map<StackFolder, StackReportPart>();
  const { ordered, circles } = orderStacks(selected.stacks);
  const groups = [...Map.groupBy(ordered, (folder) => createAccountKeyContainingSecret(folder, context)).values()];
  const perform = async (folder: StackFolder): Promise<StackResult> => {
    const circle = circles.get(folder);
    if (circle !== undefined) throw circle;
    return task(folder);
  };
  await Promise.all(
    groups.map(async (group) => {
      for (const folder of group) {
        signal.throwIfAborted();
        parts.set(
          folder,
          createStackReportPart(
            folder,
            await perform(folder).catch((error: unknown) => createFailedStack(error, folder, command)),
          ),
        );
      }
    }),
  );
  signal.throwIfAborted();
  return selected.stacks.map((folder) => assertDefined(parts.get(folder), `a result of ${folder.folder}`));
}

export function createStackReportPart(
  { name, folder, keyEnv }: StackFolder,
  { report, exitCode, options = {} }: StackResult,
): StackReportPart {
  return { name, folder, ...(keyEnv !== undefined && { keyEnv }), report, exitCode, options };
}

export function createFailedStack(error: unknown, { name, file }: StackFolder, command: string): StackResult {
  const place = { file, line: 1, column: 1, excerpt: '' };
  return {
    report: {
      about: 'failure',
      failure: { command, ...(name !== '' && { stack: name }), ...getReportedErrorPart(error) },
    },
    exitCode: exitCodeOfError(error),
    options: { locate: (address) => (address === undefined ? place : undefined) },
  };
}

interface OpenOptions {
  readonly lint?: 'for-plan';
  /** Lists the files that an apply would write. */
  readonly listOutputs?: (state: DesiredState) => readonly string[];
}

/** Reads the manifests of a stack, and finds its account. Sends no request. */
export async function openStackFolder(
  run: StacksRun,
  folder: StackFolder,
  options: OpenOptions = {},
): Promise<OpenedStack> {
  const { flags, command, pool, context } = run;
  const { onSubject: _, ...quiet } = context;
  const { lint, listOutputs = () => [] } = options;
  // `drift` makes no plan that a policy could reject.
  const policies = command === 'drift' ? undefined : (flags.policies ?? []);
  const read = await readValidManifests([folder.folder], quiet, { ...(lint !== undefined && { lint }), policies });
  const { state, diagnostics, locate } = read;
  const settings = resolveStackConnection(flags, context, state);
  await refuseOverwrittenInputs(flags, { files: listOutputs(state), settings }, context);
  const tokens = resolveTokenSettings(flags, state.stack.tokens, state.stack.name);
  const pooled = await pool.getAccount(settings, folder.file);
  if (checksClaims(command)) recordClaims({ state, tokens }, { folder, account: pooled.account }, run);
  const parts = { state, diagnostics, policies: read.policies, tokens, version: VERSION };
  const stack = createStack(parts, pooled.account.toView(settings), context);
  return { folder, state, diagnostics, locate, settings, stack, pooled };
}

/** Whether conflicting claims stop this command. They do not stop `get` and `destroy`, which write no claimed value. */
function checksClaims(command: string): boolean {
  return command !== 'get' && command !== 'destroy';
}

export function recordClaims(
  source: StackClaimsInput,
  { folder, account }: { readonly folder: StackFolder; readonly account: unknown },
  { claims, context }: Pick<StacksRun, 'claims' | 'context'>,
): void {
  claims.add(folder, account, listStackClaims(source, context));
}

/** How a stack is planned. With `approved`, the new plan is compared with that plan. */
interface StackPlanRequest {
  readonly options: PlanOptions;
  readonly approved?: NamedPlan | undefined;
}

/** A plan of a stack, and its comparison with the plan of that name, if there is one. */
export interface StackPlan {
  readonly plan: Plan;
  readonly comparison: PlanComparison | undefined;
  readonly name: string | undefined;
}

/** Plans a stack, with regard to earlier plans of the run. */
export async function planOpenedStack(
  run: StacksRun,
  opened: OpenedStack,
  { options, approved }: StackPlanRequest,
): Promise<StackPlan> {
  const { folder, stack } = opened;
  const { signal, context } = run;
  const { tree, stacks } = run.selected;
  const account = createAccountKeyContainingSecret(folder, context);
  await refuseTakeOverWithOldManifest(folder, tree, context);
  const isInRun = (name: string): boolean =>
    stacks.some(
      (other) =>
        other !== folder && other.name === name && createAccountKeyContainingSecret(other, context) === account,
    );
  const all = { ...options, ...createOtherStacksLookUps(run, folder), isInRun, signal };
  const comparison = approved && (await stack.compare(approved.plan, all, approved.name));
  const plan = comparison?.after ?? (await stack.plan(all));
  if (!hasPlanErrors(plan)) run.planned.note(account, plan);
  return { plan, comparison, name: approved?.name };
}

/**
 * Creates the functions with which the plan of one stack finds out about other stacks: whether one takes over an
 * address, and what their plans change.
 */
export function createOtherStacksLookUps(
  { planned, selected: { tree }, context }: StacksRun,
  folder: StackFolder,
): Required<Pick<PlanOptions, 'findTaker' | 'findPlanned'>> {
  return {
    findTaker: (address) => findPossibleTakeOverStack(folder, { tree, address }, context),
    findPlanned: planned.of(createAccountKeyContainingSecret(folder, context)),
  };
}

export function createStacksReport(
  { selected, command, pool }: StacksRun,
  parts: readonly StackReportPart[],
): StacksRunReport {
  const requests = pool.countReads();
  const selection = formatStackSelectionSummary(createListing(selected));
  return { command, root: selected.tree.root, selection, ...(requests > 0 && { requests }), parts };
}

/** Shows the report of a run, and returns the most severe exit code of its parts. */
export function reportStacksRun(
  run: StacksRun,
  parts: readonly StackReportPart[],
  { applyCommand, ...more }: PublishOptions = {},
): Promise<ExitCode> {
  const exitCode = computeWorstExitCode(parts.map((part) => part.exitCode));
  const report = { ...createStacksReport(run, parts), ...(applyCommand !== undefined && { applyCommand }) };
  return outputStacksReport(report, { flags: run.flags, exitCode, ...more }, run.context);
}

type PublishOptions = Pick<Parameters<typeof outputStacksReport>[1], 'isShown' | 'sent'> & {
  readonly applyCommand?: CommandLine | undefined;
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

/** Flags that are allowed only for a single stack. */
type SingleFlags = Partial<
  Pick<PlanFlags, 'target' | 'exclude' | 'rotate' | 'takeOver' | 'allowProtected' | 'allowRejected'>
>;

/**
 * Throws for flags about single resources, unless `--stack NAME` selects one stack, because several stacks may have the
 * same address. Other filters do not suffice: the number of stacks that they select may change.
 */
function refuseSingleResourceFlags(
  { target = [], exclude = [], rotate = [], takeOver = [], allowProtected = [], allowRejected = [] }: SingleFlags,
  { names, count }: { readonly names: readonly string[]; readonly count: number },
): void {
  const given = [
    ...(target.length > 0 ? ['--target'] : []),
    ...(exclude.length > 0 ? ['--exclude'] : []),
    ...(rotate.length > 0 ? ['--rotate'] : []),
    ...(takeOver.length > 0 ? ['--take-over'] : []),
    ...(allowProtected.length > 0 ? ['--allow-protected'] : []),
    ...(allowRejected.length > 0 ? ['--allow-rejected'] : []),
  ];
  if (given.length === 0 || (names.length === 1 && count <= 1)) return;
  const flags = given.join(' and ');
  throw new CommandError(
    `${flags} cannot be used for ${formatCount(count, 'stack')}: more than one may contain that address.`,
    {
      exitCode: EXIT.invalid,
      remedy: 'Choose one stack with --stack NAME, or run the command on its folder. Nothing was sent.',
    },
  );
}

/** An account that stays open during a run over many stacks. */
export interface PooledAccount {
  readonly account: SharedAccount;
  readonly setLineWriter: SetNoticeWriter;
}

/** The accounts of a run: one for each base URL and API key, for any number of stacks. */
interface AccountPool {
  /**
   * Returns the account for connection settings. `file`: the Stack file that sets them, for errors. Throws if another
   * stack of the account has different settings, because both stacks would share one client.
   */
  readonly getAccount: (settings: ServiceSettings, file: string) => Promise<PooledAccount>;
  /** Returns the number of requests sent by reads so far, over all accounts. */
  readonly countReads: () => number;
  readonly close: () => Promise<void>;
}

interface Entry extends PooledAccount {
  /** The Stack file whose settings opened the account. */
  readonly file: string;
  readonly settings: ServiceSettings;
  readonly end: () => void;
}

/** Creates the accounts of a run. */
function createAccountPool(context: Context): AccountPool {
  const entries = new Map<string, Promise<Entry>>();
  const accounts: SharedAccount[] = [];
  const open = async (settings: ServiceSettings, apiKey: string | undefined, file: string): Promise<Entry> => {
    const { setLineWriter, watch, end, ...notices } = createServiceNotices(settings, context);
    const parts = {
      settings,
      watch,
      notices,
      given: { apiKey },
      onConnected: ({ warning }: { readonly warning: string | undefined }) =>
        printConnectionNotices(settings, warning, context),
    };
    const account = createSharedAccount(parts, context);
    accounts.push(account);
    return { account, setLineWriter, end, file, settings };
  };
  return {
    getAccount: async (settings, file) => {
      const apiKey = isEmbedded(settings.baseUrl) ? undefined : readApiKey(context, settings);
      const id = createAccountKeyContainingSecret(settings, context);
      const opening = entries.get(id) ?? open(settings, apiKey, file);
      entries.set(id, opening);
      const entry = await opening;
      refuseOtherSettings(entry, settings, file);
      return entry;
    },
    countReads: () => accounts.reduce((sum, account) => sum + account.countReads(), 0),
    close: async () => {
      for (const { account, end } of await Promise.all(entries.values())) {
        end();
        await account.close();
      }
    },
  };
}

/**
 * Throws if the settings differ from the settings of an open account. With two clients, each would keep the rate limit
 * of the account, and both together would exceed it.
 */
function refuseOtherSettings(entry: Entry, settings: ServiceSettings, file: string): void {
  const names = Object.keys(SETTING_NAMES) as (keyof typeof SETTING_NAMES)[]; // `Object.keys` loses the key type
  const differing = names.find((name) => JSON.stringify(entry.settings[name]) !== JSON.stringify(settings[name]));
  if (differing === undefined) return;
  throw new StackError(
    `${file} sets another ${SETTING_NAMES[differing]} than ${entry.file}, but both stacks use the same account.`,
    {
      reason: 'invalid',
      remedy: 'Set the same value in spec.api of both. Stacks of one account share one connection in a run.',
    },
  );
}

/**
 * Settings that must be equal for all stacks of an account, with their names in messages. `keyEnv` and `baseUrl` may
 * differ: two variables can contain the same key, and one data file of the embedded server has several names.
 */
const SETTING_NAMES: Readonly<Record<Exclude<keyof ServiceSettings, 'keyEnv' | 'baseUrl'>, string>> = {
  versionHeader: 'version header',
  pageSize: 'page size',
  concurrency: 'concurrency',
  rateLimit: 'rate limit',
  timeouts: 'timeout',
  caFile: 'file of authorities',
};

/**
 * Adds an error to the result of each stack that claims the same unique value as another stack. The error names the
 * other stack. `withdraw` is called for each stack with such an error, to remove its plan.
 */
export async function failConflictingStacks(
  run: StacksRun,
  parts: readonly StackReportPart[],
  withdraw: (folder: StackFolder) => Promise<void> | void = () => undefined,
): Promise<readonly StackReportPart[]> {
  const errors = run.claims.listConflicts();
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
    options: { ...(locate !== undefined && { locate }) },
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
