import { retry } from '@octokit/plugin-retry';
import { Octokit } from '@octokit/rest';
import type { Forge, Post } from './forge.ts';

/** Where a repository is, and with which right. */
export interface GitHubOptions {
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
  return new WithRetry({ auth: token, baseUrl: apiUrl, userAgent: 'edgewise', log: SILENT });
}

/** Errors are thrown by the client and shown once by the caller. */
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Others could write our marker too. A workflow's token may not ask whose it is; what it writes belongs to a bot. */
async function createOwnerTest(octokit: Octokit): Promise<(user: Author) => boolean> {
  const login = await octokit.rest.users.getAuthenticated().then(
    ({ data }) => data.login,
    (error: unknown) => {
      if (isRefused(error)) return undefined;
      throw error;
    },
  );
  return (user) => (login === undefined ? user?.type === 'Bot' : user?.login === login);
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && 'status' in error && (error.status === 403 || error.status === 404);
}

function toPost({ id, body, html_url }: Written): Post {
  return { id, body: body ?? '', url: html_url };
}
