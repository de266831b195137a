import type { Address } from '../../model/address.ts';
import type { Action } from '../../model/change.ts';
import type { Diagnostic, Locate } from '../../model/diagnostic.ts';
import { assertDefined } from '../../model/errors.ts';
import type { Plan } from '../../model/plan.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import type { DesiredState } from '../../model/state.ts';
import type { Report } from '../../report/report.ts';
import type { StackPart, StacksReport } from '../../report/stacks-report.ts';
import { describeStacks, listUnownedLines } from '../../report/view/stack-words.ts';
import { isInvalid, type PlanOptions } from '../../stack/plan-live.ts';
import { readValidManifests } from '../../stack/read-manifests.ts';
import type { ConnectionFlags, RunSettings } from '../../stack/settings.ts';
import { createStack, type Stack } from '../../stack/stack.ts';
import { resolveTokens, type TokenFlags } from '../../stack/token-sinks.ts';
import { type ClaimLedger, createClaimLedger } from '../../stacks/claim-ledger.ts';
import { dependsOn } from '../../stacks/find-changes.ts';
import { isTakenOver, refuseDescribed } from '../../stacks/hand-over.ts';
import { type ClaimSource, listStackClaims } from '../../stacks/list-stack-claims.ts';
import { orderStacks } from '../../stacks/order-stacks.ts';
import { type SelectedStacks, selectStacks } from '../../stacks/select-stacks.ts';
import { toAccountId } from '../../stacks/to-account-id.ts';
import { listenForInterrupts } from '../connection/interrupts.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { toFailedExitCode, toReported } from '../output/failure.ts';
import type { FormatFlags } from '../output/present.ts';
import { publishStacks } from '../output/publish.ts';
import { refuseInputs } from '../output/run-inputs.ts';
import { resolveStackSettings } from '../reconcile/plan-flags.ts';
import { VERSION } from '../version.ts';
import { type AccountPool, createAccountPool, type PooledAccount } from './account-pool.ts';
import { type NarrowingFlags, toNarrowing } from './narrowing.ts';
import { refuseSingleFlags, type SingleFlags } from './refuse-single-flags.ts';

/** What a run over many stacks is asked for. */
export interface StacksFlags extends NarrowingFlags, ConnectionFlags, TokenFlags, FormatFlags {
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
  /** What the plans that were made so far create: it exists for those that are planned after them. */
  readonly made: Map<StackFolder, ReadonlySet<Address>>;
  /** What the stacks claim that were read so far. */
  readonly claims: ClaimLedger;
}

/** One stack of a run, its manifests read. */
export interface OpenedStack {
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
export async function withStacks(
  paths: readonly string[],
  { flags, command }: Pick<StacksRun, 'command'> & { readonly flags: StacksFlags & SingleFlags },
  context: Context,
  task: (run: StacksRun) => Promise<ExitCode>,
): Promise<ExitCode> {
  const selected = await selectStacks(toRoot(paths), toNarrowing(flags), context);
  refuseSingleFlags(flags, { names: flags.stack ?? [], count: selected.stacks.length });
  return withSelected(selected, { flags, command }, context, task);
}

/** Does the same with stacks that are known. */
export async function withSelected(
  selected: SelectedStacks,
  { flags, command }: Pick<StacksRun, 'flags' | 'command'>,
  context: Context,
  task: (run: StacksRun) => Promise<ExitCode>,
): Promise<ExitCode> {
  for (const line of listUnownedLines(toListing(selected))) context.stderr.write(`${line}\n`);
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
      made: new Map(),
      claims: createClaimLedger(),
    });
  } finally {
    try {
      await pool.close();
    } finally {
      stopListening();
    }
  }
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
 * Does something with each stack. What goes wrong with one is its result, and the others go on. Those of one account are done one after another,
 * so that no more is kept than what is being done; different accounts do not wait for each other.
 */
