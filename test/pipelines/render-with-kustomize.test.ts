import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createWorkspace, toEdge } from '../cli/workspace.ts';
import { toStack } from '../repository/tree.ts';
import { describeWith } from './tools.ts';

describeWith(['kustomize'], '--render-with "kustomize build"', () => {
  it('plans stacks with a shared base of an untrusted checkout', async () => {
    const overlay = (stack: string, port: number) => ({
      [`live/${stack}/edgewise.yaml`]: toStack(stack, { render: ['sh', '-c', 'touch ran'], inputs: ['../../base/**'] }),
      [`live/${stack}/kustomization.yaml`]: `resources: [../../base]
namespace: ${stack}
nameSuffix: -${stack}
patches:
  - target: { kind: TCPEdge }
    patch: '[{ "op": "replace", "path": "/spec/hostports", "value": ["1.tcp.example.net:${port}"] }]'
`,
    });
    const { edgewise, folder } = await createWorkspace({
      'base/kustomization.yaml': 'resources: [edge.yaml]\n',
      'base/edge.yaml': toEdge('postgres', 20001),
      ...overlay('blue', 20011),
      ...overlay('green', 20012),
    });
    const env = { PATH: process.env['PATH'] ?? '', EDGEWISE_RENDER_WITH: 'kustomize build' };
    const { exitCode, stdout } = await edgewise('plan -R live --untrusted', { env });
    expect(exitCode, stdout).toBe(0);
    expect(stdout).toContain('+ TCPEdge/postgres-blue');
    expect(stdout).toContain('+ 1.tcp.example.net:20012');
    expect(existsSync(join(folder, 'live/blue/ran'))).toBe(false);
  });
});
