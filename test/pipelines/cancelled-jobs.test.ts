import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { STACK, toEdge } from '../cli/workspace.ts';
import { type ControlledService, startControlledService } from '../end-to-end/controlled-service.ts';
import { PROGRAM } from '../end-to-end/processes.ts';
import { type FakeForge, PERSONAL_TOKEN, startFakeForge, WORKFLOW_TOKEN } from '../forge/fake-forge.ts';
import { requireOrSkip } from '../needs.ts';
import { describeWith, runTool } from './tools.ts';

const CREATE = 'POST /edges/tcp';
const LIST = 'GET /edges/tcp';
const ACTIONS = resolve('.github/actions');
const COMPONENT = 'examples/pipelines/gitlab/templates/edgewise.yml';

let forge: FakeForge;
beforeEach(async () => {
  forge = await startFakeForge();
});
afterEach(() => forge.close());

/** A folder with three edges that one write after another creates, a service that holds back the first request of a route, and the command `edgewise`. */
async function createJob(held: string) {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  onTestFinished(() => released.resolve());
  const service = await startControlledService(async ({ route, count }) => {
    if (route !== held || count > 1) return undefined;
    arrived.resolve();
    await released.promise;
    return undefined;
  });
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-cancelled-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'bin'));
  await mkdir(join(folder, 'manifests'));
  await mkdir(join(folder, 'temporary'));
  const program = `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`;
  await writeFile(join(folder, 'bin/edgewise'), program, { mode: 0o755 });
  await writeFile(join(folder, 'bin/npm'), '#!/bin/sh\n', { mode: 0o755 });
  const edges = ['a', 'b', 'c'].map((name, index) => toEdge(name, 20_001 + index)).join('');
  await writeFile(join(folder, 'manifests/edgewise.yaml'), `${STACK}spec: { api: { concurrency: 1 } }\n${edges}`);
  const env = {
    PATH: [join(folder, 'bin'), process.env['PATH']].join(delimiter),
    HOME: folder,
    TMPDIR: join(folder, 'temporary'),
    EDGEWISE_BASE_URL: service.url,
    EDGEWISE_API_KEY: 'dev',
  };
  return { folder, service, env, arrived: arrived.promise, release: () => released.resolve() };
}

type Job = Awaited<ReturnType<typeof createJob>>;

/** A command that a runner has started. `output` has both streams. */
interface Step {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly status: number | null; readonly output: string }>;
  readonly waitFor: (text: string) => Promise<void>;
}

function startStep(command: string, args: readonly string[], { folder, env }: Pick<Job, 'folder' | 'env'>): Step {
  const child = spawn(command, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => endGroup(child));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += String(part)));
  return {
    child,
    ended: once(child, 'close').then(([status]) => ({ status, output })),
    waitFor: (text) => expect.poll(() => output, { timeout: 60_000 }).toContain(text),
  };
}

/** Ends every process that a step has left. */
function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid ?? 0), 'SIGKILL');
  } catch {
    // None is left.
  }
}

/** How long after its first signal GitHub's runner sends the second one. It kills 2.5 s after that. */
const SECOND_SIGNAL_MS = 7500;

/** Interrupts a step as GitHub's runner does: only its shell gets the signals. Returns a function that stops the sequence. */
function cancelAtGitHub({ child }: Step): () => void {
  child.kill('SIGINT');
  const timer = setTimeout(() => child.kill('SIGTERM'), SECOND_SIGNAL_MS);
  return () => clearTimeout(timer);
}

/** Reads the script of the step of an action that runs edgewise, and starts it as GitHub's runner does. */
async function startAction(action: string, job: Job, shell = 'exec bash'): Promise<Step> {
  const { runs } = parse(readFileSync(join(ACTIONS, action, 'action.yml'), 'utf8'));
  const { run } = runs.steps.find(({ id }: { readonly id?: string }) => id === action);
  const script = join(job.folder, 'step.sh');
  await writeFile(script, run);
  const env = {
    ...job.env,
    ...{ RUNNER_TEMP: join(job.folder, 'temporary'), GITHUB_ACTION_PATH: join(ACTIONS, action) },
    ...{ GITHUB_OUTPUT: join(job.folder, 'output'), GITHUB_STEP_SUMMARY: join(job.folder, 'summary') },
    ...{ GITHUB_EVENT_NAME: 'push', GITHUB_REF: 'refs/heads/main', DEFAULT_BRANCH: 'main', UNTRUSTED: '' },
    ...{ GITHUB_API_URL: forge.url, GITHUB_REPOSITORY: 'o/r', GITHUB_SHA: 'abc', TOKEN: WORKFLOW_TOKEN },
    ...{ MANIFESTS: 'manifests', RECURSIVE: 'false', CHANGED_SINCE: '', STACK: '', ARGUMENTS: '' },
    ...{ COMMENT: 'true', ISSUE: 'true', DOWNLOADED: job.folder },
  };
  return startStep('bash', ['-c', `${shell} --noprofile --norc -e -o pipefail "$0"`, script], { ...job, env });
}

