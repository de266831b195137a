import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { StackError } from '../../src/model/user-errors.ts';
import { changePlan, readOnlyStack } from '../results.ts';
import { createWorkspace, STACK, toEdge, toManifest } from './workspace.ts';

const TWO = `${STACK}${toEdge('a', 20001)}${toEdge('b', 20002)}`;

/** A stack whose writes are sent one after the other. */
const ONE_BY_ONE = `${STACK}spec: { api: { concurrency: 1 } }\n${toEdge('a', 20001)}${toEdge('b', 20002)}`;

/** The lines on a terminal at the end: a line that is erased is drawn again. */
function toScreen(written: string): readonly string[] {
  const lines = [''];
  for (const piece of `[m${written}`.split('\u001b')) {
    const [code = '', letter] = /^\[[\d;]*([A-Zm])/.exec(piece) ?? [];
    if (letter === 'K') lines.splice(-1, 1, '');
    const [first = '', ...more] = piece.slice(code.length).split('\n');
    lines.push(`${lines.pop()}${first}`, ...more);
  }
  return lines;
}

describe('plan', () => {
  it('exits with 2 for changes and 0 for none with --detailed-exitcode', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': TWO });
    expect(await edgewise('plan')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 2 });
    await edgewise('apply --yes');
    expect(await edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });

  it('runs in the root of an npm project, beside files of other tools', async () => {
    const { edgewise } = await createWorkspace({
      'edgewise.yaml': TWO,
      'package.json': '{ "name": "shop", "private": true }',
      'tsconfig.json': '{\n  // strict\n  "compilerOptions": { "strict": true }\n}\n',
      'compose.yaml': 'services:\n  web: { image: nginx }\n',
    });
    expect(await edgewise('plan')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('2 to create') });
    expect(await edgewise('validate')).toMatchObject({
      stdout: expect.stringMatching(/^2 resources in 1 file: valid\.$/m),
    });
    expect(await edgewise('plan package.json')).toMatchObject({ exitCode: 3 });
  });

  it('writes the same plan to a file and as JSON, which has a summary, and shows it again', async () => {
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': TWO });
    const planned = await edgewise('plan edgewise.yaml --format json -o plan.json');
    const { summary, ...plan } = JSON.parse(planned.stdout);
    expect(summary).toMatch(/^Plan/);
    expect(plan).toEqual(JSON.parse(await readFile(join(folder, 'plan.json'), 'utf8')));
    const text = await edgewise('plan edgewise.yaml');
    expect((await edgewise('show plan.json')).stdout).toBe(text.stdout);
    // A plan does not know where its manifests are.
    const shown = (await edgewise('show plan.json --format json')).stdout;
    expect(JSON.parse(shown).stacks[0]).toEqual({ ...JSON.parse(planned.stdout).stacks[0], folder: undefined });
  });

  it('has the labels and annotations of unchanged resources in its JSON, too', async () => {
    const named = { metadata: { name: 'a', labels: { team: 'data' }, annotations: { page: 'x' } } };
    const { edgewise } = await createWorkspace({
      'edgewise.yaml': STACK,
      'a.yaml': toManifest('TCPEdge', 'a', { hostports: ['1.tcp.example.net:20001'] }, named),
    });
    const change = async () => readOnlyStack((await edgewise('plan --format json')).stdout).changes[0];
    const facts = { labels: { team: 'data' }, annotations: { page: 'x' } };
    expect(await change()).toMatchObject({ action: 'create', ...facts });
    await edgewise('apply --yes');
    expect(await change()).toMatchObject({ action: 'no-op', ...facts });
  });

  it('reads no plan and no snapshot in the folder as a manifest', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('plan -o plan.json');
    expect(await edgewise('plan')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('apply --yes --base-url embedded:account.json')).toMatchObject({ exitCode: 0 });
    const again = await edgewise('plan --detailed-exitcode --base-url embedded:account.json');
    expect(again).toMatchObject({ exitCode: 0 });
    expect((await edgewise('validate plan.json')).exitCode).toBe(3);
  });

  it('says why a plan cannot be written', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': TWO });
    const tooLong = 'x'.repeat(300);
    const result = await edgewise(`plan -o ${tooLong}`);
    expect(result).toMatchObject({ exitCode: 1 });
    expect(result.stderr).toContain(`The plan cannot be written to ${tooLong}`);
  });

  it('reads manifests from standard input', async () => {
    const { edgewise } = await createWorkspace();
    expect((await edgewise('plan -', { stdin: TWO })).stdout).toContain('+ TCPEdge/a');
  });

  it('shows mistakes of manifests, and sends nothing', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': TWO.replace('hostports', 'hostport') });
    for (const line of ['plan', 'apply --yes', 'destroy --yes']) {
      const text = await edgewise(line);
      expect(text.exitCode).toBe(3);
      expect(text.stderr).toContain('bad-field');
      expect(readOnlyStack((await edgewise(`${line} --format json`)).stdout)).toMatchObject({
        ok: false,
        diagnostics: [{ code: 'bad-field' }],
      });
    }
    expect(recorder.take()).toEqual([]);
  });
});

