import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PLAN_FORMAT } from '../../src/model/plan.ts';
import { changePlan } from '../results.ts';
import { createWorkspace, STACK, toEdge, type Workspace } from './workspace.ts';

const FILES = { 'stack.yaml': `${STACK}${toEdge('a', 20001)}` };

describe('an input that is no file is refused at once, before any request', () => {
  it.each([
    ['manifests', 'validate /dev/zero', 3, '/dev/zero is a device, not a file'],
    ['a saved plan', 'show /dev/zero', 3, '/dev/zero is a device, not a file'],
    ['a snapshot', 'plan stack.yaml --base-url embedded:/dev/zero', 3, '/dev/zero is a device, not a file'],
    ['the snapshot of a server', 'serve --snapshot /dev/zero', 3, '/dev/zero is a device, not a file'],
    ['a seed', 'serve --seed /dev/zero', 3, '/dev/zero is a device, not a file'],
    ['faults', 'serve --faults /dev/zero', 3, '/dev/zero is a device, not a file'],
    ['certificates', 'plan stack.yaml --ca-file /dev/zero', 3, '--ca-file: /dev/zero is a device, not a file'],
    [
      'a folder',
      'plan stack.yaml --base-url embedded:.',
      3,
      'The data file of the bundled server: . is a folder, not a file',
    ],
  ])('%s', async (_, line, code, message) => {
    const { edgewise, recorder } = await createWorkspace(FILES);
    const { exitCode, stdout, stderr } = await edgewise(line);
    expect(stdout + stderr).toContain(message);
    expect(exitCode).toBe(code);
    expect(recorder.take()).toEqual([]);
  });

  it('the API key', async () => {
    const { edgewise, recorder } = await createWorkspace(FILES);
    const env = { EDGEWISE_API_KEY: '', EDGEWISE_API_KEY_FILE: '/dev/zero' };
    const { exitCode, stderr } = await edgewise('plan stack.yaml', { env });
    expect(stderr).toContain('The API key file /dev/zero is a device, not a file');
    expect(exitCode).toBe(4);
    expect(recorder.take()).toEqual([]);
  });
});

/** Creates a named pipe that a command writes to. Returns its name. */
function openPipe({ folder }: Workspace, command: string): string {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  spawn('sh', ['-c', `${command} >'${pipe}'`], { cwd: folder });
  return pipe;
}

describe('a pipe', () => {
  it('is read: manifests, a plan, a key', async () => {
    const workspace = await createWorkspace(FILES);
    const { edgewise } = workspace;
    expect(await edgewise('plan stack.yaml -o plan.json')).toMatchObject({ exitCode: 0 });
    expect(await edgewise(`validate ${openPipe(workspace, 'cat stack.yaml')}`)).toMatchObject({ exitCode: 0 });
    execFileSync('rm', [join(workspace.folder, 'pipe')]);
    expect(await edgewise(`show ${openPipe(workspace, 'cat plan.json')}`)).toMatchObject({ exitCode: 0 });
    execFileSync('rm', [join(workspace.folder, 'pipe')]);
    const env = { EDGEWISE_API_KEY: '', EDGEWISE_API_KEY_FILE: openPipe(workspace, 'echo dev') };
    expect(await edgewise('plan stack.yaml', { env })).toMatchObject({ exitCode: 0 });
  });

  it('is read up to the limit if it has no end', async () => {
    const workspace = await createWorkspace(FILES);
    const endless = openPipe(workspace, 'head -c 1000000000 /dev/zero');
    const { exitCode, stdout, stderr } = await workspace.edgewise(`validate ${endless}`);
    expect(stdout + stderr).toContain('pipe is larger than 32 MiB');
    expect(exitCode).toBe(3);
  });
});

describe('a mutated plan file', () => {
  it.each([
    ['is nested too deeply', '['.repeat(1000) + ']'.repeat(1000), 'it is nested more than 200 levels deep'],
    ['is no JSON', '{', 'it is not a JSON object'],
    ['is a list', '[]', 'it is not a JSON object'],
    ['has too many values', `[${'1,'.repeat(2_000_000)}1]`, 'it has more than 2,000,000 values'],
    ['has many wrong members', `{"format":FORMAT,"stacks":[{"plan":{"changes":[${'{},'.repeat(300_000)}{}]}}]}`, ''],
  ])('is refused if it %s', async (_, text, message) => {
    const workspace = await createWorkspace(FILES);
    await workspace.write({ 'plan.json': text.replace('FORMAT', String(PLAN_FORMAT)) });
    const { exitCode, stderr } = await workspace.edgewise('show plan.json');
    expect(stderr).toContain(`plan.json is not a plan file: ${message}`);
    expect(exitCode).toBe(3);
  });

  it('is refused for a mistake far into the file, which is named', async () => {
    const edges = Array.from({ length: 150 }, (_, index) => toEdge(`e${index}`, index + 1)).join('');
    const workspace = await createWorkspace({ 'stack.yaml': `${STACK}${edges}` });
    await workspace.edgewise('plan stack.yaml -o plan.json');
    const file = join(workspace.folder, 'plan.json');
    const edited = changePlan(readFileSync(file, 'utf8'), (plan) => {
      plan.changes[140].kind = 7;
      return plan;
    });
    await workspace.write({ 'plan.json': edited });
    expect((await workspace.edgewise('show plan.json')).stderr).toContain('not a plan file: changes.140.kind:');
  });
});

it('reports the first mistake of a seed with many', async () => {
  const workspace = await createWorkspace({ 'seed.json': `{"externals":[${'1,'.repeat(100)}1]}` });
  const { exitCode, stderr } = await workspace.edgewise('serve --seed seed.json');
  expect(stderr).toMatch(/externals\[0\] .+/);
  expect(stderr).not.toContain('externals[1]');
  expect(exitCode).toBe(3);
});
