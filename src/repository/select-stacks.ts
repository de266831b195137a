import { createHash } from 'node:crypto';
import { suggest } from '../manifest/suggest.ts';
import { hasErrors } from '../model/diagnostic.ts';
import type { Environment } from '../model/pipeline.ts';
import { escapePath, quoteForShell } from '../model/shell-words.ts';
import {
  createValidShard,
  SHARD_SYNTAX,
  type Shard,
  type StackFolder,
  type StackTree,
  type TreeChanges,
} from '../model/stack-tree.ts';
import { type Host, InvalidManifests, StackError } from '../stack/host.ts';
import { loadStackManifestSources } from '../stack/load-stack.ts';
import { readSetting } from '../stack/settings.ts';
import { readChangedStacks } from './read-changes.ts';
import { parseManifestStackDependencies, readStackTree } from './read-stack-tree.ts';

export interface StackSelectionOptions {
  /** The names of the selected stacks. If empty, all stacks are selected. */
  readonly names: readonly string[];
  /** Whether the names come from plan files. Then an unknown name is no error. */
  readonly isOfPlans?: boolean;
  /** A commit. If set, only stacks that changed since this commit are selected. */
  readonly since?: string | undefined;
  /** The selected shard. If absent and `names` is empty, environment variables may set it. */
  readonly shard?: Shard | undefined;
  readonly baseUrl?: string | undefined;
  /** The environment variable that contains the API key of all stacks. */
  readonly keyEnv?: string | undefined;
}

export interface SelectedStacks {
  readonly tree: StackTree;
  readonly stacks: readonly StackFolder[];
  readonly changes?: TreeChanges;
  readonly shard?: Shard;
  /** The names of stacks without a plan. Set only if plan files are applied. */
  readonly unplanned?: readonly string[];
}

/**
 * Finds the stacks below `root` that the filter selects. Rejects if there are no stacks, if a name is unknown, or if
 * the tree has errors. An empty selection is not an error.
 */
export async function selectStacks(
  root: string,
  filter: StackSelectionOptions,
  context: Host,
): Promise<SelectedStacks> {
  const { names, isOfPlans, since, baseUrl, keyEnv } = filter;
  const found = readStackTree(root, { ...context, baseUrl, keyEnv });
  if (hasErrors(found.diagnostics)) throw new InvalidManifests(found.diagnostics);
  if (found.stacks.length === 0) throw createNothingFoundError(found);
  const unknown = names.find((name) => !found.stacks.some((stack) => stack.name === name));
  if (unknown !== undefined && isOfPlans !== true) throw createUnknownStackError(unknown, found);
  const tree = await renderTree(found, context);
  const changes = since === undefined ? undefined : await readChangedStacks(tree, since, context);
  const shard = findEffectiveShard(filter, context);
  const named = tree.stacks.filter(({ name }) => names.length === 0 || names.includes(name));
  const changed = named.filter((stack) => changes?.changed.some((change) => change.stack === stack) ?? true);
  return {
    tree,
    stacks: shard === undefined ? changed : selectShard(changed, shard),
    ...(changes !== undefined && { changes }),
    ...(shard !== undefined && { shard }),
  };
}

/** Returns the given shard. If none is given, returns the shard that the environment sets, unless stacks are named. */
export function findEffectiveShard(
  { shard, names }: StackSelectionOptions,
  { env }: Pick<Host, 'env'>,
): Shard | undefined {
  return shard ?? (names.length === 0 ? findShard(env) : undefined);
}

function createNothingFoundError({ root, filesWithoutStack }: StackTree): StackError {
  const there =
    filesWithoutStack.length === 0
      ? 'no manifest at all'
      : `${filesWithoutStack.length} manifest files, but no Stack document`;
  return new StackError(`There is no stack below ${root}: ${there}.`, {
    reason: 'invalid',
    remedy:
      'Name the folder that contains the stacks. A folder with a Stack document is a stack; edgewise init writes one.',
  });
}