describe('apply', () => {
  it.each(['edgewise.yaml', '-R .'])(
    'counts the dangers in the question as in the last line of the plan: %s',
    async (paths) => {
      const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': TWO });
      const harmless = await edgewise(`apply ${paths}`, { answers: ['yes'] });
      expect(harmless).toMatchObject({ exitCode: 0 });
      expect(harmless.stderr).not.toContain('danger');
      await write({ 'edgewise.yaml': TWO.replaceAll(':20001', ':20009') });
      const { stdout, stderr } = await edgewise(`apply ${paths}`, { answers: ['no'] });
      expect(stdout).toContain('\n! 1 danger (1 traffic).\n');
      expect(stderr).toMatch(
        /! 1 danger \(1 traffic\)[.]\nSend (this|1) write (in 1 stack )?to .* Only "yes" is accepted: /,
      );
    },
  );

  it.each([
    ['destroy edgewise.yaml', 'Destroy the stack test: send', 'test'],
    ['destroy -R . --stack test', 'Destroy 1 stack: send', 'test'],
  ])('of destroy asks for the name of the stack: %s', async (line, question, name) => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply edgewise.yaml --yes');
    const declined = await edgewise(line, { answers: ['yes'] });
    expect(declined.exitCode).toBe(130);
    expect(declined.stderr).toContain(question);
    expect(declined.stderr).toContain(`Only "${name}" is accepted: `);
    expect(await edgewise(line, { answers: [name] })).toMatchObject({ exitCode: 0 });
  });

  it('shows the plan before it asks, also with JSON', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': TWO });
    for (const [line, shown, answer] of [
      ['apply edgewise.yaml', '+ TCPEdge/a', 'yes'],
      ['destroy edgewise.yaml', '- TCPEdge/a', 'test'],
    ] as const) {
      const { stderr, stdout, exitCode } = await edgewise(`${line} --format json`, { answers: [answer] });
      expect(exitCode).toBe(0);
      expect(stderr).toContain(shown);
      expect(stderr.indexOf(shown)).toBeLessThan(stderr.indexOf(`Only "${answer}" is accepted`));
      expect(readOnlyStack(stdout)).toMatchObject({ ok: true, outcomes: [{}, {}] });
    }
    const unasked = await edgewise('apply edgewise.yaml --format json');
    expect(unasked).toMatchObject({ exitCode: 3 });
    expect(unasked.stderr).not.toContain('TCPEdge');
  });

  it('asks nothing if there is nothing to do', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply --yes');
    expect(await edgewise('apply')).toMatchObject({ exitCode: 0, stderr: '' });
    const json = readOnlyStack((await edgewise('apply --format json')).stdout);
    expect(json).toMatchObject({ ok: true, outcomes: [] });
  });

  it('shows progress in place on a terminal, and leaves only the result', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': TWO });
    const transport: typeof recorder.transport = async (request) => {
      await setImmediate();
      return recorder.transport(request);
    };
    const { stderr, stdout } = await edgewise('apply --yes', { terminal: 80, transport });
    expect(stderr).toContain('of 2 done');
    expect(stderr.endsWith('\r\u001b[K')).toBe(true);
    expect(toScreen(stderr)).toEqual(['']);
    expect(stdout).toContain('2 writes applied');
  });

  it('draws nothing after its end', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': TWO });
    const written: string[] = [];
    await edgewise('apply --yes', { terminal: 80, onWrite: (text) => written.push(text) });
    await setImmediate();
    expect(written.at(-1)).toContain('2 writes applied');
  });

  it('lets running writes finish after the first interrupt, and ends at once after the second', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': ONE_BY_ONE });
    let interrupt = (): void => undefined;
    const transport: typeof recorder.transport = async (request) => {
      if (request.method === 'POST') interrupt();
      return recorder.transport(request);
    };
    const result = await edgewise('apply --yes', {
      transport,
      onListen: (listener) => (interrupt = listener),
    });
    expect(result.exitCode).toBe(130);
    expect(result.exits).toEqual([]);
    expect(result.stdout).toContain('1 write applied, 0 failed, 1 skipped');
    const twice = await edgewise('apply --yes', {
      onListen: (listener) => {
        listener();
        listener();
      },
    });
    expect(twice.exits).toEqual([130]);
  });

  it('ends at the question if that is interrupted, and writes nothing', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': TWO });
    const onAsk = async (): Promise<never> => {
      throw new StackError('Declined: nothing was written.', { reason: 'interrupted' });
    };
    const declined = { exitCode: 130, stderr: expect.stringContaining('edgewise: Declined: nothing was written.\n') };
    expect(await edgewise('apply', { answers: ['yes'], onAsk })).toMatchObject(declined);
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('says on a terminal that it stops, and leaves that line and the result', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': ONE_BY_ONE });
    let interrupt = (): void => undefined;
    const transport: typeof recorder.transport = async (request) => {
      await setImmediate();
      if (request.method === 'POST') interrupt();
      await setImmediate();
      return recorder.transport(request);
    };
    const { stderr } = await edgewise('apply --yes', {
      terminal: 100,
      transport,
      onListen: (listener) => (interrupt = listener),
    });
    const left = toScreen(stderr).filter((line) => line !== '');
    expect(left[0]).toMatch(/^Stopping after the writes in progress/);
    expect(left.slice(1).filter((line) => /…$|of 2 done/.test(line))).toEqual([]);
  });
});

