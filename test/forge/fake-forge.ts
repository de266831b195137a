import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../src/model/json.ts';

/** A comment or an issue in the fake forge. */
export interface StoredPost {
  readonly id: number;
  body: string;
  readonly author: string;
  title?: string;
  state: 'open' | 'closed';
  /** Whether GitLab wrote it about an event, in the name of `author`. It cannot be changed. */
  readonly isSystem?: boolean;
}

/**
 * A fake of GitHub and GitLab on a real port. It stores comments and issues, in pages of two, and rejects what the forges reject: a wrong
 * token, a body that is too long, an unknown pull request, and a request of a workflow's token for its own name.
 */
export interface FakeForge {
  readonly url: string;
  readonly comments: StoredPost[];
  readonly issues: StoredPost[];
  readonly requests: string[];
  /** The user that GraphQL returns. Absent: none. */
  viewer?: { readonly login: string };
  /** Where GraphQL redirects to. Absent: nowhere. */
  leadsTo?: string;
  /** The jobs of the pipeline 5 of GitLab, oldest first. */
  readonly jobs: { readonly id: number; readonly name: string }[];
  /** The runs of every workflow of GitHub, newest first. */
  readonly runs: JsonObject[];
  /** The deployments of GitLab, newest first. */
  readonly deployments: JsonObject[];
  /** The pipelines of the merge request 7 of GitLab. */
  readonly pipelines: JsonObject[];
  /** Returns a file of the artifact of a job of GitLab, by `ID/PATH`. `undefined`: there is none. */
  findArtifact?: (path: string) => Uint8Array | undefined;
  /** How many of the next requests get 502. */
  failures: number;
  readonly close: () => Promise<void>;
}

/** The token of a job, and that of a person. */
export const WORKFLOW_TOKEN = 'ghs_token-of-the-workflow';
export const PERSONAL_TOKEN = 'token-of-ada';

const BOT = 'github-actions[bot]';
const MAX_BODY = 65_536;
const PAGE = 2;

