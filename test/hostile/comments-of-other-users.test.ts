import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createWorkspace, STACK } from '../cli/workspace.ts';
import { PERSONAL_TOKEN, startFakeForge, WORKFLOW_TOKEN } from '../forge/fake-forge.ts';

const MARKER = '<!-- edgewise:drift stack=test -->';

async function createReport() {
  const workspace = await createWorkspace({ 'edgewise.yaml': STACK });
  await workspace.edgewise('drift edgewise.yaml --report markdown=drift.md');
  return workspace;
}

const createGitHubEnvironment = (url: string, token: string) => ({
  ...{ GITHUB_API_URL: url, GITHUB_REPOSITORY: 'o/r', GITHUB_SHA: 'abc', GITHUB_TOKEN: token },
});

const createGitLabEnvironment = (url: string, token: string) => ({
  ...{ CI_SERVER_URL: url, CI_PROJECT_ID: '3', CI_COMMIT_SHA: 'abc', CI_MERGE_REQUEST_IID: '7' },
  EDGEWISE_GITLAB_TOKEN: token,
});

async function startForge() {
  const forge = await startFakeForge();
  onTestFinished(() => forge.close());
  return forge;
}

describe('a comment of another user with the marker of a report', () => {
  it.each(['mallory', 'dependabot[bot]', 'preview-app[bot]', 'github-actions', 'github-actions[bot] '])(
    'is not edited by a workflow that cannot learn its own name: %s',
    async (author) => {
      const { edgewise } = await createReport();
      const forge = await startForge();
      forge.comments.push({ id: 1, author, body: `${MARKER}\ntheirs`, state: 'open' });
      forge.issues.push({ id: 2, author, body: `${MARKER}\ntheirs`, title: 'theirs', state: 'open' });
      const env = createGitHubEnvironment(forge.url, WORKFLOW_TOKEN);
      expect((await edgewise('post drift.md', { env })).stdout).toMatch(/^Created a new comment/);
      expect((await edgewise('post drift.md --as issue --resolved', { env })).stdout).toMatch(
        /^There is no open issue/,
      );
      expect(forge.comments.map((comment) => comment.author)).toEqual([author, 'github-actions[bot]']);
      expect(forge.comments[0]?.body).toContain('theirs');
      expect(forge.issues).toMatchObject([{ state: 'open', body: expect.stringContaining('theirs') }]);
    },
  );

  it('is not edited by an app, which learns its name by GraphQL and edits its own comment', async () => {
    const { edgewise } = await createReport();
    const forge = await startForge();
    forge.viewer = { login: 'our-app' };
    forge.comments.push(
      { id: 1, author: 'github-actions[bot]', body: `${MARKER}\ntheirs`, state: 'open' },
      { id: 2, author: 'our-app[bot]', body: `${MARKER}\nours`, state: 'open' },
    );
    const { stdout } = await edgewise('post drift.md', { env: createGitHubEnvironment(forge.url, WORKFLOW_TOKEN) });
    expect(stdout).toMatch(/^Updated the comment/);
    expect(forge.comments.map(({ body }) => body.includes('No drift'))).toEqual([false, true]);
  });

  it('is not edited at GitLab by a token that cannot learn its own name', async () => {
    const { edgewise } = await createReport();
    const forge = await startForge();
    forge.comments.push({ id: 1, author: 'mallory', body: `${MARKER}\ntheirs`, state: 'open' });
    const { stdout } = await edgewise('post drift.md', { env: createGitLabEnvironment(forge.url, WORKFLOW_TOKEN) });
    expect(stdout).toMatch(/^Created a new comment/);
    expect(forge.comments[0]?.body).toContain('theirs');
  });
});

describe('a report of another author', () => {
  it('contains no command that the forge would run for the user who posts it', async () => {
    const { edgewise, write } = await createReport();
    const forge = await startForge();
    await write({ 'drift.md': `${MARKER}\n/merge\r\n/approve\na /path\n` });
    await edgewise('post drift.md', { env: createGitLabEnvironment(forge.url, PERSONAL_TOKEN) });
    expect(forge.comments.map(({ body }) => body)).toEqual([`${MARKER}\n\\/merge\r\n\\/approve\na /path\n`]);
  });
});

/** A server that records the headers of each request. */
async function startListener(
  answer: (path: string) => { status: number; headers: Record<string, string>; body?: string },
) {
  const seen: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const server = createServer(({ url = '/', headers }, response) => {
    seen.push({ path: url, headers });
    const { status, headers: more, body = '[]' } = answer(url);
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...more }).end(body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => new Promise<void>((done) => server.close(() => done())));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }; // a server that listens on a port has this type of address
}

