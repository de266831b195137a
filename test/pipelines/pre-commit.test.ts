import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { readRepository, refreshPins } from '../../.ci/repository.ts';
import { STACK } from '../cli/workspace.ts';
import { PROGRAM } from '../end-to-end/processes.ts';
import { describeWith, runTool, type ToolResult } from './tools.ts';

const CONFIG = 'examples/pipelines/pre-commit/.pre-commit-config.yaml';

describeWith(['pre-commit'], 'the example for pre-commit', () => {
  it('passes pre-commit validate-config once it names a commit, and the hooks pass validate-manifest', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'edgewise-pre-commit-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const config = join(folder, 'config.yaml');
    const { url } = readRepository();
    await writeFile(config, refreshPins(await readFile(CONFIG, 'utf8'), { url, commit: '1a2b'.repeat(10) }));
    const passed = { status: 0, output: '' };
    expect(await runTool('pre-commit', ['validate-config', config])).toEqual(passed);
    expect(await runTool('pre-commit', ['validate-manifest', '.pre-commit-hooks.yaml'])).toEqual(passed);
  });

  it('name every hook that exists', async () => {
    const listIds = async (file: string) => (await readFile(file, 'utf8')).match(/(?<=- id: )\S+/g);
    expect(await listIds(CONFIG)).toEqual(await listIds('.pre-commit-hooks.yaml'));
  });
});

describeWith(['pre-commit', 'git', 'npm'], 'the hooks for pre-commit', () => {
  it('pass valid manifests, and stop wrong ones at their line, also in a linked worktree, a submodule and a sparse checkout', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'edgewise-pre-commit-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const repository = join(folder, 'repository');
    await cp('examples/quickstart', join(repository, 'manifests'), { recursive: true });
    const git = async (...args: readonly string[]) => (await runTool('git', args, { cwd: repository })).output.trim();
    const { output: revision } = await runTool('git', ['rev-parse', 'HEAD']);
    const config = (await readFile(CONFIG, 'utf8'))
      .replace(/repo: \S+/, `repo: ${resolve('.')}`)
      .replace(/rev: \S+/, `rev: ${revision.trim()}`);
    await writeFile(join(repository, '.pre-commit-config.yaml'), config);
    await git('init', '-q');
    await git('add', '-A');

    const env = { PRE_COMMIT_HOME: join(folder, 'home'), PATH: `${await linkNode(folder)}:${process.env['PATH']}` };
    const run = () => runTool('pre-commit', ['run', '--all-files'], { cwd: repository, env });
    const good = await runInstalled(run);
    expect(good, good.output).toMatchObject({ status: 0 });

    const manifest = join(repository, 'manifests', 'postgres.yaml');
    await writeFile(manifest, (await readFile(manifest, 'utf8')).replace('hostports:', 'hostport:'));
    await git('add', '-A');
    const wrong = await run();
    expect(wrong).toMatchObject({ status: 1 });
    expect(wrong.output).toMatch(/exit code: 3(?:.|\n)*--> manifests\/postgres\.yaml:\d+/);

    await git('checkout', '-q', '--', '.');
    await writeFile(manifest, (await readFile(manifest, 'utf8')).replace('hostport:', 'hostports:'));
    await git('add', '-A');
    await git(...AUTHOR, 'commit', '-qm', 'manifests', '--no-verify');
    const places = {
      'a linked worktree': await addWorktree(folder, repository),
      'a submodule': await addSubmodule(folder, repository),
      'a sparse checkout': await addSparseCheckout(folder, repository),
    };
    for (const [place, top] of Object.entries(places)) {
      // Runs as in a commit: git sets GIT_DIR and GIT_INDEX_FILE for its hooks.
      const commit = (message: string) => runTool('git', [...AUTHOR, 'commit', '-am', message], { cwd: top, env });
      expect(await runTool('pre-commit', ['install'], { cwd: top, env }), place).toMatchObject({ status: 0 });
      const file = join(top, 'manifests', 'postgres.yaml');
      await writeFile(file, `${await readFile(file, 'utf8')}# a comment\n`);
      const passed = await commit('good');
      expect(passed, `${place}\n${passed.output}`).toMatchObject({ status: 0 });
      expect(passed.output, place).toContain('edgewise validate');
      await writeFile(file, (await readFile(file, 'utf8')).replace('hostports:', 'hostport:'));
      const stopped = await commit('wrong');
      expect(stopped.status, `${place}\n${stopped.output}`).not.toBe(0);
      expect(stopped.output, place).toMatch(/--> manifests\/postgres\.yaml:\d+/);
    }
  }, 600_000);
});

