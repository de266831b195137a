import { retry } from '@octokit/plugin-retry';
import { Octokit } from '@octokit/rest';
import { type CommentOrIssue, createOneOriginFetch, type Forge, OtherOrigin } from './forge.ts';

/** Where a repository is, and with which right. */
interface GitHubOptions {
  /** `https://api.github.com`, or that of an enterprise server. */
  readonly apiUrl: string;
  /** `owner/name`. */
  readonly repository: string;
  readonly token: string;
  /** Of the pull request; absent: there is none, and only issues can be written. */
  readonly number: number | undefined;
}

type Written = { readonly id: number; readonly body?: string | null; readonly html_url: string };
type Author = { readonly login: string; readonly type: string } | null;

/** Comments and issues at GitHub. */
export function createGitHub({ apiUrl, repository, token, number }: GitHubOptions): Forge {
  const octokit = createOctokit(apiUrl, token);
  const [owner = '', repo = ''] = repository.split('/');
  const where = { owner, repo };
  const pull = { ...where, issue_number: number ?? 0 };
  return {
    url: apiUrl,
    place: number === undefined ? repository : `pull request ${number} of ${repository}`,
    listComments: async () => {
      const isOwn = await createOwnerTest(octokit);
      const comments = await octokit.paginate(octokit.rest.issues.listComments, { ...pull, per_page: 100 });
      return comments.filter(({ user }) => isOwn(user ?? null)).map(toPost);
    },
    createComment: async (body) => toPost((await octokit.rest.issues.createComment({ ...pull, body })).data),
    updateComment: async ({ id }, body) =>
      toPost((await octokit.rest.issues.updateComment({ ...where, comment_id: id, body })).data),
    listOpenIssues: async () => {
      const isOwn = await createOwnerTest(octokit);
      const query = { ...where, state: 'open', direction: 'asc', per_page: 100 } as const;
      const issues = await octokit.paginate(octokit.rest.issues.listForRepo, query);
      return issues
        .filter(({ user, pull_request }) => pull_request === undefined && isOwn(user ?? null))
        .map((issue) => toPost({ ...issue, id: issue.number }));
    },
    createIssue: async (title, body) => {
      const { data } = await octokit.rest.issues.create({ ...where, title, body });
      return toPost({ ...data, id: data.number });
    },
    updateIssue: async ({ id }, body) => {
      const { data } = await octokit.rest.issues.update({ ...where, issue_number: id, body });
      return toPost({ ...data, id });
    },
    closeIssue: async ({ id }, body) => {
      const change = { body, state: 'closed', state_reason: 'completed' } as const;
      const { data } = await octokit.rest.issues.update({ ...where, issue_number: id, ...change });
      return toPost({ ...data, id });
    },
  };
}

/** The pull request that brought a commit; `undefined`: none did. */
export async function findPullRequest(
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
  return new WithRetry({ auth: token, baseUrl: apiUrl, userAgent: 'edgewise', log: SILENT, request });
}

/** Errors are thrown by the client and shown once by the caller. */
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Who writes with the token of a workflow. */
const WORKFLOW_BOT = 'github-actions[bot]';

/** Others can write our marker too, people and bots: only what has our own name is ours. */
async function createOwnerTest(octokit: Octokit): Promise<(user: Author) => boolean> {
  const own = (await findLogin(octokit)) ?? WORKFLOW_BOT;
  return (user) => user?.login === own && (user.type === 'Bot') === own.endsWith('[bot]');
}

/** Whose the token is. That of an app, such as a workflow's, may ask by GraphQL only; `undefined`: nor by that. */
async function findLogin(octokit: Octokit): Promise<string | undefined> {
  try {
    return (await octokit.rest.users.getAuthenticated()).data.login;
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  const { viewer } = await octokit.graphql<Viewer>('{ viewer { login } }').catch(toNobody);
  return viewer === undefined ? undefined : `${viewer.login.replace(/\[bot\]$/, '')}[bot]`;
}

interface Viewer {
  readonly viewer?: { readonly login: string };
}

function toNobody(error: unknown): Viewer {
  if (error instanceof OtherOrigin) throw error;
  return {};
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && 'status' in error && (error.status === 403 || error.status === 404);
}

function toPost({ id, body, html_url }: Written): CommentOrIssue {
  return { id, body: body ?? '', url: html_url };
}