/** Starts the fake forge. Pull request 7 exists, and contains the commit `abc`. */
export async function startFakeForge(): Promise<FakeForge> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  // A server that listens on a port has an address of this type.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let ids = 100;
  const standIn: FakeForge = {
    url,
    comments: [],
    issues: [],
    requests: [],
    jobs: [],
    runs: [],
    deployments: [],
    pipelines: [],
    failures: 0,
    close: () => new Promise((done) => server.close(() => done())),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: whole, searchParams } = new URL(request.url ?? '/', url);
    // GitLab may be below a path.
    const pathname = whole.replace(/^\/gitlab\//, '/');
    standIn.requests.push(`${request.method} ${pathname}`);
    const send = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers });
      response.end(JSON.stringify(body));
    };
    if (standIn.failures > 0) {
      standIn.failures -= 1;
      return send(502, { message: 'Bad Gateway' });
    }
    const author = toAuthor(request);
    if (author === undefined) return send(401, { message: 'Bad credentials' });
    const body = await readJson(request);
    const text = typeof body['body'] === 'string' ? body['body'] : body['description'];
    if (typeof text === 'string' && text.length > MAX_BODY)
      return send(422, { message: `body is too long (maximum is ${MAX_BODY} characters)` });
    const list = (oldestFirst: readonly StoredPost[], { isNewestFirst }: { readonly isNewestFirst: boolean }) =>
      listPage(isNewestFirst ? oldestFirst.toReversed() : oldestFirst, toWire);
    const listPage = <T>(all: readonly T[], toMember: (one: T) => unknown) => {
      const page = Number(searchParams.get('page') ?? '1');
      const members = all.slice((page - 1) * PAGE, page * PAGE).map(toMember);
      const next = new URL(request.url ?? '/', url);
      next.searchParams.set('page', String(page + 1));
      const isMore = all.length > page * PAGE;
      send(
        200,
        members,
        isMore ? { link: `<${next}>; rel="next"`, 'x-next-page': String(page + 1) } : { 'x-next-page': '' },
      );
    };
    const add = (all: StoredPost[]) => {
      const kept: StoredPost = { id: ++ids, body: String(text), author, state: 'open' };
      if (typeof body['title'] === 'string') kept.title = body['title'];
      all.push(kept);
      send(201, toWire(kept));
    };
    const change = (all: readonly StoredPost[], id: string | undefined) => {
      const kept = all.find((one) => one.id === Number(id));
      if (kept === undefined) return send(404, { message: 'Not Found' });
      if (kept.isSystem === true) return send(403, { message: '403 Forbidden' });
      if (typeof text === 'string') kept.body = text;
      if (body['state'] === 'closed' || body['state_event'] === 'close' || body['stateEvent'] === 'close')
        kept.state = 'closed';
      send(200, toWire(kept));
    };
    const open = () => standIn.issues.filter(({ state }) => state === 'open');
    const route = `${request.method} ${pathname.replace(/^\/api\/v4/, '')}`;
    if (route === 'GET /user') {
      if (author === BOT) return send(403, { message: 'Resource not accessible by integration' });
      return send(200, { login: author, id: author.length, username: author });
    }
    if (route === 'POST /graphql') {
      const { viewer, leadsTo } = standIn;
      if (leadsTo !== undefined) return send(302, {}, { location: leadsTo });
      return viewer === undefined ? send(403, { message: 'Forbidden' }) : send(200, { data: { viewer } });
    }
    const isAsked = (member: JsonObject): boolean =>
      ['status', 'event', 'head_sha'].every((name) => [null, member[name]].includes(searchParams.get(name)));
    if (/^GET \/repos\/o\/r\/actions\/workflows\/[\w.]+\/runs$/.test(route))
      return send(200, { workflow_runs: standIn.runs.filter(isAsked) });
    if (route === 'GET /repos/o/r/pulls/7') return send(200, { head: { sha: 'abc' } });
    if (route === 'GET /projects/3/deployments') return send(200, standIn.deployments.filter(isAsked));
    if (route === 'GET /projects/3/merge_requests/7/pipelines') return send(200, standIn.pipelines);
    if (route === 'GET /projects/3/merge_requests/7') return send(200, { web_url: 'https://forge.test/looked-up/7' });
    if (/^GET \/projects\/3\/pipelines\/[45]\/jobs$/.test(route))
      return listPage(standIn.jobs.toReversed(), (job) => job);
    const [, artifact] = /^GET \/projects\/3\/jobs\/(\d+\/artifacts\/.+)$/.exec(route) ?? [];
    const file = artifact === undefined ? undefined : standIn.findArtifact?.(artifact.replace('/artifacts', ''));
    if (file !== undefined) {
      response.writeHead(200, { 'content-type': 'application/octet-stream', connection: 'close' });
      response.end(file);
      return;
    }
    if (/^GET \/repos\/o\/r\/commits\/abc\/pulls$/.test(route))
      return send(200, [{ number: 7, merged_at: '2026-01-01T00:00:00Z' }]);
    if (/^GET \/repos\/o\/r\/commits\/\w+\/pulls$/.test(route)) return send(200, []);
    if (/^GET \/projects\/3\/repository\/commits\/abc\/merge_requests$/.test(route))
      return send(200, [{ iid: 7, state: 'merged' }]);
    if (/^GET \/repos\/o\/r\/issues\/7\/comments$/.test(route)) return list(standIn.comments, { isNewestFirst: false });
    // GitHub's comments are sorted oldest first by default, issues and GitLab's notes newest first.
    const isNewestFirst = (searchParams.get('direction') ?? searchParams.get('sort')) !== 'asc';
    if (/^GET \/projects\/3\/merge_requests\/7\/notes$/.test(route)) return list(standIn.comments, { isNewestFirst });
    if (/^POST (\/repos\/o\/r\/issues|\/projects\/3\/merge_requests)\/7\/(comments|notes)$/.test(route))
      return add(standIn.comments);
    const comment =
      /^(?:PATCH \/repos\/o\/r\/issues\/comments|PUT \/projects\/3\/merge_requests\/7\/notes)\/(\d+)$/.exec(route);
    if (comment) return change(standIn.comments, comment[1]);
    if (/^GET \/(repos\/o\/r|projects\/3)\/issues$/.test(route)) return list(open(), { isNewestFirst });
    if (/^POST \/(repos\/o\/r|projects\/3)\/issues$/.test(route)) return add(standIn.issues);
    const issue = /^(?:PATCH \/repos\/o\/r|PUT \/projects\/3)\/issues\/(\d+)$/.exec(route);
    if (issue) return change(standIn.issues, issue[1]);
    send(404, { message: 'Not Found' });
  }

  return standIn;
}

function toAuthor({ headers }: IncomingMessage): string | undefined {
  const token = headers.authorization?.replace(/^(token|Bearer) /i, '') ?? headers['private-token'];
  if (token === WORKFLOW_TOKEN) return BOT;
  return token === PERSONAL_TOKEN ? 'ada' : undefined;
}

function toWire({ id, body, author, title = '', state, isSystem = false }: StoredPost) {
  const url = `https://forge.test/${id}`;
  const user = { login: author, type: author.endsWith('[bot]') ? 'Bot' : 'User', id: author.length };
  return {
    ...{ id, number: id, iid: id, body, description: body, title, state, system: isSystem },
    ...{ user, author: user, html_url: url, web_url: url },
  };
}

async function readJson(request: IncomingMessage): Promise<JsonObject> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part);
  const text = Buffer.concat(parts).toString();
  return text === '' ? {} : JSON.parse(text);
}
