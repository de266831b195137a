import { setTimeout } from 'node:timers/promises';
import { createRequesterFn } from '@gitbeaker/requester-utils';
import { GitbeakerRequestError, Gitlab } from '@gitbeaker/rest';
import { type CommentOrIssue, createOneOriginFetch, type Forge } from './forge.ts';

interface GitLabOptions {
  /** Such as `https://gitlab.com`. */
  readonly host: string;
  readonly project: string;
  readonly token: string;
  /** Number of the merge request in its project (`iid`). `undefined`: only issues can be written. */
  readonly number: number | undefined;
}

export function createGitLab({ host, project, token, number }: GitLabOptions): Forge {
  const gitlab = createClient(host, token);
  const iid = number ?? 0;
  const toNote = (note: { readonly id: number; readonly body: string }): CommentOrIssue => ({
    id: note.id,
    body: note.body,
    url: `${host}/projects/${project}/merge_requests/${iid}#note_${note.id}`,
  });
  return {
    url: host,
    place: number === undefined ? `project ${project}` : `merge request ${number} of project ${project}`,
    listComments: async () => {
      const own = await findUserId(gitlab);
      if (own === undefined) return [];
      const notes = await gitlab.MergeRequestNotes.all(project, iid, { sort: 'asc', orderBy: 'created_at' });
      return notes.filter(({ author, system }) => author.id === own && !system).map(toNote);
    },
    createComment: async (body) => toNote(await gitlab.MergeRequestNotes.create(project, iid, body)),
    updateComment: async ({ id }, body) => toNote(await gitlab.MergeRequestNotes.edit(project, iid, id, { body })),
    listOpenIssues: async () => {
      const own = await findUserId(gitlab);
      if (own === undefined) return [];
      const issues = await gitlab.Issues.all({ projectId: project, state: 'opened', authorId: own, sort: 'asc' });
      return issues.filter(({ author }) => author.id === own).map(toIssue);
    },
    createIssue: async (title, body) => toIssue(await gitlab.Issues.create(project, title, { description: body })),
    updateIssue: async ({ id }, body) => toIssue(await gitlab.Issues.edit(project, id, { description: body })),
    closeIssue: async ({ id }, body) =>
      toIssue(await gitlab.Issues.edit(project, id, { description: body, stateEvent: 'close' })),
  };
}

/** Returns the `iid` of a merge request with the commit, preferably a merged one. `undefined` if there is none. */
export async function findMergeRequestOfCommit(
  { host, project, token }: Omit<GitLabOptions, 'number'>,
  sha: string,
): Promise<number | undefined> {
  const gitlab = createClient(host, token);
  const requests = await gitlab.Commits.allMergeRequests(project, sha);
  return (requests.find(({ state }) => state === 'merged') ?? requests[0])?.iid;
}

type Client = ReturnType<typeof createClient>;

/**
 * Returns the id of the user that the token belongs to. `undefined` if the token may not read it: then no comment
 * counts as written by that user.
 */
async function findUserId(gitlab: Client): Promise<number | undefined> {
  try {
    const { id }: { readonly id?: number } = await gitlab.Users.showCurrentUser();
    return id;
  } catch (error) {
    const status = error instanceof GitbeakerRequestError ? error.cause?.response.status : undefined;
    if (status === 403 || status === 404) return undefined;
    throw error;
  }
}

/** Replaces the request function of `@gitbeaker`, which follows every redirect and sends the token along. */
function createClient(host: string, token: string) {
  const send = createOneOriginFetch(host);
  const requesterFn = createRequesterFn(
    async (_, options) => options,
    async (endpoint, options = {}) => {
      const { prefixUrl, searchParams = '', method, headers, body, signal } = options as unknown as HandlerOptions; // @gitbeaker passes these options, but does not declare them
      const url = new URL(endpoint, `${prefixUrl.replace(/\/+$/, '')}/`);
      url.search = searchParams;
      const request = { method, headers, ...(body !== undefined && { body }), ...(signal !== undefined && { signal }) };
      return readResponse(url, request, await sendPatiently(() => send(url, request)));
    },
  );
  return new Gitlab({ host, token, requesterFn });
}

interface HandlerOptions {
  readonly prefixUrl: string;
  readonly searchParams?: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** HTTP statuses after which a request is sent again. */
const BUSY_STATUSES: ReadonlySet<number> = new Set([429, 502]);
/** The pauses double: 0.5, 1, 2 and 4 seconds outlast a short overload of GitLab. */
const TRIES = 5;
const PAUSE_MS = 250;

async function sendPatiently(send: () => Promise<Response>): Promise<Response> {
  let response = await send();
  for (let count = 1; count < TRIES && BUSY_STATUSES.has(response.status); count += 1) {
    await setTimeout(PAUSE_MS * 2 ** count);
    response = await send();
  }
  return response;
}

async function readResponse(url: URL, request: RequestInit, response: Response) {
  const { status, headers, ok } = response;
  const text = await response.text();
  if (ok) return { body: text === '' ? null : JSON.parse(text), headers: Object.fromEntries(headers), status };
  const description = `${status} ${text}`.slice(0, 500);
  throw new GitbeakerRequestError(description, {
    cause: { description, request: new Request(url, request), response },
  });
}

function toIssue(issue: {
  readonly iid: number;
  readonly description?: string | null;
  readonly web_url: string;
}): CommentOrIssue {
  return { id: issue.iid, body: issue.description ?? '', url: issue.web_url };
}
