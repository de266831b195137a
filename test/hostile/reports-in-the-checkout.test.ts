import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createWorkspace, STACK, toEdge, type Workspace } from '../cli/workspace.ts';
import { startEdgewise } from '../end-to-end/processes.ts';
import { startListener } from './listener.ts';

/** The author of a pull request wants the bot to post a report of theirs, or a file elsewhere to be written over. */

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

describe('a report of the commit', () => {
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

  it.runIf(process.getuid?.() === 0)('is refused in a checkout of another user, as containers have it', async () => {
    const workspace = await createCheckout({ 'plan.md': FORGED });
    git(workspace, 'add', '.');
    execFileSync('chown', ['-R', '65534:65534', join(workspace.folder, 'repo')]);
    const { exitCode, stderr } = await run(workspace, 'plan . --report markdown=plan.md');
    expect(stderr).toContain('plan.md belongs to the commit that is checked out, and is not overwritten');
    expect(exitCode).toBe(3);
  });

  it('is refused as a journal', async () => {
    const workspace = await createCheckout({ 'journal.jsonl': '{"format":1,"run":"forged"}\n' });
    git(workspace, 'add', '.');
    const { exitCode, stderr } = await run(workspace, 'apply . --yes --journal journal.jsonl');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('journal.jsonl belongs to the commit');
    expect(workspace.recorder.take()).toEqual([]);
  });
});

describe('an older report', () => {
  it('is gone or replaced when the run fails, so that nobody posts it', async () => {
    const workspace = await createCheckout({});
    const file = join(workspace.folder, 'repo/plan.md');
    for (const line of ['plan no-such-folder', 'plan . --target TCPEdge/nothing', 'plan . --rate-limit many']) {
      await writeFile(file, FORGED);
      expect((await run(workspace, `${line} --report markdown=plan.md`)).exitCode).toBe(3);
      if (existsSync(file)) expect(await readFile(file, 'utf8')).not.toContain('Nothing to do');
    }
  });

  it('is gone as soon as the run begins, which may be killed', async () => {
    const { folder } = await createCheckout({});
    const file = join(folder, 'repo/plan.md');
    await writeFile(file, FORGED);
    const isThere: boolean[] = [];
    const service = await startListener((request) => {
      isThere.push(existsSync(file));
      request.socket.destroy();
    });
    const env = { EDGEWISE_BASE_URL: service.url, EDGEWISE_API_KEY: 'dev' };
    const { child, ended } = startEdgewise(['plan', join(folder, 'repo'), '--report', `markdown=${file}`], env);
    await vi.waitUntil(() => isThere.length > 0, { timeout: 10_000 });
    child.kill('SIGKILL');
    await ended;
    expect(isThere[0]).toBe(false);
  });

  it('that edgewise wrote is replaced, in every form, as often as wanted', async () => {
    const workspace = await createCheckout({});
    const forms = ['text', 'json', 'json-lines', 'markdown', 'html', 'github', 'sarif', 'junit'];
    const line = `plan . -o plan.json ${forms.map((form) => `--report ${form}=report.${form}`).join(' ')}`;
    for (const _ of [1, 2])
      expect(await run(workspace, line)).toMatchObject({
        exitCode: 0,
        stderr: expect.not.stringContaining('not written'),
      });
    const journal = 'apply . --yes --journal journal.jsonl';
    for (const _ of [1, 2]) expect(await run(workspace, journal)).toMatchObject({ exitCode: 0 });
    const tree = `plan -R . ${forms.map((form) => `--report ${form}=tree.${form}`).join(' ')}`;
    for (const _ of [1, 2]) expect(await run(workspace, tree)).toMatchObject({ exitCode: 0 });
    const failed = `plan no-such ${forms.map((form) => `--report ${form}=failed.${form}`).join(' ')}`;
    for (const _ of [1, 2]) expect((await run(workspace, failed)).stderr).not.toContain('not written');
  });

  it('is not overwritten when it is a file of somebody else', async () => {
    const workspace = await createCheckout({ 'notes.md': '# What I know\n' });
    for (const output of ['--report markdown=notes.md', '-o notes.md']) {
      const { exitCode, stderr } = await run(workspace, `plan . ${output}`);
      expect(exitCode).toBe(3);
      expect(stderr).toContain('notes.md was not written by edgewise, and is not overwritten');
    }
    expect(await readFile(join(workspace.folder, 'repo/notes.md'), 'utf8')).toBe('# What I know\n');
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
  ])('%s is not followed', async (_, name, target, output) => {
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

  it('is not followed out of --root, where there is no repository', async () => {
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

  it('in the place of a journal is not followed', async () => {
    const workspace = await createCheckout({});
    await mkdir(join(workspace.folder, 'repo/logs'));
    await symlink('../../home/.bashrc', join(workspace.folder, 'repo/logs/journal'));
    const { exitCode, stderr } = await run(workspace, 'apply . --yes --journal logs/journal');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('is not overwritten');
    expect(await readFile(join(workspace.folder, 'home/.bashrc'), 'utf8')).toBe('# mine\n');
  });
});
