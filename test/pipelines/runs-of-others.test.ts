import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { toEdge } from '../cli/workspace.ts';
import { type FakeForge, startFakeForge } from '../forge/fake-forge.ts';
import { approve, createJob, type Job, startAction, startGitLabJob } from './steps.ts';
import { describeWith, runTool } from './tools.ts';

let forge: FakeForge;
beforeEach(async () => {
  forge = await startFakeForge();
});
afterEach(() => forge.close());

const URL_OF_RUN = 'https://forge.test/runs/9';

/** Adds the edge of another pull request, which is before this one in the queue. */
async function addEdgeOfOthers({ folder }: Job): Promise<void> {
  await writeFile(join(folder, 'manifests/others.yaml'), toEdge('others', 20_009).replace(/^---\n/, ''));
}

describeWith(['bash'], 'a run at GitHub', () => {
  it('applies nothing if a newer run was applied, and applies if only older ones were', async () => {
    const job = await createJob();
    await approve(job);
    forge.runs.push({ run_number: 9, status: 'success', html_url: URL_OF_RUN });
    const outdated = await (await startAction('apply', job, { forge })).ended;
    expect(outdated).toMatchObject({
      status: 6,
      output: expect.stringContaining(`a newer one was applied (${URL_OF_RUN})`),
    });
    expect(job.service.log.filter((route) => !route.startsWith('GET'))).toEqual([]);
    forge.runs.splice(0, 1, { run_number: 4, status: 'success' }, { run_number: 9, status: 'failure' });
    const current = await (await startAction('apply', job, { forge })).ended;
    expect(current.status, current.output).toBe(0);
  });

  it('says in the report of drift that an apply runs', async () => {
    const job = await createJob();
    forge.runs.push({ run_number: 9, status: 'in_progress', html_url: URL_OF_RUN });
    const { status, output } = await (await startAction('drift', job, { forge })).ended;
    expect(status, output).toBe(0);
    expect(forge.issues[0]?.body).toContain(`An apply was running (${URL_OF_RUN})`);
  });

  it('of a fork or of Dependabot validates, says that there is no plan, and is green', async () => {
    const job = await createJob();
    const more = { GITHUB_EVENT_NAME: 'pull_request', WITHOUT_SECRETS: 'true', EDGEWISE_API_KEY: '' };
    const { status, output } = await (await startAction('plan', job, { forge, more })).ended;
    expect(status, output).toBe(0);
    expect(output).toContain('There is no plan: GitHub gives no secrets');
    expect(await readFile(join(job.folder, 'output'), 'utf8')).toMatch(/exit-code=0\nhas-changes=false/);
    expect(job.service.log).toEqual([]);
    await writeFile(join(job.folder, 'manifests/wrong.yaml'), 'apiVersion: edgewise/v1\nkind: TCPEdgee\n');
    await (await startAction('plan', job, { forge, more })).ended;
    expect(await readFile(join(job.folder, 'output'), 'utf8')).toContain('exit-code=3');
  });

  it('without a key fails if GitHub would give it secrets', async () => {
    const job = await createJob();
    const more = { WITHOUT_SECRETS: 'false', EDGEWISE_API_KEY: '' };
    await (await startAction('plan', job, { forge, more })).ended;
    expect(await readFile(join(job.folder, 'output'), 'utf8')).toContain('exit-code=4');
  });

  it('of a merge queue lists what others add to the approved plan, and passes', async () => {
    const job = await createJob();
    await approve(job);
    await addEdgeOfOthers(job);
    const more = { GITHUB_EVENT_NAME: 'merge_group', APPROVED: job.folder, COMMENT: 'false' };
    const { status, output } = await (await startAction('plan', job, { forge, more })).ended;
    expect(status, output).toBe(0);
    expect(await readFile(join(job.folder, 'output'), 'utf8')).toContain('exit-code=2');
    expect(await readFile(join(job.folder, 'summary'), 'utf8')).toMatch(/compared[\s\S]*TCPEdge\/others/);
    expect(forge.comments).toEqual([]);
  });

  it('of a merge queue finds the run that planned its pull request', async () => {
    forge.runs.push({ id: 42, event: 'pull_request', head_sha: 'abc', status: 'success' });
    const env = {
      ...{ GITHUB_API_URL: forge.url, GITHUB_REPOSITORY: 'o/r', TOKEN: 'ghs_token-of-the-workflow' },
      GITHUB_REF: 'refs/heads/gh-readonly-queue/main/pr-7-abc',
      GITHUB_WORKFLOW_REF: 'o/r/.github/workflows/plan.yml@refs/heads/main',
    };
    expect(await runTool(process.execPath, ['.github/actions/forge.mjs', 'approved'], { env })).toEqual({
      status: 0,
      output: '42\n',
    });
    forge.runs.length = 0;
    const none = await runTool(process.execPath, ['.github/actions/forge.mjs', 'approved'], { env });
    expect(none).toEqual({ status: 0, output: '' });
  });
});

