import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { withoutKeyAndTokenVariables } from '../model/api-key.ts';
import { getErrorMessage } from '../model/errors.ts';
import { NO_OP_SECRET_REDACTOR, withoutSecretVariables } from '../model/secrets.ts';
import { type Host, StackError } from '../stack/host.ts';

const run = promisify(execFile);

/** The differences between a working tree and a commit. */
export interface ChangesSinceCommit {
  /** Real paths of the files that were changed, added or deleted, or are not committed yet. */
  readonly all: ReadonlySet<string>;
  /** Real paths of the changed submodules. All their files count as changed, because git lists only the submodule. */
  readonly submodules: ReadonlySet<string>;
  /** Returns the real paths of changed files that match a pattern. The patterns are relative to `folder`. */
  readonly match: (folder: string, patterns: readonly string[]) => Promise<readonly string[]>;
  /** Returns the content of a file in the commit, by its real path. `undefined` if the commit has no such file. */
  readonly readBefore: (file: string) => Promise<string | undefined>;
}

/**
 * Returns the differences between a commit and the working tree of the repository that contains `root`. Git starts no
 * shell, and no program that the repository configures. Rejects with a `StackError` if git fails.
 */
export async function readChangesSinceCommit(
  root: string,
  since: string,
  { cwd, env: given, secrets = NO_OP_SECRET_REDACTOR }: Pick<Host, 'cwd' | 'env' | 'secrets'>,
  timeoutMs = TIMEOUT_MS,
): Promise<ChangesSinceCommit> {
  const folder = resolve(cwd, root);
  const env = withoutSecretVariables(given, secrets);
  const git = (at: string, ...args: readonly string[]) => runGit(at, args, { env, timeoutMs });
  const top = realpathSync.native(resolve(folder, (await git(folder, 'rev-parse', '--show-cdup')).trim()));
  const commit = await getCommit(
    () => git(folder, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${since}^{commit}`),
    since,
  );
  const resolvePaths = (names: readonly string[]) => names.map((name) => resolve(top, name));
  const submodules = new Set(resolvePaths(listSubmodules(await git(top, ...DIFF, '--raw', '--abbrev', commit, '--'))));
  const listInside = async (at: string, paths: readonly string[]): Promise<readonly string[]> => {
    if (submodules.size === 0) return [];
    const files = await git(at, 'ls-files', '-z', '--recurse-submodules', '--full-name', '--', ...paths);
    return resolvePaths(files.split('\0')).filter((file) =>
      [...submodules].some((one) => file.startsWith(`${one}${sep}`)),
    );
  };
  const list = async (at: string, paths: readonly string[]): Promise<readonly string[]> => {
    const [changed, added, inside] = await Promise.all([
      git(at, ...DIFF, '--name-only', commit, '--', ...paths),
      git(at, 'ls-files', '-z', '--others', '--exclude-standard', '--full-name', '--', ...paths),
      listInside(at, paths),
    ]);
    const names = `${changed}${added}`.split('\0').filter((name) => name !== '');
    return [...new Set([...resolvePaths(names), ...inside])].sort();
  };
  const readBefore = async (file: string): Promise<string | undefined> => {
    const path = toGitPath(top, file);
    const there = await git(top, 'ls-tree', '--name-only', '-z', commit, '--', path);
    return there === '' ? undefined : git(top, 'cat-file', 'blob', `${commit}:${path}`);
  };
  return {
    all: new Set(await list(top, [])),
    submodules,
    readBefore,
    match: (at, patterns) =>
      list(
        resolve(cwd, at),
        patterns.map((pattern) => `:(glob)${pattern}`),
      ),
  };
}

/**
 * Whether the git index contains a file, given by its real path. `top`: the root of the repository. Git runs in this
 * folder, because a folder below it may look like another repository. Returns false if git fails.
 */
export async function isTracked(file: string, top: string, { env }: Pick<Host, 'env'>): Promise<boolean> {
  // Without this setting, git refuses a checkout that belongs to another user, as in a container, because the settings
  // of the checkout may name programs. `ls-files` starts no such program.
  const own = ['-c', `safe.directory=${top}`];
  try {
    return (await runGit(top, [...own, 'ls-files', '-z', '--', `:(literal)${toGitPath(top, file)}`], { env })) !== '';
  } catch (error) {
    if (error instanceof StackError) return false;
    throw error;
  }
}

/**
 * The options keep git from starting programs that the repository configures, and show changed submodules even if
 * settings in the commit hide them.
 */
const DIFF = ['diff', '-z', '--no-renames', '--no-ext-diff', '--no-textconv', '--ignore-submodules=none'] as const;

/** Returns the paths of submodules in the output of `git diff --raw`: `:MODE MODE HASH HASH STATUS`, then the path. */
function listSubmodules(raw: string): readonly string[] {
  return Array.from(raw.matchAll(/:(\d+) (\d+) [^\0]*\0([^\0]*)\0/g), ([, before, after, path = '']) =>
    [before, after].includes(SUBMODULE) ? path : '',
  ).filter((path) => path !== '');
}

const SUBMODULE = '160000';

function toGitPath(top: string, file: string): string {
  return relative(top, file).split(sep).join('/');
}

async function getCommit(ask: () => Promise<string>, since: string): Promise<string> {
  try {
    return (await ask()).trim();
  } catch (cause) {
    throw new StackError(`${since} is not a commit of this repository.`, {
      reason: 'invalid',
      remedy:
        'Correct the name, or fetch the commit: a pipeline often has only part of the history (`fetch-depth: 0` on GitHub).',
      cause,
    });
  }
}

/** The paths of about a million files. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The time limit for git, longer than any user would wait. Patterns with several `**` can make git very slow. */
const TIMEOUT_MS = 120_000;

async function runGit(
  cwd: string,
  args: readonly string[],
  { env, timeoutMs = TIMEOUT_MS }: Pick<Host, 'env'> & { readonly timeoutMs?: number },
): Promise<string> {
  // The configuration of a repository may name programs for git to start. So may the configuration of a bare repository
  // among the committed files. With these settings, git starts none of these programs.
  const safe = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'safe.bareRepository=explicit'];
  try {
    const more = { ...withoutKeyAndTokenVariables(env), GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
    const { stdout } = await run('git', [...safe.flatMap((setting) => ['-c', setting]), ...args], {
      cwd,
      env: more,
      maxBuffer: MAX_BYTES,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    return stdout;
  } catch (error) {
    throw isStopped(error) ? createTimeoutError(timeoutMs, error) : createGitError(error);
  }
}

function isStopped(error: unknown): boolean {
  return (
    error instanceof Error &&
    'killed' in error &&
    error.killed === true &&
    'signal' in error &&
    error.signal === 'SIGKILL'
  );
}

function createTimeoutError(timeoutMs: number, cause: unknown): StackError {
  return new StackError(`git was stopped after ${timeoutMs / 1000} s.`, {
    reason: 'failed',
    remedy: 'Write patterns of spec.inputs with fewer `**`: each one multiplies the time that git takes.',
    cause,
  });
}

function createGitError(error: unknown): StackError {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const message = isMissing ? 'git cannot be run.' : `git failed: ${said === '' ? getErrorMessage(error) : said}`;
  return new StackError(message, {
    reason: isMissing ? 'failed' : 'invalid',
    remedy: '--changed-since needs git, and a folder inside a git repository.',
    cause: error,
  });
}
