import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../cli/fake-context.ts';
import { toEdge } from '../cli/workspace.ts';
import { runEdgewise, startEdgewise, startServerProcess, waitForOutput } from '../end-to-end/processes.ts';
import { getList, getObject, getText } from '../server/caller.ts';

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-lock-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const toStack = (name: string) => `apiVersion: edgewise/v1\nkind: Stack\nmetadata:\n  name: ${name}\n`;

async function writeStack(folder: string, name: string, port: number): Promise<string> {
  const file = join(folder, `${name}.yaml`);
  await writeFile(file, `${toStack(name)}${toEdge(name, port)}`);
  return file;
}

const readNames = async (file: string): Promise<readonly string[]> =>
  Array.from((await readFile(file, 'utf8')).matchAll(/\\"name\\":\\"(\w+)\\"/g), ([, name = '']) => name).sort();

/** Locks a file as another process would, until it is unlocked. */
async function createLock(file: string, ageMs = 0): Promise<void> {
  await mkdir(`${file}.lock`);
  const time = new Date(Date.now() - ageMs);
  await utimes(`${file}.lock`, time, time);
}

describe('several processes with one file of the embedded server', () => {
  it('keep what each of them wrote if six apply at once', async () => {
    const folder = await createFolder();
    const file = join(folder, 'account.json');
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const stacks = await Promise.all(names.map((name, index) => writeStack(folder, name, 20_001 + index)));
    const env = { EDGEWISE_BASE_URL: `embedded:${file}` };
    const ended = await Promise.all(stacks.map((stack) => runEdgewise(['apply', stack, '--yes'], env)));
    for (const { exitCode, stderr } of ended) expect(exitCode, stderr).toBe(0);
    expect(await readNames(file)).toEqual(names);
  });

  it('keep what each of them wrote if one continues after the end of another', async () => {
    const folder = await createFolder();
    const file = join(folder, 'account.json');
    const [first, second] = [await writeStack(folder, 'a', 20_001), await writeStack(folder, 'b', 20_002)];
    const env = { EDGEWISE_BASE_URL: `embedded:${file}` };
    let other: Promise<unknown> = Promise.resolve();
    // The plan is made from the file as it was. The other process writes it before the response.
    const { exitCode, stderr } = await runCommand(['apply', first], {
      cwd: folder,
      env,
      answers: ['yes'],
      onWrite: (text) => {
        if (text.includes('to create')) other = runCommand(['apply', second, '--yes'], { cwd: folder, env, sleep });
      },
      sleep,
    });
    await other;
    expect(exitCode, stderr).toBe(0);
    expect(await readNames(file)).toEqual(['a', 'b']);
  });

  it('wait for the first with one line, and not longer than they say', async () => {
    const folder = await createFolder();
    const file = join(folder, 'account.json');
    const stack = await writeStack(folder, 'a', 20_001);
    await createLock(file);
    const env = { EDGEWISE_BASE_URL: 'embedded:account.json' };
    const { exitCode, stderr } = await runCommand(['apply', stack, '--yes'], { cwd: folder, env });
    expect(exitCode).toBe(1);
    expect(stderr.match(/Another process uses account.json. Waiting for it, for at most 60 seconds./g)).toHaveLength(1);
    expect(stderr).toContain(
      'Another process uses account.json, and did not end within 60 seconds.\nNothing was written.',
    );
  });

  it('read without waiting', async () => {
    const folder = await createFolder();
    const stack = await writeStack(folder, 'a', 20_001);
    await createLock(join(folder, 'account.json'));
    const env = { EDGEWISE_BASE_URL: 'embedded:account.json' };
    expect(await runCommand(['plan', stack], { cwd: folder, env })).toMatchObject({
      exitCode: 0,
      stderr: 'Using the embedded server, new and empty: account.json does not exist yet.\n',
    });
  });

  it('take over the lock of a killed one', async () => {
    const folder = await createFolder();
    const file = join(folder, 'account.json');
    const stack = await writeStack(folder, 'a', 20_001);
    await createLock(file, 60_000);
    const env = { EDGEWISE_BASE_URL: 'embedded:account.json' };
    const { exitCode, stderr } = await runCommand(['apply', stack, '--yes'], { cwd: folder, env });
    expect(exitCode, stderr).toBe(0);
    expect(stderr).not.toContain('Another process');
    expect(await readNames(file)).toEqual(['a']);
  });

  it('count as one if two stacks of a run name the file in two ways', async () => {
    const folder = await createFolder();
    for (const [name, url, port] of [
      ['a', 'embedded:account.json', 20_001],
      ['b', 'embedded:./account.json', 20_002],
    ] as const) {
      await mkdir(join(folder, name));
      const spec = `spec: { api: { base_url: "${url}" } }\n`;
      await writeFile(join(folder, name, 'edgewise.yaml'), `${toStack(name)}${spec}${toEdge(name, port)}`);
    }
    const { exitCode, stdout, stderr } = await runCommand(['apply', '-R', '.', '--yes'], {
      cwd: folder,
      env: { EDGEWISE_BASE_URL: '' },
    });
    expect(exitCode, stdout + stderr).toBe(0);
    expect(await readNames(join(folder, 'account.json'))).toEqual(['a', 'b']);
  });
});

