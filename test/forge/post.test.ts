import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkspace, STACK, type Workspace } from '../cli/workspace.ts';
import { type FakeForge, PERSONAL_TOKEN, startFakeForge, WORKFLOW_TOKEN } from './fake-forge.ts';

let forge: FakeForge;
beforeEach(async () => {
  forge = await startFakeForge();
});
afterEach(() => forge.close());

const BACKEND = `---
apiVersion: edgewise/v1
kind: WeightedBackend
metadata: { name: pool }
spec:
  backends: { bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt: 1 }
`;
const MANIFESTS = { 'edgewise.yaml': STACK, 'backend.yaml': BACKEND };

function createGitHubEnvironment(token: string): Record<string, string> {
  return { GITHUB_API_URL: forge.url, GITHUB_REPOSITORY: 'o/r', GITHUB_SHA: 'abc', GITHUB_TOKEN: token };
}

function createGitLabEnvironment(): Record<string, string> {
  return {
    ...{ CI_SERVER_URL: forge.url, CI_PROJECT_ID: '3', CI_COMMIT_SHA: 'abc', CI_MERGE_REQUEST_IID: '7' },
    EDGEWISE_GITLAB_TOKEN: PERSONAL_TOKEN,
  };
}

const FORGES = [
  ['GitHub, with the token of a workflow', () => createGitHubEnvironment(WORKFLOW_TOKEN), 'github-actions[bot]'],
  ['GitHub, with the token of a person', () => createGitHubEnvironment(PERSONAL_TOKEN), 'ada'],
  ['GitLab', createGitLabEnvironment, 'ada'],
] as const;

async function createReports(): Promise<Workspace> {
  const workspace = await createWorkspace(MANIFESTS);
  await workspace.edgewise('plan edgewise.yaml backend.yaml --report markdown=plan.md');
  await workspace.edgewise('drift edgewise.yaml backend.yaml --report markdown=drift.md');
  return workspace;
}

