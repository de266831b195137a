import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { createServer, listen, parseApiKey } from '../../src/server/index.ts';
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
