import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeWith, runTool, type ToolResult } from './tools.ts';

const CONFIG = 'examples/pipelines/pre-commit/.pre-commit-config.yaml';

describeWith(['pre-commit'], 'the example for pre-commit', () => {
  it.each([
    ['validate-config', CONFIG],
    ['validate-manifest', '.pre-commit-hooks.yaml'],
  ])('pass pre-commit %s', async (command, file) => {
    expect(await runTool('pre-commit', [command, file])).toEqual({ status: 0, output: '' });
  });

  it('name every hook that exists', async () => {
    const listIds = async (file: string) => (await readFile(file, 'utf8')).match(/(?<=- id: )\S+/g);
    expect(await listIds(CONFIG)).toEqual(await listIds('.pre-commit-hooks.yaml'));
  });
});

describeWith(['pre-commit', 'git', 'npm'], 'the hooks for pre-commit', () => {
  it('pass valid manifests, and stop wrong ones at their line', async () => {
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
  }, 600_000);
});

/** Tries to install a few times in all. */
const INSTALLS = 3;

/**
 * Runs the hooks, which installs them. npm prepares a package from git by an npm that inherits `--global`: both write to one folder, and the one that is late may
 * fail with ENOTEMPTY. Only then it is tried again, as a user would.
 */
async function runInstalled(run: () => Promise<ToolResult>): Promise<ToolResult> {
  let result = await run();
  for (let tried = 1; tried < INSTALLS && /npm error ENOTEMPTY/.test(result.output); tried += 1) result = await run();
  return result;
}

/** pre-commit prefers a program named nodejs, which Debian has for its own. */
async function linkNode(folder: string): Promise<string> {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  for (const name of ['node', 'nodejs']) await symlink(process.execPath, join(bin, name));
  return bin;
}
