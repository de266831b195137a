import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServer, listen, parseApiKey } from '../../src/server/index.ts';
import { STACK, toEdge } from '../cli/workspace.ts';
import { DOCUMENTS } from '../docs/documents.ts';
import { createJob, startStep } from './steps.ts';
import { describeWith, runTool } from './tools.ts';

/** The recipes of the page, by the language of their block and a word in them. */
const [, SECTION = ''] = (DOCUMENTS.get('docs/how-to/pipelines.md') ?? '').split(/^## One apply at a time$/m);
const BLOCKS = Array.from(
  SECTION.split(/^## /m)[0]?.matchAll(/^```\w+\n([\s\S]*?)^```$/gm) ?? [],
  ([, text = '']) => text,
);

function findRecipe(word: string): string {
  return BLOCKS.find((text) => text.includes(word)) ?? expect.fail(`no recipe has ${word}`);
}

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Runs a line of the shell twice at once, beside a service, in a folder with the stack `live`. Returns both results, and the record of each
 * `edgewise` at its start and its end.
 */
async function runTwice(line: string, more: Readonly<Record<string, string>> = {}) {
  const folder = await createFolder();
  const service = await listen(createServer({ apiKeys: [parseApiKey('dev:admin')] }), { port: 0 });
  onTestFinished(() => service.close());
  await writeFile(join(folder, 'live.yaml'), `${STACK}${toEdge('a', 20_001)}`);
  const program = `#!/bin/sh\necho start >>'${folder}/log'\nsleep 0.3\n'${process.execPath}' '${resolve('src/cli/main.ts')}' "$@"\ncode=$?\necho end >>'${folder}/log'\nexit $code\n`;
  await writeFile(join(folder, 'edgewise'), program);
  await chmod(join(folder, 'edgewise'), 0o755);
  const PATH = [folder, process.env['PATH']].join(delimiter);
  const env = { PATH, HOME: folder, EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: service.url, ...more };
  const own = line.replaceAll(' live ', ' live.yaml ');
  const run = () => runTool('sh', ['-c', own], { cwd: folder, env });
  const ends = await Promise.all([run(), run()]);
  return { ends, log: (await readFile(join(folder, 'log'), 'utf8')).trim().split('\n') };
}

const ONE_AFTER_THE_OTHER = ['start', 'end', 'start', 'end'];

/** Starts an etcd on a free port. */
async function startEtcd(): Promise<string> {
  const folder = await createFolder();
  const [client, peer] = await Promise.all([findPort(), findPort()]);
  const url = `http://127.0.0.1:${client}`;
  const urls = ['--listen-client-urls', url, '--advertise-client-urls', url];
  const peers = `http://127.0.0.1:${peer}`;
  const own = [
    '--listen-peer-urls',
    peers,
    '--initial-advertise-peer-urls',
    peers,
    '--initial-cluster',
    `default=${peers}`,
  ];
  const etcd = spawn('etcd', ['--data-dir', join(folder, 'data'), ...urls, ...own], { stdio: 'ignore' });
  onTestFinished(() => void etcd.kill());
  const env = { ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: url };
  await expect
    .poll(() => runTool('etcdctl', ['endpoint', 'health'], { env }), { timeout: 180_000 })
    .toMatchObject({ status: 0 });
  return url;
}

async function findPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address !== null ? address.port : expect.fail('no port');
}

describe('the recipes for one apply at a time', () => {
  it('exist for each place', () => {
    expect(BLOCKS).toHaveLength(5);
  });
});

describeWith(['flock', 'sh'], 'two applies at once', () => {
  it('run at once without a recipe', async () => {
    const { log } = await runTwice('edgewise apply live --yes');
    expect(log).toEqual(['start', 'start', 'end', 'end']);
  });

  it('run one after another with flock, and exit as edgewise did', async () => {
    const recipe = findRecipe('flock');
    // Another user can put a file into /tmp first, which only that user may lock.
    expect(recipe).not.toContain('/tmp');
    const { ends, log } = await runTwice(recipe);
    expect(log).toEqual(ONE_AFTER_THE_OTHER);
    for (const { status, output } of ends) expect(status, output).toBe(0);
    const failed = await runTwice(recipe.replace(' --yes', ''));
    expect(failed.log).toEqual(ONE_AFTER_THE_OTHER);
    for (const { status, output } of failed.ends) expect([0, 3], output).toContain(status);
    expect(failed.ends.some(({ status }) => status === 3)).toBe(true);
  });
});

/** Stops the shell of a recipe, as a system does that cancels a job, while the first write is held back. */
async function cancel(recipe: string, more: Readonly<Record<string, string>> = {}) {
  const { env, release, service, ...job } = await createJob(CREATE);
  const own = recipe.replaceAll(' live ', ' manifests ');
  const step = startStep('sh', ['-c', own], { ...job, env: { ...env, ...more } });
  await job.arrived;
  step.child.kill('SIGTERM');
  await step.waitFor('Stopping after the writes in progress');
  release();
  const ended = await step.ended;
  return { ...ended, writes: service.log.filter((route) => !route.startsWith('GET')) };
}

const CREATE = 'POST /edges/tcp';

describeWith(['flock', 'sh'], 'a cancelled apply with flock', () => {
  it('finishes the write in progress, and starts no other', { timeout: 120_000 }, async () => {
    expect(await cancel(findRecipe('flock'))).toMatchObject({ status: 130, writes: [CREATE] });
  });
});

describeWith(['etcd', 'etcdctl', 'sh'], 'a cancelled apply with etcdctl', () => {
  it('finishes the write in progress, and starts no other', { timeout: 180_000 }, async () => {
    const env = { ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: await startEtcd() };
    const { status, output, writes } = await cancel(findRecipe('etcdctl'), env);
    expect(writes).toEqual([CREATE]);
    expect(output).toContain('1 write applied, 0 failed, 2 skipped');
    expect(output).toContain('exit status 130');
    expect(status).not.toBe(0);
  });
});

describeWith(['etcd', 'etcdctl', 'sh'], 'two applies at once, beside an etcd', () => {
  it('run one after another with etcdctl lock, which fails if edgewise did', { timeout: 180_000 }, async () => {
    const env = { ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: await startEtcd() };
    const recipe = findRecipe('etcdctl');
    const { ends, log } = await runTwice(recipe, env);
    expect(log).toEqual(ONE_AFTER_THE_OTHER);
    for (const { status, output } of ends) expect(status, output).toBe(0);
    const failed = await runTwice(recipe.replace(' --yes', ''), env);
    expect(failed.log).toEqual(ONE_AFTER_THE_OTHER);
    for (const { status, output } of failed.ends) expect(status, output).not.toBe(0);
  });
});

describeWith(
  ['actionlint', 'check-jsonschema', 'kubernetes-validate'],
  'what a forge or a cluster runs one at a time',
  () => {
    it('pass actionlint as a workflow', async () => {
      const file = await write('concurrency:', 'apply.yml');
      expect(await runTool('actionlint', [file])).toEqual({ status: 0, output: '' });
    });

    it('conform to the schema of GitLab as a pipeline', async () => {
      const file = await write('resource_group:', '.gitlab-ci.yml');
      const result = await runTool('check-jsonschema', ['--builtin-schema', 'vendor.gitlab-ci', file]);
      expect(result, result.output).toMatchObject({ status: 0 });
    });

    it('conform to the schema of Kubernetes as a CronJob, with nothing unknown', async () => {
      const file = await write('concurrencyPolicy:', 'apply.yaml');
      const check = (path: string) => runTool('kubernetes-validate', ['-k', '1.33', '--strict', path]);
      expect((await check(file)).status).toBe(0);
      const wrong = await write('concurrencyPolicy:', 'wrong.yaml', (text) =>
        text.replace('concurrencyPolicy', 'concurrency'),
      );
      expect((await check(wrong)).status).not.toBe(0);
    });

    async function write(word: string, name: string, change = (text: string): string => text): Promise<string> {
      const file = join(await createFolder(), name);
      await writeFile(file, change(findRecipe(word)));
      return file;
    }
  },
);
