/**
 * What we keep at a forge (GitHub, GitLab): a comment on a pull request, and an issue. Deliberately absent: their text, which is a
 * report in Markdown, and its first line, the marker that identifies it.
 */
export interface Forge {
  /** Where requests go, each with the token. */
  readonly url: string;
  /** For people: `pull request 12 of example/infra`. */
  readonly place: string;
  /** Comments of the account that the token belongs to, oldest first. Rejects when the pull request cannot be read. */
  readonly listComments: () => Promise<readonly CommentOrIssue[]>;
  readonly createComment: (body: string) => Promise<CommentOrIssue>;
  readonly updateComment: (post: CommentOrIssue, body: string) => Promise<CommentOrIssue>;
  /** Open issues of the account that the token belongs to, oldest first. */
  readonly listOpenIssues: () => Promise<readonly CommentOrIssue[]>;
  readonly createIssue: (title: string, body: string) => Promise<CommentOrIssue>;
  readonly updateIssue: (post: CommentOrIssue, body: string) => Promise<CommentOrIssue>;
  readonly closeIssue: (post: CommentOrIssue, body: string) => Promise<CommentOrIssue>;
}

/** One comment or issue. */
export interface CommentOrIssue {
  readonly id: number;
  readonly body: string;
  /** Where a person reads it. */
  readonly url: string;
}

/** What became of a report that was posted. */
export interface PostResult {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'closed' | 'none';
  readonly url?: string;
}

const MARKER = /^<!-- (edgewise:([a-z-]+)(?: stack=(\S+))?) -->$/;

/** The first line of a Markdown report, by which the post that it replaces is found; `undefined` if the text has none. */
export function findMarker(text: string): string | undefined {
  const [line = ''] = text.split('\n', 1);
  return MARKER.test(line.trimEnd()) ? line.trimEnd() : undefined;
}

/** Writes a report as a comment, in the place of the one with the same marker. */
export async function postComment(forge: Forge, marker: string, text: string): Promise<PostResult> {
  const old = findOwn(await forge.listComments(), marker);
  if (old === undefined) return { outcome: 'created', url: (await forge.createComment(text)).url };
  if (isSameText(old.body, text)) return { outcome: 'unchanged', url: old.url };
  return { outcome: 'updated', url: (await forge.updateComment(old, text)).url };
}

/** Keeps one issue open while there is something to report; when there is nothing any more, closes it with a text that says so. */
export async function postIssue(
  forge: Forge,
  { marker, text, isResolved }: { readonly marker: string; readonly text: string; readonly isResolved: boolean },
): Promise<PostResult> {
  const old = findOwn(await forge.listOpenIssues(), marker);
  if (isResolved)
    return old === undefined
      ? { outcome: 'none' }
      : { outcome: 'closed', url: (await forge.closeIssue(old, text)).url };
  if (old === undefined) return { outcome: 'created', url: (await forge.createIssue(toTitle(marker), text)).url };
  if (isSameText(old.body, text)) return { outcome: 'unchanged', url: old.url };
  return { outcome: 'updated', url: (await forge.updateIssue(old, text)).url };
}

/** `edgewise drift: stack production`. */
function toTitle(marker: string): string {
  const [, , command = '', stack] = MARKER.exec(marker) ?? [];
  return `edgewise ${command}${stack === undefined ? '' : `: stack ${stack}`}`;
}

/** The newest, should there be several. */
function findOwn(posts: readonly CommentOrIssue[], marker: string): CommentOrIssue | undefined {
  return posts.findLast(({ body }) => findMarker(body) === marker);
}

/** Forges change line ends, and white space at the end. */
function isSameText(left: string, right: string): boolean {
  return toComparable(left) === toComparable(right);
}

function toComparable(text: string): string {
  return text.replaceAll('\r\n', '\n').trimEnd();
}

/** A forge answered with a way to somewhere else. */
export class OtherOrigin extends Error {
  /** What has this name, octokit does not send again. */
  override readonly name = 'AbortError';
}

const MAX_REDIRECTS = 5;
/** Of one report: twenty thousand comments have no more pages. */
const MAX_REQUESTS = 1000;
const TIMEOUT_MS = 60_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/**
 * A `fetch` for requests that carry a token: it sends them to one origin only, even after a redirect. A redirect within the origin is followed with the same
 * method and body, as forges expect. Node's own would send headers such as `Private-Token` to every origin. The number of requests and the time of each are
 * limited.
 */
export function createOneOriginFetch(baseUrl: string): typeof fetch {
  const { origin } = new URL(baseUrl);
  let requests = 0;
  return async (input, init) => {
    let url = toUrl(input);
    requests += 1;
    if (requests > MAX_REQUESTS)
      throw new OtherOrigin(`the forge names more and more pages, the last one ${url.pathname}`);
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(init?.signal ? [init.signal] : [])]);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      if (url.origin !== origin)
        throw new OtherOrigin(`the forge names a page at ${url.origin}, but the token is only for ${origin}`);
      const response = await fetch(url, { ...init, signal, redirect: 'manual' });
      const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
      if (location === null) return response;
      await response.body?.cancel();
      url = new URL(location, url);
    }
    throw new OtherOrigin(`the forge names more and more pages, the last one ${url.pathname}`);
  };
}

function toUrl(input: Parameters<typeof fetch>[0]): URL {
  return new URL(input instanceof Request ? input.url : input);
}
