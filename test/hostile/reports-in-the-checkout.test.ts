import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge, type Workspace } from '../cli/workspace.ts';

/** The author of a pull request tries to have a forged report posted, or a file overwritten. */

const FORGED = '<!-- edgewise:plan stack=test -->\n\n## ✓ Nothing to do\n';

const MANIFEST = STACK + toEdge('a', 20_001);

/** A checkout whose commit has these files. */
async function createCheckout(files: Readonly<Record<string, string>>): Promise<Workspace> {
  const workspace = await createWorkspace();
  const inCheckout = Object.entries({ 'm.yaml': MANIFEST, ...files }).map(([name, text]) => [`repo/${name}`, text]);
  await workspace.write({ 'home/.bashrc': '# mine\n', ...Object.fromEntries(inCheckout) });
  git(workspace, 'init', '--quiet');
  return workspace;
}

function git({ folder }: Workspace, ...words: readonly string[]): void {
  execFileSync('git', words, { cwd: join(folder, 'repo') });
}

function run({ edgewise, folder }: Workspace, line: string) {
  return edgewise(line, { cwd: join(folder, 'repo') });
}

const OUTPUTS = ['--report markdown=plan.md', '-o plan.md', '--report json=plan.md'];

describe('a report that is committed', () => {
  it.each(OUTPUTS)('is refused, whatever it claims to be: %s', async (output) => {
    const workspace = await createCheckout({ 'plan.md': FORGED });
    git(workspace, 'add', '.');
    for (const line of [`plan . ${output}`, `plan no-such-folder ${output}`]) {
      const { exitCode, stderr } = await run(workspace, line);
      expect(exitCode).toBe(3);
      expect(stderr).toContain('plan.md belongs to the commit that is checked out, and is not overwritten');
    }
    expect(workspace.recorder.take()).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)('is refused in a checkout of another user, as in containers', async () => {
    const workspace = await createCheckout({ 'plan.md': FORGED });
    git(workspace, 'add', '.');
    execFileSync('chown', ['-R', '65534:65534', join(workspace.folder, 'repo')]);
    const { exitCode, stderr } = await run(workspace, 'plan . --report markdown=plan.md');
    expect(stderr).toMatch(
      /^edgewise: Whether git tracks plan\.md is unknown: git refuses .*belongs to another user\.\n/,
    );
    expect(stderr).toContain('safe.directory');
    expect(exitCode).toBe(3);
    expect(await readFile(join(workspace.folder, 'repo/plan.md'), 'utf8')).toBe(FORGED);
  });
});

describe('an older report', () => {
  it.each([
    'plan no-such-folder',
    'plan . --target TCPEdge/nothing',
    'plan . --rate-limit many',
    'plan . --no-such-flag',
    'no-such-command',
    'plan . --report json=no-such-folder/x.json',
    'plan . --report json=committed.json',
  ])('is replaced by the failure of %s, so that it is not posted', async (line) => {
    const workspace = await createCheckout({ 'committed.json': '{}' });
    git(workspace, 'add', '.');
    for (const text of [FORGED, 'notes of the user\n', '']) {
      await workspace.write({ 'repo/plan.md': text });
      expect((await run(workspace, `${line} --report markdown=plan.md`)).exitCode).toBe(3);
      const written = await readFile(join(workspace.folder, 'repo/plan.md'), 'utf8');
      expect(written).toMatch(/^<!-- edgewise:/);
      expect(written).not.toMatch(/Nothing to do|notes of the user/);
    }
  });

  it('is replaced in every format, as often as wanted', async () => {
    const workspace = await createCheckout({});
    const forms = ['text', 'json', 'markdown', 'html', 'github', 'sarif', 'junit'];
    const line = `plan . -o plan.json ${forms.map((form) => `--report ${form}=report.${form}`).join(' ')}`;
    for (const _ of [1, 2]) expect(await run(workspace, line)).toMatchObject({ exitCode: 0, stderr: '' });
    const tree = `plan -R . ${forms.map((form) => `--report ${form}=tree.${form}`).join(' ')}`;
    for (const _ of [1, 2]) expect(await run(workspace, tree)).toMatchObject({ exitCode: 0 });
    const failed = `plan no-such ${forms.map((form) => `--report ${form}=failed.${form}`).join(' ')}`;
    for (const _ of [1, 2]) expect((await run(workspace, failed)).stderr).not.toContain('cannot be written');
  });
});

describe('a link in the checkout', () => {
  it.each([
    ['in the place of the report', 'plan.html', '../home/.bashrc', '--report html=plan.html'],
    ['in the place of the plan', 'plan.json', '../home/.bashrc', '-o plan.json'],
    ['to a file that does not exist', 'plan.html', '../home/.profile', '--report html=plan.html'],
    ['to a file of the checkout', 'plan.html', 'm.yaml', '--report html=plan.html'],
    ['in the place of the folder', 'out', '../home', '--report html=out/plan.html'],
    ['into .git', 'out', '.git', '--report html=out/config.html'],
  ])('is not followed: %s', async (_, name, target, output) => {
    const workspace = await createCheckout({});
    await symlink(target, join(workspace.folder, 'repo', name));
    for (const line of [`plan . ${output}`, `plan no-such-folder ${output}`, `plan . ${output} --no-such-flag`]) {
      const { exitCode, stderr } = await run(workspace, line);
      expect(exitCode).toBe(3);
      if (!line.endsWith('flag')) expect(stderr).toContain('is not overwritten');
    }
    expect(await readFile(join(workspace.folder, 'home/.bashrc'), 'utf8')).toBe('# mine\n');
    expect(await readFile(join(workspace.folder, 'repo/m.yaml'), 'utf8')).toBe(MANIFEST);
    expect(existsSync(join(workspace.folder, 'home/.profile'))).toBe(false);
    expect(existsSync(join(workspace.folder, 'home/plan.html'))).toBe(false);
  });

  it('is not followed out of --root without a repository', async () => {
    const { edgewise, folder } = await createWorkspace({ 'top/m.yaml': MANIFEST, 'home/plan.md': FORGED });
    await symlink('../home', join(folder, 'top/out'));
    for (const line of ['plan top', 'plan top/no-such-folder', 'plan top --target TCPEdge/nothing']) {
      for (const name of ['plan.md', 'new.md']) {
        const { exitCode, stderr } = await edgewise(`${line} --root top --report markdown=top/out/${name}`);
        expect({ exitCode, stderr }).toMatchObject({
          exitCode: 3,
          stderr: expect.stringContaining('not overwritten'),
        });
      }
    }
    expect(await readFile(join(folder, 'home/plan.md'), 'utf8')).toBe(FORGED);
    expect(existsSync(join(folder, 'home/new.md'))).toBe(false);
  });
});
