import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseApiKey } from '../../src/server/index.ts';
import { createWorkspace, STACK, toCredential, type Workspace } from '../cli/workspace.ts';
import { expectNoSecret, KEY, TOKEN } from './secret-values.ts';

/** The author of a commit adds a program that has the name of a token command, in a folder of PATH. */

const PATH = process.env['PATH'] ?? '';

async function writeProgram(path: string, script: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
}

/** A checkout with a stack that delivers tokens by `store`, which is also a program outside of it. */
async function createCheckout(words: string, more = ''): Promise<Workspace & { readonly tools: string }> {
  const stack = `${STACK}spec: { tokens: { default: { command: ${words}${more} } } }\n${toCredential('agent')}`;
  const apiKeys = ['dev', KEY].map((key) => parseApiKey(`${key}:admin`));
  const workspace = await createWorkspace({ 'live/stack.yaml': stack }, { apiKeys });
  const { folder: tools } = await createWorkspace();
  execFileSync('git', ['init', '--quiet'], { cwd: workspace.folder });
  await writeProgram(join(tools, 'store'), `cat > '${tools}/stored'; env > '${tools}/env'`);
  return { ...workspace, tools };
}

const ENTRIES = ['', '.', 'bin', 'live/../bin', 'TOP/bin', 'TOP/live/../bin', 'TOP/../TOP_NAME/bin', 'TOOLS/linked'];

describe('a committed program with the name of a token command', () => {
  it.each(ENTRIES)('gets no token if PATH starts with the entry "%s"', async (written) => {
    const { folder, edgewise, tools } = await createCheckout('[store]', ', test: [store]');
    for (const at of ['bin/store', 'store', 'live/store'])
      await writeProgram(join(folder, at), `touch '${folder}/ran'`);
    await symlink(join(folder, 'bin'), join(tools, 'linked'));
    const entry = written.replace('TOP_NAME', basename(folder)).replace('TOP', folder).replace('TOOLS', tools);
    const applied = await edgewise('apply live --yes', { env: { PATH: `${entry}:${tools}:${PATH}` } });
    expect(applied).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    expect(readFileSync(join(tools, 'stored'), 'utf8').length).toBeGreaterThan(20);
  });

  it('is not found either by a shell that is the token command', async () => {
    const { folder, edgewise, tools } = await createCheckout('[sh, -c, "store"]');
    await writeProgram(join(folder, 'node_modules/.bin/store'), `touch '${folder}/ran'`);
    const env = { PATH: `${folder}/node_modules/.bin:${tools}:${PATH}` };
    expect(await edgewise('apply live --yes', { env })).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    expect(existsSync(join(tools, 'stored'))).toBe(true);
  });

  it('ends the apply before its first write if it is the only one, and says how to name it', async () => {
    const { folder, edgewise, recorder } = await createCheckout('[deliver]');
    await writeProgram(join(folder, 'bin/deliver'), `touch '${folder}/ran'`);
    const applied = await edgewise('apply live --yes', { env: { PATH: `${folder}/bin:${PATH}` } });
    expect(applied).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('deliver is not an executable program'),
    });
    expect(applied.stderr).toContain('for a program there, write its path');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('is run if the Stack names its path', async () => {
    const { folder, edgewise } = await createCheckout('[./deliver]');
    await writeProgram(join(folder, 'live/deliver'), `cat > '${folder}/got'`);
    expect(await edgewise('apply live --yes', { env: { PATH } })).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(folder, 'got'))).toBe(true);
  });
});

