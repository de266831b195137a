import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { STACK, toEdge } from '../cli/workspace.ts';
import { startControlledService } from '../end-to-end/controlled-service.ts';
import { PROGRAM } from '../end-to-end/processes.ts';
import { type FakeForge, PERSONAL_TOKEN, WORKFLOW_TOKEN } from '../forge/fake-forge.ts';
import { runTool } from './tools.ts';

/** The scripts of the actions and of the component, started as the runners do, and without the systems around them. */

const ACTIONS = resolve('.github/actions');
const COMPONENT = 'examples/pipelines/gitlab/templates/edgewise.yml';

/** A folder with three edges that one write after another creates, a service that holds back the first request of a route, and the command `edgewise`. */
export async function createJob(held = '') {
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

export type Job = Awaited<ReturnType<typeof createJob>>;

/** A command that a runner has started. `output` has both streams. */
export interface Step {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly status: number | null; readonly output: string }>;
  readonly waitFor: (text: string) => Promise<void>;
}

export function startStep(
  command: string,
  args: readonly string[],
  { folder, env }: Pick<Job, 'folder' | 'env'>,
): Step {
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
export function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid ?? 0), 'SIGKILL');
  } catch {
    // None is left.
  }
}

/** `more`: variables of the step. */
interface ActionOptions {
  readonly forge: FakeForge;
  readonly shell?: string;
  readonly more?: Readonly<Record<string, string>>;
}

/** Reads the script of the step of an action that runs edgewise, and starts it as GitHub's runner does. */
export async function startAction(
  action: string,
  job: Job,
  { forge, shell = 'exec bash', more = {} }: ActionOptions,
): Promise<Step> {
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
    ...{ COMMENT: 'true', ISSUE: 'true', DOWNLOADED: job.folder, APPLY_WORKFLOW: 'apply.yml' },
    ...{ GITHUB_REF_NAME: 'main', GITHUB_RUN_NUMBER: '5' },
    GITHUB_WORKFLOW_REF: 'o/r/.github/workflows/own.yml@refs/heads/main',
    ...more,
  };
  return startStep('bash', ['-c', `${shell} --noprofile --norc -e -o pipefail "$0"`, script], { ...job, env });
}

/** Creates the plan that a job applies. */
export async function approve({ folder, env }: Job, plan = 'plan.json'): Promise<void> {
  const planned = await runTool('edgewise', ['plan', 'manifests', '-o', plan], { cwd: folder, env });
  expect(planned.status, planned.output).toBe(0);
}

/** Starts the scripts of a job of the component in one shell, as GitLab's runner does. */
export async function startGitLabJob(
  name: string,
  job: Job,
  { forge, shell = 'sh', more = {} }: ActionOptions,
): Promise<Step> {
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
    ...more,
  };
  return startStep(shell, ['job.sh'], { ...job, env });
}