const FORGES = [
  ['GitHub', createGitHubEnvironment],
  ['GitLab', createGitLabEnvironment],
] as const;

/** A server that writes the same body as the response to each request. */
async function startEndlessServer(write: (response: ServerResponse, url: string) => void) {
  let requests = 0;
  const server = createServer(({ url: path = '/' }, response) => {
    requests += 1;
    if (!path.endsWith('/user')) return write(response, `${url}${path}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":1,"login":"me","type":"User"}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a server that listens on a port has this type of address
  return { url, count: () => requests };
}

describe('a forge with endless responses', () => {
  const JSON_TYPE = { 'content-type': 'application/json' };
  const MEGABYTE = Buffer.alloc(1024 * 1024, ' ');
  const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));

  const flood = (response: ServerResponse): void => {
    while (!response.destroyed && response.write(MEGABYTE));
    if (!response.destroyed) response.once('drain', () => flood(response));
  };
  const BODIES: readonly (readonly [string, (response: ServerResponse) => void])[] = [
    ['without end', (response) => flood(response.writeHead(200, JSON_TYPE))],
    [
      'that is compressed',
      (response) => response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(BOMB),
    ],
    ['of an error', (response) => flood(response.writeHead(422, JSON_TYPE))],
  ];

  it.each(FORGES.flatMap(([forge, toEnv]) => BODIES.map(([body, write]) => ({ forge, body, toEnv, write }))))(
    'ends the post with an error, at a body $body, at $forge',
    async ({ toEnv, write }) => {
      const { edgewise } = await createReport();
      const forge = await startEndlessServer(write);
      const line = 'post drift.md --number 7';
      const { exitCode, stderr } = await edgewise(line, { env: toEnv(forge.url, PERSONAL_TOKEN) });
      expect({ exitCode, requests: forge.count() }, stderr).toEqual({ exitCode: 1, requests: 2 });
      expect(stderr).toContain('the forge sends more than 33554432 bytes at once');
    },
  );

  it('ends the post with an error if its pages are too large together', async () => {
    const { edgewise } = await createReport();
    const page = gzipSync(`[${' '.repeat(30 * 1024 * 1024)}]`);
    const forge = await startEndlessServer((response, url) => {
      const next = { link: `<${url}>; rel="next"`, 'x-next-page': '2' };
      response.writeHead(200, { ...JSON_TYPE, ...next, 'content-encoding': 'gzip' }).end(page);
    });
    const { exitCode, stderr } = await edgewise('post drift.md --number 7', {
      env: createGitLabEnvironment(forge.url, PERSONAL_TOKEN),
    });
    expect({ exitCode, requests: forge.count() }, stderr).toEqual({ exitCode: 1, requests: 10 });
    expect(stderr).toContain('or 268435456 bytes in all');
  });

  it.each(FORGES)('ends the post with an error if its pages take too long together, at %s', async (_, toEnv) => {
    const { edgewise } = await createReport();
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 300));
    onTestFinished(() => spy.mockRestore());
    const forge = await startEndlessServer((response, url) => {
      response.writeHead(200, { ...JSON_TYPE, link: `<${url}>; rel="next"`, 'x-next-page': '2' });
      setTimeout(() => response.end('[]'), 50);
    });
    const { exitCode, stderr } = await edgewise('post drift.md --number 7', { env: toEnv(forge.url, PERSONAL_TOKEN) });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('the forge takes longer than 600 s');
  });

  it.each(FORGES)('shows only the start of its error: %s', async (_, toEnv) => {
    const { edgewise } = await createReport();
    const forge = await startEndlessServer((response) =>
      response.writeHead(422, JSON_TYPE).end(JSON.stringify({ message: `no ##vso[x] ${'x'.repeat(1_000_000)}` })),
    );
    const { exitCode, stderr } = await edgewise('post drift.md --number 7', { env: toEnv(forge.url, PERSONAL_TOKEN) });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('no ##vso\\u005bx]');
    expect(stderr.length).toBeLessThan(2000);
  });
});

