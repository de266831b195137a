import { setTimeout } from 'node:timers/promises';
import { ApiError, NetworkError } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { type CommentOrIssue, createOneOriginFetch, type Forge } from './forge.ts';

interface GitLabOptions {
  /** Such as `https://gitlab.com`. */
  readonly host: string;
  /** The number of the project, or its path. */
  readonly project: string;
  readonly token: string;
  /** Number of the merge request in its project (`iid`). `undefined`: only issues can be written. */
  readonly number: number | undefined;
  /** URL of the page of the project. `undefined`: GitLab is asked for the page of the merge request. */
  readonly projectUrl?: string | undefined;
}

export function createGitLab({ host, project, token, number, projectUrl }: GitLabOptions): Forge {
  const { list, send } = createForgeClient(host, token);
  const own = toProjectPath(project);
  const mergeRequest = `${own}/merge_requests/${number ?? 0}`;
  const notes = `${mergeRequest}/notes`;
  const findPage = async (): Promise<string> =>
    projectUrl === undefined
      ? String((await send('GET', mergeRequest))['web_url'])
      : `${projectUrl}/-/merge_requests/${number ?? 0}`;
  const toNotes = async (found: readonly JsonObject[]): Promise<readonly CommentOrIssue[]> => {
    const page = found.length === 0 ? '' : await findPage();
    return found.map((note) => toNote(note, page));
  };
  return {
    url: host,
    place: number === undefined ? `project ${project}` : `merge request ${number} of project ${project}`,
    listComments: async () => {
      const user = await findUserId(send);
      if (user === undefined) return [];
      const found = await list(notes, { sort: 'asc', order_by: 'created_at' });
      return toNotes(found.filter((note) => isBy(user, note) && note['system'] !== true));
    },
    createComment: async (body) => toNote(await send('POST', notes, { body }), await findPage()),
    updateComment: async ({ id }, body) => toNote(await send('PUT', `${notes}/${id}`, { body }), await findPage()),
    listOpenIssues: async () => {
      const user = await findUserId(send);
      if (user === undefined) return [];
      const found = await list(`${own}/issues`, { state: 'opened', author_id: String(user), sort: 'asc' });
      return found.filter((issue) => isBy(user, issue)).map(toIssue);
    },
    createIssue: async (title, description) => toIssue(await send('POST', `${own}/issues`, { title, description })),
    updateIssue: async ({ id }, description) => toIssue(await send('PUT', `${own}/issues/${id}`, { description })),
    closeIssue: async ({ id }, description) =>
      toIssue(await send('PUT', `${own}/issues/${id}`, { description, state_event: 'close' })),
  };
}

/** Returns the `iid` of a merge request with the commit, preferably a merged one. `undefined` if there is none. */
export async function findMergeRequestOfCommit(
  { host, project, token }: Omit<GitLabOptions, 'number'>,
  sha: string,
): Promise<number | undefined> {
  const { list } = createForgeClient(host, token);
  const requests = await list(`${toProjectPath(project)}/repository/commits/${encodeURIComponent(sha)}/merge_requests`);
  const merged = requests.find(({ state }) => state === 'merged') ?? requests[0];
  return merged === undefined ? undefined : Number(merged['iid']);
}

function toProjectPath(project: string): string {
  return `/projects/${encodeURIComponent(project)}`;
}

function isBy(user: number, { author }: JsonObject): boolean {
  return isJsonObject(author) && author['id'] === user;
}

function toNote(note: JsonObject, page: string): CommentOrIssue {
  return { id: Number(note['id']), body: String(note['body'] ?? ''), url: `${page}#note_${note['id']}` };
}

function toIssue(issue: JsonObject): CommentOrIssue {
  return { id: Number(issue['iid']), body: String(issue['description'] ?? ''), url: String(issue['web_url']) };
}

/**
 * Returns the id of the user that the token belongs to. `undefined` if the token may not read it: then no comment
 * counts as written by that user.
 */
async function findUserId(send: Client['send']): Promise<number | undefined> {
  try {
    return Number((await send('GET', '/user'))['id']);
  } catch (error) {
    if (error instanceof ApiError && (error.response.status === 403 || error.response.status === 404)) return undefined;
    throw error;
  }
}

/** GitLab's API, version 4. Every function rejects with an `ApiError` if GitLab refuses. */
interface Client {
  readonly send: (method: 'GET' | 'POST' | 'PUT', path: string, body?: JsonObject) => Promise<JsonObject>;
  /** Lists the members of all pages. */
  readonly list: (path: string, query?: Readonly<Record<string, string>>) => Promise<readonly JsonObject[]>;
}

const PAGE_SIZE = '100';

function createForgeClient(host: string, token: string): Client {
  const request = createOneOriginFetch(host);
  const exchange = async (method: string, path: string, body?: JsonObject) => {
    const headers = { 'private-token': token, 'content-type': 'application/json', 'user-agent': 'edgewise' };
    const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) };
    const response = await sendPatiently(() => request(`${host}/api/v4${path}`, init));
    const text = await response.text();
    const { status } = response;
    if (!response.ok) {
      const details = { status, code: undefined, method, path, operationId: undefined, details: {} };
      throw new ApiError(`${status} ${text}`.slice(0, 500), details);
    }
    const answer: Json = JSON.parse(text);
    return { answer, status, nextPage: response.headers.get('x-next-page') ?? '' };
  };
  return {
    send: async (...sent) => {
      const { answer, status } = await exchange(...sent);
      if (!isJsonObject(answer)) throw new NetworkError(`${status} without an object`);
      return answer;
    },
    list: async (path, query = {}) => {
      const members: JsonObject[] = [];
      for (let page = '1'; page !== ''; ) {
        const search = new URLSearchParams({ ...query, per_page: PAGE_SIZE, page });
        const { answer, nextPage, status } = await exchange('GET', `${path}?${search}`);
        if (!isJsonArray(answer)) throw new NetworkError(`${status} without a list`);
        members.push(...answer.filter(isJsonObject));
        page = nextPage;
      }
      return members;
    },
  };
}

/** HTTP statuses after which a request is sent again. */
const BUSY_STATUSES: ReadonlySet<number> = new Set([429, 502]);
/** The pauses double: 0.5, 1, 2 and 4 seconds outlast a short overload of GitLab. */
const TRIES = 5;
const PAUSE_MS = 250;

async function sendPatiently(send: () => Promise<Response>): Promise<Response> {
  let response = await send();
  for (let count = 1; count < TRIES && BUSY_STATUSES.has(response.status); count += 1) {
    await response.body?.cancel();
    await setTimeout(PAUSE_MS * 2 ** count);
    response = await send();
  }
  return response;
}
