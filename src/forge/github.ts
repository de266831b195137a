import { retry } from '@octokit/plugin-retry';
import { Octokit } from '@octokit/rest';
import { type CommentOrIssue, createOneOriginFetch, type Forge, isStopped } from './forge.ts';

interface GitHubOptions {
  /** `https://api.github.com`, or the API URL of an enterprise server. */
  readonly apiUrl: string;
  /** `owner/name`. */
  readonly repository: string;
  readonly token: string;
  /** Number of the pull request. `undefined`: only issues can be written. */
  readonly number: number | undefined;
}

type Written = { readonly id: number; readonly body?: string | null; readonly html_url: string };
type Author = { readonly login: string; readonly type: string } | null;

export function createGitHub({ apiUrl, repository, token, number }: GitHubOptions): Forge {
  const octokit = createOctokit(apiUrl, token);
  const [owner = '', repo = ''] = repository.split('/');
  const where = { owner, repo };
  const pull = { ...where, issue_number: number ?? 0 };
  return {
    url: apiUrl,
    place: number === undefined ? repository : `pull request ${number} of ${repository}`,
    listComments: async () => {
      const isOwn = await createAuthorTest(octokit);
      const comments = await octokit.paginate(octokit.rest.issues.listComments, { ...pull, per_page: 100 });
      return comments.filter(({ user }) => isOwn(user ?? null)).map(toCommentOrIssue);
    },
    createComment: async (body) => toCommentOrIssue((await octokit.rest.issues.createComment({ ...pull, body })).data),
    updateComment: async ({ id }, body) =>
      toCommentOrIssue((await octokit.rest.issues.updateComment({ ...where, comment_id: id, body })).data),
    listOpenIssues: async () => {
      const isOwn = await createAuthorTest(octokit);
      const query = { ...where, state: 'open', direction: 'asc', per_page: 100 } as const;
      const issues = await octokit.paginate(octokit.rest.issues.listForRepo, query);
      return issues
        .filter(({ user, pull_request }) => pull_request === undefined && isOwn(user ?? null))
        .map((issue) => toCommentOrIssue({ ...issue, id: issue.number }));
    },
    createIssue: async (title, body) => {
      const { data } = await octokit.rest.issues.create({ ...where, title, body });
      return toCommentOrIssue({ ...data, id: data.number });
    },
    updateIssue: async ({ id }, body) => {
      const { data } = await octokit.rest.issues.update({ ...where, issue_number: id, body });
      return toCommentOrIssue({ ...data, id });
    },
    closeIssue: async ({ id }, body) => {
      const change = { body, state: 'closed', state_reason: 'completed' } as const;
      const { data } = await octokit.rest.issues.update({ ...where, issue_number: id, ...change });
      return toCommentOrIssue({ ...data, id });
    },
  };
}

/** Returns the number of a pull request with the commit, preferably a merged one. `undefined` if there is none. */
export async function findPullRequestOfCommit(
  { apiUrl, repository, token }: Omit<GitHubOptions, 'number'>,
  sha: string,
): Promise<number | undefined> {
  const octokit = createOctokit(apiUrl, token);
  const [owner = '', repo = ''] = repository.split('/');
  const { data } = await octokit.rest.repos.listPullRequestsAssociatedWithCommit({ owner, repo, commit_sha: sha });
  return data.find(({ merged_at }) => merged_at !== null)?.number ?? data[0]?.number;
}

function createOctokit(apiUrl: string, token: string) {
  const WithRetry = Octokit.plugin(retry);
  const request = { fetch: createOneOriginFetch(apiUrl) };
  return new WithRetry({ auth: token, baseUrl: apiUrl, userAgent: 'edgewise', log: SILENT_LOG, request });
}

/** Turns off the log of Octokit, because Octokit also throws the errors, and the caller shows those. */
const SILENT_LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Login of the account to which the token of a GitHub workflow belongs. */
const WORKFLOW_BOT = 'github-actions[bot]';

/**
 * Returns a function that tests whether the account of the token wrote a comment or issue. Its marker does not prove
 * that, because other people and bots can write a marker too.
 */
async function createAuthorTest(octokit: Octokit): Promise<(user: Author) => boolean> {
  const own = (await findLogin(octokit)) ?? WORKFLOW_BOT;
  return (user) => user?.login === own && (user.type === 'Bot') === own.endsWith('[bot]');
}

/**
 * Returns the login of the account of the token. The token of an app, such as that of a workflow, can read it only with
 * GraphQL. `undefined` if the token may not read it.
 */
async function findLogin(octokit: Octokit): Promise<string | undefined> {
  try {
    return (await octokit.rest.users.getAuthenticated()).data.login;
  } catch (error) {
    if (!isRejected(error)) throw error;
  }
  const { viewer } = await octokit.graphql<Viewer>('{ viewer { login } }').catch(ignoreRejection);
  return viewer === undefined ? undefined : `${viewer.login.replace(/\[bot\]$/, '')}[bot]`;
}

interface Viewer {
  readonly viewer?: { readonly login: string };
}

function ignoreRejection(error: unknown): Viewer {
  if (isStopped(error)) throw error;
  return {};
}

function isRejected(error: unknown): boolean {
  return error instanceof Error && 'status' in error && (error.status === 403 || error.status === 404);
}

function toCommentOrIssue({ id, body, html_url }: Written): CommentOrIssue {
  return { id, body: body ?? '', url: html_url };
}
