import { listRootsOfPaths } from '../../files/boundary.ts';
import { createSourceFiles } from '../../manifest/source-files.ts';
import { toPrintable } from '../../model/printable.ts';
import type { StackFolder, StackListing, StackTree } from '../../model/stack-tree.ts';
import { StackError } from '../../model/user-errors.ts';
import { listFilesWithoutStackLines } from '../../report/view/run-wording.ts';
import { formatCount } from '../../report/view/wording.ts';
import { type GivenConnection, readDefaultsAbove } from '../../repository/read-stack-tree.ts';
import { type SelectedStacks, type StackSelectionOptions, selectStacks } from '../../repository/select-stacks.ts';
import { findMissingCommits, warnOfMissingCommits } from '../../repository/target-branch.ts';
import { refuseTakeOverWithOldManifest } from '../../run/hand-over.ts';
import { createUnreadFolder, findStackAmongOthers, listStacksOfRepository, NO_TREE } from '../../run/neighbours.ts';
import type { PlanningRun } from '../../run/plan-stacks.ts';
import { createPlannedResources } from '../../run/planned-resources.ts';
import { createSession, type OpenedStack, type Session } from '../../run/session.ts';
import { listStackClaims, type StackWithClaims } from '../../run/stack-claims.ts';
import type { Request } from '../../settings/request.ts';
import type { ConnectionFlags } from '../../settings/table.ts';
import { resolveTokenSettings, type TokenFlags } from '../../stack/choose-sinks.ts';
import { readValidManifests } from '../../stack/read-manifests.ts';
import { describeServiceOrigin, resolveSettingsFromManifests } from '../../stack/settings.ts';
import { createStack } from '../../stack/stack.ts';
import { type Accounts, withAccounts } from '../connection/accounts.ts';
import { refuseMissingDataFile } from '../connection/data-file.ts';
import { type Context, VERSION } from '../context.ts';
import type { ExitCode } from '../exit-code.ts';
import { refuseOverwrittenInputs } from '../output/output-files.ts';
import type { FormatFlags } from '../output/present.ts';
import { noteTokenCommands } from './artifact-files.ts';
import { listWordsForOneStack } from './plan-flags.ts';

/**
 * A run over a list of stacks. Without --recursive, the list has one stack, which the user names by its manifests. The
 * result is then a report without parts, and an error ends the command.
 */

/** Flags that select stacks below a folder. */
export interface StackFilterFlags {
  readonly recursive?: boolean;
  readonly stack?: readonly string[];
  readonly changedSince?: string | undefined;
}

export function toSelectionOptions({
  stack = [],
  changedSince,
  baseUrl,
  keyEnv,
}: StackFilterFlags & GivenConnection): StackSelectionOptions {
  return { names: stack, since: changedSince, baseUrl, keyEnv };
}

export interface StacksFlags
  extends StackFilterFlags,
    ConnectionFlags,
    TokenFlags,
    FormatFlags,
    Pick<Request, 'policies'> {}

/** A run of a command over a list of stacks. */
export interface StacksRun extends PlanningRun {
  /** The words that name the stacks: a folder of many, or the manifests of one. */
  readonly paths: readonly string[];
  readonly flags: StacksFlags;
  readonly command: string;
  readonly accounts: Accounts;
  readonly context: Context;
  /** Asks git, once in a run, which commits of its target branch a pull request lacks. */
  readonly findMissing: (tree: StackTree) => ReturnType<typeof findMissingCommits>;
}

interface RunRequest {
  readonly flags: StacksFlags & Request;
  readonly command: string;
  /** What the user allows a plan to do. Default: what the flags allow. */
  readonly consentTo?: StacksRun['consentTo'];
}

/** Selects the stacks, runs the task on them, and closes every account even if the task fails. */
export async function withStacks(
  named: readonly string[],
  { flags, command, consentTo = () => flags }: RunRequest,
  whole: Context,
  task: (run: StacksRun) => Promise<ExitCode>,
): Promise<ExitCode> {
  const isOfMany = flags.recursive === true;
  const reading = { ...whole, files: createSourceFiles() };
  const paths = named.map((path) => path || '.'); // a variable that is not set
  const context = isOfMany ? confineFilesToRepository(getRoot(paths), reading) : reading;
  const selected = isOfMany ? await selectStacks(getRoot(paths), toSelectionOptions(flags), context) : selectOne(paths);
  if (isOfMany) refuseSingleResourceFlags(flags, { names: flags.stack ?? [], count: selected.stacks.length });
  for (const line of listFilesWithoutStackLines(createListing(selected)))
    context.stderr.write(`${toPrintable(line)}\n`);
  const notes = {
    planned: createPlannedResources(),
    claims: [],
    findMissing: once((tree: StackTree) => findMissingCommits(tree, context)),
    listAround: once(() => listStacksOfRepository(selected.tree.root, flags, context)),
  };
  const sessions = selected.stacks.map(createSession);
  const run = { selected, sessions, isOfMany, paths, flags, command, consentTo, context, ...notes };
  return withAccounts(context, (use) => task({ ...run, ...use }));
}

/** The only stack of a run, of which nothing is known before its manifests are read. */
function selectOne([path = '.']: readonly string[]): SelectedStacks {
  const stacks = [createUnreadFolder(path)];
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

/** Computes a value when it is first asked for. */
function once<Args extends readonly unknown[], T>(compute: (...args: Args) => T): (...args: Args) => T {
  let computed: { readonly value: T } | undefined;
  return (...args) => {
    computed ??= { value: compute(...args) };
    return computed.value;
  };
}

/** The stacks below the folder of a run, and those that it selects. */
export function createListing({ tree, ...selected }: SelectedStacks): StackListing {
  const { root, stacks, filesWithoutStack, diagnostics } = tree;
  return { root, total: stacks.length, filesWithoutStack, diagnostics, ...selected };
}

/** Reads the manifests of a stack, looks for the stacks around it, and finds its account. Sends no request. */
export async function openSession(run: StacksRun, session: Session): Promise<OpenedStack> {
  const { flags, command, accounts, isOfMany, context } = run;
  const { folder: selected } = session;
  // `get` makes no plan that a policy could reject.
  const policies = command === 'get' ? undefined : (flags.policies ?? []);
  const read = await readValidManifests(listPathsOf(run, selected), createReadingContext(run), {
    lint: command === 'plan' || command === 'apply' ? 'for-plan' : undefined,
    policies,
  });
  const { state, locate } = read;
  session.locate = locate;
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
    refuseBesideOthers: () => refuseTakeOverWithOldManifest(folder, tree, context),
  };
  const stack = createStack({ ...parts, version: VERSION }, account, context);
  session.opened = { folder, tree, state, settings, stack, account };
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

export function recordClaims(stack: StackWithClaims, { claims, context }: Pick<StacksRun, 'claims' | 'context'>): void {
  claims.push(...listStackClaims(stack, context));
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
