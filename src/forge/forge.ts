import { MAX_BODY_BYTES } from '../model/http.ts';

/**
 * Reads and writes the comments of a pull request and the issues of its repository, at GitHub or GitLab. Their text is
 * a Markdown report, which a `Forge` does not interpret. Its first line is the marker that identifies it.
 */
export interface Forge {
  /** Base URL of all requests, which carry the token. */
  readonly url: string;
  /** Name of the pull request or repository in messages: `pull request 12 of example/infra`. */
  readonly place: string;
  /** Lists the comments that the token's account wrote, oldest first. Rejects if the pull request cannot be read. */
  readonly listComments: () => Promise<readonly CommentOrIssue[]>;
  readonly createComment: (body: string) => Promise<CommentOrIssue>;
  readonly updateComment: (post: CommentOrIssue, body: string) => Promise<CommentOrIssue>;
  /** Lists the open issues that the token's account created, oldest first. */
  readonly listOpenIssues: () => Promise<readonly CommentOrIssue[]>;
  readonly createIssue: (title: string, body: string) => Promise<CommentOrIssue>;
  readonly updateIssue: (post: CommentOrIssue, body: string) => Promise<CommentOrIssue>;
  readonly closeIssue: (post: CommentOrIssue, body: string) => Promise<CommentOrIssue>;
}

export interface CommentOrIssue {
  readonly id: number;
  readonly body: string;
  /** URL of the web page of the comment or issue. */
  readonly url: string;
}

/** The result of posting a report. `none`: no issue was open, and none was needed. */
export interface PostResult {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'closed' | 'none';
  readonly url?: string;
}

const MARKER = /^<!-- (edgewise:([a-z-]+)(?: stack=(\S+))?) -->$/;

/** Returns the marker of a report, which identifies the comment or issue to replace. `undefined` if there is none. */
export function findCommentMarker(text: string): string | undefined {
  const [line = ''] = text.split('\n', 1);
  return MARKER.test(line.trimEnd()) ? line.trimEnd() : undefined;
}

/** Writes a report as a comment. Replaces the comment with the same marker, if there is one. */
export async function postComment(forge: Forge, marker: string, text: string): Promise<PostResult> {
  const old = findOwnPost(await forge.listComments(), marker);
  if (old === undefined) return { outcome: 'created', url: (await forge.createComment(text)).url };
  if (isSameText(old.body, text)) return { outcome: 'unchanged', url: old.url };
  return { outcome: 'updated', url: (await forge.updateComment(old, text)).url };
}

/**
 * Creates an issue, or updates the open issue with the same marker. If `isResolved`, sets the text of that issue and
 * closes it, and never creates one.
 */
export async function syncIssue(
  forge: Forge,
  { marker, text, isResolved }: { readonly marker: string; readonly text: string; readonly isResolved: boolean },
): Promise<PostResult> {
  const old = findOwnPost(await forge.listOpenIssues(), marker);
  if (isResolved)
    return old === undefined
      ? { outcome: 'none' }
      : { outcome: 'closed', url: (await forge.closeIssue(old, text)).url };
  if (old === undefined)
    return { outcome: 'created', url: (await forge.createIssue(formatIssueTitle(marker), text)).url };
  if (isSameText(old.body, text)) return { outcome: 'unchanged', url: old.url };
  return { outcome: 'updated', url: (await forge.updateIssue(old, text)).url };
}

/** Formats the title of an issue: `edgewise drift: stack production`. */
function formatIssueTitle(marker: string): string {
  const [, , command = '', stack] = MARKER.exec(marker) ?? [];
  return `edgewise ${command}${stack === undefined ? '' : `: stack ${stack}`}`;
}

/** Finds the newest comment or issue with the marker. `posts` are sorted oldest first. */
function findOwnPost(posts: readonly CommentOrIssue[], marker: string): CommentOrIssue | undefined {
  return posts.findLast(({ body }) => findCommentMarker(body) === marker);
}

/** Ignores line ends and trailing white space, because forges change them. */
function isSameText(left: string, right: string): boolean {
  return normalizePostText(left) === normalizePostText(right);
}

function normalizePostText(text: string): string {
  return text.replaceAll('\r\n', '\n').trimEnd();
}

/** Octokit does not retry after an error with this name. */
const STOPPED = 'AbortError';

/**
 * Creates an error for a stopped request: the forge named a URL at another origin, redirected too often, named too many
 * pages, sent too much, or took too long.
 */
function createStop(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { name: STOPPED });
}

export function isStopped(error: unknown): boolean {
  return error instanceof Error && error.name === STOPPED;
}

/** A renamed project redirects once or twice. More redirects are probably a loop. */
const MAX_REDIRECTS = 5;
/** Maximum number of requests for one report. Enough to list twenty thousand comments. */
const MAX_REQUESTS = 1000;
/** The responses for one report, decompressed: several thousand comments of the greatest length. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;
/** For one request, with its response: long enough for an overloaded forge, and short enough for a job that waits. */
const TIMEOUT_MS = 60_000;
/** For all requests of one report. */
const TOTAL_TIMEOUT_MS = 600_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);
const STATUSES_WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Creates a `fetch` that sends a token to one origin only: after a redirect, Node's own `fetch` would send headers such
 * as `Private-Token` to any origin. Follows redirects within the origin with the same method and body, as forges
 * expect. Returns whole responses. Limits their number, size and time, for each and for all together.
 */
export function createOneOriginFetch(baseUrl: string): typeof fetch {
  const { origin } = new URL(baseUrl);
  const deadline = AbortSignal.timeout(TOTAL_TIMEOUT_MS);
  let requests = 0;
  let bytes = 0;
  const readWhole = async (response: Response): Promise<Response> => {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      length += chunk.length;
      bytes += chunk.length;
      if (length > MAX_BODY_BYTES || bytes > MAX_TOTAL_BYTES)
        throw createStop(
          `the forge sends more than ${MAX_BODY_BYTES} bytes at once, or ${MAX_TOTAL_BYTES} bytes in all`,
        );
    }
    const { status, statusText, headers } = response;
    const body = STATUSES_WITHOUT_BODY.has(status) ? null : new Blob(chunks);
    return new Response(body, { status, statusText, headers });
  };
  const follow = async (start: URL, init: RequestInit): Promise<Response> => {
    let url = start;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      if (url.origin !== origin)
        throw createStop(`the forge names a page at ${url.origin}, but the token is only for ${origin}`);
      const response = await fetch(url, { ...init, redirect: 'manual' });
      const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
      if (location === null) return readWhole(response);
      await response.body?.cancel();
      url = new URL(location, url);
    }
    throw createTooManyPagesError(url);
  };
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    requests += 1;
    if (requests > MAX_REQUESTS) throw createTooManyPagesError(url);
    const limits = [deadline, AbortSignal.timeout(TIMEOUT_MS), ...(init?.signal ? [init.signal] : [])];
    try {
      return await follow(url, { ...init, signal: AbortSignal.any(limits) });
    } catch (error) {
      if (!deadline.aborted) throw error;
      throw createStop(`the forge takes longer than ${TOTAL_TIMEOUT_MS / 1000} s`, error);
    }
  };
}

function createTooManyPagesError({ pathname }: URL): Error {
  return createStop(`the forge names too many pages, the last one ${pathname}`);
}
