import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { toEdge } from '../cli/workspace.ts';
import { COMPILED } from '../compiled.ts';
import { PROGRAM } from '../end-to-end/processes.ts';
import { requireProgramOrSkip } from '../needs.ts';
import { commitAll, toStack } from '../repository/tree.ts';

/** The commands of docs/how-to/remove-a-stack.md, with git and a service in a file. */

const PAGE = readFileSync('docs/how-to/remove-a-stack.md', 'utf8');

/** The commands in a section of the page, one text for each block. */
function listBlocks(heading: string): readonly string[] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  return Array.from((section.split('\n## ')[0] ?? '').matchAll(/^```sh\n([\s\S]*?)^```$/gm), ([, text = '']) => text);
}

/** A repository with two stacks that are applied, and a shell in it. */
function createRepository() {
  requireProgramOrSkip('git');
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-remove-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = {
    'repository/live/old/edgewise.yaml': toStack('old'),
    'repository/live/old/edges.yaml': `${toEdge('a', 20_001)}---\n${toEdge('b', 20_002)}`,
    'repository/live/old/more/edge.yaml': toEdge('c', 20_003),
    'repository/live/web/edgewise.yaml': toStack('web'),
    'repository/live/web/edge.yaml': toEdge('d', 20_004),
    // No terminal is there to ask.
    'bin/edgewise': `#!/bin/sh\ncommand=$1\nshift\n[ "$command" != apply ] || set -- "$@" --yes\nexec "${process.execPath}" "${resolve(PROGRAM)}" "$command" "$@"\n`,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode: 0o755 });
  }
  const cwd = join(folder, 'repository');
  const env = {
    ...COMPILED,
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    HOME: folder,
    EDGEWISE_BASE_URL: `embedded:${join(folder, 'data.json')}`,
    NO_COLOR: '1',
  };
  const run = (script: string) => {
    const { status, stdout, stderr } = spawnSync('bash', ['-e', '-c', script], { cwd, env, encoding: 'utf8' });
    return { status, said: `${stdout}${stderr}` };
  };
  commitAll(cwd);
  expect(run('edgewise apply -R live')).toMatchObject({ status: 0 });
  return { cwd, run };
}

it('deletes what the stack owns, and then the folder', () => {
  const { cwd, run } = createRepository();
  const [remove = '', apply = '', last = '', ...more] = listBlocks('The manifests first, the Stack last');
  expect([last, more]).not.toEqual(['', []]);
  const planned = run(remove);
  expect(planned).toMatchObject({ status: 5, said: expect.stringContaining('nothing-described') });
  expect(planned.said).toContain('3 to delete');
  commitAll(cwd);
  expect(run('edgewise apply -R live')).toMatchObject({ status: 5 });
  const applied = run(apply);
  expect([applied.status, applied.said]).toEqual([0, expect.stringContaining('3 writes applied')]);
  expect(run(last)).toMatchObject({ status: 0 });
  commitAll(cwd);
  const drift = run('edgewise drift -R live');
  expect([drift.status, drift.said]).toEqual([0, expect.not.stringContaining('of stacks that are not here')]);
  expect(run('edgewise stacks live').said).toContain('1 stack below live');
});

it('brings back the Stack of a folder that is gone, to delete what it owns and nothing else', () => {
  const { cwd, run } = createRepository();
  rmSync(join(cwd, 'live/old'), { recursive: true });
  commitAll(cwd);
  writeFileSync(join(cwd, 'README.md'), 'more\n');
  commitAll(cwd);
  expect(run('edgewise stacks live --changed-since HEAD~2').said).toContain('live/old/edgewise.yaml is gone since');
  expect(run('edgewise drift -R live').said).toContain('3 of stacks that are not here');
  const [back = '', apply = '', ...more] = listBlocks('If the folder is gone already');
  expect([apply === '', more]).toEqual([false, []]);
  const planned = run(back);
  expect([planned.status, planned.said]).toEqual([5, expect.stringContaining('3 to delete')]);
  const applied = run(apply);
  expect([applied.status, applied.said]).toEqual([0, expect.stringContaining('3 writes applied')]);
  expect(execFileSync('git', ['status', '--porcelain'], { cwd, encoding: 'utf8' })).toBe('');
  expect(run('edgewise drift -R live').said).not.toContain('of stacks that are not here');
});
