import { existsSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { createServer, listen, parseApiKey } from '../../src/server/index.ts';
import { toRepository, toStack } from '../repository/tree.ts';
import { writeFiles } from './kustomize-tree.ts';
import { startService } from './start-service.ts';
import { describeWith, runTool } from './tools.ts';

const EXAMPLE = 'examples/pipelines/kubernetes';

describeWith(['kustomize', 'kubernetes-validate'], 'the example for Kubernetes', () => {
  it.each(['base', 'argo-cd', 'flux'])('builds in %s, and conforms to the schemas of Kubernetes', async (variant) => {
    const built = await build(variant);
    const folder = await createFolder();
    await writeFile(join(folder, 'built.yaml'), built);
    const result = await runTool('kubernetes-validate', ['-k', '1.33', '--strict', join(folder, 'built.yaml')]);
    expect(result, result.output).toMatchObject({ status: 0 });
    const kinds = parseAllDocuments(built).map((document) => document.get('kind'));
    expect(kinds.sort()).toEqual([
      'ConfigMap',
      'ConfigMap',
      'CronJob',
      'Job',
      'Namespace',
      'Secret',
      'Secret',
      'ServiceAccount',
    ]);
  });

  it('lets Argo CD and Flux create the job again', async () => {
    expect(await build('argo-cd')).toMatch(/argocd\.argoproj\.io\/hook: Sync/);
    expect(await build('flux')).toMatch(/kustomize\.toolkit\.fluxcd\.io\/force: enabled/);
  });
});

describeWith(['prometheus-pushgateway'], 'drift in a cluster', () => {
  it('is read from a mounted ConfigMap, and its metrics reach a real Pushgateway', async () => {
    const folder = await createFolder();
    await mountConfigMap(join(EXAMPLE, 'base', 'manifests'), join(folder, 'manifests'));
    const service = await listen(createServer({ apiKeys: [parseApiKey('dev:admin')] }), { port: 0 });
    onTestFinished(() => service.close());
    const gateway = await startService('prometheus-pushgateway', []);
    const metrics = join(folder, 'edgewise.prom');
    const drift = ['src/cli/main.ts', 'drift', join(folder, 'manifests'), '--report', `metrics=${metrics}`];
    const env = { EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: service.url };
    expect(await runTool(process.execPath, drift, { env })).toMatchObject({ status: 2 });

    const PUSHGATEWAY_URL = `${gateway}/metrics/job/edgewise/stack/kubernetes`;
    const push = [resolve(EXAMPLE, 'base', 'push-metrics.mjs'), metrics];
    const pushed = await runTool(process.execPath, push, { env: { PUSHGATEWAY_URL } });
    expect(pushed, pushed.output).toMatchObject({ status: 0 });
    const shown = await (await fetch(`${gateway}/metrics`)).text();
    expect(shown).toMatch(/edgewise_run_success\{[^}]*stack="kubernetes"[^}]*\} 1/);
  });
});

describeWith(['kubectl', 'sh'], 'a token in a Secret', () => {
  it('is created by the real kubectl from standard input, as documented', async () => {
    const folder = await createFolder();
    const stack = `apiVersion: edgewise/v1
kind: Stack
metadata: { name: agents }
spec:
  tokens:
    default:
      command:
        - sh
        - -c
        - kubectl create secret generic "$EDGEWISE_NAME" --from-file=token=/dev/stdin --dry-run=client -o yaml > secret.yaml
---
apiVersion: edgewise/v1
kind: Credential
metadata: { name: build-agent }
spec: { description: for builds }
`;
    await writeFile(join(folder, 'stack.yaml'), stack);
    const args = [resolve('src/cli/main.ts'), 'apply', 'stack.yaml', '--yes'];
    const env = { EDGEWISE_BASE_URL: 'embedded:', KUBECONFIG: '/dev/null' };
    const applied = await runTool(process.execPath, args, { cwd: folder, env });
    expect(applied, applied.output).toMatchObject({ status: 0 });
    const [secret] = parseAllDocuments((await runTool('cat', [join(folder, 'secret.yaml')])).output);
    expect(secret?.get('kind')).toBe('Secret');
    const token = Buffer.from(String(secret?.getIn(['data', 'token'])), 'base64').toString();
    expect(token.trim()).toMatch(/^[A-Za-z0-9]+_[A-Za-z0-9]+$/);
    expect(applied.output).not.toContain(token.trim());
  });
});

