import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, lchownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toCredential, toEdge } from '../cli/workspace.ts';
import { DOCUMENTS } from '../docs/documents.ts';
import {
  createSandbox,
  type Ended,
  IS_ROOT,
  NOBODY,
  runLine,
  type Sandbox,
  type StartOptions,
} from '../installed/sandbox.ts';
import { requireOrSkip, requireProgramOrSkip } from '../needs.ts';
import { toStack } from '../repository/tree.ts';

/** The commands of pages, as they are there, where the files or the machine are not those of the user alone. */

const USER_OF_FILES = 1001;

/** The lines of the first block of a page, or of its first block after a word, that run edgewise. */
function listLines(page: string, after = ''): readonly string[] {
  const text = DOCUMENTS.get(`docs/how-to/${page}.md`) ?? '';
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(text.slice(text.indexOf(after))) ?? [];
  const lines = block.split('\n').filter((line) => line.includes('edgewise '));
  return lines.map((line) => {
    const bare = line.replace(/ +#.*$/, '');
    return bare.startsWith('edgewise apply') && !bare.includes('--yes') ? `${bare} --yes` : bare;
  });
}

const PIPELINES = [...listLines('pipelines'), ...listLines('pipelines', 'On one machine,')];
const DRIFT = listLines('drift', '## On a schedule');
const TOKENS = listLines('tokens');

/** A checkout with the stacks of the pages, whose files belong to `user`. */
function createCheckout(user: number, mode = 0o755): Sandbox {
  const sandbox = createSandbox(
    {
      'manifests/edgewise.yaml': `${toStack('one', {})}${toEdge('a', 20_001)}`,
      'live/edgewise.yaml': `${toStack('two', {})}${toEdge('b', 20_002)}`,
      'ingress/edgewise.yaml': `${toStack('three', { tokens: { default: { directory: 'tokens' } } })}${toCredential('build-agent')}`,
      '.gitignore': '/ingress/tokens/\n',
    },
    { EDGEWISE_API_KEY: 'dev' },
  );
  sandbox.env['EDGEWISE_BASE_URL'] = `embedded:${sandbox.home}/account.json`;
  execFileSync('git', ['init', '--quiet'], { cwd: sandbox.work });
  for (const path of ['', ...readdirSync(sandbox.work, { recursive: true, encoding: 'utf8' })]) {
    const file = join(sandbox.work, path);
    if (mode !== 0o755) chmodSync(file, mode);
    lchownSync(file, user, user);
  }
  return sandbox;
}

/** Runs lines one after another. Returns the first that fails, else the last. */
async function runLines(sandbox: Sandbox, lines: readonly string[], options: StartOptions = {}): Promise<Ended> {
  let ended: Ended = { exitCode: 1, stdout: '', stderr: 'no line' };
  for (const line of lines) {
    ended = await runLine(sandbox, line, options);
    if (ended.exitCode !== 0) return { ...ended, stderr: `${line}\n${ended.stderr}` };
  }
  return ended;
}

/** Runs the commands of the pages, which all succeed. */
async function expectPagesToWork(sandbox: Sandbox, options: StartOptions = {}, tokens = TOKENS): Promise<void> {
  for (const lines of [PIPELINES, DRIFT, tokens]) {
    const ended = await runLines(sandbox, lines, options);
    expect(ended, `${ended.stdout}${ended.stderr}`).toMatchObject({ exitCode: 0 });
  }
}

describe('the commands of pipelines, drift and tokens', { timeout: 300_000 }, () => {
  it('are those of the pages', () => {
    expect(PIPELINES).toHaveLength(4);
    expect(DRIFT).toHaveLength(1);
    expect(TOKENS).toHaveLength(3);
    expect(TOKENS.at(-1)).toBe('edgewise apply ingress --rotate Credential/build-agent --yes');
  });

  it('work as root in a checkout of another user, which git must allow before tokens go there', async () => {
    requireOrSkip('root', IS_ROOT);
    requireProgramOrSkip('git');
    const sandbox = createCheckout(USER_OF_FILES);
    const refused = await runLines(sandbox, TOKENS);
    expect(refused.exitCode).toBe(3);
    const [, command = ''] =
      /(git config --global --add safe\.directory \S+)/.exec(refused.stdout + refused.stderr) ?? [];
    expect((await runLine(sandbox, command)).exitCode, command).toBe(0);
    await expectPagesToWork(sandbox);
    expect(existsSync(join(sandbox.work, 'ingress/tokens/build-agent.token'))).toBe(true);
  });

  it('work as a user who owns none of the files, if every user can write there', async () => {
    requireOrSkip('root', IS_ROOT);
    const sandbox = createCheckout(USER_OF_FILES, 0o777);
    for (const folder of [sandbox.home, sandbox.temporary]) chownSync(folder, NOBODY, NOBODY);
    const user = { user: NOBODY };
    // As the checkout action of GitHub does.
    await runLine(sandbox, `git config --global --add safe.directory '${sandbox.work}'`, user);
    const tokens = TOKENS.map((line) => `${line} --token-directory "$HOME/tokens"`);
    await expectPagesToWork(sandbox, user, tokens);
  });

  it('work in a container without git, with tokens outside of the checkout', async () => {
    requireOrSkip('root', IS_ROOT);
    requireProgramOrSkip('unshare', ['--version']);
    const sandbox = createCheckout(0);
    const [masked = ''] = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).split('\n');
    // An own view of the file system, in which git cannot be run, and of the processes.
    const inside = (line: string): string =>
      `unshare --mount --pid --uts --ipc --fork bash -c 'mount --bind /dev/null ${masked} && ${line.replaceAll("'", `'\\''`)}'`;
    const [probe] = [await runLine(sandbox, inside('git --version'))];
    requireOrSkip('mounts', !probe.stderr.includes('mount:'));
    expect(probe.exitCode).not.toBe(0);
    const refused = await runLines(sandbox, TOKENS.map(inside));
    expect(refused.exitCode).toBe(3);
    expect(refused.stdout).toContain('unknown whether git ignores that: git cannot be run');
    expect(refused.stdout).toContain('outside of the repository with --token-directory');
    const tokens = TOKENS.map((line) => inside(`${line} --token-directory "$HOME/tokens"`));
    for (const lines of [PIPELINES.map(inside), DRIFT.map(inside), tokens]) {
      const ended = await runLines(sandbox, lines);
      expect(ended, `${ended.stdout}${ended.stderr}`).toMatchObject({ exitCode: 0 });
    }
    expect(readdirSync(join(sandbox.home, 'tokens'))).toEqual(['build-agent.token']);
  });

  it('work where other users have files in the folder for temporary files, above the checkout', async () => {
    requireOrSkip('root', IS_ROOT);
    const sandbox = createCheckout(NOBODY);
    const { root, home, temporary } = sandbox;
    for (const folder of [home, temporary]) chownSync(folder, NOBODY, NOBODY);
    // The parent of the checkout is like /tmp, and so is the folder for temporary files.
    for (const folder of [root, temporary]) {
      chmodSync(folder, 0o1777);
      mkdirSync(join(folder, '.git'));
      const names = ['.gitignore', 'edgewise.yaml', 'edgewise-production.lock', 'plan.json', 'edgewise-rescue-1'];
      for (const name of names) writeFileSync(join(folder, name), `${toStack('one', {})}`, { mode: 0o600 });
      for (const name of ['.git', ...names]) chownSync(join(folder, name), USER_OF_FILES, USER_OF_FILES);
    }
    const user = { user: NOBODY };
    const taken = await runLine(sandbox, `flock --timeout 1 '${temporary}/edgewise-production.lock' true`, user);
    expect(taken.exitCode).not.toBe(0);
    await expectPagesToWork(sandbox, user);
    expect(existsSync(join(sandbox.work, 'ingress/tokens/build-agent.token'))).toBe(true);
  });
});