function createUnknownStackError(name: string, { root, stacks }: StackTree): StackError {
  const known = stacks.map((stack) => stack.name);
  const nearest = suggest(name, known);
  return new StackError(`No stack below ${root} has the name ${name}.`, {
    reason: 'invalid',
    remedy:
      nearest === undefined
        ? `edgewise stacks ${quoteForShell(escapePath(root))} lists them.`
        : `Did you mean ${nearest}?`,
  });
}

/** Environment variables with the index of this job and the number of jobs. `first`: the index of the first job. */
const VARIABLES = [
  { index: 'EDGEWISE_SHARD_INDEX', total: 'EDGEWISE_SHARD_TOTAL', first: 0 },
  { index: 'JOB_COMPLETION_INDEX', total: 'EDGEWISE_SHARD_TOTAL', first: 0 },
  { index: 'CI_NODE_INDEX', total: 'CI_NODE_TOTAL', first: 1 },
] as const;

/**
 * Reads the shard from the environment: from `EDGEWISE_SHARD`, from a GitHub matrix (`strategy.job-index` and
 * `strategy.job-total` as EDGEWISE_SHARD_INDEX and EDGEWISE_SHARD_TOTAL), from an indexed Job of Kubernetes, or from
 * GitLab's `parallel`. Throws for invalid values: if they were ignored, every machine would process all stacks.
 */
function findShard(env: Environment): Shard | undefined {
  const whole = readSetting('shard', { env });
  if (whole !== undefined) return whole;
  const pair = VARIABLES.find(({ index }) => (env[index] ?? '') !== '');
  if (pair === undefined) return undefined;
  const [index = '', total = ''] = [env[pair.index], env[pair.total]];
  const shard = createValidShard(parseShardNumber(index) + 1 - pair.first, parseShardNumber(total), pair.index);
  if (shard !== undefined) return shard;
  return refuse(`${pair.index} is ${JSON.stringify(index)} and ${pair.total} is ${JSON.stringify(total)}`);
}

function parseShardNumber(text: string): number {
  return /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
}

function refuse(what: string): never {
  throw new StackError(`${what}, but both the number of the shard and the total are needed.`, {
    reason: 'invalid',
    remedy: `Set both, or use --shard ${SHARD_SYNTAX}. --shard 1/1 selects all stacks.`,
  });
}

/**
 * Returns the stacks of a shard. With rendezvous hashing, adding a stack moves no other stack to another shard, and
 * changing the number of shards moves as few stacks as possible.
 */
export function selectShard(stacks: readonly StackFolder[], { index, total }: Shard): readonly StackFolder[] {
  return stacks.filter(({ name }) => computeIndex(name, total) === index);
}

function computeIndex(name: string, total: number): number {
  const digests = Array.from({ length: total }, (_, at) => {
    const digest = createHash('sha256')
      .update(`${name}\n${at + 1}`)
      .digest('hex');
    return { index: at + 1, digest };
  });
  return digests.reduce((best, one) => (one.digest > best.digest ? one : best)).index;
}

/**
 * The maximum number of `spec.render` commands that run at the same time: each may need much memory.
 * Four keep the processors of a usual CI machine busy.
 */
const AT_ONCE = 4;

/**
 * Reads the dependencies of rendered stacks from the output of their commands, and returns the tree with these
 * dependencies. All stacks are rendered, even if the run selects a few, because any stack may take over resources of a
 * selected one. A command that fails is reported when its stack is read.
 */
async function renderTree(tree: StackTree, context: Host): Promise<StackTree> {
  const rendered = tree.stacks.filter(({ isRendered }) => isRendered);
  if (rendered.length === 0 || context.render === undefined) return tree;
  const found = new Map<StackFolder, StackFolder>();
  const waiting = rendered.values();
  const work = async (): Promise<void> => {
    for (const stack of waiting) found.set(stack, await renderNameOfStack(stack, context));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { ...tree, stacks: tree.stacks.map((stack) => found.get(stack) ?? stack) };
}

async function renderNameOfStack(stack: StackFolder, context: Host): Promise<StackFolder> {
  const readStdin = async () => new Uint8Array();
  const { sources, isPartial } = await loadStackManifestSources([stack.folder], { ...context, readStdin });
  return isPartial ? stack : { ...stack, ...parseManifestStackDependencies(sources, context) };
}
