import { readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace } from './workspace.ts';

const STACK = `apiVersion: edgewise/v1
kind: Stack
metadata: { name: shop }
`;
const CREDENTIAL = `---
apiVersion: edgewise/v1
kind: Credential
metadata: { name: agent }
spec: { acl: ['bind:example.com'] }
`;
const toDefaults = (tokens: string): string => `apiVersion: edgewise/v1
kind: Defaults
spec: { tokens: { default: ${tokens} } }
`;

describe('the token sink of a document', () => {
  it('has a folder relative to the Defaults that set it, wherever the run starts', async () => {
    const { edgewise, folder } = await createWorkspace({
      'live/defaults.yaml': toDefaults('{ directory: "tokens/{stack}" }'),
      'live/shop/edgewise.yaml': `${STACK}${CREDENTIAL}`,
    });
    const { stdout } = await edgewise('plan live/shop --root .');
    expect(stdout).toContain('which goes to the folder live/tokens/shop\n');
    expect(await edgewise('apply live/shop --yes --root .')).toMatchObject({ exitCode: 0 });
    expect(await readdir(join(folder, 'live/tokens/shop'))).toEqual(['agent.token']);
  });

  it('has a folder relative to the Stack that sets it', async () => {
    const { edgewise, folder } = await createWorkspace({
      'shop/edgewise.yaml': `${STACK}spec: { tokens: { default: { directory: tokens } } }\n${CREDENTIAL}`,
    });
    expect(await edgewise('apply shop --yes')).toMatchObject({ exitCode: 0 });
    expect(await readdir(join(folder, 'shop/tokens'))).toEqual(['agent.token']);
  });

  it('runs its commands in the folder of the Defaults that set them, and the plan names that folder and what steers them', async () => {
    const { edgewise, folder } = await createWorkspace({
      'live/defaults.yaml': toDefaults(
        "{ command: [/bin/sh, -c, 'cat >delivered; pwd >where'], test: [/usr/bin/test, -f, defaults.yaml] }",
      ),
      'live/shop/edgewise.yaml': `${STACK}${CREDENTIAL}`,
    });
    const env = { VAULT_ADDR: 'https://vault.test' };
    const { stdout } = await edgewise('plan live/shop --root .', { env });
    expect(stdout).toContain('(in live, tested with /usr/bin/test -f defaults.yaml,');
    expect(stdout).toContain('its token command gets VAULT_ADDR from the environment');
    const applied = await edgewise('apply live/shop --yes --root .', { env });
    expect(applied.stderr).toContain('The token commands get VAULT_ADDR from the environment');
    expect(applied, applied.stdout + applied.stderr).toMatchObject({ exitCode: 0 });
    expect((await readFile(join(folder, 'live/where'), 'utf8')).trim()).toMatch(/\/live$/);
    expect(await readFile(join(folder, 'live/delivered'), 'utf8')).not.toBe('');
  });
});

describe('a token folder that a run of one stack accepts', () => {
  const STACK_WITH_TOKENS = `${STACK}spec: { tokens: { default: { directory: ../../tokens } } }\n${CREDENTIAL}`;

  it.each([
    ['in the working folder', 'project/live/one/m.yaml', undefined],
    ['in the working folder, before a link to the stacks', 'elsewhere/live/one/m.yaml', '../elsewhere/live'],
  ])('is accepted by each command over stacks: %s', async (_, file, link) => {
    const { folder, edgewise } = await createWorkspace({ [file]: STACK_WITH_TOKENS, 'project/keep': '' });
    const cwd = join(folder, 'project');
    if (link !== undefined) await symlink(link, join(cwd, 'live'));
    const lines = ['plan live/one', 'validate -R live', 'plan -R live', 'apply -R live --yes', 'drift -R live'];
    for (const line of [...lines, 'get -R live', 'stacks live', 'plan live/one', 'destroy live/one --yes'])
      expect(await edgewise(line, { cwd }), line).toMatchObject({ exitCode: 0 });
    expect(await readdir(join(cwd, 'tokens'))).toEqual(['agent.token']);
  });
});