function listWrites({ log }: ControlledService): readonly string[] {
  return log.filter((route) => !route.startsWith('GET'));
}

async function approve({ folder, env }: Job, plan = 'plan.json'): Promise<void> {
  const planned = await runTool('edgewise', ['plan', 'manifests', '-o', plan], { cwd: folder, env });
  expect(planned.status, planned.output).toBe(0);
}

describeWith(['bash'], 'a cancelled job at GitHub', () => {
  it.each([
    ['at once', 0],
    ['after the second signal', SECOND_SIGNAL_MS],
  ])(
    'finishes the write in progress, starts no other, and posts what was applied, if that write ends %s',
    async (_, ms) => {
      const job = await createJob(CREATE);
      await approve(job);
      const step = await startAction('apply', job);
      await job.arrived;
      const stop = cancelAtGitHub(step);
      await step.waitFor('Stopping after the writes in progress');
      await new Promise((done) => setTimeout(done, ms));
      job.release();
      const { status, output } = await step.ended;
      stop();
      expect(status, output).toBe(130);
      expect(listWrites(job.service)).toEqual([CREATE]);
      expect(await readFile(join(job.folder, 'output'), 'utf8')).toContain('exit-code=130');
      expect(await readFile(join(job.folder, 'summary'), 'utf8')).toContain('1 write applied, 0 failed, 2 skipped');
      expect(forge.comments).toMatchObject([{ body: expect.stringContaining('1 write applied, 0 failed, 2 skipped') }]);
    },
  );

  it('does the same if the runner was started in the background, and ignores INT', async () => {
    const job = await createJob(CREATE);
    await approve(job);
    const step = await startAction('apply', job, "trap '' INT; exec bash");
    await job.arrived;
    step.child.kill('SIGINT');
    await step.waitFor('Stopping after the writes in progress');
    job.release();
    const { status, output } = await step.ended;
    expect(status, output).toBe(130);
    expect(listWrites(job.service)).toEqual([CREATE]);
  });

  it('does the same if the processes of its group get the signal too', async () => {
    const job = await createJob(CREATE);
    await approve(job);
    const step = await startAction('apply', job);
    await job.arrived;
    process.kill(-(step.child.pid ?? 0), 'SIGTERM');
    await step.waitFor('Stopping after the writes in progress');
    job.release();
    const { status, output } = await step.ended;
    expect(status, output).toBe(130);
    expect(listWrites(job.service)).toEqual([CREATE]);
    expect(forge.comments).toHaveLength(1);
  });

  it.each([
    ['plan', [expect.stringContaining('Interrupted.')]],
    ['drift', []],
  ] as const)('ends a %s while it reads, with its report, and an issue stays as it is', async (action, comments) => {
    const job = await createJob(LIST);
    const step = await startAction(action, job);
    await job.arrived;
    const stop = cancelAtGitHub(step);
    const { status, output } = await step.ended;
    stop();
    expect(status, output).toBe(130);
    expect(await readFile(join(job.folder, 'summary'), 'utf8')).toContain('Interrupted.');
    expect(forge.comments.map(({ body }) => body)).toEqual(comments);
    expect(forge.issues).toEqual([]);
  });
});

