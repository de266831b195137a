import { resolve } from 'node:path';
import { findRoots } from '../../files/boundary.ts';
import type { Diagnostic, Locate } from '../../model/diagnostic.ts';
import { assertDefined } from '../../model/errors.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Shard, StackFolder } from '../../model/stack-tree.ts';
import type { DesiredState } from '../../model/state.ts';
import type { CommandLine, Report, StackPart, StacksReport } from '../../report/report.ts';
import { describeStacks, listUnownedLines } from '../../report/view/stacks-view.ts';
import { formatCount } from '../../report/view/wording.ts';
import {
  type ClaimRegistry,
  type ClaimSource,
  createClaimRegistry,
  listClaimConflicts,
  listStackClaims,
  type ReadClaims,
} from '../../repository/claim-registry.ts';
import { findTaker, getAccountId, refuseStillDescribed } from '../../repository/hand-over.ts';
import { orderStacks } from '../../repository/order-stacks.ts';
import { createPlannedResources, type PlannedResources } from '../../repository/planned-resources.ts';
import { type SelectedStacks, type StackFilter, selectStacks } from '../../repository/select-stacks.ts';
import { StackError } from '../../stack/host.ts';
import { isInvalid, type PlanOptions } from '../../stack/plan-live.ts';
import { readManifests, readValidManifests } from '../../stack/read-manifests.ts';
import { resolveTokens, type TokenFlags } from '../../stack/run-plan.ts';
import type { SavedFile } from '../../stack/saved-plan.ts';
import { getEmbeddedFile, isEmbedded, type RunSettings, readApiKey } from '../../stack/settings.ts';
import { createStack, type SharedAccount, type Stack, shareAccount } from '../../stack/stack.ts';
import { announceService, createServiceNotices, type SetLineWriter } from '../connection/notices.ts';
import { type ConnectionFlags, listenForInterrupts } from '../connection/stack-session.ts';
import { type Context, VERSION } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { refuseInputs } from '../output/output-files.ts';
import type { FormatFlags } from '../output/present.ts';
import { exitCodeOfError, getReportedError, publishStacks } from '../output/publish.ts';
import { type PlanFlags, resolveStackSettings } from '../reconcile/plan-flags.ts';

/** Flags that narrow a run over many stacks. */
export interface StackFilterFlags {
  readonly stack?: readonly string[];
  /** Those names are of plan files. */
  readonly isOfPlans?: boolean;
  readonly changedSince?: string;
  readonly shard?: Shard;
  readonly baseUrl?: string;
  readonly keyEnv?: string;
}

/** The same for those who select. */
export function toStackFilter({
  stack = [],
  isOfPlans = false,
  changedSince,
  shard,
  baseUrl,
  keyEnv,
}: StackFilterFlags): StackFilter {
  return { names: stack, isOfPlans, since: changedSince, shard, baseUrl, keyEnv };
}

/** What a run over many stacks is asked for. */
export interface StacksFlags extends StackFilterFlags, ConnectionFlags, TokenFlags, FormatFlags {
  readonly recursive?: boolean;
  /** Files and folders of policies, for each of the stacks. */
  readonly policies?: readonly string[];
}

/** A run over many stacks, until its report is shown. */
export interface StacksRun {
  readonly selected: SelectedStacks;
  readonly flags: StacksFlags;
  readonly command: string;
  readonly pool: AccountPool;
  readonly signal: AbortSignal;
  readonly context: Context;
  /** What the plans that were made so far make of resources: it holds for those that are planned after them. */
  readonly planned: PlannedResources;
  /** What the stacks claim that were read so far. */
  readonly claims: ClaimRegistry;
}

/** One stack of a run, its manifests read. */
interface OpenedStack {
  readonly folder: StackFolder;
  readonly state: DesiredState;
  readonly diagnostics: readonly Diagnostic[];
  readonly locate: Locate;
  readonly settings: RunSettings;
  readonly stack: Stack;
  readonly pooled: PooledAccount;
}

