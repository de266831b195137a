import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openStack, type Transport } from '../../src/index.ts';
import { selectTypical } from '../cases.ts';
import { requireProgramOrSkip } from '../needs.ts';
import { git } from '../repository/tree.ts';
import { BASE_URL } from './fake-context.ts';
import { createWorkspace, STACK, toCredential, toEdge, type Workspace } from './workspace.ts';

beforeEach(() => requireProgramOrSkip('git'));

function toStack(directory: string, more = ''): string {
  return `${STACK}spec: { tokens: { default: { directory: ${JSON.stringify(directory)}${more} } } }\n${toCredential('agent')}`;
}

/** A repository with a stack that creates a credential. `tracked`: files that git tracks. */
async function createRepository(
  files: Readonly<Record<string, string>>,
  { tracked = [] }: { readonly tracked?: readonly string[] } = {},
): Promise<Workspace> {
  const workspace = await createWorkspace({
    'm/stack.yaml': toStack('tokens'),
    ...files,
    ...Object.fromEntries(tracked.map((name) => [name, 'old\n'])),
  });
  git(workspace.folder, 'init', '--quiet');
  if (tracked.length > 0) git(workspace.folder, 'add', '--force', '--', ...tracked);
  return workspace;
}

async function createOutside(): Promise<string> {
  const outside = await mkdtemp(join(tmpdir(), 'edgewise-outside-'));
  onTestFinished(() => rm(outside, { recursive: true, force: true }));
  return outside;
}

/** Expects that plan and apply end with 3 and this message, and that nothing is written anywhere. */
async function expectRefused({ edgewise, recorder, folder }: Workspace, message: string, flags = ''): Promise<void> {
  const before = await readdir(folder, { recursive: true });
  const planned = await edgewise(`plan m${flags}`);
  expect(planned.exitCode).toBe(3);
  expect(planned.stdout).toContain(`error[token-in-git]: ${message}`);
  const applied = await edgewise(`apply m --yes${flags}`);
  expect(applied).toMatchObject({ exitCode: 3, stdout: expect.stringContaining(message) });
  expect(applied.stdout).toContain('Nothing was written.');
  expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(await readdir(folder, { recursive: true })).toEqual(before);
}

async function expectApplied({ edgewise }: Workspace, flags = ''): Promise<void> {
  const planned = await edgewise(`plan m${flags}`);
  expect(planned).toMatchObject({ exitCode: 0, stdout: expect.not.stringContaining('token-in-git') });
  expect(await edgewise(`apply m --yes${flags}`)).toMatchObject({ exitCode: 0 });
}