describe('a token for a forge', () => {
  const WAYS = [
    ...[301, 302, 303, 307, 308].map(
      (status) =>
        [`a redirect (${status})`, (other: string) => ({ status, headers: { location: `${other}/x` } })] as const,
    ),
    ['a relative redirect', (other: string) => ({ status: 302, headers: { location: other.replace('http:', '') } })],
    ['a next page', (other: string) => ({ status: 200, headers: { link: `<${other}/x>; rel="next"` } })],
  ] as const;

  it.each(FORGES.flatMap(([forge, toEnv]) => WAYS.map(([way, toAnswer]) => ({ forge, way, toEnv, toAnswer }))))(
    'of $forge follows no $way to another origin',
    async ({ toEnv, toAnswer }) => {
      const { edgewise } = await createReport();
      const other = await startListener(() => ({ status: 200, headers: {} }));
      const away = toAnswer(other.url.replace('127.0.0.1', 'localhost'));
      const end = { status: 200, headers: {} };
      let lists = 0;
      const forge = await startListener((path) => {
        if (away.status !== 200) return away;
        if (path.includes('/user')) return end;
        lists += 1;
        return lists === 1 ? away : end;
      });
      for (const line of ['post drift.md --number 7', 'post drift.md --as issue'])
        await edgewise(line, { env: toEnv(forge.url, PERSONAL_TOKEN) });
      expect(forge.seen.length).toBeGreaterThan(0);
      expect(JSON.stringify(forge.seen)).toContain(PERSONAL_TOKEN);
      expect(other.seen).toEqual([]);
    },
  );

  it.each(FORGES)('of %s is refused with its target, once', async (_, toEnv) => {
    const { edgewise } = await createReport();
    const forge = await startListener(() => ({ status: 302, headers: { location: 'http://elsewhere.test/' } }));
    const { exitCode, stderr } = await edgewise('post drift.md --number 7', { env: toEnv(forge.url, PERSONAL_TOKEN) });
    expect({ exitCode, requests: forge.seen.length }).toEqual({ exitCode: 1, requests: 1 });
    expect(stderr).toContain(`the forge names a page at http://elsewhere.test, but the token is only for ${forge.url}`);
    expect(stderr).not.toContain(PERSONAL_TOKEN);
  });

  it('follows a redirect on its origin, as of a renamed repository', async () => {
    const { edgewise } = await createReport();
    const forge = await startForge();
    const front = await startListener((path) => ({ status: 307, headers: { location: `/moved${path}` } }));
    const { stderr } = await edgewise('post drift.md --number 7', {
      env: createGitHubEnvironment(front.url, PERSONAL_TOKEN),
    });
    expect(front.seen.map(({ path }) => path).slice(0, 2)).toEqual(['/user', '/moved/user']);
    expect(stderr).toContain('the forge names too many pages');
    expect(forge.requests).toEqual([]);
  });

  it.each(FORGES)('of %s is not sent for endless pages', async (_, toEnv) => {
    const { edgewise } = await createReport();
    const forge = await startListener((path) => {
      if (path.includes('/user')) return { status: 200, headers: {}, body: '{"id":1,"login":"me"}' };
      return { status: 200, headers: { link: `<${forge.url}${path}>; rel="next"`, 'x-next-page': '2' }, body: '[]' };
    });
    const { exitCode, stderr } = await edgewise('post drift.md --number 7', { env: toEnv(forge.url, PERSONAL_TOKEN) });
    expect(stderr).toContain('the forge names too many pages');
    expect({ exitCode, requests: forge.seen.length }).toEqual({ exitCode: 1, requests: 1000 });
  });

  it('of GitLab edits no note without an author if its own name is unknown', async () => {
    const { edgewise } = await createReport();
    const methods: string[] = [];
    const notes = JSON.stringify([{ id: 1, body: `${MARKER}\ntheirs`, author: {}, system: false }]);
    const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
      methods.push(init?.method ?? 'GET');
      return new Response(String(url).includes('/notes') && init?.method !== 'POST' ? notes : '{}');
    });
    onTestFinished(() => spy.mockRestore());
    await edgewise('post drift.md --number 7', { env: createGitLabEnvironment('https://gitlab.test', PERSONAL_TOKEN) });
    expect(methods).toContain('POST');
    expect(methods).not.toContain('PUT');
  });

  it('causes a warning if it is sent unencrypted', async () => {
    const { edgewise } = await createReport();
    const spy = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('{}', { status: 401 }));
    onTestFinished(() => spy.mockRestore());
    const env = createGitHubEnvironment('http://192.0.2.7:1', PERSONAL_TOKEN);
    const { stderr } = await edgewise('post drift.md --number 7', { env });
    expect(stderr).toContain('Warning: requests to http://192.0.2.7:1 are not encrypted, and each carries the token.');
  });
});
