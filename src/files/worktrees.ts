import { readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isFileError, readInput } from './read-input.ts';
import { findStats } from './real-path.ts';

/**
 * The folders of the other worktrees of a repository, such as the main one: the authors of its commits decide their files,
 * too. `top`: a folder with `.git`. What `.git` says only adds folders, so it need not be trusted.
 */
export function listOtherWorktrees(top: string): readonly string[] {
  const own = findGitFolder(top);
  if (own === undefined) return [];
  const common = resolve(own, readLine(join(own, 'commondir')) ?? '.');
  const main = basename(common) === '.git' ? [dirname(common)] : [];
  const linked = listNames(join(common, 'worktrees')).flatMap((name) => {
    const file = readLine(join(common, 'worktrees', name, 'gitdir'));
    return file === undefined ? [] : [dirname(resolve(common, 'worktrees', name, file))];
  });
  return [...main, ...linked].filter((folder) => folder !== top);
}

/** The folder in which git keeps what belongs to a worktree. A linked worktree has a file that names it. */
function findGitFolder(top: string): string | undefined {
  const path = join(top, '.git');
  if (findStats(path)?.isDirectory() === true) return path;
  const [, named] = /^gitdir: (.+)$/.exec(readLine(path) ?? '') ?? [];
  return named === undefined ? undefined : resolve(top, named);
}

/** The first line of a small file. `undefined` if it cannot be read. */
function readLine(file: string): string | undefined {
  try {
    return readInput(file, { onlyFiles: true }).toString('utf8').split(/\r?\n/)[0];
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isFileError(error)) return [];
    throw error;
  }
}