it('says that the folder of its data file does not exist', async () => {
  const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': TWO });
  const line = 'apply --yes --base-url embedded:data/account.json';
  const refused = await edgewise(line);
  expect(refused.stderr).toContain('The folder of the data file data/account.json does not exist.');
  expect(refused.stderr).toContain('Create the folder');
  expect(refused.exitCode).toBe(1);
  await mkdir(join(folder, 'data'));
  expect(await edgewise(line)).toMatchObject({ exitCode: 0 });
});

describe('apply of a saved plan', () => {
  const save = async (manifest: string) => {
    const workspace = await createWorkspace({ 'edgewise.yaml': manifest });
    await workspace.edgewise('plan edgewise.yaml -o plan.json');
    return workspace;
  };

  it('refuses targets', async () => {
    const { edgewise, recorder } = await save(TWO);
    recorder.take();
    const narrowed = await edgewise('apply edgewise.yaml --approved plan.json --yes --target TCPEdge/a');
    expect(narrowed).toMatchObject({ exitCode: 6 });
    expect(narrowed.stdout).toContain('--target: approved: (none); now: TCPEdge/a');
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('refuses a file that is no plan of this format', async () => {
    const { edgewise, folder } = await save(TWO);
    const text = await readFile(join(folder, 'plan.json'), 'utf8');
    await writeFile(join(folder, 'future.json'), JSON.stringify({ ...JSON.parse(text), format: 99 }));
    await writeFile(
      join(folder, 'broken.json'),
      changePlan(text, (plan) => ({ ...plan, writes: 'none' })),
    );
    expect((await edgewise('apply edgewise.yaml --approved future.json --yes')).stderr).toContain(
      'a result of format 99',
    );
    expect((await edgewise('apply edgewise.yaml --approved broken.json --yes')).stderr).toContain(
      'broken.json is not a plan file: writes',
    );
    expect(await edgewise('apply edgewise.yaml --approved broken.json --yes')).toMatchObject({ exitCode: 3 });
  });
});
