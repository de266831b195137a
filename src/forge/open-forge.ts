import { GITHUB_TOKEN_VARIABLES, GITLAB_TOKEN_VARIABLES } from '../model/api-key.ts';
import { isJsonObject, parseJson } from '../model/json.ts';
import { StackError } from '../model/user-errors.ts';
import type { Forge } from './forge.ts';
import { createGitHub, findPullRequestOfCommit } from './github.ts';
import { createGitLab, findMergeRequestOfCommit } from './gitlab.ts';

/** The environment variables of a CI job, and the options of `edgewise post`. */
interface ForgeContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a file whose path is in an environment variable. */
  readonly readFile: (path: string) => Promise<string>;
  /** Number of the pull or merge request. `undefined`: from the environment or, failing that, looked up by commit. */
  readonly number: number | undefined;
  /** Whether a number must be found. Comments need one, issues do not. */
  readonly needsNumber: boolean;
}

/**
 * Connects to the forge that runs the CI job. Reads the variables that GitHub and GitLab set in jobs. Rejects with
 * a `StackError` if a variable, a token or a required number is missing.
 */
export async function openForge(context: ForgeContext): Promise<Forge> {
  const { env } = context;
  if (env['GITHUB_REPOSITORY'] !== undefined) return openGitHub(env['GITHUB_REPOSITORY'], context);
  if (env['CI_PROJECT_ID'] !== undefined) return openGitLab(env['CI_PROJECT_ID'], context);
  throw new StackError(
    'This is not a job of GitHub or GitLab: neither GITHUB_REPOSITORY nor CI_PROJECT_ID is set. Set them to post from elsewhere.',
    { reason: 'invalid' },
  );
}

async function openGitHub(repository: string, context: ForgeContext): Promise<Forge> {
  const { env } = context;
  const token = requireToken(env, GITHUB_TOKEN_VARIABLES);
  const where = { apiUrl: env['GITHUB_API_URL'] ?? 'https://api.github.com', repository, token };
  const sha = env['GITHUB_SHA'];
  const number = await findNumber(context, {
    given: context.number ?? (await readEventNumber(context)),
    find: async () => (sha === undefined ? undefined : findPullRequestOfCommit(where, sha)),
  });
  return createGitHub({ ...where, number });
}

async function openGitLab(project: string, context: ForgeContext): Promise<Forge> {
  const { env } = context;
  const token = requireToken(env, GITLAB_TOKEN_VARIABLES);
  const where = { host: env['CI_SERVER_URL'] ?? 'https://gitlab.com', project, token };
  const sha = env['CI_COMMIT_SHA'];
  const number = await findNumber(context, {
    given: parsePositiveNumber(env['CI_MERGE_REQUEST_IID']),
    find: async () => (sha === undefined ? undefined : findMergeRequestOfCommit(where, sha)),
  });
  return createGitLab({ ...where, number, projectUrl: env['CI_PROJECT_URL'] || undefined });
}

interface NumberSources {
  readonly given: number | undefined;
  readonly find: () => Promise<number | undefined>;
}

async function findNumber({ number, needsNumber }: ForgeContext, sources: NumberSources): Promise<number | undefined> {
  if (!needsNumber) return undefined;
  const found = number ?? sources.given ?? (await sources.find());
  if (found !== undefined) return found;
  throw new StackError(
    'This commit belongs to no pull or merge request, so there is nothing to comment on. Name one with --number.',
    { reason: 'invalid' },
  );
}

function requireToken(env: ForgeContext['env'], names: readonly string[]): string {
  const token = names.map((name) => env[name]).find((value) => value !== undefined && value !== '');
  if (token !== undefined) return token;
  throw new StackError(`There is no token to write with: set ${names.join(' or ')}.`, { reason: 'invalid' });
}

/** Reads the number of the pull request from the event that started the workflow. `undefined` if the event has none. */
async function readEventNumber({ env, readFile }: ForgeContext): Promise<number | undefined> {
  const path = env['GITHUB_EVENT_PATH'];
  if (path === undefined || path === '') return undefined;
  const event = parseJson(await readFile(path));
  if (event === undefined)
    throw new StackError('The file of GITHUB_EVENT_PATH is not JSON. Name the pull request with --number.', {
      reason: 'invalid',
    });
  const pull = isJsonObject(event) ? (event['pull_request'] ?? event['issue']) : undefined;
  return isJsonObject(pull) && typeof pull['number'] === 'number' ? pull['number'] : undefined;
}

function parsePositiveNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d*$/.test(text) ? Number(text) : undefined;
}
