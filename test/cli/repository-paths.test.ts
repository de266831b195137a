import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK } from './workspace.ts';

const WRONG = { 'edgewise.yaml': `${STACK}spec: { apl: {} }\n` };

describe('paths in annotations and SARIF', () => {
  it('are relative to GITHUB_WORKSPACE, wherever in it edgewise runs', async () => {
    const { edgewise, folder } = await createWorkspace(WRONG);
    const name = folder.slice(dirname(folder).length + 1);
    const env = { GITHUB_WORKSPACE: dirname(folder) };
    const { stdout } = await edgewise('validate --format github', { env });
    expect(stdout).toContain(`file=${name}/edgewise.yaml,`);
    const sarif = await edgewise('validate --format sarif', { env });
    expect(sarif.stdout).toContain(`"uri": "${name}/edgewise.yaml"`);
  });

  it('stay as they are given without it, if it is empty, and if the file is not below it', async () => {
    const { edgewise, folder } = await createWorkspace(WRONG);
    for (const env of [{}, { GITHUB_WORKSPACE: '' }, { GITHUB_WORKSPACE: join(folder, 'elsewhere') }]) {
      const { stdout } = await edgewise('validate --format github', { env });
      expect(stdout).toContain('file=edgewise.yaml,');
    }
  });

  it('are those of a file that is named by its own path', async () => {
    const { edgewise, folder } = await createWorkspace(WRONG);
    const words = `validate ${join(folder, 'edgewise.yaml')} --format github`;
    expect((await edgewise(words, { env: { GITHUB_WORKSPACE: folder } })).stdout).toContain('file=edgewise.yaml,');
  });

  it('stay as they are given in text', async () => {
    const { edgewise, folder } = await createWorkspace(WRONG);
    const { stdout, stderr } = await edgewise('validate', { env: { GITHUB_WORKSPACE: dirname(folder) } });
    expect(`${stdout}${stderr}`).toContain('--> edgewise.yaml:');
  });
});