describe.each(FORGES)('a report at %s', (_, toEnv, author) => {
  it('is one comment, which is updated', async () => {
    const { edgewise } = await createReports();
    const env = toEnv();
    const first = await edgewise('post plan.md', { env });
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(first.stdout).toMatch(/^Created a new comment at .* 7 of .*: http/);
    expect(forge.comments).toMatchObject([{ author, body: expect.stringContaining('WeightedBackend/pool') }]);

    expect((await edgewise('post plan.md', { env })).stdout).toMatch(/is already up to date/);
    await edgewise('apply edgewise.yaml backend.yaml --yes');
    await edgewise('plan edgewise.yaml backend.yaml --report markdown=plan.md');
    expect((await edgewise('post plan.md', { env })).stdout).toMatch(/^Updated the comment/);
    expect(forge.comments).toHaveLength(1);
    expect(forge.comments[0]?.body).toContain('Nothing to do');
  });

  it('updates the newest comment if the token has written several', async () => {
    const { edgewise } = await createReports();
    const marker = '<!-- edgewise:plan stack=test -->';
    forge.comments.push(
      { id: 1, author, body: `${marker}\nolder`, state: 'open' },
      { id: 2, author, body: `${marker}\nnewer`, state: 'open' },
    );
    const { stdout } = await edgewise('post plan.md', { env: toEnv() });
    expect(stdout).toMatch(/^Updated the comment/);
    expect(forge.comments.map(({ body }) => body.split('\n')[1])).toEqual(['older', '']);
  });

  it('leaves comments of others, and of other stacks and commands, alone on every page', async () => {
    const { edgewise } = await createReports();
    const env = toEnv();
    const marker = '<!-- edgewise:plan stack=test -->';
    forge.comments.push(
      { id: 1, author: 'mallory', body: `${marker}\nforged`, state: 'open' },
      { id: 2, author, body: '<!-- edgewise:plan stack=other -->\nother stack', state: 'open' },
      { id: 3, author, body: '<!-- edgewise:apply stack=test -->\nother command', state: 'open' },
      { id: 4, author, body: `I quote:\n${marker}`, state: 'open' },
      { id: 5, author, body: `${marker}\nours`, state: 'open' },
      { id: 6, author: 'mallory', body: `${marker}\nforged later`, state: 'open' },
    );
    await edgewise('post plan.md', { env });
    expect(forge.comments.map(({ id, body }) => [id, body.split('\n')[1]])).toEqual([
      [1, 'forged'],
      [2, 'other stack'],
      [3, 'other command'],
      [4, marker],
      [5, ''],
      [6, 'forged later'],
    ]);
    expect(forge.comments[4]?.body).toContain('WeightedBackend/pool');
  });

  it('is one open issue while there is drift, and closed after that', async () => {
    const { edgewise } = await createReports();
    const env = toEnv();
    expect((await edgewise('post drift.md --as issue --resolved', { env })).stdout).toMatch(/^There is no open issue/);
    expect((await edgewise('post drift.md --as issue', { env })).stdout).toMatch(/^Created a new issue/);
    expect(forge.issues).toMatchObject([{ title: 'edgewise drift: stack test', state: 'open' }]);
    expect((await edgewise('post drift.md --as issue', { env })).stdout).toMatch(/is already up to date/);
    await edgewise('apply edgewise.yaml backend.yaml --yes');
    await edgewise('drift edgewise.yaml backend.yaml --report markdown=drift.md');
    expect((await edgewise('post drift.md --as issue --resolved', { env })).stdout).toMatch(/^Closed the issue/);
    expect(forge.issues).toMatchObject([{ state: 'closed', body: expect.stringContaining('No drift') }]);
    expect((await edgewise('post drift.md --as issue', { env })).stdout).toMatch(/^Created a new issue/);
    expect(forge.issues).toHaveLength(2);
  });

  it('updates the newest open issue if the token has created several', async () => {
    const { edgewise } = await createReports();
    const marker = '<!-- edgewise:drift stack=test -->';
    forge.issues.push(
      { id: 1, author, body: `${marker}\nolder`, state: 'open' },
      { id: 2, author, body: `${marker}\nnewer`, state: 'open' },
    );
    expect((await edgewise('post drift.md --as issue', { env: toEnv() })).stdout).toMatch(/^Updated the issue/);
    expect(forge.issues.map(({ body }) => body.split('\n')[1])).toEqual(['older', '']);
  });

  it('finds the pull request of a commit if the job is not about one', async () => {
    const { edgewise } = await createReports();
    const { CI_MERGE_REQUEST_IID: _number, ...env } = toEnv();
    expect(await edgewise('post plan.md', { env })).toMatchObject({ exitCode: 0 });
    expect(forge.comments).toHaveLength(1);
  });
});

describe.each(['pull_request', 'issue'])('an event of GitHub with a member %s', (member) => {
  it('has the number of the pull request, which is not looked up by commit', async () => {
    const { edgewise, write } = await createReports();
    await write({ 'event.json': JSON.stringify({ [member]: { number: 7 } }) });
    const env = { ...createGitHubEnvironment(WORKFLOW_TOKEN), GITHUB_SHA: 'def', GITHUB_EVENT_PATH: 'event.json' };
    expect(await edgewise('post plan.md', { env })).toMatchObject({ exitCode: 0 });
    expect(forge.comments).toHaveLength(1);
    expect(forge.requests.filter((request) => request.includes('/commits/'))).toEqual([]);
  });
});

describe('a note that GitLab itself wrote in the name of the user', () => {
  it('is no comment to update, even if it quotes one', async () => {
    const { edgewise } = await createReports();
    const body = '<!-- edgewise:plan stack=test -->\nchanged the title';
    forge.comments.push({ id: 1, author: 'ada', body, state: 'open', isSystem: true });
    const { exitCode, stdout } = await edgewise('post plan.md', { env: createGitLabEnvironment() });
    expect({ exitCode, stdout }).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^Created a new comment/),
    });
    expect(forge.comments).toMatchObject([{ body }, { body: expect.stringContaining('WeightedBackend/pool') }]);
  });
});

