import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createWorkspace } from '../cli/workspace.ts';
import { createKustomizeTree } from './kustomize-tree.ts';
import { describeWith } from './tools.ts';

describeWith(['kustomize'], '--render-with "kustomize build"', () => {
  it('plans stacks with a shared base of an untrusted checkout', async () => {
    const { edgewise, folder } = await createWorkspace(createKustomizeTree('live'));
    const env = { PATH: process.env['PATH'] ?? '', EDGEWISE_RENDER_WITH: 'kustomize build' };
    const { exitCode, stdout } = await edgewise('plan -R live --untrusted', { env });
    expect(exitCode, stdout).toBe(0);
    expect(stdout).toContain('+ TCPEdge/postgres-blue');
    expect(stdout).toContain('+ 1.tcp.example.net:20012');
    expect(existsSync(join(folder, 'live/blue/ran'))).toBe(false);
  });
});
