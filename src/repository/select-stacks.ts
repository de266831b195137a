import { createHash } from 'node:crypto';
import { suggest } from '../manifest/suggest.ts';
import { hasErrors } from '../model/diagnostic.ts';
import type { Environment } from '../model/pipeline.ts';
import { escapePath, quoteForShell } from '../model/shell-words.ts';
import {
  type AutomaticShard,
  createValidShard,
  type Shard,
  type StackFolder,
  type StackTree,
  type TreeChanges,
} from '../model/stack-tree.ts';
import { type Host, InvalidManifests, StackError } from '../stack/host.ts';
import { loadStackManifestSources } from '../stack/load-stack.ts';
import { readSetting } from '../stack/settings.ts';
import { readChangedStacks } from './read-changes.ts';
import { type GivenConnection, parseManifestStackDependencies, readStackTree } from './read-stack-tree.ts';

export interface StackSelectionOptions extends GivenConnection {
  /** The names of the selected stacks. If empty, all stacks are selected, unless the names come from plan files. */
  readonly names: readonly string[];
  /** Whether the names come from plan files. Then an unknown name is no error, and no name selects no stack. */
  readonly isOfPlans?: boolean;
  /** A commit. If set, only stacks that changed since this commit are selected. */
  readonly since?: string | undefined;
  /** The selected shard. If absent and `names` is empty, variables of edgewise may set it. */
  readonly shard?: Shard | AutomaticShard | undefined;
}

export interface SelectedStacks {
  readonly tree: StackTree;
  readonly stacks: readonly StackFolder[];
  readonly changes?: TreeChanges | undefined;
  readonly shard?: Shard | undefined;
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
  const found = readStackTree(root, { ...context, baseUrl, keyEnv, countsUnread: true });
  if (hasErrors(found.diagnostics)) throw new InvalidManifests(found.diagnostics);
  // If every stack was removed, the comparison with the commit names them.
  if (found.stacks.length === 0 && since === undefined) throw createNothingFoundError(found);
  const unknown = names.find((name) => !found.stacks.some((stack) => stack.name === name));
  if (unknown !== undefined && isOfPlans !== true) throw createUnknownStackError(unknown, found);
  const tree = await renderTree(found, context);
  const changes = since === undefined ? undefined : await readChangedStacks(tree, { since, baseUrl, keyEnv }, context);
  if (found.stacks.length === 0 && changes?.removed.length === 0) throw createNothingFoundError(found);
  const shard = findEffectiveShard(filter, context);
  const named = tree.stacks.filter((stack) => isSelectedByName(stack, filter));
  const changed = named.filter((stack) => changes?.changed.some((change) => change.stack === stack) ?? true);
  return {
    tree,
    stacks: shard === undefined ? changed : selectShard(changed, shard),
    changes,
    shard,
  };
}

function isSelectedByName({ name }: StackFolder, { names, isOfPlans }: StackSelectionOptions): boolean {
  return names.length === 0 ? isOfPlans !== true : names.includes(name);
}

/**
 * Returns the given shard, or the one that variables of edgewise set, unless stacks are named. The variables of a pipeline
 * count only for `auto`: GitLab sets the same ones for the jobs of a matrix, which are no shards.
 */
export function findEffectiveShard(
  { shard, names }: StackSelectionOptions,
  { env }: Pick<Host, 'env'>,
): Shard | undefined {
  if (shard === undefined && names.length > 0) return undefined;
  const given = shard ?? readSetting('shard', { env });
  if (given === undefined) return hasVariable(env, OWN_VARIABLES) ? readShard(env, OWN_VARIABLES) : undefined;
  return given.index === 'auto' ? readShardOfPipeline(env, given.from) : given;
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
interface ShardVariables {
  readonly index: string;
  readonly total: string;
  readonly first: number;
}

/** A GitHub matrix sets them, from `strategy.job-index` and `strategy.job-total`. */
const OWN_VARIABLES: ShardVariables = { index: 'EDGEWISE_SHARD_INDEX', total: 'EDGEWISE_SHARD_TOTAL', first: 0 };

/** An indexed Job of Kubernetes sets its index. GitLab sets both with `parallel`, and only the total, 1, without it. */
const PIPELINE_VARIABLES: readonly ShardVariables[] = [
  OWN_VARIABLES,
  { index: 'JOB_COMPLETION_INDEX', total: 'EDGEWISE_SHARD_TOTAL', first: 0 },
  { index: 'CI_NODE_INDEX', total: 'CI_NODE_TOTAL', first: 1 },
];

function readShardOfPipeline(env: Environment, from: string): Shard {
  const found = PIPELINE_VARIABLES.find(({ index }) => (env[index] ?? '') !== '');
  if (found !== undefined) return readShard(env, found);
  if (env['CI_NODE_TOTAL'] === '1') return { index: 1, total: 1, from: 'CI_NODE_TOTAL' };
  const names = PIPELINE_VARIABLES.map(({ index }) => index).join(', ');
  throw new StackError(`${from} is auto, but none of the variables ${names} is set.`, {
    reason: 'invalid',
    remedy: 'Run it in an indexed Job of Kubernetes or a GitLab job with `parallel`, or name the shard, such as 2/5.',
  });
}

function hasVariable(env: Environment, { index, total }: ShardVariables): boolean {
  return [index, total].some((name) => (env[name] ?? '') !== '');
}

/** Throws for invalid values: if they were ignored, every machine would process all stacks. */
function readShard(env: Environment, variables: ShardVariables): Shard {
  const [index = '', total = ''] = [env[variables.index], env[variables.total]];
  const number = parseShardNumber(index) + 1 - variables.first;
  const shard = createValidShard(number, parseShardNumber(total), variables.index);
  if (shard !== undefined) return shard;
  const values = `${variables.index} is ${JSON.stringify(index)} and ${variables.total} is ${JSON.stringify(total)}`;
  throw new StackError(`${values}, but both the number of the shard and the total are needed.`, {
    reason: 'invalid',
    remedy:
      'Set both. In an indexed Job, use --shard auto. Or name the shard, such as --shard 2/5; 1/1 selects all stacks.',
  });
}

function parseShardNumber(text: string): number {
  return /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
}

/**
 * Returns the stacks of a shard. With rendezvous hashing, adding a stack moves no other stack to another shard, and
 * changing the number of shards moves as few stacks as possible.
 */
export function selectShard(stacks: readonly StackFolder[], { index, total }: Shard): readonly StackFolder[] {
  return stacks.filter(({ name }) => computeIndex(name, total) === index);
}

/** Says what to do about a stack that a run over a selection needs and does not have. */
export function adviseOnUnselectedStack(name: string, { tree, stacks, shard }: SelectedStacks): string | undefined {
  const found = tree.stacks.find((stack) => stack.name === name);
  if (found === undefined)
    return `No stack below ${tree.root} has the name ${name}: correct it, or apply that stack where it is.`;
  if (stacks.includes(found)) return undefined;
  if (shard === undefined) return `The stack ${name} is not selected: apply it first, in ${found.folder}.`;
  const index = computeIndex(name, shard.total);
  if (index === shard.index) return `The stack ${name} is not selected: apply it first, in ${found.folder}.`;
  return `The stack ${name} is in shard ${index} of ${shard.total}: run that shard first, then this one again.`;
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