/** What one stack came to. */
export interface StackResult {
  readonly report: Report;
  readonly exitCode: ExitCode;
  readonly options?: StackPart['options'];
}

/** Finds the stacks, does something with them, and closes every account however that ends. */
export async function runOnStacks(
  paths: readonly string[],
  { flags, command }: Pick<StacksRun, 'command'> & { readonly flags: StacksFlags & SingleFlags },
  given: Context,
  task: (run: StacksRun) => Promise<ExitCode>,
): Promise<ExitCode> {
  const root = toRoot(paths);
  const context = withinTree(root, given);
  const selected = await selectStacks(root, toStackFilter(flags), context);
  refuseSingleFlags(flags, { names: flags.stack ?? [], count: selected.stacks.length });
  return runOnSelected(selected, { flags, command }, context, task);
}

/** Does the same with stacks that are known. */
export async function runOnSelected(
  selected: SelectedStacks,
  { flags, command }: Pick<StacksRun, 'flags' | 'command'>,
  context: Context,
  task: (run: StacksRun) => Promise<ExitCode>,
): Promise<ExitCode> {
  for (const line of listUnownedLines(toListing(selected))) context.stderr.write(`${toPrintable(line)}\n`);
  const { signal, stopListening } = listenForInterrupts(context);
  const pool = createAccountPool(context, signal);
  try {
    return await task({
      selected,
      flags,
      command,
      pool,
      signal,
      context,
      planned: createPlannedResources(),
      claims: createClaimRegistry(),
    });
  } finally {
    try {
      await pool.close();
    } finally {
      stopListening();
    }
  }
}

/** What the stacks of a tree name may lie anywhere below what holds the tree: its repository, else its folder. */
export function withinTree<T extends Pick<Context, 'cwd' | 'root'>>(tree: string, context: T): T {
  return { ...context, root: findRoots([tree], context).at(-1) };
}

function toRoot(paths: readonly string[]): string {
  const [root = '.', ...more] = paths;
  if (more.length === 0 && root !== '-') return root;
  const message = '--recursive takes one folder, below which the stacks are.';
  throw new CommandError(message, { exitCode: EXIT.invalid, remedy: 'Name a folder that all of them are in.' });
}

function toListing({ tree, ...selected }: SelectedStacks) {
  return { root: tree.root, total: tree.stacks.length, unowned: tree.unowned, ...selected };
}

/**
 * Runs a task for each stack. An error of one stack is its result, and the others continue. Stacks of one account run one after another, which limits memory;
 * different accounts do not wait for each other.
 */