describeWith(['sh', 'tar'], 'a pipeline at GitLab', () => {
  it('applies nothing if a newer pipeline was applied, and applies if only older ones were', async () => {
    const job = await createJob();
    await approve(job);
    forge.deployments.push({ status: 'success', deployable: { pipeline: { id: 9 } } });
    const outdated = await (await startGitLabJob('edgewise-apply', job, { forge })).ended;
    expect(outdated).toMatchObject({ status: 6, output: expect.stringContaining('the newer pipeline 9 was applied') });
    expect(job.service.log.filter((route) => !route.startsWith('GET'))).toEqual([]);
    forge.deployments.splice(0, 1, { status: 'success', deployable: { pipeline: { id: 4 } } });
    const current = await (await startGitLabJob('edgewise-apply', job, { forge })).ended;
    expect(current.status, current.output).toBe(0);
  });

  it('says in the report of drift that an apply runs', async () => {
    const job = await createJob();
    forge.deployments.push({ status: 'running', deployable: { web_url: URL_OF_RUN } });
    const { output } = await (await startGitLabJob('edgewise-drift', job, { forge })).ended;
    expect(output).toContain(`An apply was running (${URL_OF_RUN})`);
    expect(forge.issues[0]?.body).toContain(`An apply was running (${URL_OF_RUN})`);
  });

  it('of a fork validates, says that there is no plan, and is green', async () => {
    const job = await createJob();
    const more = { EDGEWISE_API_KEY: '', CI_MERGE_REQUEST_PROJECT_ID: '4', CI_COMMIT_BRANCH: '' };
    const { status, output } = await (await startGitLabJob('edgewise-plan', job, { forge, more })).ended;
    expect(status, output).toBe(0);
    expect(output).toContain('There is no plan');
    expect(job.service.log).toEqual([]);
  });

  it('of a train lists what others add to the approved plan, passes, and leaves the note alone', async () => {
    const job = await createJob();
    await approve(job);
    await addEdgeOfOthers(job);
    forge.pipelines.push({ id: 5, ref: 'refs/merge-requests/7/train', status: 'success' });
    forge.pipelines.push({ id: 4, ref: 'refs/merge-requests/7/merge', status: 'success' });
    const more = { CI_MERGE_REQUEST_EVENT_TYPE: 'merge_train', CI_MERGE_REQUEST_IID: '7', CI_COMMIT_BRANCH: '' };
    const { status, output } = await (await startGitLabJob('edgewise-plan', job, { forge, more })).ended;
    expect(status, output).toBe(0);
    expect(output).toMatch(/compared[\s\S]*TCPEdge\/others/);
    expect(forge.requests).toContain('GET /api/v4/projects/3/pipelines/4/jobs');
    expect(forge.comments).toEqual([]);
  });
});
