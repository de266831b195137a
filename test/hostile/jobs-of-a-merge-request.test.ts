import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { toEdge } from '../cli/workspace.ts';
import { PROGRAM } from '../end-to-end/processes.ts';
import { PERSONAL_TOKEN } from '../forge/fake-forge.ts';
import { commitAll, git, toStack } from '../repository/tree.ts';
import { type JobCall, type RanJob, runJob } from './component-jobs.ts';
import { type JobEnvironment, KEY, startJobEnvironment } from './job.ts';

/** The jobs of the component for GitLab, in a checkout whose files are all chosen by the author of a merge request. */

const FORGED = '<!-- edgewise:plan stack=a -->\nNothing to do.\n';
const POLICY = `apiVersion: edgewise/v1
kind: Policy
metadata: { name: no-edge }
spec: { match: { kinds: [TCPEdge] }, require: "false", message: No edge is created on a Monday. }
`;
const MERGE_REQUEST = { CI_PIPELINE_SOURCE: 'merge_request_event', CI_MERGE_REQUEST_IID: '7' };
const MERGED = { CI_PIPELINE_SOURCE: 'push', CI_COMMIT_BRANCH: 'main' };

let server: JobEnvironment['server'];
let service: JobEnvironment['service'];
let forge: JobEnvironment['forge'];
let attacker: JobEnvironment['attacker'];
let checkout: JobEnvironment['checkout'];
let runner: JobEnvironment['runner'];

beforeEach(async () => {
  ({ server, service, forge, attacker, checkout, runner } = await startJobEnvironment());
});

describe('the key and the token of the forge', () => {
  it('are never in one process, and npm has neither', async () => {
    await write({ 'manifests/a.yaml': toStack('a') + toEdge('a', 20_001) });
    const ran = await run('edgewise-plan', MERGE_REQUEST);
    expect(ran.exitCode, ran.log).toBe(0);
    const given = ran.started.map(({ words, env }) => {
      const values = Object.values(env);
      return [words.slice(0, 2).join(' '), values.includes(KEY), values.includes(PERSONAL_TOKEN)];
    });
    expect(given).toEqual([
      ['npm install', false, false],
      ['edgewise plan', true, false],
      ['edgewise post', false, true],
    ]);
    expect(forge.comments).toMatchObject([{ body: expect.stringContaining('TCPEdge/a') }]);
  });

  it('go to no URL of the merge request or of a variable of the pipeline', async () => {
    const variables = { ...MERGE_REQUEST, EDGEWISE_BASE_URL: attacker.url, EDGEWISE_UNTRUSTED: '0' };
    await write({ 'manifests/a.yaml': toStack('a', { api: { base_url: attacker.url } }) + toEdge('a', 20_001) });
    const ran = await run('edgewise-plan', variables);
    expect(ran.exitCode, ran.log).toBe(3);
    expect(ran.log).toMatch(/--> manifests\/a\.yaml:1:/);
    await write({ 'manifests/a.yaml': toStack('a') + toEdge('a', 20_001) });
    expect((await run('edgewise-plan', variables)).exitCode).toBe(0);
    expect(attacker.heard).toEqual([]);
  });

  it('go nowhere because of the name of a folder', async () => {
    const manifests = `--base-url=${attacker.url}`;
    await write({ [`${manifests}/a.yaml`]: toStack('a') + toEdge('a', 20_001) });
    for (const job of ['edgewise-plan', 'edgewise-drift'] as const)
      await run(job, { ...MERGE_REQUEST, MANIFESTS: manifests });
    expect(attacker.heard).toEqual([]);
  });
});

describe('the artifact and the note', () => {
  it.each(['a folder', 'a link to a folder', 'a link to a file'])(
    'are those of the run if the merge request commits %s in their place',
    async (kind) => {
      const elsewhere = join(runner, 'elsewhere');
      await mkdir(elsewhere);
      await writeFile(join(elsewhere, 'plan.md'), FORGED);
      await write({ 'manifests/a.yaml': toStack('a') + toEdge('a', 20_001), 'plan.md': FORGED });
      if (kind === 'a folder') await write({ 'edgewise-plan/plan.md': FORGED, 'edgewise-plan/forged.json': '{}' });
      const target = kind === 'a link to a file' ? join(elsewhere, 'plan.md') : elsewhere;
      if (kind !== 'a folder') await symlink(target, join(checkout, 'edgewise-plan'));
      const ran = await run('edgewise-plan', MERGE_REQUEST);
      expect(ran.exitCode, ran.log).toBe(0);
      expect((await lstat(join(checkout, 'edgewise-plan'))).isDirectory()).toBe(true);
      expect((await readdir(join(checkout, 'edgewise-plan'))).sort()).toEqual([
        ...['edgewise.xml', 'plan.html', 'plan.json', 'plan.md', 'plan.tar'],
      ]);
      expect(await readdir(elsewhere)).toEqual(['plan.md']);
      expect(await readFile(join(elsewhere, 'plan.md'), 'utf8')).toBe(FORGED);
      expect(forge.comments).toMatchObject([{ body: expect.stringContaining('TCPEdge/a') }]);
    },
  );

  it('are not committed files if the job fails before there is a plan', async () => {
    await write({
      'edgewise-plan/plan.html': FORGED,
      'edgewise-plan/edgewise.xml': '<testsuites/>',
      'plan.md': FORGED,
    });
    const ran = await run('edgewise-plan', MERGE_REQUEST, { failsEarly: true });
    expect(ran.exitCode).toBe(1);
    expect(await readdir(checkout)).not.toContain('edgewise-plan');
    expect(forge.comments).toEqual([]);
  });
});