describe('a token folder in a repository', () => {
  const OPEN =
    'The token of Credential/agent would be written to m/tokens/agent.token, in a folder that git does not ignore';

  const OPENING: readonly (readonly [ignored: string, lines: string])[] = [
    ['nothing', ''],
    ['the file alone', 'agent.token\n'],
    ['files by their ending', '*.token\n'],
    ['files by a part of their names', '*.token*\n'],
    ['everything in the folder, which a later line can include again', '/m/tokens/*\n'],
    ['the folder elsewhere', '/tokens/\n'],
    ['the folder, and includes it again', '/m/tokens/\n!/m/tokens/\n'],
    ['everything, and includes the folder again', '*\n!/m/\n!/m/tokens/\n'],
    ['each file but the next', '/m/tokens/*\n!/m/tokens/agent.token.[2-9]\n!/m/tokens/.agent.token.[1-9a-f]*\n'],
  ];
  const cases = OPENING.flatMap(([ignored, lines]) => ['before', 'after'].map((when) => ({ ignored, lines, when })));

  it.each(selectTypical(cases, 'ignored', 'when'))(
    'is refused if git ignores $ignored, $when it exists',
    async ({ lines, when }) => {
      const workspace = await createRepository({ '.gitignore': lines });
      if (when === 'after') await mkdir(join(workspace.folder, 'm/tokens'), { mode: 0o700 });
      await expectRefused(workspace, OPEN);
    },
  );

  it('is refused if git ignores a made-up id only', async () => {
    const workspace = await createRepository({
      'm/stack.yaml': toStack('tokens', ', file: "{name}.{id}.token"'),
      '.gitignore': '/m/tokens/*\n!/m/tokens/agent.cr_[1-9A-Za-z]*\n!/m/tokens/.agent..token.[1-9a-f]*\n',
    });
    await expectRefused(
      workspace,
      'The token of Credential/agent would be written to m/tokens/agent.ID.token, in a folder',
    );
  });

  it('is refused with a line for .gitignore, which is enough', async () => {
    const workspace = await createRepository({ 'm/stack.yaml': toStack('some [to]kens*') });
    const { stdout } = await workspace.edgewise('plan m');
    const [, line = ''] = /help: Add the line (.+) to \.gitignore, or name a folder outside of/.exec(stdout) ?? [];
    expect(line).toBe('/m/some \\[to]kens\\*/');
    await workspace.write({ '.gitignore': `${line}\n` });
    await expectApplied(workspace);
    git(workspace.folder, 'add', '--all');
    expect(git(workspace.folder, 'ls-files')).toBe('.gitignore\nm/stack.yaml\n');
  });

  it.each([
    ['the file', ['m/tokens/agent.token'], ''],
    ['a file that was set aside', ['m/tokens/agent.token.7'], ''],
    ['a temporary file', ['m/tokens/.agent.token.0b0e7a51-68ab-4e3e-93cf-5dc1a7f4a1d2'], ''],
    ['a file with an id', ['m/tokens/agent.cr_2k9X.token'], ', file: "{name}.{id}.token"'],
  ])('is refused if git tracks %s, although it ignores the folder', async (_, tracked, file) => {
    const files = { '.gitignore': '/m/tokens/\n', 'm/stack.yaml': toStack('tokens', file) };
    const workspace = await createRepository(files, { tracked });
    const message = `The token of Credential/agent would be written to ${tracked[0]}, which git tracks`;
    await expectRefused(workspace, message);
    const { stdout } = await workspace.edgewise('plan m');
    const [, command = ''] = /with (git rm --cached .+), and add the line \/m\/tokens\/ to/.exec(stdout) ?? [];
    execFileSync('sh', ['-c', command], { cwd: workspace.folder });
    await expectApplied(workspace);
  });

  it.each([
    ['the folder', '/m/tokens/\n', ''],
    ['folders of that name', 'tokens/\n', ''],
    ['a folder above', '/m/\n', ''],
    ['the folder, with lines in it that nothing reads', '/m/tokens/\n', '!*\n'],
  ])('is used if git ignores %s, whatever else is tracked there', async (_, ignored, inside) => {
    const files = { '.gitignore': ignored, 'm/tokens/.gitignore': inside };
    await expectApplied(await createRepository(files, { tracked: ['m/tokens/README.md', 'm/tokens/other.token'] }));
  });

  it('is used, once it exists, if git ignores it by a name that may be that of a file', async () => {
    const workspace = await createRepository({ '.gitignore': 'tokens\n' });
    await expectRefused(workspace, OPEN);
    await mkdir(join(workspace.folder, 'm/tokens'), { mode: 0o700 });
    await expectApplied(workspace);
  });

  it.each(['GIT_DIR', 'GIT_WORK_TREE'])('is refused in a work tree that %s names', async (name) => {
    const { folder, edgewise, recorder } = await createWorkspace({ 'm/stack.yaml': toStack('tokens') });
    git(folder, 'init', '--quiet', '--bare', 'store.git');
    const env = { [name]: name === 'GIT_DIR' ? join(folder, 'store.git') : folder };
    const planned = await edgewise('plan m', { env });
    expect(planned).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining(`${'GIT_DIR or GIT_WORK_TREE'} makes`),
    });
    expect(await edgewise('apply m --yes', { env })).toMatchObject({ exitCode: 3 });
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    const elsewhere = { GIT_WORK_TREE: join(folder, 'other') };
    expect(await edgewise('plan m', { env: elsewhere })).toMatchObject({ exitCode: 0 });
  });

  it('is judged by the repository that is nearest', async () => {
    const workspace = await createRepository({ '.gitignore': '/m/\n', 'm/inner.txt': '' });
    git(join(workspace.folder, 'm'), 'init', '--quiet');
    await expectRefused(workspace, OPEN);
    await workspace.write({ 'm/.gitignore': 'tokens/\n' });
    await expectApplied(workspace);
  });

  it('is judged by where a link above the repository leads', async () => {
    const workspace = await createRepository({});
    const outside = await createOutside();
    await symlink(workspace.folder, join(outside, 'linked'));
    await expectRefused(workspace, 'The token of Credential/agent would be', ` --token-directory ${outside}/linked/t`);
  });

  it('must not be the root, which cannot be ignored', async () => {
    const workspace = await createRepository({ 'm/stack.yaml': toStack('..') });
    await expectRefused(
      workspace,
      'The token of Credential/agent would be written to agent.token, in a folder that git',
    );
    expect((await workspace.edgewise('plan m')).stdout).toContain(
      'Use a folder for nothing but tokens, such as tokens,',
    );
  });

  it('is refused without a git to ask, and one outside of the repository is used', async () => {
    const workspace = await createRepository({ '.gitignore': '/m/tokens/\n' });
    const { edgewise, folder } = workspace;
    const env = { PATH: join(folder, 'nothing') };
    const message = 'unknown whether git ignores that: git cannot be run';
    const planned = await edgewise('plan m', { env });
    expect(planned).toMatchObject({ exitCode: 3, stdout: expect.stringContaining(message) });
    expect(planned.stdout).toContain('Name a folder outside of the repository with --token-directory.');
    expect(await edgewise('apply m --yes', { env })).toMatchObject({ exitCode: 3 });
    const outside = await createOutside();
    const TMPDIR = outside;
    const flags = ` --token-directory ${outside}/tokens`;
    expect(await edgewise(`plan m${flags}`, { env })).toMatchObject({ exitCode: 0 });
    expect(await edgewise(`apply m --yes${flags}`, { env: { ...env, TMPDIR } })).toMatchObject({ exitCode: 0 });
    expect(await readdir(join(outside, 'tokens'))).toEqual(['agent.token']);
  });

  it('is refused in a folder with a .git that git does not take for a repository', async () => {
    const workspace = await createWorkspace({ 'm/stack.yaml': toStack('tokens'), '.git/HEAD': '' });
    await expectRefused(
      workspace,
      'The token of Credential/agent would be written to m/tokens/agent.token, and it is unknown',
    );
  });

  it('is named once for all of its credentials, and each folder once', async () => {
    const credentials = ['b', 'c'].map(toCredential).join('');
    const stack = `${STACK}spec: { tokens: { default: { directory: t }, credentials: { b: { directory: u } } } }\n`;
    const workspace = await createRepository({ 'm/stack.yaml': `${stack}${toCredential('agent')}${credentials}` });
    const { stdout } = await workspace.edgewise('plan m');
    expect(stdout.match(/error\[token-in-git\]: .*/g)).toEqual([
      expect.stringContaining('The token of Credential/agent and of 1 more would be written to m/t/agent.token'),
      expect.stringContaining('The token of Credential/b would be written to m/u/b.token'),
    ]);
  });

  it('is not asked about by a plan that creates no credential', async () => {
    const workspace = await createRepository({ '.gitignore': '/m/tokens/\n' });
    await expectApplied(workspace);
    await workspace.write({ '.gitignore': '' });
    expect(await workspace.edgewise('plan m --detailed-exitcode')).toMatchObject({ exitCode: 0 });
    expect(await workspace.edgewise('drift m')).toMatchObject({ exitCode: 0 });
  });
});