describeWith(['pre-commit', 'git'], 'a commit without a changed manifest', () => {
  it.each<readonly [string, (git: Git, manifests: string) => Promise<unknown>, RegExp]>([
    [
      'deletes what a manifest refers to',
      (git) => git('rm', '-q', 'manifests/pool.yaml'),
      /names WeightedBackend\/pool, which no document describes/,
    ],
    [
      'renames what a manifest refers to',
      (git) => git('mv', 'manifests/pool.yaml', 'manifests/pool.off'),
      /WeightedBackend\/pool/,
    ],
    [
      'breaks a file that a manifest names',
      (_, manifests) => writeFile(join(manifests, 'alice.pub'), 'no key\n'),
      /alice\.(pub|yaml)/,
    ],
  ])('is stopped if it %s', async (_, change, message) => {
    const { git, repository, commit } = await createHookedRepository();
    expect(await commit('good')).toMatchObject({ status: 0 });
    await change(git, join(repository, 'manifests'));
    await git('add', '-A');
    const stopped = await commit('wrong');
    expect(stopped.status, stopped.output).not.toBe(0);
    expect(stopped.output).toMatch(message);
  });

  type Git = (...args: readonly string[]) => Promise<ToolResult>;

  /** A repository with the hooks, which run the edgewise of this checkout, and with manifests that refer to each other and to a file. */
  async function createHookedRepository() {
    const folder = await mkdtemp(join(tmpdir(), 'edgewise-pre-commit-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const repository = join(folder, 'repository');
    const env = {
      PRE_COMMIT_HOME: join(folder, 'home'),
      PATH: `${folder}:${process.env['PATH']}`,
      EDGEWISE_BASE_URL: 'embedded:',
    };
    await writeFile(join(folder, 'edgewise'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`, {
      mode: 0o755,
    });
    const hooks = parse(await readFile('.pre-commit-hooks.yaml', 'utf8'));
    const own = hooks.map((hook: object) => ({ ...hook, language: 'system', minimum_pre_commit_version: '0' }));
    await mkdir(join(repository, 'manifests'), { recursive: true });
    await writeFile(join(repository, '.pre-commit-config.yaml'), stringify({ repos: [{ repo: 'local', hooks: own }] }));
    for (const [name, text] of Object.entries(MANIFESTS)) await writeFile(join(repository, 'manifests', name), text);
    const git: Git = (...args) => runTool('git', [...AUTHOR, ...args], { cwd: repository, env });
    await git('init', '-q');
    await git('add', '-A');
    expect(await runTool('pre-commit', ['install'], { cwd: repository, env })).toMatchObject({ status: 0 });
    return { git, repository, commit: (message: string) => git('commit', '-m', message) };
  }
});

const MANIFESTS = {
  'edgewise.yaml': STACK,
  'pool.yaml': `apiVersion: edgewise/v1
kind: WeightedBackend
metadata: { name: pool }
spec: { backends: { bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt: 1 } }
`,
  'edge.yaml': `apiVersion: edgewise/v1
kind: TCPEdge
metadata: { name: shop }
spec: { hostports: ["1.tcp.example.net:20001"], backend: { backend_id: WeightedBackend/pool } }
`,
  'alice.yaml': `apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: alice }
spec: { public_key: { file: alice.pub }, principals: [alice], ssh_certificate_authority_id: sshca_2k9XLPDYGXNLtxcTVgVsKTFzfRt }
lifecycle: { valid_for: 30d }
`,
  'alice.pub': 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqM8fEGsCfPRzxnHJ2vUqsfUTSm4hL8CWSCmXv8Y9Wb ada\n',
};

const AUTHOR = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];

async function addWorktree(folder: string, repository: string): Promise<string> {
  const top = join(folder, 'linked');
  await runTool('git', ['worktree', 'add', '-q', '-b', 'linked', top], { cwd: repository });
  return top;
}

async function addSubmodule(folder: string, repository: string): Promise<string> {
  const outer = join(folder, 'outer');
  const git = (cwd: string, ...args: readonly string[]) =>
    runTool('git', ['-c', 'protocol.file.allow=always', ...args], { cwd });
  await git(folder, 'init', '-q', outer);
  await git(outer, 'submodule', '--quiet', 'add', repository, 'ingress');
  return join(outer, 'ingress');
}

/** A checkout with only the folder of the manifests. */
async function addSparseCheckout(folder: string, repository: string): Promise<string> {
  const top = join(folder, 'sparse');
  await mkdir(join(repository, 'elsewhere'));
  await writeFile(join(repository, 'elsewhere', 'big.txt'), 'big');
  await runTool('git', ['add', '-A'], { cwd: repository });
  await runTool('git', [...AUTHOR, 'commit', '-qm', 'big', '--no-verify'], { cwd: repository });
  await runTool('git', ['clone', '-q', '--sparse', repository, top]);
  await runTool('git', ['sparse-checkout', 'set', 'manifests'], { cwd: top });
  return top;
}

/** The number of attempts to install. */
const INSTALLS = 3;

/**
 * Runs the hooks, which installs them. npm prepares a package from git with an npm that inherits `--global`: both write to one folder, and the
 * later one may fail with ENOTEMPTY. Only then it is tried again, as a user would do.
 */
async function runInstalled(run: () => Promise<ToolResult>): Promise<ToolResult> {
  let result = await run();
  for (let tried = 1; tried < INSTALLS && /npm error ENOTEMPTY/.test(result.output); tried += 1) result = await run();
  return result;
}

/** pre-commit prefers a program named nodejs, which Debian installs for itself. */
async function linkNode(folder: string): Promise<string> {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  for (const name of ['node', 'nodejs']) await symlink(process.execPath, join(bin, name));
  return bin;
}