describe('a policy of the default branch', () => {
  it.each([
    ['made its own copy of it a link to nothing', []],
    ['pushed a tag with the name of the branch', ['main']],
  ])('refuses the merge request, although it %s', async (_, tags) => {
    const policy = join('policies', 'few-ports.yaml');
    await write({ [policy]: POLICY, 'manifests/a.yaml': toStack('a') });
    git(checkout, 'init', '--quiet', '--initial-branch=main');
    git(checkout, 'remote', 'add', 'origin', checkout);
    commitAll(checkout);
    git(checkout, 'checkout', '--quiet', '-b', 'feature');
    await rm(join(checkout, 'policies'), { recursive: true });
    await symlink('/dev/null', join(checkout, 'policies'));
    await write({ 'manifests/a.yaml': toStack('a') + toEdge('a', 20_001) });
    commitAll(checkout);
    for (const tag of tags) git(checkout, 'tag', tag);
    const ran = await run('edgewise-plan', MERGE_REQUEST, { inputs: { policies: 'policies' } });
    expect(ran.exitCode, ran.log).toBe(5);
    expect(ran.log).toContain('No edge is created on a Monday.');
    const withKeys = ran.started.filter(({ env }) => env['EDGEWISE_API_KEY'] === KEY);
    expect(withKeys.map(({ words }) => words.slice(0, 2).join(' '))).toEqual(['edgewise plan']);
  });
});

describe('a pipeline', () => {
  it.each([
    ['a merge request', MERGE_REQUEST, '1'],
    ['a branch', { CI_PIPELINE_SOURCE: 'push', CI_COMMIT_BRANCH: 'feature' }, '1'],
    ['a tag', { CI_PIPELINE_SOURCE: 'push', CI_COMMIT_TAG: 'v1' }, '1'],
    ['a project without a default branch', { CI_PIPELINE_SOURCE: 'push', CI_DEFAULT_BRANCH: '' }, '1'],
    ['the default branch', MERGED, undefined],
  ])('of %s is trusted only after the merge', async (_, variables, expected) => {
    await write({ 'manifests/a.yaml': toStack('a') + toEdge('a', 20_001) });
    const ran = await run('edgewise-plan', variables);
    const plan = ran.started.find(({ words }) => words[1] === 'plan');
    expect(plan?.env['EDGEWISE_UNTRUSTED']).toBe(expected);
    expect(ran.exitCode, ran.log).toBe(0);
  });

  it('of a merge request applies nothing, also if its author starts the job', async () => {
    await write({ 'manifests/a.yaml': toStack('a') + toEdge('a', 20_001) });
    await run('edgewise-plan', MERGE_REQUEST);
    await keepArtifact();
    const refused = await run('edgewise-apply', MERGE_REQUEST);
    expect(refused.exitCode, refused.log).toBe(5);
    expect(server.snapshot().resources['TCPEdge'] ?? []).toEqual([]);
    const applied = await run('edgewise-apply', MERGED);
    expect(applied.exitCode, applied.log).toBe(0);
    expect(server.snapshot().resources['TCPEdge']).toHaveLength(1);
  });
});