describe('a note at a GitLab below a path', () => {
  it('leads to the page of its merge request, by the variable of the job or as GitLab says', async () => {
    const { edgewise } = await createReports();
    const env = { ...createGitLabEnvironment(), CI_SERVER_URL: `${forge.url}/gitlab` };
    const looked = await edgewise('post plan.md', { env });
    expect(looked.stdout).toMatch(/: https:\/\/forge\.test\/looked-up\/7#note_\d+$/m);
    const CI_PROJECT_URL = 'https://git.example.com/gitlab/team/shop';
    const known = await edgewise('post plan.md', { env: { ...env, CI_PROJECT_URL } });
    expect(known.stdout).toMatch(/: https:\/\/git\.example\.com\/gitlab\/team\/shop\/-\/merge_requests\/7#note_\d+$/m);
    expect(forge.comments).toHaveLength(1);
  });
});

describe('a report that cannot be posted', () => {
  it('names the token that is wrong, and exits with 1, without the token', async () => {
    const { edgewise } = await createReports();
    const result = await edgewise('post plan.md --number 7', { env: createGitHubEnvironment('secret-that-is-wrong') });
    expect(result).toMatchObject({ exitCode: 1 });
    expect(result.stderr).toMatch(/could not be posted to pull request 7 of o\/r: .*Bad credentials/s);
    expect(result.stderr).not.toContain('secret-that-is-wrong');
  });

  it('is not posted in the name of another account if the forge leads to another origin when it is asked for its own', async () => {
    const { edgewise } = await createReports();
    forge.leadsTo = 'https://other.test/graphql';
    const result = await edgewise('post plan.md', { env: createGitHubEnvironment(WORKFLOW_TOKEN) });
    expect(result).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('names a page at https://other.test'),
    });
    expect(forge.comments).toEqual([]);
  });

  it('is retried if the forge fails for a moment', async () => {
    const { edgewise } = await createReports();
    forge.failures = 1;
    expect(await edgewise('post plan.md', { env: createGitHubEnvironment(WORKFLOW_TOKEN) })).toMatchObject({
      exitCode: 0,
    });
    expect(forge.comments).toHaveLength(1);
  });

  it.each([
    ['outside of a pipeline', {}, /not a job of GitHub or GitLab/],
    ['without a token', { GITHUB_REPOSITORY: 'o/r' }, /no token to write with: set GITHUB_TOKEN/],
  ])('names the setting that is missing or wrong: %s', async (_, env, message) => {
    const { edgewise } = await createReports();
    const result = await edgewise('post plan.md', { env });
    expect(result).toMatchObject({ exitCode: 3, stderr: expect.stringMatching(message) });
  });

  it('says that the commit has no pull request', async () => {
    const { edgewise } = await createReports();
    const env = { ...createGitHubEnvironment(WORKFLOW_TOKEN), GITHUB_SHA: 'def' };
    const result = await edgewise('post plan.md', { env });
    expect(result).toMatchObject({ exitCode: 3, stderr: expect.stringMatching(/belongs to no pull or merge request/) });
    expect(forge.comments).toEqual([]);
  });

  it('is refused if it is no report of edgewise', async () => {
    const { edgewise, write } = await createReports();
    await write({ 'notes.md': '# Notes\n' });
    const result = await edgewise('post notes.md', { env: createGitHubEnvironment(WORKFLOW_TOKEN) });
    expect(result).toMatchObject({ exitCode: 3, stderr: expect.stringMatching(/notes\.md is not a report/) });
    expect(forge.requests).toEqual([]);
  });
});
