import { readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { ControlledService } from '../end-to-end/controlled-service.ts';
import { type FakeForge, startFakeForge } from '../forge/fake-forge.ts';
import { requireOrSkip } from '../needs.ts';
import { approve, createJob, type Step, startAction, startGitLabJob, startStep } from './steps.ts';
import { describeWith, runTool } from './tools.ts';

const CREATE = 'POST /edges/tcp';
const LIST = 'GET /edges/tcp';

let forge: FakeForge;
beforeEach(async () => {
  forge = await startFakeForge();
});
afterEach(() => forge.close());

/** How long after its first signal GitHub's runner sends the second one. It kills 2.5 s after that. */
const SECOND_SIGNAL_MS = 7500;

/** Interrupts a step as GitHub's runner does: only its shell gets the signals. Returns a function that stops the sequence. */
function cancelAtGitHub({ child }: Step): () => void {
  child.kill('SIGINT');
  const timer = setTimeout(() => child.kill('SIGTERM'), SECOND_SIGNAL_MS);
  return () => clearTimeout(timer);
}

function listWrites({ log }: ControlledService): readonly string[] {
  return log.filter((route) => !route.startsWith('GET'));
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
      const step = await startAction('apply', job, { forge });
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
    const step = await startAction('apply', job, { forge, shell: "trap '' INT; exec bash" });
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
    const step = await startAction('apply', job, { forge });
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
    const step = await startAction(action, job, { forge });
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
    const step = await startGitLabJob('edgewise-apply', job, { forge, shell });
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
      const step = await startGitLabJob(name, job, { forge });
      await job.arrived;
      step.child.kill('SIGTERM');
      const { status, output } = await step.ended;
      expect(status, output).toBe(130);
      const [report = ''] = (await readdir(join(job.folder, name))).filter((file) => file.endsWith('.md'));
      expect(await readFile(join(job.folder, name, report), 'utf8')).toContain('Interrupted.');
      expect(forge.issues).toEqual([]);
    },
  );
});

describeWith(['sh', 'git'], 'a cancelled job that proposes drift', () => {
  it('ends while it reads, and proposes nothing', async () => {
    const job = await createJob(LIST);
    for (const line of ['init -q', 'add -A', '-c user.name=a -c user.email=a@example.com commit -qm a'])
      await runTool('git', line.split(' '), { cwd: job.folder });
    const step = startStep('sh', [resolve('examples/pipelines/accept-drift.sh'), 'manifests'], job);
    await job.arrived;
    step.child.kill('SIGTERM');
    const { status, output } = await step.ended;
    expect(status, output).toBe(130);
    expect(listWrites(job.service)).toEqual([]);
    expect(await runTool('git', ['log', '--oneline'], { cwd: job.folder })).toMatchObject({
      output: expect.not.stringContaining('Keep what was changed'),
    });
  });
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