describe('the check is made again before the first write', () => {
  it('after the question', async () => {
    const workspace = await createRepository({ '.gitignore': '/m/tokens/\n' });
    const { edgewise, recorder } = workspace;
    const onAsk = () => workspace.write({ '.gitignore': '' });
    const applied = await edgewise('apply m', { answers: ['yes'], onAsk });
    expect(applied).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('git does not ignore') });
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('for a plan that a program made earlier', async () => {
    const workspace = await createRepository({ '.gitignore': '/m/tokens/\n' });
    const stack = await openStack(toOptions(workspace));
    const plan = await stack.plan();
    expect(plan.diagnostics.map(({ code }) => code)).not.toContain('token-in-git');
    await workspace.write({ '.gitignore': '' });
    await expect(stack.apply(plan)).rejects.toMatchObject({
      reason: 'invalid',
      message: expect.stringContaining('git'),
    });
    expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('and not for sinks of the calling program', async () => {
    const workspace = await createRepository({});
    const taken: string[] = [];
    const sink = {
      test: async () => [],
      deliver: async (_: unknown, token: string) => {
        taken.push(token);
        return 'memory';
      },
    };
    const stack = await openStack({ ...toOptions(workspace), sinks: { find: () => sink, rescue: sink } });
    const plan = await stack.plan();
    expect(plan.diagnostics.map(({ code }) => code)).not.toContain('token-in-git');
    await stack.apply(plan);
    expect(taken).toHaveLength(1);
  });
});

function toOptions({ folder, recorder }: Workspace) {
  const transport: Transport = recorder.transport;
  return { cwd: folder, paths: ['m'], env: {}, baseUrl: BASE_URL, apiKey: 'dev', transport };
}

describe('an approved plan', () => {
  it('is refused with 3 where its tokens could get into git by now', async () => {
    const workspace = await createRepository({ '.gitignore': '/m/tokens/\n' });
    const { edgewise, recorder } = workspace;
    const plan = join(await createOutside(), 'plan.json');
    expect(await edgewise(`plan m -o ${plan}`)).toMatchObject({ exitCode: 0 });
    await workspace.write({ '.gitignore': '' });
    const applied = await edgewise(`apply m --yes --approved ${plan}`);
    expect(applied).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('git does not ignore') });
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});

describe('the place of rescued tokens', () => {
  const FAILING = `${STACK}spec: { tokens: { default: { command: [sh, -c, "exit 3"] } } }\n${toCredential('agent')}`;

  it.each(['missing', 'm/stack.yaml'])(
    'is tried before the first write of a run that delivers tokens: %s',
    async (place) => {
      const { edgewise, recorder, folder } = await createWorkspace({ 'm/stack.yaml': toStack('tokens') });
      const env = { TMPDIR: join(folder, place) };
      const applied = await edgewise('apply m --yes', { env });
      expect(applied).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/could not be saved either: ENO\w+: /),
      });
      expect(applied.stderr).toContain('Set TMPDIR to a folder in which you can create files. Nothing was written.');
      expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    },
  );

  it.each([
    { place: 'missing', exitCode: 1, message: 'could not be saved either', ignored: '/b/tokens/' },
    { place: '.', exitCode: 3, message: 'which git does not ignore', ignored: '/b/tokens/' },
  ])('is tried before any stack of a run is written: $place', async ({ place, exitCode, message, ignored }) => {
    const workspace = await createRepository({
      '.gitignore': `${ignored}\n`,
      'm/stack.yaml': STACK,
      'a/stack.yaml': STACK.replace('test', 'a') + toEdge('a', 20_001),
      'b/stack.yaml': toStack('tokens').replace('test', 'b'),
    });
    const { edgewise, recorder, folder } = workspace;
    const env = { TMPDIR: join(folder, place) };
    for (const format of ['text', 'json']) {
      const applied = await edgewise(`apply -R . --yes --format ${format}`, { env });
      expect(applied).toMatchObject({ exitCode, stderr: expect.stringContaining(message) });
      expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    }
    expect(await edgewise('apply -R . --yes')).toMatchObject({ exitCode: 0 });
  });

  it('need not be there in a run that delivers no token', async () => {
    const { edgewise, folder } = await createWorkspace({ 'm/stack.yaml': toStack('tokens') });
    expect(await edgewise('apply m --yes')).toMatchObject({ exitCode: 0 });
    const env = { TMPDIR: join(folder, 'missing') };
    expect(await edgewise('apply m --yes', { env })).toMatchObject({ exitCode: 0 });
  });

  it('must not get into git either', async () => {
    const workspace = await createRepository({ '.gitignore': '/m/tokens/\n', 'tmp/keep': '' });
    const { edgewise, folder, recorder } = workspace;
    const env = { TMPDIR: join(folder, 'tmp') };
    const applied = await edgewise('apply m --yes', { env });
    expect(applied.exitCode).toBe(3);
    expect(applied.stderr).toContain(`would be saved in ${folder}/tmp, which git does not ignore`);
    expect(applied.stderr).toContain('Set TMPDIR to a folder outside of the repository.');
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    await writeFile(join(folder, '.gitignore'), '/m/tokens/\n/tmp/\n');
    expect(await edgewise('apply m --yes', { env })).toMatchObject({ exitCode: 0 });
    expect(await readdir(join(folder, 'tmp'))).toEqual(['keep']);
  });

  it('is named by a result that says that the credential was created', async () => {
    const { edgewise, folder } = await createWorkspace({ 'm/stack.yaml': FAILING });
    await mkdir(join(folder, 'tmp'));
    const env = { TMPDIR: join(folder, 'tmp'), PATH: process.env['PATH'] ?? '' };
    const { exitCode, stdout } = await edgewise('apply m --yes', { env });
    expect(exitCode).toBe(1);
    const place = /rescued to (\S+)/.exec(stdout)?.[1] ?? '';
    expect(dirname(dirname(place))).toBe(join(folder, 'tmp'));
    expect(stdout).toMatch(/Applied:\n {2}create Credential\/agent +\(?cr_/);
    expect(stdout).toContain('1 write applied, 1 failed, 0 skipped');
    expect(stdout).toMatch(
      /Failed:\n {2}deliver Credential\/agent\n[^\n]*\n {4}the credential was created, but its token could not be delivered \(sh ended with exit code 3\); the token is in /,
    );
  });
});