export async function forEachStack(
  run: StacksRun,
  task: (folder: StackFolder) => Promise<StackResult>,
): Promise<readonly StackPart[]> {
  const { selected, command, signal, context } = run;
  const parts = new Map<StackFolder, StackPart>();
  const { ordered, circles } = orderStacks(selected.stacks);
  const groups = [...Map.groupBy(ordered, (folder) => getAccountId(folder, context)).values()];
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
          createStackPart(
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

/** A result as a part of the report. */
export function createStackPart(
  { name, folder, keyEnv }: StackFolder,
  { report, exitCode, options = {} }: StackResult,
): StackPart {
  return { name, folder, ...(keyEnv !== undefined && { keyEnv }), report, exitCode, options };
}

/** Why one stack came to no result. */
export function createFailedStack(error: unknown, { name, file }: StackFolder, command: string): StackResult {
  const place = { file, line: 1, column: 1, excerpt: '' };
  return {
    report: { about: 'failure', failure: { command, ...(name !== '' && { stack: name }), ...getReportedError(error) } },
    exitCode: exitCodeOfError(error),
    options: { locate: (address) => (address === undefined ? place : undefined) },
  };
}

/** How the manifests of a stack are read. */
interface OpenOptions {
  readonly lint?: 'for-plan';
  /** It is planned: policies have their say. */
  readonly isPlanned?: boolean;
  /** The files that an apply would write. */
  readonly listOutputs?: (state: DesiredState) => readonly string[];
}

/** Reads the manifests of a stack, and finds its account. Sends nothing. */
export async function openFolder(run: StacksRun, folder: StackFolder, options: OpenOptions = {}): Promise<OpenedStack> {
  const { flags, command, pool, context } = run;
  const { onSubject: _, ...quiet } = context;
  const { lint, listOutputs = () => [] } = options;
  // Drift plans nothing that a policy could refuse.
  const policies = command === 'drift' ? undefined : (flags.policies ?? []);
  const read = await readValidManifests([folder.folder], quiet, { ...(lint !== undefined && { lint }), policies });
  const { state, diagnostics, locate } = read;
  const settings = resolveStackSettings(flags, context, state);
  await refuseInputs(flags, { files: listOutputs(state), settings }, context);
  const tokens = resolveTokens(flags, state.stack.tokens, state.stack.name);
  const pooled = await pool.find(settings, folder.file);
  if (checksClaims(command)) recordClaims({ state, tokens }, { folder, account: pooled.account }, run);
  const parts = { state, diagnostics, policies: read.policies, tokens, version: VERSION };
  const stack = createStack(parts, pooled.account.toView(settings), context);
  return { folder, state, diagnostics, locate, settings, stack, pooled };
}

/** Whether conflicting claims stop this command. They do not stop `get` and `destroy`, which write no claimed value. */
function checksClaims(command: string): boolean {
  return command !== 'get' && command !== 'destroy';
}

/** Remembers what a stack claims. */
export function recordClaims(
  source: ClaimSource,
  { folder, account }: { readonly folder: StackFolder; readonly account: unknown },
  { claims, context }: Pick<StacksRun, 'claims' | 'context'>,
): void {
  claims.note(folder, account, listStackClaims(source, context));
}

/** Plans a stack, with what the plans before it make of what it refers to. With a plan file, throws when the plan is not the same. */
export async function planFolder(
  run: StacksRun,
  opened: OpenedStack,
  options: PlanOptions,
  saved?: SavedFile,
): Promise<Plan> {
  const { folder, stack } = opened;
  const { signal, context } = run;
  const { tree, stacks } = run.selected;
  const account = getAccountId(folder, context);
  await refuseStillDescribed(folder, tree, context);
  const isInRun = (name: string): boolean =>
    stacks.some((other) => other !== folder && other.name === name && getAccountId(other, context) === account);
  const all = { ...options, ...createOutlook(run, folder), isInRun, signal };
  const plan = saved === undefined ? await stack.plan(all) : await stack.replan(saved.plan, all, saved.name);
  if (!isInvalid(plan)) run.planned.note(account, plan);
  return plan;
}

/** What a stack has to know of others of the run. */
export function createOutlook(
  { planned, selected: { tree }, context }: StacksRun,
  folder: StackFolder,
): Required<Pick<PlanOptions, 'findTaker' | 'findPlanned'>> {
  return {
    findTaker: (address) => findTaker(folder, { tree, address }, context),
    findPlanned: planned.of(getAccountId(folder, context)),
  };
}

/** The report of a run. */
export function createStacksReport({ selected, command, pool }: StacksRun, parts: readonly StackPart[]): StacksReport {
  const requests = pool.countReads();
  const selection = describeStacks(toListing(selected));
  return { command, root: selected.tree.root, selection, ...(requests > 0 && { requests }), parts };
}

/** Shows the report of a run, and gives the gravest of its exit codes. */
export function publishRun(
  run: StacksRun,
  parts: readonly StackPart[],
  { applyCommand, ...more }: PublishOptions = {},
): Promise<ExitCode> {
  const exitCode = findWorstExitCode(parts.map((part) => part.exitCode));
  const report = { ...createStacksReport(run, parts), ...(applyCommand !== undefined && { applyCommand }) };
  return publishStacks(report, { flags: run.flags, exitCode, ...more }, run.context);
}

type PublishOptions = Pick<Parameters<typeof publishStacks>[1], 'isShown' | 'sent'> & {
  readonly applyCommand?: CommandLine | undefined;
};

/** From the least to the most severe. */
const GRAVITY: readonly ExitCode[] = [
  EXIT.done,
  EXIT.changes,
  EXIT.invalid,
  EXIT.refused,
  EXIT.stale,
  EXIT.authentication,
  EXIT.failed,
  EXIT.interrupted,
  EXIT.bug,
];

/** Of several exit codes the one that says most of what went wrong. */
export function findWorstExitCode(codes: readonly number[]): ExitCode {
  return GRAVITY.findLast((code) => codes.includes(code)) ?? EXIT.done;
}

/** Flags that name resources of one stack, or what may be done with them. */
type SingleFlags = Partial<Pick<PlanFlags, 'target' | 'rotate' | 'takeOver' | 'allowProtected' | 'allowRejected'>>;

/**
 * Rejects flags about one resource where several stacks may have its address. Only `--stack NAME` limits a run to one stack: any other filter may select
 * another number of stacks tomorrow.
 */
export function refuseSingleFlags(
  { target = [], rotate = [], takeOver = [], allowProtected = [], allowRejected = [] }: SingleFlags,
  { names, count }: { readonly names: readonly string[]; readonly count: number },
): void {
  const given = [
    ...(target.length > 0 ? ['--target'] : []),
    ...(rotate.length > 0 ? ['--rotate'] : []),
    ...(takeOver.length > 0 ? ['--take-over'] : []),
    ...(allowProtected.length > 0 ? ['--allow-protected'] : []),
    ...(allowRejected.length > 0 ? ['--allow-rejected'] : []),
  ];
  if (given.length === 0 || (names.length === 1 && count <= 1)) return;
  const flags = given.join(' and ');
  throw new CommandError(`${flags} cannot be used for ${formatCount(count, 'stack')}: each may have that address.`, {
    exitCode: EXIT.invalid,
    remedy: 'Add --stack NAME for the stack that you mean, or run the command on its folder. Nothing was sent.',
  });
}

/** An account, for as long as a run over many stacks takes. */
export interface PooledAccount {
  readonly account: SharedAccount;
  readonly setLineWriter: SetLineWriter;
}

/** The accounts of a run: one for each base URL and key, whatever the number of stacks. */
interface AccountPool {
  /** The account that settings lead to. Throws when another stack of it says something else about the way there: they share one client. */
  readonly find: (settings: RunSettings, file: string) => Promise<PooledAccount>;
  /** How many requests reading took, of all accounts. */
  readonly countReads: () => number;
  readonly close: () => Promise<void>;
}

interface Entry extends PooledAccount {
  /** Who opened it, and how. */
  readonly file: string;
  readonly settings: RunSettings;
  readonly end: () => void;
}

/** A pool without accounts. `signal` aborts reads. */
function createAccountPool(context: Context, signal: AbortSignal): AccountPool {
  const entries = new Map<string, Promise<Entry>>();
  const accounts: SharedAccount[] = [];
  const open = async (settings: RunSettings, apiKey: string | undefined, file: string): Promise<Entry> => {
    const { setLineWriter, watch, end, ...notices } = await createServiceNotices(settings, context);
    const parts = {
      settings,
      watch,
      notices,
      given: { apiKey },
      onReached: ({ warning }: { readonly warning: string | undefined }) => announceService(settings, warning, context),
    };
    const account = shareAccount(parts, context, signal);
    accounts.push(account);
    return { account, setLineWriter, end, file, settings };
  };
  return {
    find: async (settings, file) => {
      const apiKey = isEmbedded(settings.baseUrl) ? undefined : readApiKey(context, settings);
      const id = JSON.stringify([toPlace(settings.baseUrl, context.cwd), apiKey]);
      const opening = entries.get(id) ?? open(settings, apiKey, file);
      entries.set(id, opening);
      const entry = await opening;
      refuseOther(entry, settings, file);
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

/** The same for every name of a file that the embedded server keeps its data in: two servers would each write over what the other has kept. */
function toPlace(baseUrl: string, cwd: string): string {
  return isEmbedded(baseUrl) && getEmbeddedFile(baseUrl) !== '' ? resolve(cwd, getEmbeddedFile(baseUrl)) : baseUrl;
}

/** Two clients of one account would each keep to the rate limit, and together exceed it. */
function refuseOther(entry: Entry, settings: RunSettings, file: string): void {
  const names = Object.keys(WORDS) as (keyof typeof WORDS)[]; // its keys are those of its type
  const differing = names.find((name) => JSON.stringify(entry.settings[name]) !== JSON.stringify(settings[name]));
  if (differing === undefined) return;
  throw new StackError(
    `${file} sets another ${WORDS[differing]} than ${entry.file}, but both stacks use the same account.`,
    {
      reason: 'invalid',
      remedy: 'Set the same value in spec.api of both. Stacks of one account share one connection in a run.',
    },
  );
}

/** Two names of one key are one way. */
const WORDS: Readonly<Record<Exclude<keyof RunSettings, 'keyEnv'>, string>> = {
  baseUrl: 'base URL',
  versionHeader: 'version header',
  pageSize: 'page size',
  concurrency: 'concurrency',
  rateLimit: 'rate limit',
  timeouts: 'timeout',
  caFile: 'file of authorities',
};

/**
 * Stops the stacks of a run whose claims conflict: the result of each gets an error that names the other one. The rest of the run continues. `withdraw`
 * removes the plan of such a stack.
 */
export async function rejectConflictingStacks(
  run: StacksRun,
  parts: readonly StackPart[],
  withdraw: (folder: StackFolder) => Promise<void> | void = () => undefined,
): Promise<readonly StackPart[]> {
  const errors = await listClaimConflicts(run.claims.listRivals(), (folder) => readClaims(run, folder), run.context);
  for (const folder of errors.keys()) await withdraw(folder);
  const { stacks } = run.selected;
  return parts.map((part, index) => {
    const folder = stacks[index];
    const found = folder === undefined ? undefined : errors.get(folder);
    return found === undefined ? part : toStopped(part, found);
  });
}

async function readClaims({ flags, context }: StacksRun, folder: StackFolder): ReturnType<ReadClaims> {
  const { onSubject: _, ...quiet } = context;
  const { state } = await readManifests([folder.folder], quiet);
  if (state === undefined) return undefined;
  return { state, tokens: resolveTokens(flags, state.stack.tokens, state.stack.name) };
}

function toStopped({ options: { locate }, ...part }: StackPart, errors: readonly Diagnostic[]): StackPart {
  return {
    ...part,
    report: withErrors(part.report, errors),
    exitCode: findWorstExitCode([part.exitCode, EXIT.invalid]),
    options: { ...(locate !== undefined && { locate }) },
  };
}

/** A report of what was planned or compared, whatever became of it, with errors that forbid it. */
function withErrors(report: Report, errors: readonly Diagnostic[]): Report {
  const add = (found: readonly Diagnostic[] = []): readonly Diagnostic[] => [...errors, ...found];
  // It was rehearsed as if the other stack were not there.
  const toPlan = ({ rehearsal: _, ...plan }: Plan): Plan => ({ ...plan, diagnostics: add(plan.diagnostics) });
  switch (report.about) {
    case 'plan':
      return { ...report, plan: toPlan(report.plan) };
    case 'apply':
      return { about: 'plan', plan: toPlan(report.plan), blocking: [] };
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