describe('a snapshot of the bundled server', () => {
  it('belongs to one server at a time', async () => {
    const folder = await createFolder();
    const snapshot = join(folder, 'account.json');
    const first = await startServerProcess(['--snapshot', snapshot]);
    const second = startEdgewise(['serve', '--port', '0', '--snapshot', snapshot]);
    onTestFinished(() => void second.child.kill('SIGKILL'));
    const told = waitForOutput(second.child.stderr, 'Waiting for it, for at most 60 seconds.');
    const listens = waitForOutput(second.child.stdout, 'edgewise server listening on');
    await told;
    await first.stop();
    await listens;
    second.child.kill('SIGTERM');
    expect((await second.ended).exitCode).toBe(0);
  });
});

describe('a bundled server that was killed', () => {
  it('had saved each change that it acknowledged, as the next one has, which gets the lock at once', {
    timeout: 60_000,
  }, async () => {
    const folder = await createFolder();
    const snapshot = join(folder, 'account.json');
    const headers = { authorization: 'Bearer k', 'service-version': '2', 'content-type': 'application/json' };
    const args = ['--api-key', 'k:admin', '--snapshot', snapshot];
    const first = await startServerProcess(args);
    const acknowledged: string[] = [];
    const write = async (): Promise<void> => {
      for (;;) {
        const answer = await fetch(`${first.url}/credentials`, { method: 'POST', headers, body: '{}' });
        acknowledged.push(getText(getObject(JSON.parse(await answer.text()))['id']));
      }
    };
    const writers = Promise.allSettled([write(), write(), write()]);
    while (acknowledged.length < 50) await sleep(5);
    await first.kill();
    await writers;
    const startMs = performance.now();
    const second = await startServerProcess(args);
    // Half of the time after which a lock without a process counts as abandoned: the rest is for a busy machine.
    expect(performance.now() - startMs).toBeLessThan(10_000);
    const late = await fetch(`${second.url}/credentials`, { method: 'POST', headers, body: '{}' });
    acknowledged.push(getText(getObject(JSON.parse(await late.text()))['id']));
    await second.kill();
    const third = await startServerProcess(args);
    const kept: string[] = [];
    for (let url = `${third.url}/credentials`; url !== ''; ) {
      const page = getObject(JSON.parse(await (await fetch(url, { headers })).text()));
      kept.push(...getList(page['credentials']).map(({ id }) => getText(id)));
      url = String(page['next_page_uri'] ?? '');
    }
    expect(kept).toEqual(expect.arrayContaining(acknowledged));
    await third.stop();
  });
});

/** Lets real time pass. */
function sleep(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
