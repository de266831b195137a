import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createRenderCommandRunner } from '../../src/stack/render.ts';
import { createWorkspace } from '../cli/workspace.ts';
import { toRendered, WEB } from './rendered.ts';
import { toStack } from './tree.ts';

describe('a command of spec.render', () => {
  it.each([
    ['a program that is not there', ['kustomise', 'build'], 'kustomise build cannot be run: there is no such program'],
    ['a folder', ['./patches'], './patches cannot be run: spawn ./patches EACCES'],
    ['a word that no program can get', ['cat', 'a\u0000b'], 'this text contains a NUL character'],
    ['a failure', ['sh', '-c', 'cat edges.in; echo no base >&2; exit 3'], 'ended with exit code 3: no base'],
    ['a kill', ['sh', '-c', 'cat edges.in; kill -9 $$'], 'was stopped by SIGKILL'],
    ['a gigabyte', ['head', '-c', '1000000000', '/dev/zero'], 'prints something that is larger than 32 MiB'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of variables in manifests
    ['the key', ['echo', '${env:EDGEWISE_API_KEY}'], 'EDGEWISE_API_KEY is for an API key, which no manifest'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the same
    ['a variable that is not set', ['echo', '${env:NOT_SET}'], 'error[env-reference]'],
    ['nothing', ['true'], 'true prints nothing'],
    ['white space', ['echo'], 'echo prints nothing'],
    ['no YAML', ['echo', 'a: b: c'], 'error[yaml-syntax]'],
    ['no UTF-8', ['printf', '\\377'], 'error[yaml-syntax]'],
    ['something else', ['echo', 'Hello.'], 'error[bad-value]'],
    ['no list', 'kustomize build .', 'spec.render must be a list'],
    ['no words', [], 'spec.render must not be empty'],
    ['an empty word', [''], 'spec.render[0]'],
  ])('stops its stack if it is or prints %s', async (_, render, message) => {
    const { edgewise, recorder, write } = await createWorkspace(WEB);
    expect((await edgewise('apply web --render --yes')).exitCode).toBe(0);
    recorder.take();
    await write({ 'web/edgewise.yaml': toStack('web', { render }) });
    const { exitCode, stderr, stdout } = await edgewise('apply web --render --yes --allow-deletes');
    expect(`${stdout}${stderr}`).toContain(message);
    expect(`${stdout}${stderr}`).toMatch(/^ +--> .*web\/edgewise.yaml:1/m);
    expect(exitCode).toBe(3);
    expect(recorder.take()).toEqual([]);
  });

  it('is read to its end, however much it prints on standard error', async () => {
    const { edgewise } = await createWorkspace({
      'web/edgewise.yaml': toRendered(
        'web',
        'head -c 50000000 /dev/zero | tr "\\0" x >&2; echo " the end" >&2; exit 1',
      ),
    });
    const { stdout } = await edgewise('validate web --render');
    expect(stdout).toMatch(/exit code 1: …x+…?x* the end$/m);
  });

  it('is ended after a time limit, with its child processes', async () => {
    const { folder } = await createWorkspace({ 'web/a': '' });
    const cwd = join(folder, 'web');
    // Long enough for a busy machine to start the command.
    const render = createRenderCommandRunner({ cwd, env: process.env }, { timeoutMs: 3_000 });
    const running = ['sh', '-c', 'sleep 600 & echo $! > child; wait'];
    // A process that keeps the output open after the command has ended is part of the command.
    const left = ['sh', '-c', 'sleep 600 & echo $! > left'];
    const results = await Promise.all([running, left].map((words) => render({ words, folder: '.' })));
    expect(results).toEqual([{ finding: 'was stopped after 3 s' }, { finding: 'was stopped after 3 s' }]);
    for (const file of ['child', 'left']) await expectEndedProcess(Number(readFileSync(join(cwd, file), 'utf8')));
  });

  it('is ended by an interrupt, and nothing is planned', async () => {
    const { edgewise, recorder, folder } = await createWorkspace({
      'web/edgewise.yaml': toRendered('web', 'echo $$ > pid; sleep 600'),
    });
    for (const line of ['plan web --render', 'apply -R . --render --yes']) {
      const running = edgewise(line, {
        onListen: (interrupt) => {
          void waitForFile(join(folder, 'web/pid')).then(interrupt);
        },
      });
      expect(await running).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('Interrupted.') });
      await expectEndedProcess(Number(readFileSync(join(folder, 'web/pid'), 'utf8')));
    }
    expect(recorder.take()).toEqual([]);
  });
});

async function waitForFile(file: string): Promise<void> {
  while (!existsSync(file)) await setTimeout(10);
}

/** A killed process exists until its parent has noticed. */
async function expectEndedProcess(pid: number): Promise<void> {
  const isThere = (): boolean => {
    try {
      process.kill(pid, 0);
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return false;
    }
  };
  await expect.poll(isThere, { timeout: 5000 }).toBe(false);
}
