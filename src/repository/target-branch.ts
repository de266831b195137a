import { posix, relative, resolve, sep } from 'node:path';
import { resolveLinks } from '../files/real-path.ts';
import { isManifestName } from '../manifest/load.ts';
import { compileInputPattern, isAtOrBelow } from '../manifest/path-pattern.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { findTargetBranch } from '../model/pipeline.ts';
import { createNearestFolderSearch, type StackFolder, type StackTree } from '../model/stack-tree.ts';
import { StackError } from '../model/user-errors.ts';

import { type GitHost, type GitRepository, openGitRepository } from './git.ts';

/** The commits of the target branch that the checkout of a pull request lacks. */
interface MissingCommits {
  readonly target: string;
  readonly count: number;
  /** The stacks that these commits change. `undefined`: the history that git has does not tell. */
  readonly stacks: readonly StackFolder[] | undefined;
}

/**
 * Finds out whether HEAD lacks commits of the branch into which it is to be merged, which the variables of the system
 * name. What git was not given is unknown: nothing is fetched. `undefined`: it lacks none, or that is unknown.
 */
export async function findMissingCommits(tree: StackTree, host: GitHost): Promise<MissingCommits | undefined> {
  const target = findTargetBranch(host.env);
  if (target === undefined) return undefined;
  try {
    const repository = openGitRepository(tree.root, host);
    const tip = await findTip(target, repository);
    if (tip === undefined) return undefined;
    const count = Number(await repository.run(['rev-list', '--count', `HEAD..${tip}`]));
    return count === 0
      ? undefined
      : { target, count, stacks: await listChangedStacks(tip, { tree, repository, host }) };
  } catch (error) {
    // Without a repository or git, nothing is known about the target.
    if (error instanceof StackError) return undefined;
    throw error;
  }
}

/** Creates the warning of the plan of a stack that the missing commits change. */
export function warnOfMissingCommits(
  { target, count, stacks }: MissingCommits,
  stack: StackFolder,
): Diagnostic | undefined {
  if (stacks !== undefined && !stacks.some(({ folder }) => folder === stack.folder)) return undefined;
  const commits = count === 1 ? '1 commit' : `${count} commits`;
  const verb = count === 1 ? 'changes' : 'change';
  const names = stacks === undefined ? '' : `, which ${verb} ${stacks.map(({ name }) => name).join(', ')}`;
  return {
    code: 'behind-target',
    severity: 'warning',
    message: `HEAD lacks ${commits} of ${target}${names}: what they added may be listed here as no longer in the manifests`,
    remedy: `Plan the result of the merge, or merge ${target} into the branch.`,
  };
}

/** Returns the commit of a branch as git last fetched it. A clone without remotes has the branch itself. */
async function findTip(target: string, repository: GitRepository): Promise<string | undefined> {
  for (const ref of [`refs/remotes/origin/${target}`, `refs/heads/${target}`]) {
    const found = await askQuietly(repository, [
      'rev-parse',
      '--quiet',
      '--verify',
      '--end-of-options',
      `${ref}^{commit}`,
    ]);
    if (found !== undefined) return found.trim();
  }
  return undefined;
}

/** Resolves with `undefined` if git says no, without an error. */
async function askQuietly({ ask }: GitRepository, args: readonly string[]): Promise<string | undefined> {
  const answer = await ask(args);
  if (typeof answer === 'string') return answer;
  if (answer.why === 'quiet') return undefined;
  throw answer.error;
}

interface Context {
  readonly tree: StackTree;
  readonly repository: GitRepository;
  readonly host: GitHost;
}

async function listChangedStacks(
  tip: string,
  { tree, repository, host }: Context,
): Promise<readonly StackFolder[] | undefined> {
  const { top, run } = repository;
  const base = await askQuietly(repository, ['merge-base', 'HEAD', tip]);
  if (base === undefined) return undefined;
  const listed = await run(['diff-tree', '-r', '-z', '--name-only', '--no-renames', base.trim(), tip]);
  const paths = listed.split('\0').filter((path) => path !== '');
  const toPath = (folder: string): string =>
    relative(top, resolveLinks(resolve(host.cwd, folder)))
      .split(sep)
      .join('/') || '.';
  const findStackFolder = createNearestFolderSearch(tree.stacks.map(({ folder }) => toPath(folder)));
  return tree.stacks.filter((stack) => {
    const folder = toPath(stack.folder);
    return paths.some(
      (path) => findStackFolder(posix.dirname(path)) === folder || isReadElsewhere(path, stack, folder),
    );
  });
}

/** Whether a stack reads a file outside of its folder: Defaults above it, policies, and what `spec.inputs` names. */
function isReadElsewhere(path: string, { policies, inputs }: StackFolder, folder: string): boolean {
  const mayHaveDefaults = isManifestName(posix.basename(path)) && isAbove(posix.dirname(path), folder);
  return (
    mayHaveDefaults ||
    policies.some((policy) => isAtOrBelow(path, posix.join(folder, policy))) ||
    inputs.some((pattern) => compileInputPattern(pattern, folder === '.' ? '' : folder)?.matches(path) === true)
  );
}

function isAbove(folder: string, inner: string): boolean {
  return folder !== inner && (folder === '.' || isAtOrBelow(inner, folder));
}