describe('a committed program in another checkout of the run', () => {
  const STACK_ALONE = `${STACK}spec: { tokens: { default: { command: [store] } } }\n`;

  /** Two checkouts beside each other, of which the second has programs in `bin`. */
  async function createTwo(files: Readonly<Record<string, string>>): Promise<Workspace> {
    const workspace = await createWorkspace(files);
    const { folder } = workspace;
    for (const name of ['own', 'other'])
      execFileSync('git', ['init', '--quiet', name], { cwd: folder, stdio: 'ignore' });
    for (const name of ['git', 'store'])
      await writeProgram(join(folder, 'other/bin', name), `touch '${folder}/ran'; exit 1`);
    return workspace;
  }

  it.each(['../other/m', '../other/m/stack.yaml'])('is not run as git if the manifests are there: %s', async (path) => {
    const { folder, edgewise } = await createTwo({ 'other/m/stack.yaml': STACK, 'own/plan.json': '{}' });
    const env = { PATH: `${folder}/other/bin:${PATH}` };
    const { exitCode } = await edgewise(`plan ${path} -o plan.json`, { cwd: join(folder, 'own'), env });
    expect(exitCode).toBe(0);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it('gets no token if one of the manifests is there', async () => {
    const { folder, edgewise } = await createTwo({
      'own/stack.yaml': STACK_ALONE,
      'other/c.yaml': toCredential('agent').replace('---\n', ''),
    });
    const env = { PATH: `${folder}/other/bin:${PATH}` };
    const words = 'apply stack.yaml ../other/c.yaml --yes';
    const { exitCode, stderr } = await edgewise(words, { cwd: join(folder, 'own'), env });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining('store is not an executable'),
    });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it.each(['from the linked worktree', 'from the main one'])(
    'gets no token if it is in another worktree of the repository: %s',
    async (way) => {
      const { folder, edgewise } = await createTwo({ 'other/m/stack.yaml': `${STACK_ALONE}${toCredential('agent')}` });
      const git = (...words: readonly string[]) =>
        execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: join(folder, 'other') });
      git('add', '-A');
      git('commit', '-q', '-m', 'all');
      git('worktree', 'add', '-q', '../linked');
      const [here, there] = way === 'from the main one' ? ['other', 'linked'] : ['linked', 'other'];
      const env = { PATH: `${folder}/${there}/bin:${PATH}` };
      const { exitCode, stderr } = await edgewise('apply m --yes', { cwd: join(folder, here), env });
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: expect.stringContaining('store is not an executable'),
      });
      expect(existsSync(join(folder, 'ran'))).toBe(false);
    },
  );

  it('is not run for the manifests of a submodule', async () => {
    const { folder, edgewise } = await createTwo({
      'other/ingress/m/stack.yaml': `${STACK}spec: { tokens: { default: { directory: tokens } } }\n${toCredential('agent')}`,
      'other/ingress/.gitignore': '/m/tokens/\n',
    });
    execFileSync('git', ['init', '--quiet'], { cwd: join(folder, 'other/ingress') });
    const env = { PATH: `${folder}/other/bin:${PATH}` };
    const { exitCode } = await edgewise('plan m', { cwd: join(folder, 'other/ingress'), env });
    expect(exitCode).toBe(0);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});

describe('the environment of a token command', () => {
  const STEERING = {
    VAULT_ADDR: 'https://vault.test',
    KUBERNETES_SERVICE_HOST: '10.1.2.3',
    DOCKER_HOST: 'tcp://d.test',
  };
  const NAMES = 'DOCKER_HOST, KUBERNETES_SERVICE_HOST, VAULT_ADDR';

  it('is that of edgewise, without the key and the tokens of the system', async () => {
    const { edgewise, tools } = await createCheckout('[store]');
    const secrets = { EDGEWISE_API_KEY: KEY, COPY: KEY, GITHUB_TOKEN: TOKEN };
    const env = { PATH: `${tools}:${PATH}`, ...STEERING, ...secrets, MINE: 'kept', LANG: 'C' };
    expect(await edgewise('apply live --yes', { env })).toMatchObject({ exitCode: 0 });
    const seen = readFileSync(join(tools, 'env'), 'utf8');
    for (const [name, value] of Object.entries({ ...STEERING, MINE: 'kept', LANG: 'C', EDGEWISE_NAME: 'agent' }))
      expect(seen).toContain(`${name}=${value}\n`);
    expectNoSecret(seen);
  });

  it('is named by the plan, and again by the apply before it delivers, without values', async () => {
    const { edgewise, tools, recorder } = await createCheckout('[store]');
    const env = { PATH: `${tools}:${PATH}`, ...STEERING, VAULT_NAMESPACE: '' };
    const planned = await edgewise('plan live', { env });
    expect(planned.stdout).toContain(`its token command gets ${NAMES} from the environment, which may decide where`);
    let writes: number | undefined;
    const onWrite = (text: string) => {
      if (text.startsWith('The token commands get'))
        writes = recorder.take().filter(({ method }) => method !== 'GET').length;
    };
    const applied = await edgewise('apply live --yes', { env, onWrite });
    expect(applied.stderr).toContain(
      `The token commands get ${NAMES} from the environment, which may decide where a token goes.`,
    );
    expect(writes).toBe(0);
    for (const value of Object.values(STEERING))
      expect(`${planned.stdout}${applied.stdout}${applied.stderr}`).not.toContain(value);
  });

  it('is not compared with an approval, because a plan is often made elsewhere', async () => {
    const { edgewise, tools, folder } = await createCheckout('[store]');
    const env = { PATH: `${tools}:${PATH}` };
    expect((await edgewise('plan live -o plan.json', { env: { ...env, VAULT_ADDR: 'a' } })).exitCode).toBe(0);
    const applied = await edgewise('apply live --approved plan.json --yes', { env: { ...env, GITLAB_HOST: 'b' } });
    expect(applied).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('The token commands get GITLAB_HOST from'),
    });
    expect(existsSync(join(folder, 'plan.json'))).toBe(true);
  });

  it('is not mentioned where tokens go to a folder, or no such variable is set', async () => {
    const folders = await createWorkspace({
      'stack.yaml': `${STACK}spec: { tokens: { default: { directory: tokens } } }\n${toCredential('agent')}`,
    });
    const { stderr } = await folders.edgewise('apply --yes', { env: STEERING });
    expect(stderr).not.toContain('VAULT_ADDR');
    const { edgewise, tools } = await createCheckout('[store]');
    const applied = await edgewise('apply live --yes', { env: { PATH: `${tools}:${PATH}` } });
    expect(`${applied.stdout}${applied.stderr}`).not.toContain('from the environment');
  });
});