describeWith(['jq', 'sh', 'kubernetes-validate'], 'the Indexed Job of the page', () => {
  it('conforms to the schema of Kubernetes', async () => {
    const file = join(await createFolder(), 'job.yaml');
    await writeFile(file, readJob().text);
    const result = await runTool('kubernetes-validate', ['-k', '1.33', '--strict', file]);
    expect(result, result.output).toMatchObject({ status: 0 });
  });

  it('applies each of twelve stacks in the pod with its number', async () => {
    const { runPod, server } = await startPods(toRepository(12));
    const numbers = Array.from({ length: 12 }, (_, index) => index);
    const pods = await Promise.all(numbers.map((index) => runPod({ JOB_COMPLETION_INDEX: String(index) })));
    for (const { status, output } of pods) {
      expect(status, output).toBe(0);
      expect(output).toContain('1 of 12 stacks below');
    }
    expect(server.snapshot().resources['TCPEdge']).toHaveLength(12);
  }, 120_000);

  it.each<readonly [string, Readonly<Record<string, string>>, Readonly<Record<string, string>>, string]>([
    ['the list has more stacks than pods', toRepository(13), {}, '13 stacks, but 12 completions'],
    ['the list has fewer stacks than pods', toRepository(11), {}, '11 stacks, but 12 completions'],
    ['there is no stack', { 'live/README.md': '' }, {}, 'There is no stack below'],
    ['a name could act on the shell', withName('$(touch ran)'), {}, 'has no valid name'],
    ['a name is an option', withName('s03 --stack=s04'), {}, 'has no valid name'],
    ['a stack has no name', withName(''), {}, 'has no valid name'],
    ['the pod has no number', toRepository(12), { JOB_COMPLETION_INDEX: '' }, 'invalid JSON'],
    ['the number is behind the list', toRepository(12), { JOB_COMPLETION_INDEX: '12' }, ''],
  ])('applies no stack if %s', async (_, files, env, message) => {
    const { runPod, server, folder } = await startPods(files);
    const { status, output } = await runPod({ JOB_COMPLETION_INDEX: '3', ...env });
    expect(status, output).not.toBe(0);
    expect(output).toContain(message);
    expect(server.snapshot().resources['TCPEdge'] ?? []).toEqual([]);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  function withName(name: string): Readonly<Record<string, string>> {
    return { ...toRepository(12), 'live/s03/edgewise.yaml': toStack(name) };
  }

  /** Reads the Job, and the script of its pods. */
  function readJob(): { readonly text: string; readonly script: string } {
    const page = readFileSync('docs/how-to/stack-jobs.md', 'utf8');
    const text = Array.from(page.matchAll(/```yaml\n([\s\S]*?)```/g), ([, block = '']) => block).at(-1) ?? '';
    return { text, script: parse(text).spec.template.spec.containers[0].args[0] };
  }

  /** Starts a service, and creates the files of a repository. */
  async function startPods(files: Readonly<Record<string, string>>) {
    const folder = await createFolder();
    await writeFiles(folder, files);
    await mkdir(join(folder, 'bin'));
    const program = `#!/bin/sh\nexec '${process.execPath}' '${resolve('src/cli/main.ts')}' "$@"\n`;
    await writeFile(join(folder, 'bin/edgewise'), program, { mode: 0o755 });
    const server = createServer({ apiKeys: [parseApiKey('dev:admin')] });
    const service = await listen(server, { port: 0 });
    onTestFinished(() => service.close());
    const { script } = readJob();
    const runPod = (env: Readonly<Record<string, string>>) =>
      runTool('sh', ['-euc', script], {
        cwd: folder,
        env: {
          PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
          STACKS: '12',
          MANIFESTS: join(folder, 'live'),
          EDGEWISE_BASE_URL: service.url,
          EDGEWISE_API_KEY: 'dev',
          ...env,
        },
      });
    return { folder, server, runPod };
  }
});

async function build(variant: string): Promise<string> {
  const { status, output } = await runTool('kustomize', ['build', join(EXAMPLE, variant)]);
  expect(status, output).toBe(0);
  return output;
}

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-kubernetes-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  return folder;
}

/** Mounts a ConfigMap as the kubelet does: each file is a link into a folder that a link names. */
async function mountConfigMap(source: string, target: string): Promise<void> {
  await mkdir(target);
  await cp(source, join(target, '..2026_03_01_12_00_00.1'), { recursive: true });
  await symlink('..2026_03_01_12_00_00.1', join(target, '..data'));
  for (const file of ['edgewise.yaml', 'postgres.yaml']) await symlink(join('..data', file), join(target, file));
}
