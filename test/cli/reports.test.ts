import fs from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

const ONE = `${STACK}${toEdge('a', 20001)}`;

describe('--report', () => {
  it('writes other formats of one result in the same run', async () => {
    const { edgewise, folder, recorder } = await createWorkspace({ 'edgewise.yaml': ONE });
    const read = (file: string) => readFile(join(folder, file), 'utf8');
    const plain = await edgewise('plan edgewise.yaml');
    const reads = recorder.take().length;
    const { stdout } = await edgewise(
      'plan edgewise.yaml --report json=a.json --report text=a.txt --report json=b.json',
    );
    expect(recorder.take()).toHaveLength(reads);
    expect(stdout).toBe(plain.stdout);
    expect(await read('a.txt')).toBe(plain.stdout);
    expect(readOnlyStack(await read('a.json'))).toEqual(
      readOnlyStack((await edgewise('show a.json --format json')).stdout),
    );
    expect(await read('b.json')).toBe(await read('a.json'));
  });

  it('contains the result of an apply, with the plan below', async () => {
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': ONE });
    const { stdout } = await edgewise('apply edgewise.yaml --yes --report text=done.txt --report json=done.json');
    const [result = '', plan = ''] = (await readFile(join(folder, 'done.txt'), 'utf8')).split('\n── The plan\n');
    const end = plan.indexOf('\n1 write applied');
    expect(stdout).toBe(`${plan.slice(0, end)}\n${result}${plan.slice(end)}`);
    expect(readOnlyStack(await readFile(join(folder, 'done.json'), 'utf8'))).toMatchObject({
      command: 'apply',
      ok: true,
    });
  });

  it('is complete if the command fails, and keeps its exit code', async () => {
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': `${ONE}  colour: red\n` });
    const { exitCode, stderr } = await edgewise('plan --report json=why.json --report text=why.txt');
    expect(exitCode).toBe(3);
    expect(await readFile(join(folder, 'why.txt'), 'utf8')).toBe(stderr);
    const document = readOnlyStack(await readFile(join(folder, 'why.json'), 'utf8'));
    expect(document).toMatchObject({ command: 'plan', ok: false, diagnostics: [{ code: 'bad-field' }] });
  });

  it('is refused before any request if it cannot be written', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': ONE });
    for (const words of [
      '--report json=no/where.json',
      '--report json=a --report text=./a',
      '--report wax=a',
      '--report json=',
    ])
      expect(await edgewise(`apply --yes ${words}`), words).toMatchObject({ exitCode: 3 });
    expect(recorder.take()).toEqual([]);
  });

  it('in a folder that does not exist names the command that creates it, for a shell', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': ONE });
    const { stderr } = await edgewise('plan --report json=$HOME/a.json');
    expect(stderr).toContain("Create it (mkdir -p '$HOME'), or name another file.");
  });

  it('is named without control characters if its folder is lost in the run', async () => {
    const { edgewise, folder, recorder } = await createWorkspace({ 'edgewise.yaml': ONE });
    await mkdir(join(folder, 'a\u001b[2J'));
    const lost = await edgewise('plan --report json=a\u001b[2J/b.json', {
      transport: async (request) => {
        await rm(join(folder, 'a\u001b[2J'), { recursive: true, force: true });
        return recorder.transport(request);
      },
    });
    expect(lost.exitCode).toBe(1);
    expect(lost.stderr).toContain('The report json=a\\u001b[2J/b.json cannot be written');
  });

  it('fails the run if it is lost at the end, with a message on stderr', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': ONE });
    const lost = await edgewise('plan --report json=/dev/full');
    expect(lost).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('1 to create') });
    expect(lost.stderr).toContain('The report json=/dev/full cannot be written: ENOSPC');
  });

  it('ends the run as a bug if it fails for any other reason than its file', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': ONE });
    vi.spyOn(fs.promises, 'rename').mockRejectedValueOnce(new TypeError('boom'));
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    const { exitCode, stderr } = await edgewise('plan --report json=plan.json');
    expect({ exitCode, stderr }).toEqual({
      exitCode: 70,
      stderr: expect.stringContaining('This is a bug in edgewise.'),
    });
  });

  it('contains the command that applies the plan as HTML, also after a failure', async () => {
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': ONE });
    const read = (file: string) => readFile(join(folder, file), 'utf8');
    await edgewise('plan edgewise.yaml -o plan.json --report html=plan.html');
    const page = await read('plan.html');
    expect(page).toContain('<h1>Plan for stack test on https://');
    expect(page).toContain('To apply: <code>edgewise apply edgewise.yaml --approved plan.json');
    const shown = await edgewise('show plan.json --format html');
    expect(shown).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^<!doctype html>\n.*<\/html>\n$/s) });
    const failed = await edgewise('apply nowhere --yes --format html');
    expect(failed).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('edgewise apply did not complete') });
  });

  it('contains the command that applies the plan as Markdown', async () => {
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': ONE });
    const read = async () => readFile(join(folder, 'plan.md'), 'utf8');
    await edgewise('plan edgewise.yaml --target TCPEdge/a --report markdown=plan.md');
    expect(await read()).toContain('edgewise apply edgewise.yaml --base-url https://api.test --target TCPEdge/a\n');
    await edgewise('plan edgewise.yaml -o plan.json --report markdown=plan.md');
    expect(await read()).toContain('edgewise apply edgewise.yaml --approved plan.json --base-url https://api.test\n');
    const { stdout } = await edgewise('show plan.json --format markdown');
    expect(stdout).toBe((await read()).replace('apply edgewise.yaml', 'apply MANIFESTS'));
  });

  it('is written also if the arguments are wrong', async () => {
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': ONE });
    expect(await edgewise('plan --nope --report json=why.json --report=text=why.txt')).toMatchObject({ exitCode: 3 });
    expect(readOnlyStack(await readFile(join(folder, 'why.json'), 'utf8'))).toMatchObject({ ok: false });
    expect(await readFile(join(folder, 'why.txt'), 'utf8')).toContain("Unknown option '--nope'");
  });

  it('is written to a file, and never to one called -', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': ONE });
    const { exitCode, stderr } = await edgewise('plan --report json=-');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('For stdout, use --format');
  });
});
