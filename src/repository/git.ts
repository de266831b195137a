import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { searchRepository } from '../files/boundary.ts';
import { DISTRUST_REMEDY } from '../files/owners.ts';
import { withoutKeyAndTokenVariables } from '../model/api-key.ts';
import { getErrorMessage } from '../model/errors.ts';
import { NO_OP_SECRET_REDACTOR, withoutSecretVariables } from '../model/secrets.ts';
import { quoteForShell } from '../model/shell-words.ts';
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

type GitHost = Pick<Host, 'cwd' | 'uid' | 'root' | 'env' | 'secrets'>;

/**
 * Returns the differences between a commit and the working tree of the repository that contains `root`. Git starts no
 * shell, and no program that the repository configures. Rejects with a `StackError` if git fails.
 */
export async function readChangesSinceCommit(
  root: string,
  since: string,
  { cwd, uid, root: boundary, env: given, secrets = NO_OP_SECRET_REDACTOR }: GitHost,
  timeoutMs = TIMEOUT_MS,
): Promise<ChangesSinceCommit> {
  const folder = resolve(cwd, root);
  const env = withoutSecretVariables(given, secrets);
  const top = realpathSync.native(getRepository(folder, { cwd, uid, root: boundary }));
  const git = (at: string, ...args: readonly string[]) => runGit(at, args, { top, env, timeoutMs });
  const commit = await getCommit(
    () => git(top, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${since}^{commit}`),
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

/** Returns the root of the repository that contains a folder. Throws if there is none that is trusted. */
function getRepository(folder: string, context: Pick<Host, 'cwd' | 'uid' | 'root'>): string {
  const found = searchRepository(folder, context);
  if ('top' in found) return found.top;
  const { distrust } = found;
  throw new StackError(
    distrust === undefined
      ? `${folder} is in no git repository.`
      : `${folder} is in no git repository that edgewise uses: ${distrust.path} ${distrust.finding}.`,
    {
      reason: 'invalid',
      remedy:
        distrust === undefined ? '--changed-since needs git, and a folder inside a git repository.' : DISTRUST_REMEDY,
    },
  );
}

/**
 * Whether the git index contains a file, given by its real path. `top`: the root of the repository. Git runs in this
 * folder, because a folder below it may look like another repository. Returns false if git is not installed, or finds no
 * repository. Rejects with a `StackError` if git fails, or refuses the repository because of its owner.
 */
export async function isTracked(file: string, top: string, { env }: Pick<Host, 'env'>): Promise<boolean> {
  try {
    return (await runGit(top, ['ls-files', '-z', '--', `:(literal)${toGitPath(top, file)}`], { env })) !== '';
  } catch (error) {
    if (error instanceof GitError && error.isAbsent) return false;
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
    if (!(cause instanceof GitError && cause.isQuiet)) throw cause;
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

interface GitOptions extends Pick<Host, 'env'> {
  /** The root of the repository, above which git searches for no other. Default: the folder in which git runs. */
  readonly top?: string;
  readonly timeoutMs?: number;
}

/**
 * Runs git in a folder: the only place that starts it. Git starts no other program (see `SAFE_SETTINGS`), fetches
 * nothing, and checks the owner of the repository by its own rules.
 */
async function runGit(
  cwd: string,
  args: readonly string[],
  { top = cwd, env, timeoutMs = TIMEOUT_MS }: GitOptions,
): Promise<string> {
  try {
    const { stdout, stderr } = await run('git', [...SAFE_SETTINGS.flatMap((setting) => ['-c', setting]), ...args], {
      cwd,
      env: createGitEnvironment(top, env),
      maxBuffer: MAX_BYTES,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    // Git may succeed with an incomplete answer, for example if an object of a partial clone is missing.
    if (/^(?:error|fatal): /m.test(stderr)) throw new IncompleteAnswer(stderr);
    return stdout;
  } catch (error) {
    throw isStopped(error) ? createTimeoutError(timeoutMs, error) : createGitError(top, error);
  }
}

/**
 * The configuration of a repository may name programs for git to start. So may the configuration of a bare repository
 * among the committed files. With these settings, git starts none of these programs, for the commands that edgewise runs.
 * `safe.directory` is not among them, so git refuses a repository of another user unless the user allows it.
 */
const SAFE_SETTINGS: readonly string[] = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'protocol.allow=never',
  'safe.bareRepository=explicit',
];

/**
 * Returns the environment of git: without keys and tokens, and without the variables by which a hook names its own
 * repository and index, such as `GIT_DIR`. In a partial clone, git would otherwise fetch what it lacks.
 */
function createGitEnvironment(top: string, env: Host['env']): Record<string, string> {
  const kept = Object.entries(withoutKeyAndTokenVariables(env)).flatMap(([name, value]): [string, string][] =>
    value === undefined || (name.startsWith('GIT_') && !OWN_CONFIGURATION.test(name)) ? [] : [[name, value]],
  );
  return {
    ...Object.fromEntries(kept),
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_CEILING_DIRECTORIES: dirname(top),
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  };
}

/** The variables by which users choose their own configuration of git, such as `safe.directory`. */
const OWN_CONFIGURATION = /^GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)$/;

class IncompleteAnswer extends Error {
  readonly stderr: string;

  constructor(stderr: string) {
    super(stderr);
    this.stderr = stderr;
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

/** Git failed. */
class GitError extends StackError {
  override readonly name = 'GitError';
  /** Whether git is not installed, or there is no repository. */
  readonly isAbsent: boolean;
  /** Whether git did not say why. With `--quiet`, this is an answer. */
  readonly isQuiet: boolean;

  constructor(message: string, { isAbsent = false, isQuiet = false, ...options }: GitErrorOptions) {
    super(message, options);
    this.isAbsent = isAbsent;
    this.isQuiet = isQuiet;
  }
}

type GitErrorOptions = ConstructorParameters<typeof StackError>[1] & Partial<Pick<GitError, 'isAbsent' | 'isQuiet'>>;

function createGitError(top: string, cause: unknown): GitError {
  if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')
    return new GitError('git cannot be run.', {
      reason: 'failed',
      remedy: '--changed-since needs git, and a folder inside a git repository.',
      isAbsent: true,
      cause,
    });
  const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : '';
  if (/dubious ownership|unsafe repository/.test(said))
    return new GitError(`git refuses ${top}, because the repository belongs to another user.`, {
      reason: 'invalid',
      remedy: `If you trust that user, allow it: git config --global --add safe.directory ${quoteForShell(top)}`,
      cause,
    });
  return new GitError(`git failed: ${said === '' ? getErrorMessage(cause) : said}`, {
    reason: 'invalid',
    remedy: '--changed-since needs git, and a folder inside a git repository.',
    isAbsent: said.includes('not a git repository'),
    isQuiet: said === '',
    cause,
  });
}
