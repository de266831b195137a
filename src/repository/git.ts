import { dirname, relative, resolve, sep } from 'node:path';
import { listCheckouts, searchRepository } from '../files/boundary.ts';
import { resolveLinks } from '../files/real-path.ts';
import { DISTRUST_REMEDY } from '../files/trusted-users.ts';
import { withoutKeyAndTokenVariables } from '../model/api-key.ts';
import { getErrorMessage } from '../model/errors.ts';
import { NO_OP_SECRET_REDACTOR, withoutSecretVariables } from '../model/secrets.ts';
import { quoteForShell } from '../model/shell-words.ts';
import { StackError } from '../model/user-errors.ts';
import { type ProgramEnd, readProgram } from '../programs/start-program.ts';
import type { Host } from '../stack/host.ts';

/**
 * The only file that starts git. Git starts no other program (see `SAFE_SETTINGS`), fetches nothing, and checks the user
 * of the repository by its own rules. Edgewise asks it what a commit and the index contain, never what changed: git
 * calls a file unchanged that differs from what it checks out, or that it was told to overlook.
 */

/** A repository, in which git runs. */
export interface GitRepository {
  /** Real path of the folder with `.git`. */
  readonly top: string;
  /** Runs git in `top`. Returns what it prints, or why it gave no answer. `input`: its standard input. */
  readonly ask: (args: readonly string[], input?: string) => Promise<string | GitFailure>;
  /** Like `ask`, but rejects if there is no answer. */
  readonly run: (args: readonly string[], input?: string) => Promise<string>;
}

/** Why git gave no answer. */
export interface GitFailure {
  /**
   * `absent`: git is not installed, or there is no repository. `refused`: git refuses the user of the repository.
   * `ambiguous`: a name stands for more than one commit. `quiet`: git said nothing, which answers a question with
   * `--quiet`.
   */
  readonly why: 'absent' | 'refused' | 'ambiguous' | 'quiet' | 'failed';
  /** What git wrote to standard error. */
  readonly said: string;
  readonly error: StackError;
}

export type GitHost = Pick<Host, 'cwd' | 'uid' | 'root' | 'env' | 'secrets' | 'namedPaths'>;

/** Opens the repository that contains a folder. Throws a `StackError` if there is none that edgewise trusts. */
export function openGitRepository(folder: string, host: GitHost): GitRepository {
  const search = searchRepository(resolveLinks(resolve(host.cwd, folder)), host);
  if ('top' in search) return createRepository(search.top, host);
  const { distrust } = search;
  if (distrust === undefined)
    throw new StackError(`${folder} is not in a git repository.`, { reason: 'invalid', remedy: REPOSITORY_REMEDY });
  throw new StackError(
    `${folder} is not in a git repository that edgewise uses: ${distrust.path} ${distrust.finding}.`,
    {
      reason: 'invalid',
      remedy: DISTRUST_REMEDY,
    },
  );
}

const REPOSITORY_REMEDY = 'Name a folder inside a git repository.';

/** Opens a repository by its top folder, also that of another user: git has rules of its own for that. */
export function createRepository(top: string, host: Omit<GitHost, 'uid'>): GitRepository {
  const env = withoutSecretVariables(host.env, host.secrets ?? NO_OP_SECRET_REDACTOR);
  const checkouts = listCheckouts([top, host.cwd], host);
  const ask: GitRepository['ask'] = (args, input) => askGit({ top, env, checkouts }, args, input);
  return {
    top,
    ask,
    run: async (args, input) => {
      const answer = await ask(args, input);
      if (typeof answer === 'string') return answer;
      throw answer.error;
    },
  };
}

/**
 * Returns the id of a commit. Throws a `StackError` if the repository does not contain the commit, or if the name stands
 * for more than one: git would prefer a tag `origin/main`, which another author may have pushed, to the branch.
 */
export async function resolveCommit({ ask }: GitRepository, name: string): Promise<string> {
  const verify = ['rev-parse', '--verify', '--end-of-options', `${name}^{commit}`];
  const found = await ask(['rev-parse', '--quiet', ...verify.slice(1)]);
  // Only without --quiet, git says that a name is ambiguous.
  const answer = typeof found === 'string' ? await ask(['-c', 'core.warnAmbiguousRefs=true', ...verify]) : found;
  if (typeof answer === 'string') return answer.trim();
  const { why, error: cause } = answer;
  if (why === 'ambiguous')
    throw new StackError(`${name} is ambiguous in this repository: a branch, a tag or the start of an id.`, {
      reason: 'invalid',
      remedy: 'Use the full name, such as refs/remotes/origin/main, or the whole id of the commit.',
      cause,
    });
  if (why !== 'quiet') throw cause;
  throw new StackError(`${name} is not a commit of this repository.`, {
    reason: 'invalid',
    remedy:
      'Correct the name, or fetch the commit: a pipeline often has only part of the history (`fetch-depth: 0` on GitHub).',
    cause,
  });
}

