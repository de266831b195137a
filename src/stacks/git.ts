import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { withoutKeys } from '../model/api-key.ts';
import { toReason } from '../model/errors.ts';
import { StackError } from '../stack/stack-error.ts';
import type { Surroundings } from '../stack/surroundings.ts';

const run = promisify(execFile);

/** What of a working tree differs from a commit. */
export interface ChangedFiles {
  /** Real paths of files that were changed, added, deleted or not committed yet. */
  readonly all: ReadonlySet<string>;
  /** Those below a folder, or of it, that patterns relative to it name. */
  readonly match: (folder: string, patterns: readonly string[]) => Promise<readonly string[]>;
}

/** Asks git what differs from a commit, in the repository that a folder is in. Runs no shell and no program that the repository names. */
export async function listChangedFiles(
  root: string,
  since: string,
  { cwd, env }: Pick<Surroundings, 'cwd' | 'env'>,
): Promise<ChangedFiles> {
  const folder = resolve(cwd, root);
  const git = (at: string, ...words: readonly string[]) => runGit(at, words, env);
  const top = realpathSync.native(resolve(folder, (await git(folder, 'rev-parse', '--show-cdup')).trim()));
  const commit = await findCommit(
    () => git(folder, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${since}^{commit}`),
    since,
  );
  const list = async (at: string, paths: readonly string[]): Promise<readonly string[]> => {
    const [changed, added] = await Promise.all([
      git(at, 'diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--no-textconv', commit, '--', ...paths),
      git(at, 'ls-files', '-z', '--others', '--exclude-standard', '--full-name', '--', ...paths),
    ]);
    const names = `${changed}${added}`.split('\0').filter((name) => name !== '');
    return [...new Set(names)].map((name) => resolve(top, name)).sort();
  };
  return {
    all: new Set(await list(top, [])),
    match: (at, patterns) =>
      list(
        resolve(cwd, at),
        patterns.map((pattern) => `:(glob)${pattern}`),
      ),
  };
}

async function findCommit(ask: () => Promise<string>, since: string): Promise<string> {
  try {
    return (await ask()).trim();
  } catch (cause) {
    throw new StackError(`${since} is no commit of this repository.`, {
      reason: 'invalid',
      remedy:
        'Correct the name, or fetch it: a pipeline often has a part of the history only (`fetch-depth: 0` on GitHub).',
      cause,
    });
  }
}

const MAX_BYTES = 64 * 1024 * 1024;

async function runGit(cwd: string, words: readonly string[], env: Surroundings['env']): Promise<string> {
  // A repository's own settings may name programs that git starts.
  const safe = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];
  try {
    const more = { ...withoutKeys(env), GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
    const { stdout } = await run('git', [...safe, ...words], { cwd, env: more, maxBuffer: MAX_BYTES });
    return stdout;
  } catch (error) {
    throw toFailure(error);
  }
}

function toFailure(error: unknown): StackError {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const message = isMissing ? 'git cannot be run.' : `git failed: ${said === '' ? toReason(error) : said}`;
  return new StackError(message, {
    reason: isMissing ? 'failed' : 'invalid',
    remedy: '--changed-since needs git, and a folder inside of a repository.',
    cause: error,
  });
}
