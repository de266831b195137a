import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { createServer, type Listener, listen, parseApiKey, type Server } from '../../src/server/index.ts';
import { atUrl, sendByHand } from '../by-hand.ts';
import { toEdge } from '../cli/workspace.ts';
import { type FakeForge, PERSONAL_TOKEN, startFakeForge } from '../forge/fake-forge.ts';
import { toRepository, toStack } from '../repository/tree.ts';
import { createKustomizeTree, findRenderingBlock, writeFiles } from './kustomize-tree.ts';
import { packCommandLine } from './pack-command-line.ts';
import { describeWith, isInstalled, REQUIRED, runTool, type ToolResult } from './tools.ts';

const EXAMPLE = 'examples/pipelines/gitlab';
const COMPONENT = `${EXAMPLE}/templates/edgewise.yml`;

describeWith(['check-jsonschema'], 'the component for GitLab', () => {
  it('conforms to the schema of GitLab, as does the pipeline that includes it', async () => {
    const { jobs } = await readComponent();
    const folder = await mkdtemp(join(tmpdir(), 'edgewise-gitlab-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, '.gitlab-ci.yml');
    await writeFile(file, jobs);
    const check = ['--builtin-schema', 'vendor.gitlab-ci', '--data-transform', 'gitlab-ci'];
    const including = join(folder, 'including.gitlab-ci.yml');
    await writeFile(including, (await readPipeline()).jobs);
    const result = await runTool('check-jsonschema', [...check, file, including]);
    expect(result, result.output).toMatchObject({ status: 0 });
    await writeFile(file, jobs.replace('when: manual', 'when: sometimes'));
    expect(await runTool('check-jsonschema', [...check, file])).toMatchObject({ status: 1 });
  });

  it.each([
    ['component', () => readComponent()],
    ['pipeline', () => readPipeline()],
  ])('uses each input that it declares, and no other: %s', async (_, read) => {
    const { header, jobs } = await read();
    const used = new Set(Array.from(jobs.matchAll(/\$\[\[ inputs\.([\w-]+) \]\]/g), ([, name]) => name));
    expect([...used].sort()).toEqual(Object.keys(header.spec.inputs).sort());
  });
});

describeWith(['gitlab-ci-local', 'rsync', 'git', 'npm'], 'a repository that includes the component', () => {
  let work: string;
  let archive: string;
  let forge: FakeForge;
  let server: Server;
  let service: Listener;

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'edgewise-gitlab-'));
    archive = await packCommandLine(work);
  }, 120_000);
  afterAll(() => rm(work, { recursive: true, force: true }));

  beforeEach(async () => {
    forge = await startFakeForge();
    forge.jobs.push({ id: 11, name: 'edgewise-plan' });
    server = createServer({ apiKeys: [parseApiKey('key-of-the-pipeline:admin')] });
    service = await listen(server, { port: 0 });
    return async () => {
      await service.close();
      await forge.close();
    };
  });

  it('posts its plan as one note, applies it on consent, and keeps an issue open while something drifts', async () => {
    const repository = await createRepository();
    const planned = await run(repository, 'merge_request_event');
    expect(planned.status, planned.output).toBe(0);
    expect(listJobs(planned)).toEqual(['PASS edgewise-plan']);
    expect(forge.comments).toMatchObject([{ body: expect.stringContaining('TCPEdge/postgres') }]);
    expect(await readFile(join(repository, 'edgewise-plan/plan.html'), 'utf8')).toContain('TCPEdge');
    expect(await readFile(join(repository, 'edgewise-plan/edgewise.xml'), 'utf8')).toContain('<testsuite');
    await run(repository, 'merge_request_event');
    expect(forge.comments).toHaveLength(1);

    const merged = await run(repository, 'push');
    expect(listJobs(merged)).toEqual(['PASS edgewise-plan']);
    expect(server.snapshot().resources['TCPEdge'] ?? []).toEqual([]);
    const applied = await run(repository, 'push', ['--manual', 'edgewise-apply']);
    expect(applied.status, applied.output).toBe(0);
    expect(listJobs(applied)).toEqual(['PASS edgewise-apply', 'PASS edgewise-plan']);
    expect(server.snapshot().resources['TCPEdge']).toHaveLength(1);
    expect(forge.comments[1]?.body).toMatch(/^<!-- edgewise:apply stack=quickstart -->/);

    expect(listJobs(await run(repository, 'schedule'))).toEqual(['PASS edgewise-drift']);
    expect(forge.issues).toEqual([]);
    await changeByHand('once');
    expect(listJobs(await run(repository, 'schedule'))).toEqual(['FAIL edgewise-drift']);
    expect(forge.issues).toMatchObject([{ state: 'open', body: expect.stringContaining('once') }]);
    await changeByHand('twice');
    await run(repository, 'schedule');
    expect(forge.issues).toMatchObject([{ state: 'open', body: expect.stringContaining('twice') }]);
    await run(repository, 'push', ['--manual', 'edgewise-apply']);
    await run(repository, 'schedule');
    expect(forge.issues).toMatchObject([{ state: 'closed' }]);
    expect(planned.output + applied.output).not.toContain('key-of-the-pipeline');
  }, 300_000);

  it('plans the stacks that a merge request changes in one note, and applies all of them', async () => {
    const repository = await createRepository({
      package: archive,
      recursive: 'true',
      'changed-since': '$CI_MERGE_REQUEST_DIFF_BASE_SHA',
    });
    for (const [index, name] of ['a', 'b', 'c'].entries()) {
      await mkdir(join(repository, 'manifests', name), { recursive: true });
      await writeFile(
        join(repository, 'manifests', name, 'edgewise.yaml'),
        `${toStack(name)}${toEdge(name, 20_001 + index)}`,
      );
    }
    for (const file of await readdir(join(repository, 'manifests')))
      if (file.endsWith('.yaml')) await rm(join(repository, 'manifests', file));
    await commit(repository);
    await writeFile(join(repository, 'manifests', 'b', 'edgewise.yaml'), `${toStack('b')}${toEdge('b', 20_012)}`);
    await commit(repository);
    const since = ['--variable', 'CI_MERGE_REQUEST_DIFF_BASE_SHA=HEAD~1'];
    const planned = await run(repository, 'merge_request_event', since);
    expect(planned.status, planned.output).toBe(0);
    expect(forge.comments).toMatchObject([
      { body: expect.stringContaining('1 of 3 stacks below manifests changed since') },
    ]);
    const applied = await run(repository, 'push', ['--manual', 'edgewise-apply']);
    expect(applied.status, applied.output).toBe(0);
    expect(server.snapshot().resources['TCPEdge']).toHaveLength(3);
    expect(listJobs(await run(repository, 'schedule'))).toEqual(['PASS edgewise-drift']);
  }, 300_000);

  it.skipIf(!isInstalled('kustomize') && REQUIRED === undefined)(
    'plans and applies what a job renders before',
    async () => {
      const repository = await createRepository({ package: archive, recursive: 'true' });
      await rm(join(repository, 'manifests'), { recursive: true });
      await writeFiles(repository, createKustomizeTree('live'));
      const pipeline = join(repository, '.gitlab-ci.yml');
      const job = findRenderingBlock(await readFile(join(EXAMPLE, 'README.md'), 'utf8'));
      const text = await readFile(pipeline, 'utf8');
      await writeFile(pipeline, `${text.replace('manifests: manifests', 'manifests: rendered')}\n${job}`);
      await commit(repository);
      const planned = await run(repository, 'merge_request_event');
      expect(planned.status, planned.output).toBe(0);
      expect(forge.comments[0]?.body).toContain('2 stacks');
      const applied = await run(repository, 'push', ['--manual', 'edgewise-apply']);
      expect(applied.status, applied.output).toBe(0);
      expect(JSON.stringify(server.snapshot().resources['TCPEdge']).match(/:200\d\d/g)).toEqual([':20011', ':20012']);
      expect(listJobs(await run(repository, 'schedule'))).toEqual(['PASS edgewise-drift']);
    },
    300_000,
  );

  it('applies after a merge what the merge request approved, though another change was merged in between', async () => {
    const repository = await createRepository({
      package: archive,
      recursive: 'true',
      'changed-since': '$CI_MERGE_REQUEST_DIFF_BASE_SHA',
    });
    const job = [
      '',
      'approved:',
      '  extends: .edgewise',
      '  stage: deploy',
      '  rules: [{ when: manual }]',
      '  script:',
    ];
    const line = '    - edgewise_with_key apply -R "$MANIFESTS" --approved "$APPROVED" --yes';
    await writeFile(join(repository, '.gitlab-ci.yml'), [...job, line, ''].join('\n'), { flag: 'a' });
    for (const file of await readdir(join(repository, 'manifests')))
      if (file.endsWith('.yaml')) await rm(join(repository, 'manifests', file));
    const write = async (name: string, port: number): Promise<void> => {
      await mkdir(join(repository, 'manifests', name), { recursive: true });
      const text = `${toStack(name)}${toEdge(name, port)}`;
      await writeFile(join(repository, 'manifests', name, 'edgewise.yaml'), text);
      await commit(repository);
    };
    for (const [index, name] of ['a', 'b', 'c'].entries()) await write(name, 20_001 + index);
    const applyAll = () => run(repository, 'push', ['--manual', 'edgewise-apply']);
    const first = await applyAll();
    expect(first.status, first.output).toBe(0);

    await write('b', 20_012);
    const since = ['--variable', 'CI_MERGE_REQUEST_DIFF_BASE_SHA=HEAD~1'];
    const planned = await run(repository, 'merge_request_event', since);
    expect(planned.status, planned.output).toBe(0);
    const plans = join(work, 'approved');
    await cp(join(repository, 'edgewise-plan/plans'), plans, { recursive: true });
    const applyApproved = () => run(repository, 'push', ['--manual', 'approved', '--variable', `APPROVED=${plans}`]);
    const listPorts = () =>
      JSON.stringify(server.snapshot().resources['TCPEdge'])
        .match(/:200\d\d/g)
        ?.sort();

    // Another merge request, which changes c, is merged first and not applied.
    await write('c', 20_013);
    const early = await applyApproved();
    expect(early.status).not.toBe(0);
    expect(early.output).toContain('approved has none for this stack');
    expect(listPorts()).not.toContain(':20013');

    // When that one is applied, the approval of b is still valid. It is not valid for another change of b.
    expect((await applyAll()).status).toBe(0);
    const again = await applyApproved();
    expect(again.status, again.output).toBe(0);
    await write('b', 20_022);
    expect((await applyApproved()).status).not.toBe(0);
    expect(listPorts()).toEqual([':20001', ':20012', ':20013']);
  }, 600_000);

  it('plans each of twelve stacks in a job of the page, with a plan file and a note of its own, and no stack if the list fails', async () => {
    const repository = await createTwelve();
    const listed = await run(repository, 'merge_request_event', ['list-stacks']);
    expect(listed.status, listed.output).toBe(0);
    // gitlab-ci-local runs no child pipeline of an artifact, so it runs that file, one job after another: they share one npm prefix.
    const child = ['--file', 'stack-jobs.yml', '--concurrency', '1'];
    const planned = await run(repository, 'parent_pipeline', [...child, '--variable', 'CI_MERGE_REQUEST_IID=7']);
    expect(planned.status, planned.output).toBe(0);
    const names = Array.from({ length: 12 }, (_, index) => `s${String(index).padStart(2, '0')}`);
    const markers = forge.comments.map(({ body }) => body.split('\n')[0]).sort();
    expect(markers).toEqual(names.map((name) => `<!-- edgewise:plan-stacks stack=manifests%20${name} -->`));
    for (const name of names) expect(existsSync(join(repository, `edgewise-${name}/plans/${name}.json`))).toBe(true);

    for (const name of ['$EDGEWISE_API_KEY', '%EDGEWISE_API_KEY%', 's03 --stack=s04', '']) {
      await writeFile(join(repository, 'manifests/s03/edgewise.yaml'), toStack(name));
      const refused = await run(repository, 'merge_request_event', ['list-stacks']);
      expect(refused.status).not.toBe(0);
      expect(refused.output).toContain('The Stack in manifests/s03/edgewise.yaml has no valid name.');
    }
  }, 600_000);

  /** A repository of twelve stacks with the jobs of the page. */
  async function createTwelve(): Promise<string> {
    const repository = await createRepository();
    await rm(join(repository, 'manifests'), { recursive: true });
    await writeFiles(repository, toRepository(12));
    await rename(join(repository, 'live'), join(repository, 'manifests'));
    const [, section = ''] = (await readFile('docs/how-to/stack-jobs.md', 'utf8')).split('## GitLab');
    const [jobs = '', job = ''] = Array.from(section.matchAll(/```yaml\n([\s\S]*?)```/g), ([, block]) => block ?? '');
    const component = await readFile(join(repository, '.gitlab-ci.yml'), 'utf8');
    await mkdir(join(repository, '.gitlab'));
    await writeFile(join(repository, '.gitlab/stack-job.yml'), `${component}\n${job}`);
    await writeFile(join(repository, '.gitlab-ci.yml'), `${component}\n${jobs}`);
    await commit(repository);
    return repository;
  }

  it('takes what a person consents to once only in a pipeline that a person runs on the protected branch', async () => {
    const repository = await createRepository({ package: archive, exclude: 'TCPEdge/postgres' });
    const runProtected = (source: string, isProtected: boolean) =>
      run(repository, source, ['--variable', `CI_COMMIT_REF_PROTECTED=${isProtected}`]);
    const planned = await runProtected('web', true);
    expect(planned.status, planned.output).toBe(0);
    expect(planned.output).toContain('Without TCPEdge/postgres and what depends on it (--exclude).');
    expect(listJobs(await runProtected('web', false))).toEqual([]);
    const merged = await runProtected('push', true);
    expect(listJobs(merged)).toEqual(['FAIL edgewise-plan']);
    expect(merged.output).toContain('count only in a pipeline that a person runs on the protected default branch');
  }, 120_000);

  it('takes consent to a take-over in the same way', async () => {
    const repository = await createRepository({ package: archive, 'allow-take-over': 'shop-of-last-year' });
    const isProtected = ['--variable', 'CI_COMMIT_REF_PROTECTED=true'];
    expect(listJobs(await run(repository, 'web', isProtected))).toEqual(['PASS edgewise-plan']);
    const merged = await run(repository, 'push', isProtected);
    expect(listJobs(merged)).toEqual(['FAIL edgewise-plan']);
    expect(merged.output).toContain(
      'allow-take-over, allow-adopted, exclude and allow-deletes count only in a pipeline',
    );
  }, 120_000);

  it('takes consent to the delete of what was adopted in the same way', async () => {
    const repository = await createRepository({ package: archive, 'allow-adopted': 'TCPEdge/clicked' });
    const isProtected = ['--variable', 'CI_COMMIT_REF_PROTECTED=true'];
    expect(listJobs(await run(repository, 'web', isProtected))).toEqual(['PASS edgewise-plan']);
    expect(listJobs(await run(repository, 'push', isProtected))).toEqual(['FAIL edgewise-plan']);
  }, 120_000);

  it('proposes drift as a merge request whose text is the report, in the job of the page', async () => {
    const repository = await createRepository();
    const remote = join(await mkdtemp(join(work, 'remote-')), 'r.git');
    await runTool('git', ['init', '--quiet', '--bare', remote]);
    await runTool('git', ['--git-dir', remote, 'config', 'receive.advertisePushOptions', 'true']);
    const hook = '#!/bin/sh\nenv | grep ^GIT_PUSH_OPTION >options\nenv >environment\n';
    await writeFile(join(remote, 'hooks/pre-receive'), hook, { mode: 0o755 });
    await runTool('git', ['config', `url.file://${remote}.insteadOf`, 'git@gitlab.example.com:o/r.git'], {
      cwd: repository,
    });
    await cp('examples/pipelines/accept-drift.sh', join(repository, 'accept-drift.sh'));
    const page = await readFile('docs/how-to/drift.md', 'utf8');
    const [, job = ''] = /```yaml\n(propose-drift:\n[\s\S]*?)```/.exec(page) ?? [];
    await writeFile(join(repository, '.gitlab-ci.yml'), `\n${job}`, { flag: 'a' });
    await commit(repository);
    expect((await run(repository, 'push', ['--manual', 'edgewise-apply'])).status).toBe(0);
    await changeByHand('by hand');
    forge.deployments.push({ status: 'running', deployable: { web_url: 'https://forge.test/jobs/9' } });
    const proposed = await run(repository, 'schedule', ['propose-drift', '--variable', 'GITLAB_CI=true']);
    expect(proposed.status, proposed.output).toBe(0);
    const { output } = await runTool('git', ['--git-dir', remote, 'show', '--format=%s', 'edgewise/drift']);
    expect(output.match(/^[-+] .*$/gm)).toEqual([
      expect.stringMatching(/^- {2}description: /),
      '+  description: by hand',
    ]);
    const [create, title, text = ''] = (await readFile(join(remote, 'options'), 'utf8')).trim().split('\n').sort();
    expect([create, title]).toEqual([
      'GIT_PUSH_OPTION_0=merge_request.create',
      'GIT_PUSH_OPTION_1=merge_request.title=Keep what was changed at the service',
    ]);
    expect(text).toMatch(
      /^GIT_PUSH_OPTION_2=merge_request\.description=<!-- edgewise:drift stack=quickstart -->\\n<!-- edgewise:run .* -->\\n\\n## /,
    );
    expect(text).toContain('by hand');
    expect(text).toContain('An apply was running (https://forge.test/jobs/9)');
    expect(await readFile(join(remote, 'environment'), 'utf8')).not.toContain('key-of-the-pipeline');
  }, 300_000);

  it('compares the plan of a train with the approved one of its merge request, and passes', async () => {
    const repository = await createRepository();
    expect((await run(repository, 'merge_request_event')).status).toBe(0);
    const approved = await readFile(join(repository, 'edgewise-plan/plan.tar'));
    await writeFile(join(repository, 'manifests/others.yaml'), toEdge('others', 20_009).replace(/^---\n/, ''));
    await commit(repository);
    forge.pipelines.push({ id: 5, ref: 'refs/merge-requests/7/train', status: 'success' });
    forge.pipelines.push({ id: 4, ref: 'refs/merge-requests/7/merge', status: 'success' });
    const train = ['--variable', 'CI_MERGE_REQUEST_EVENT_TYPE=merge_train'];
    const queued = await run(repository, 'merge_request_event', train, () => approved);
    expect(listJobs(queued), queued.output).toEqual(['PASS edgewise-plan']);
    expect(stripVTControlCharacters(queued.output)).toMatch(/compared[\s\S]*\+ TCPEdge\/others/);
    expect(forge.comments).toHaveLength(1);
  }, 300_000);

  it('validates the merge request of a fork, whose pipeline has no key, and is green', async () => {
    const repository = await createRepository();
    const fork = ['--variable', 'EDGEWISE_API_KEY=', '--variable', 'CI_MERGE_REQUEST_PROJECT_ID=4'];
    const validated = await run(repository, 'merge_request_event', fork);
    expect(listJobs(validated), validated.output).toEqual(['PASS edgewise-plan']);
    expect(validated.output).toContain('There is no plan: the pipeline of a fork has no key.');
    expect(forge.comments).toEqual([]);
  }, 120_000);

  it('shows in the note why a plan failed', async () => {
    const repository = await createRepository();
    await writeFile(join(repository, 'manifests', 'wrong.yaml'), 'apiVersion: edgewise/v1\nkind: TCPEdgee\n');
    const failed = await run(repository, 'merge_request_event');
    expect(listJobs(failed)).toEqual(['FAIL edgewise-plan']);
    expect(forge.comments).toMatchObject([{ body: expect.stringContaining('TCPEdgee') }]);
  }, 120_000);

  it('installs edgewise of its version from the project of the component', async () => {
    const source = join(work, 'source');
    await cp(join(work, 'package'), source, { recursive: true });
    await commit(source);
    const { output: commitOfSource } = await runTool('git', ['rev-parse', 'HEAD'], { cwd: source });
    await writeFile(join(source, 'package.json'), '{}');
    await commit(source);
    const planned = await run(await createRepository({ version: commitOfSource.trim() }), 'merge_request_event', [
      ...['--variable', 'EDGEWISE_COMPONENT_PROJECT=tools/edgewise', '--variable', 'CI_JOB_TOKEN=token-of-the-job'],
      ...['--variable', 'GIT_CONFIG_COUNT=1', '--variable', `GIT_CONFIG_KEY_0=url.file://${source}.insteadOf`],
      ...[
        '--variable',
        `GIT_CONFIG_VALUE_0=${forge.url.replace('://', '://gitlab-ci-token:token-of-the-job@')}/gitlab/tools/edgewise.git`,
      ],
    ]);
    expect(listJobs(planned), planned.output).toEqual(['PASS edgewise-plan']);
  }, 120_000);

  async function createRepository(inputs: Readonly<Record<string, string>> = { package: archive }): Promise<string> {
    const folder = await mkdtemp(join(work, 'repository-'));
    await cp(COMPONENT, join(folder, COMPONENT));
    await cp('examples/quickstart', join(folder, 'manifests'), { recursive: true });
    const { jobs } = await readPipeline();
    const pipeline = jobs
      .replace(/project: \S+\n +ref: \S+\n +file: \//, 'local: ')
      .replace('https://api.example.com', service.url)
      .replace(/\n +version: \S+/, '')
      .replace(/\n +[\w-]+: \$\[\[.*/g, '')
      .replace('inputs:', ['inputs:', ...Object.entries(inputs).map((entry) => entry.join(': '))].join('\n      '));
    await writeFile(join(folder, '.gitlab-ci.yml'), pipeline);
    await commit(folder);
    await runTool('git', ['remote', 'add', 'origin', 'git@gitlab.example.com:o/r.git'], { cwd: folder });
    return folder;
  }

  async function commit(folder: string): Promise<void> {
    for (const args of [
      ['init', '-q', '-b', 'main'],
      ['add', '-A'],
      ['-c', 'user.email=ada@example.com', '-c', 'user.name=Ada', 'commit', '-qm', 'manifests'],
    ])
      await runTool('git', args, { cwd: folder });
  }

  /** Runs the pipeline of an event on this machine. The artifact of its plan is in the repository. */
  async function run(
    repository: string,
    source: string,
    more: readonly string[] = [],
    findArtifact = (path: string): Uint8Array | undefined => {
      const file = join(repository, path.replace('11/', ''));
      return path.startsWith('11/edgewise-plan/') && existsSync(file) ? readFileSync(file) : undefined;
    },
  ): Promise<ToolResult> {
    forge.findArtifact = findArtifact;
    const variables = {
      CI_PIPELINE_SOURCE: source,
      ...(source === 'merge_request_event' && { CI_MERGE_REQUEST_IID: '7' }),
      // An instance below a path.
      CI_SERVER_URL: `${forge.url}/gitlab`,
      CI_PROJECT_URL: 'https://git.example.com/gitlab/team/shop',
      CI_PROJECT_ID: '3',
      CI_PIPELINE_ID: '5',
      CI_COMMIT_SHA: 'abc',
      CI_COMMIT_BRANCH: source === 'merge_request_event' ? '' : 'main',
      CI_DEFAULT_BRANCH: 'main',
      EDGEWISE_GITLAB_TOKEN: PERSONAL_TOKEN,
      EDGEWISE_API_KEY: 'key-of-the-pipeline',
      npm_config_prefix: join(repository, '.npm'),
      PATH: [join(repository, '.npm/bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
    };
    const predefined = Object.keys(variables).filter((name) => name.startsWith('CI_'));
    const args = [
      ...[
        '--force-shell-executor',
        '--no-json-schema-validation',
        '--home',
        work,
        '--ignore-predefined-vars',
        predefined.join(),
      ],
      ...Object.entries(variables).flatMap(([name, value]) => ['--variable', `${name}=${value}`]),
      ...more,
    ];
    return runTool('gitlab-ci-local', args, { cwd: repository, env: { PATH: variables.PATH } });
  }

  async function changeByHand(description: string): Promise<void> {
    const [edge] = server.snapshot().resources['TCPEdge'] ?? [];
    const account = atUrl(service.url, 'key-of-the-pipeline');
    await sendByHand(account, 'PATCH', `/edges/tcp/${edge?.['id']}`, { description });
  }
});

/** Lists the result of each job from the end of the output. */
function listJobs({ output }: ToolResult): readonly string[] {
  const plain = stripVTControlCharacters(output);
  return Array.from(plain.matchAll(/^ (PASS|FAIL) +(edgewise-\w+)/gm), ([, end, job]) => `${end} ${job}`).sort();
}

/** A configuration of GitLab: its header declares the inputs. */
interface Configuration {
  readonly header: { readonly spec: { readonly inputs: object } };
  readonly jobs: string;
}

function readComponent(): Promise<Configuration> {
  return readConfiguration(COMPONENT);
}

function readPipeline(): Promise<Configuration> {
  return readConfiguration(join(EXAMPLE, '.gitlab-ci.yml'));
}

async function readConfiguration(file: string): Promise<Configuration> {
  const text = await readFile(file, 'utf8');
  const [header] = parseAllDocuments(text);
  return { header: header?.toJS(), jobs: text.slice(text.indexOf('\n---\n') + 5) };
}