describeWith(['bash', 'sh', 'tar'], 'a cancelled job at GitLab', () => {
  it.each([
    ['sh', 'its shell', 1],
    ['bash', 'its shell', 1],
    ['sh', 'each process', -1],
    ['bash', 'each process', -1],
  ])('finishes the write in progress and posts what was applied: %s, %s gets the signal', async (shell, _, sign) => {
    const job = await createJob(CREATE);
    await approve(job);
    const step = await startGitLabJob('edgewise-apply', shell, job);
    await job.arrived;
    process.kill(sign * (step.child.pid ?? 0), 'SIGTERM');
    await step.waitFor('Stopping after the writes in progress');
    job.release();
    const { status, output } = await step.ended;
    expect(status, output).toBe(130);
    expect(listWrites(job.service)).toEqual([CREATE]);
    expect(forge.comments).toMatchObject([{ body: expect.stringContaining('1 write applied, 0 failed, 2 skipped') }]);
  });

  it.each(['edgewise-plan', 'edgewise-drift'])(
    'ends %s while it reads, with its report in the artifact',
    async (name) => {
      const job = await createJob(LIST);
      const step = await startGitLabJob(name, 'sh', job);
      await job.arrived;
      step.child.kill('SIGTERM');
      const { status, output } = await step.ended;
      expect(status, output).toBe(130);
      const [report = ''] = (await readdir(join(job.folder, name))).filter((file) => file.endsWith('.md'));
      expect(await readFile(join(job.folder, name, report), 'utf8')).toContain('Interrupted.');
      expect(forge.issues).toEqual([]);
    },
  );

  /** Starts the scripts of a job of the component in one shell, as GitLab's runner does. */
  async function startGitLabJob(name: string, shell: string, job: Job): Promise<Step> {
    const inputs = { 'base-url': job.service.url, package: 'edgewise.tgz' };
    const text = readFileSync(COMPONENT, 'utf8').replaceAll(
      /\$\[\[ inputs\.([\w-]+) \]\]/g,
      (_, input: string) => Object.entries(inputs).find(([known]) => known === input)?.[1] ?? '',
    );
    const customTags = [{ tag: '!reference', collection: 'seq' as const, resolve: (list: unknown) => list }];
    const jobs = parseAllDocuments(text, { customTags })[1]?.toJS();
    const lines = (wanted: string, part: string): readonly string[] =>
      (jobs[wanted][part] ?? jobs['.edgewise'][part]).flatMap((line: string | readonly [string, string]) =>
        typeof line === 'string' ? [line] : lines(...line),
      );
    await runTool('tar', ['-c', '-f', 'plan.tar', '--ignore-failed-read', 'plan.json'], { cwd: job.folder });
    forge.jobs.push({ id: 11, name: 'edgewise-plan' });
    forge.findArtifact = () => readFileSync(join(job.folder, 'plan.tar'));
    const script = ['set -e', ...lines(name, 'before_script'), ...lines(name, 'script'), ''].join('\n');
    await writeFile(join(job.folder, 'job.sh'), script);
    const env = {
      ...job.env,
      ...{ CI_SERVER_URL: forge.url, CI_PROJECT_ID: '3', CI_PIPELINE_ID: '5', CI_COMMIT_SHA: 'abc' },
      ...{ CI_COMMIT_BRANCH: 'main', CI_DEFAULT_BRANCH: 'main', EDGEWISE_GITLAB_TOKEN: PERSONAL_TOKEN },
      ...{ MANIFESTS: 'manifests', RECURSIVE: 'false' },
    };
    return startStep(shell, ['job.sh'], { ...job, env });
  }
});

describeWith(['sh'], 'a pod that is stopped', () => {
  it('ends drift with its metrics', async () => {
    const job = await createJob(LIST);
    const { spec } = parse(readFileSync('examples/pipelines/kubernetes/base/drift.yaml', 'utf8'));
    const [script] = spec.jobTemplate.spec.template.spec.containers[0].args;
    await writeFile(join(job.folder, 'push-metrics.mjs'), 'console.log("pushed", process.argv[2])\n');
    const own = script.replaceAll('/manifests', './manifests').replaceAll('/tmp/', './').replace('/scripts/', './');
    const step = startStep('sh', ['-c', own], job);
    await job.arrived;
    step.child.kill('SIGTERM');
    const { status, output } = await step.ended;
    expect(status, output).toBe(130);
    expect(output).toContain('pushed ./edgewise.prom');
    expect(await readFile(join(job.folder, 'edgewise.prom'), 'utf8')).toMatch(/edgewise_run_success\S* 0/);
  });

  it('finishes the write in progress as the first process, which the entry point of the image makes edgewise', async () => {
    const { status } = await runTool('unshare', ['--pid', '--fork', 'true']);
    requireOrSkip('the right to create a PID namespace', status === 0);
    const [, entry = ''] = /^ENTRYPOINT (.*)$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
    expect(entry).toBe('["edgewise"]');
    const job = await createJob(CREATE);
    const args = ['--pid', '--fork', '--kill-child', ...JSON.parse(entry), 'apply', 'manifests', '--yes'];
    const step = startStep('unshare', args, job);
    await job.arrived;
    const [first] = readFileSync(`/proc/${step.child.pid}/task/${step.child.pid}/children`, 'utf8').split(' ');
    process.kill(Number(first), 'SIGTERM');
    await step.waitFor('Stopping after the writes in progress');
    job.release();
    const { status: ended, output } = await step.ended;
    expect(ended, output).toBe(130);
    expect(listWrites(job.service)).toEqual([CREATE]);
  });
});