/**
 * Whether the git index contains a file, given by its real path. `top`: the root of the repository. Returns false if git
 * is not installed, or finds no repository. Rejects with a `StackError` if git fails, or refuses the repository because of
 * its user.
 */
export async function isTracked(file: string, top: string, host: Omit<GitHost, 'uid'>): Promise<boolean> {
  const path = relative(top, file).split(sep).join('/');
  const listed = await createRepository(top, host).ask(['ls-files', '-z', '--', `:(literal)${path}`]);
  if (typeof listed === 'string') return listed !== '';
  if (listed.why === 'absent') return false;
  throw listed.error;
}

/** The names and ids of about a million files. */
const MAX_BYTES = 256 * 1024 * 1024;

/** The time limit for git, longer than any user would wait. */
const TIMEOUT_MS = 120_000;

/** Where git is started: outside of the repository. Git goes there by `-C`. */
const START_FOLDER = import.meta.dirname;

interface GitPlace {
  readonly top: string;
  readonly env: Host['env'];
  readonly checkouts: readonly string[];
}

async function askGit(
  { top, env, checkouts }: GitPlace,
  args: readonly string[],
  input: string | undefined,
): Promise<string | GitFailure> {
  const words = ['git', '-C', top, ...SAFE_SETTINGS.flatMap((setting) => ['-c', setting]), ...args];
  const place = { cwd: START_FOLDER, env: createGitEnvironment(top, env), checkouts };
  let end: ProgramEnd;
  try {
    end = await readProgram({ ...place, words, timeoutMs: TIMEOUT_MS }, { input, maxBytes: MAX_BYTES });
  } catch (error) {
    return createAbsence(error);
  }
  const { stdout, stderr, code, isKilled } = end;
  if (isKilled) throw createStoppedError();
  // Git may succeed with an incomplete answer, for example if an object of a partial clone is missing.
  if (code !== 0 || /^(?:error|fatal): /m.test(stderr) || AMBIGUOUS.test(stderr)) return createFailure(top, end);
  return stdout;
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

function createStoppedError(): StackError {
  const message = `git was stopped after ${TIMEOUT_MS / 1000} s, or because it wrote more than ${MAX_BYTES} bytes.`;
  return new StackError(message, { reason: 'failed', remedy: 'Try again on a machine or disk that is faster.' });
}

/** Whether git looked at no repository. */
export function isUnanswered(why: GitFailure['why']): boolean {
  return why === 'absent' || why === 'refused';
}

const AMBIGUOUS = /^warning: refname '.*' is ambiguous/m;
const USER_REFUSED = /dubious ownership|unsafe repository/;

/** Git could not be started. */
function createAbsence(cause: unknown): GitFailure {
  // Not found, or the system cannot start it.
  const message = cause instanceof StackError ? 'git cannot be run.' : `git cannot be run: ${getErrorMessage(cause)}`;
  const remedy = 'Install git outside of the repository: edgewise asks it what a commit contains.';
  return { why: 'absent', said: '', error: new StackError(message, { reason: 'failed', remedy, cause }) };
}

function createFailure(top: string, { stderr, code }: ProgramEnd): GitFailure {
  const said = stderr.trim();
  if (USER_REFUSED.test(said)) {
    const error = new StackError(`git refuses ${top}, because the repository belongs to another user.`, {
      reason: 'invalid',
      remedy: `If you trust that user, allow it: git config --global --add safe.directory ${quoteForShell(top)}`,
    });
    return { why: 'refused', said, error };
  }
  const reason = said === '' ? `it ended with exit code ${code}` : said.replaceAll('\t', '    ');
  const error = new StackError(`git failed: ${reason}`.split('\n'), {
    reason: 'invalid',
    remedy: `Run git in ${top} to find out more.`,
  });
  if (said === '') return { why: 'quiet', said, error };
  if (said.includes('not a git repository')) return { why: 'absent', said, error };
  return { why: AMBIGUOUS.test(said) ? 'ambiguous' : 'failed', said, error };
}