describe('the artifact of a plan', () => {
  it('is not unpacked over the checkout of the job that applies', async () => {
    const text = await readFile('examples/pipelines/gitlab/templates/edgewise.yml', 'utf8');
    const [, jobs = {}] = parseAllDocuments(text, { customTags: [{ tag: '!reference', collection: 'seq' }] }).map(
      (document) => document.toJS(),
    );
    expect(jobs['edgewise-apply']).toMatchObject({ needs: [{ job: 'edgewise-plan', artifacts: false }] });
    expect(jobs['edgewise-apply']).not.toHaveProperty('dependencies');
    const page = await readFile('examples/pipelines/gitlab/README.md', 'utf8');
    expect(page.match(/needs: .*edgewise-plan.*/g)).toEqual([
      'needs: [{ job: edgewise-plan, artifacts: false }, render]',
    ]);
  });

  it.each([
    ['one stack', {}, { 'manifests/a.yaml': toStack('a') + toEdge('a', 20_001) }],
    ['many stacks', { recursive: 'true' }, { 'manifests/a/a.yaml': toStack('a') + toEdge('a', 20_001) }],
  ])('is fetched into a new folder, where it brings nothing: %s', async (_, inputs, files) => {
    await write(files);
    expect(await run('edgewise-plan', MERGED, { inputs })).toMatchObject({ exitCode: 0 });
    const artifact = await keepArtifact();
    // The attacker adds manifests to the archive, and a committed folder has the name of the artifact.
    const evil = join(runner, 'evil');
    await mkdir(join(evil, 'manifests'), { recursive: true });
    await writeFile(join(evil, 'manifests/evil.yaml'), toEdge('evil', 20_666));
    await writeFile(join(evil, 'edgewise.yaml'), toStack('a', { api: { base_url: attacker.url } }));
    execFileSync('tar', ['-r', '-f', join(artifact, 'plan.tar'), '-C', evil, 'manifests', 'edgewise.yaml']);
    await write({ 'edgewise-plan/plan.json': '{}', 'edgewise-plan/plans/a.json': '{}' });
    const before = await readdir(checkout, { recursive: true });
    const applied = await run('edgewise-apply', MERGED, { inputs });
    expect(applied.exitCode, applied.log).toBe(0);
    expect(await readdir(checkout, { recursive: true })).toEqual(before);
    expect(server.snapshot().resources['TCPEdge']).toMatchObject([{ hostports: ['1.tcp.example.net:20001'] }]);
    expect(attacker.heard).toEqual([]);
    const withToken = applied.started.filter(({ env }) => env['EDGEWISE_GITLAB_TOKEN'] === PERSONAL_TOKEN);
    expect(withToken.map(({ words }) => words.slice(0, 2).join(' '))).toEqual(['edgewise post']);
  });

  it.each(['there is none', 'the token of the forge may not read it', 'the pipeline has no such job'])(
    'is needed: nothing is applied if %s',
    async (why) => {
      await write({ 'manifests/a.yaml': toStack('a') + toEdge('a', 20_001) });
      await run('edgewise-plan', MERGED);
      const artifact = await keepArtifact();
      if (why === 'there is none') await rm(join(artifact, 'plan.tar'));
      if (why === 'the pipeline has no such job') forge.jobs.splice(0);
      const token = why.startsWith('the token') ? { EDGEWISE_GITLAB_TOKEN: 'another' } : {};
      const refused = await run('edgewise-apply', { ...MERGED, ...token });
      expect(refused.exitCode, refused.log).toBe(3);
      expect(refused.started.map(({ words }) => words[1])).toEqual(['install']);
      expect(server.snapshot().resources['TCPEdge'] ?? []).toEqual([]);
    },
  );
});

/** Moves the artifact of the plan to the forge, as GitLab does after a job. The job is the only one of its name among several. */
async function keepArtifact(): Promise<string> {
  const artifact = join(runner, 'artifact');
  await rename(join(checkout, 'edgewise-plan'), artifact);
  forge.jobs.push({ id: 11, name: 'edgewise-plan' }, { id: 12, name: 'other' }, { id: 13, name: 'edgewise-plan-2' });
  forge.findArtifact = (path) => {
    const file = join(artifact, path.replace('11/edgewise-plan/', ''));
    return path.startsWith('11/edgewise-plan/') && existsSync(file) ? readFileSync(file) : undefined;
  };
  return artifact;
}

/** Runs a job of the component in the checkout. */
function run(
  job: JobCall['job'],
  variables: Readonly<Record<string, string>>,
  { inputs: own, ...more }: Pick<Partial<JobCall>, 'failsEarly' | 'inputs'> = {},
): Promise<RanJob> {
  const given = {
    EDGEWISE_API_KEY: KEY,
    EDGEWISE_GITLAB_TOKEN: PERSONAL_TOKEN,
    CI_PROJECT_ID: '3',
    CI_PIPELINE_ID: '5',
    CI_SERVER_URL: forge.url,
    CI_COMMIT_SHA: 'abc',
    ...variables,
  };
  const inputs = { 'base-url': service.url, package: 'edgewise.tgz', ...own };
  return runJob({ job, program: PROGRAM, checkout, runner, inputs, variables: given, ...more });
}

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(checkout, name)), { recursive: true });
    await writeFile(join(checkout, name), text);
  }
}