export async function forEachStack(
  run: StacksRun,
  task: (folder: StackFolder) => Promise<StackResult>,
): Promise<readonly StackPart[]> {
  const { selected, command, signal, context } = run;
  const parts = new Map<StackFolder, StackPart>();
  const groups = [...Map.groupBy(orderStacks(selected.stacks), (folder) => toAccountId(folder, context)).values()];
  await Promise.all(
    groups.map(async (group) => {
      for (const folder of group) {
        signal.throwIfAborted();
        parts.set(
          folder,
          toPart(folder, await task(folder).catch((error: unknown) => toFailed(error, folder, command))),
        );
      }
    }),
  );
  signal.throwIfAborted();
  return selected.stacks.map((folder) => assertDefined(parts.get(folder), `a result of ${folder.folder}`));
}

/** A result as a part of the report. */
export function toPart(
  { name, folder, keyEnv }: StackFolder,
  { report, exitCode, options = {} }: StackResult,
): StackPart {
  return { name, folder, ...(keyEnv !== undefined && { keyEnv }), report, exitCode, options };
}

/** Why one stack came to no result. */
export function toFailed(error: unknown, { name, file }: StackFolder, command: string): StackResult {
  const place = { file, line: 1, column: 1, excerpt: '' };
  return {
    report: { about: 'failure', failure: { command, ...(name !== '' && { stack: name }), ...toReported(error) } },
    exitCode: toFailedExitCode(error),
    options: { locate: (address) => (address === undefined ? place : undefined) },
  };
}

/** How the manifests of a stack are read. */
export interface OpenOptions {
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
  if (isExclusive(command)) noteClaims({ state, tokens }, { folder, account: pooled.account }, run);
  const parts = { state, diagnostics, policies: read.policies, tokens, version: VERSION };
  const stack = createStack(parts, pooled.account.toView(settings), context);
  return { folder, state, diagnostics, locate, settings, stack, pooled };
}

/** What only one stack may have stands against a run that would write or judge it: not against one that shows what is there, or deletes it. */
function isExclusive(command: string): boolean {
  return command !== 'get' && command !== 'destroy';
}

/** Remembers what a stack claims. */
export function noteClaims(
  source: ClaimSource,
  { folder, account }: { readonly folder: StackFolder; readonly account: unknown },
  { claims, context }: Pick<StacksRun, 'claims' | 'context'>,
): void {
  claims.note(folder, account, listStackClaims(source, context));
}

/** Plans a stack, with what the plans before it will have created. */
export async function planFolder(
  { made, signal, selected: { tree, stacks }, context }: StacksRun,
  { folder, stack }: OpenedStack,
  options: PlanOptions,
): Promise<Plan> {
  const willExist: PlanOptions['willExist'] = (foreign) =>
    [...made].some(([other, created]) => {
      const isMeant = other.name === foreign.stack && toAccountId(other, context) === toAccountId(folder, context);
      return isMeant && created.has(foreign.resource);
    });
  await refuseDescribed(folder, tree, context);
  const isHandedOver = (address: string): boolean => isTakenOver(folder, { tree, address }, context);
  const comesLater = (name: string): boolean => stacks.some((other) => other.name === name && dependsOn(other, folder));
  const plan = await stack.plan({ ...options, willExist, isHandedOver, comesLater, signal });
  const created = plan.changes.filter(({ action }) => CREATES.has(action)).map(({ address }) => address);
  if (!isInvalid(plan)) made.set(folder, new Set(created));
  return plan;
}

const CREATES: ReadonlySet<Action> = new Set<Action>(['create', 'replace']);

/** The report of a run. */
export function toStacksReport({ selected, command, pool }: StacksRun, parts: readonly StackPart[]): StacksReport {
  const requests = pool.countReads();
  const selection = describeStacks(toListing(selected));
  return { command, root: selected.tree.root, selection, ...(requests > 0 && { requests }), parts };
}

/** Shows the report of a run, and gives the gravest of its exit codes. */
export function publishRun(
  run: StacksRun,
  parts: readonly StackPart[],
  more: Pick<Parameters<typeof publishStacks>[1], 'isShown' | 'sent'> = {},
): Promise<ExitCode> {
  const exitCode = toGravest(parts.map((part) => part.exitCode));
  return publishStacks(toStacksReport(run, parts), { flags: run.flags, exitCode, ...more }, run.context);
}

/** From what is no trouble to what is most. */
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
export function toGravest(codes: readonly number[]): ExitCode {
  return GRAVITY.findLast((code) => codes.includes(code)) ?? EXIT.done;
}
