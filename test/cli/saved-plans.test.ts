import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../src/model/plan.ts';
import { changePlan } from '../results.ts';
import { BASE_URL } from './fake-context.ts';
import { createWorkspace, STACK, toCredential, toEdge, toManifest } from './workspace.ts';

const ONE = `${STACK}${toEdge('a', 20001)}`;
const APPLY = 'apply edgewise.yaml --approved plan.json --yes';

describe('a saved plan', () => {
  it('is recognised by its content, whatever its name', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': ONE });
    await edgewise('plan edgewise.yaml -o my.plan');
    expect((await edgewise('show my.plan')).exitCode).toBe(0);
    expect(await edgewise('apply edgewise.yaml --approved my.plan --yes')).toMatchObject({ exitCode: 0 });
    expect((await edgewise('apply edgewise.yaml --approved my.plan --yes')).stdout).toContain(
      'Approved, and done already:\n  create TCPEdge/a\n',
    );
  });

  it('is for the same service with and without a slash at the end', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': ONE });
    const slash = { env: { EDGEWISE_BASE_URL: `${BASE_URL}/` } };
    await edgewise('plan edgewise.yaml -o plan.json');
    await edgewise('plan edgewise.yaml -o slash.json', slash);
    expect((await edgewise('show slash.json --format json')).stdout).toContain(`"baseUrl": "${BASE_URL}"`);
    expect(await edgewise('apply edgewise.yaml --approved plan.json --yes', slash)).toMatchObject({ exitCode: 0 });
    expect(await edgewise('apply edgewise.yaml --approved slash.json --yes')).toMatchObject({ exitCode: 0 });
  });

  it('of another version of the tool is refused, with that version', async () => {
    const { edgewise, recorder, write } = await createWorkspace({ 'edgewise.yaml': ONE });
    const { stdout } = await edgewise('plan edgewise.yaml --format json');
    const tool = { name: 'edgewise', version: '0.0.1' };
    await write({ 'plan.json': changePlan(stdout, (plan) => ({ ...plan, tool })) });
    recorder.take();
    const refused = await edgewise('apply edgewise.yaml --approved plan.json --yes');
    expect(refused).toMatchObject({ exitCode: 6 });
    expect(refused.stderr).toContain('plan.json was made by edgewise 0.0.1, and this is edgewise');
    expect(recorder.take()).toEqual([]);
    expect(await edgewise('show plan.json')).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['invalid manifests', `${ONE}nonsense: true\n`, 3, 'nonsense is not a known field'],
    [
      'a plan with errors',
      `${ONE}${toEdge('b', 20002)}lifecycle: { adopt: edgtcp_foreign }\n`,
      6,
      'plan.json contains errors, so it cannot be used as an approved plan.',
    ],
  ])('is replaced by the failure of %s, which approves nothing', async (_, manifests, code, message) => {
    const foreign = { id: 'edgtcp_foreign', metadata: '{"edgewise":{"stack":"other","name":"b"}}' };
    const seed = { resources: { TCPEdge: [foreign] } };
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': ONE }, { seed });
    await edgewise('plan edgewise.yaml -o plan.json');
    await write({ 'edgewise.yaml': manifests });
    const failed = await edgewise('plan edgewise.yaml -o plan.json');
    expect(failed).toMatchObject({ exitCode: 3 });
    const applied = await edgewise('apply edgewise.yaml --approved plan.json --yes');
    expect(applied).toMatchObject({ exitCode: code });
    expect(applied.stderr + applied.stdout).toContain(message);
  });

  it.each(['plan nowhere', 'plan edgewise.yaml --no-such-flag', 'plan edgewise.yaml --target TCPEdge/nothing'])(
    'is replaced by the failure of %s',
    async (line) => {
      const { edgewise, write, recorder } = await createWorkspace({ 'edgewise.yaml': ONE });
      await edgewise('plan edgewise.yaml -o plan.json');
      await write({ 'plan2.json': 'mine' });
      for (const file of ['plan.json', 'plan2.json']) {
        expect(await edgewise(`${line} -o ${file}`)).toMatchObject({ exitCode: 3 });
        recorder.take();
        expect((await edgewise(`apply edgewise.yaml --approved ${file} --yes`)).exitCode).toBeOneOf([3, 6]);
        expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
      }
    },
  );

  it('approves nothing if it has an error', async () => {
    const { edgewise, write, recorder } = await createWorkspace({ 'edgewise.yaml': ONE });
    const { stdout } = await edgewise('plan edgewise.yaml --format json');
    const error = { code: 'unknown-target', severity: 'error', message: 'There is no such thing.' };
    await write({ 'plan.json': changePlan(stdout, (plan) => ({ ...plan, writes: [], diagnostics: [error] })) });
    recorder.take();
    const refused = await edgewise('apply edgewise.yaml --approved plan.json --yes');
    expect(refused).toMatchObject({ exitCode: 6 });
    expect(refused.stderr).toContain('plan.json contains errors');
    expect(recorder.take()).toEqual([]);
  });

  it('is not confused with other files: manifests, folders, and none', async () => {
    const flow = JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'Stack', metadata: { name: 'test' } });
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': ONE, 'flow.yaml': flow, 'empty.yaml': '' });
    expect(await edgewise('apply edgewise.yaml --yes')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('apply flow.yaml --target TCPEdge/a')).toMatchObject({ exitCode: 3 });
    expect((await edgewise('apply empty.yaml')).stderr).not.toContain('plan file');
    expect((await edgewise('apply missing.plan')).stderr).toContain('missing.plan');
  });

  it.each([
    ['does not exist', 'apply . --approved none.json --yes', 'none.json does not exist.'],
    ['is a folder', 'diff sub sub', 'sub is a folder, not a file.'],
  ])('that %s is named, with the command that makes one', async (_, line, finding) => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': ONE, 'sub/notes.txt': '' });
    const { exitCode, stderr } = await edgewise(line);
    expect(exitCode).toBe(3);
    expect(stderr).toBe(
      `edgewise: The plan file ${finding}\nCorrect the name, or make one: edgewise plan MANIFESTS -o FILE.\n`,
    );
  });
});

/** Two edges in the stack `old`. The stack `test` describes the second one too. */
async function createTakeOver() {
  const old = STACK.replace('name: test', 'name: old');
  const workspace = await createWorkspace({ 'old.yaml': `${old}${toEdge('a', 20001)}${toEdge('b', 20002)}` });
  await workspace.edgewise('apply old.yaml --yes');
  await workspace.write({ 'edgewise.yaml': ONE.replace('name: test', 'name: test\n  renamed_from: old') });
  await workspace.edgewise('plan edgewise.yaml --allow-take-over old -o plan.json');
  workspace.recorder.take();
  return workspace;
}

async function editPlan(folder: string, change: (plan: Plan) => unknown): Promise<void> {
  const file = join(folder, 'plan.json');
  await writeFile(file, changePlan(await readFile(file, 'utf8'), change));
}

describe('a saved plan with secrets', () => {
  const config = { authorization: `Bearer \${secret:PIN}` };
  const policy = { inbound: [{ actions: [{ type: 'forward-auth', config }] }] };
  const SENDER = toManifest('TCPEdge', 'a', { policy });

  it('is not applied without the value of a secret that it sends', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': STACK + SENDER });
    const env = { EDGEWISE_SECRETS: 'PIN' };
    expect(await edgewise('plan edgewise.yaml -o plan.json', { env })).toMatchObject({ exitCode: 0 });
    expect(await edgewise(APPLY, { env })).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('TCPEdge/a needs the value of PIN'),
    });
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('whose names contain the value of one is applied, and its rotation is done once', async () => {
    const env = { PIN: '4711', EDGEWISE_SECRETS: 'PIN' };
    const text = `${STACK.replace('test', 'test-4711')}spec: { tokens: { default: { directory: tokens } } }\n`;
    const { edgewise, recorder, folder } = await createWorkspace({
      'edgewise.yaml': text + toCredential('a-4711') + SENDER,
    });
    await edgewise('apply edgewise.yaml --yes', { env });
    const rotate = '--rotate Credential/a-4711';
    expect(await edgewise(`plan edgewise.yaml ${rotate} -o plan.json`, { env })).toMatchObject({ exitCode: 0 });
    expect(await readFile(join(folder, 'plan.json'), 'utf8')).not.toContain('4711');
    recorder.take();
    for (const methods of [['POST', 'PATCH', 'DELETE'], []]) {
      const { exitCode, stdout } = await edgewise(`${APPLY} ${rotate}`, { env });
      expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
      expect(recorder.take().flatMap(({ method }) => (method === 'GET' ? [] : [method]))).toEqual(methods);
    }
  });
});

describe('a saved plan with a take-over', () => {
  it('moves only the mark, and is done the second time', async () => {
    const { edgewise, recorder, server } = await createTakeOver();
    const before = server.snapshot().resources['TCPEdge'] ?? [];
    expect(await edgewise(`${APPLY} --allow-take-over old`)).toMatchObject({ exitCode: 0 });
    expect(recorder.take().flatMap(({ method }) => (method === 'GET' ? [] : [method]))).toEqual(['PATCH']);
    const after = server.snapshot().resources['TCPEdge'] ?? [];
    const withoutMarks = (all: typeof before) => all.map(({ metadata: _, ...rest }) => rest);
    expect(withoutMarks(after)).toEqual(withoutMarks(before));
    const again = await edgewise(`${APPLY} --allow-take-over old`);
    expect(again.stdout).toContain('Approved, and done already:\n  take over TCPEdge/a\n');
    expect((await edgewise('plan edgewise.yaml --detailed-exitcode')).exitCode).toBe(0);
  });

  it('is refused if the other stack changed the resource', async () => {
    const { edgewise, write } = await createTakeOver();
    await write({
      'old.yaml': `${STACK.replace('name: test', 'name: old')}${toEdge('a', 20007)}${toEdge('b', 20002)}`,
    });
    await edgewise('apply old.yaml --yes');
    const { exitCode, stdout } = await edgewise(`${APPLY} --allow-take-over old`);
    expect(stdout).toContain('hostports: it changed at the service\n      - 1.tcp.example.net:20007');
    expect(exitCode).toBe(6);
  });

  it('is refused without --allow-take-over, which it names', async () => {
    const { edgewise, recorder } = await createTakeOver();
    const { exitCode, stdout } = await edgewise(APPLY);
    expect(exitCode).toBe(5);
    expect(stdout).toContain('--allow-take-over old');
    expect(recorder.take().every(({ method }) => method === 'GET')).toBe(true);
  });

  it.each<[string, (plan: Plan) => unknown]>([
    ['no longer says so', (plan) => ({ ...plan, takeOver: [] })],
    ['names another stack', (plan) => ({ ...plan, takeOver: ['other'] })],
  ])('is refused if its file %s', async (_, change) => {
    const { edgewise, folder, recorder } = await createTakeOver();
    await editPlan(folder, change);
    expect(await edgewise(`${APPLY} --allow-take-over old`)).toMatchObject({ exitCode: 6 });
    expect(recorder.take().every(({ method }) => method === 'GET')).toBe(true);
  });
});

describe('a saved plan whose resource was deleted and recreated', () => {
  it.each([
    ['changes', `${STACK}${toEdge('a', 20005)}`],
    ['deletes', `${STACK}${toEdge('b', 20002)}`],
  ])('does nothing to the new one if it %s the old one', async (_, next) => {
    const { edgewise, write, server, recorder } = await createWorkspace({ 'edgewise.yaml': ONE });
    await edgewise('apply edgewise.yaml --yes');
    await write({ 'edgewise.yaml': next });
    await edgewise('plan edgewise.yaml --allow-deletes -o plan.json');
    await write({ 'edgewise.yaml': ONE });
    await edgewise('destroy edgewise.yaml --yes');
    await edgewise('apply edgewise.yaml --yes');
    await write({ 'edgewise.yaml': next });
    const [made] = server.snapshot().resources['TCPEdge'] ?? [];
    recorder.take();
    expect(await edgewise('apply edgewise.yaml --approved plan.json --yes --allow-deletes')).toMatchObject({
      exitCode: 6,
    });
    expect(server.snapshot().resources['TCPEdge']).toContainEqual(made);
    expect(recorder.take().filter(({ path }) => path.includes(String(made?.id)))).toEqual([]);
  });

  it('names both ids if it would change the resource', async () => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': ONE });
    await edgewise('apply edgewise.yaml --yes');
    const next = { 'edgewise.yaml': `${STACK}${toEdge('a', 20005)}` };
    await write(next);
    await edgewise('plan edgewise.yaml -o plan.json');
    await write({ 'edgewise.yaml': ONE });
    await edgewise('destroy edgewise.yaml --yes');
    await edgewise('apply edgewise.yaml --yes');
    await write(next);
    const { exitCode, stdout } = await edgewise('apply edgewise.yaml --approved plan.json --yes');
    expect(stdout).toMatch(/ id: "edgtcp_\w+" +\(approved: "edgtcp_\w+", it changed at the service\)/);
    expect(exitCode).toBe(6);
  });
});

it('refuses a saved plan of another stack than that of the manifests, and names both', async () => {
  const { edgewise, recorder, write } = await createWorkspace({ 'edgewise.yaml': ONE });
  await edgewise('plan edgewise.yaml -o plan.json');
  await write({ 'other.yaml': STACK.replace('name: test', 'name: other') });
  recorder.take();
  const { exitCode, stderr } = await edgewise('apply other.yaml --approved plan.json --yes');
  expect(stderr).toContain('the stack: approved for test, now other');
  expect(exitCode).toBe(6);
  expect(recorder.take()).toEqual([]);
});

describe('a plan that is named as manifests', () => {
  const MANIFESTS = { 'live/a/edgewise.yaml': ONE };
  const APPROVED = 'edgewise apply MANIFESTS --approved plan.json\n';

  it.each([
    ['a plan file', 'plan live/a -o plan.json', 'apply plan.json --yes', APPROVED],
    ['the failure of a plan', 'plan nowhere -o plan.json', 'apply plan.json --yes', APPROVED],
    ['a plan beside manifests', 'plan live/a -o plan.json', 'apply live/a plan.json --yes', APPROVED],
    ['one that is approved too', 'plan live/a -o plan.json', 'apply plan.json --approved plan.json --yes', APPROVED],
    ['a folder of plans', 'plan -R live -o plans', 'apply plans --yes', 'edgewise apply -R FOLDER --approved plans\n'],
    ['it, for -R', 'plan -R live -o plans', 'apply -R plans --yes', 'edgewise apply -R FOLDER --approved plans\n'],
  ])('is refused, with the command that it is for: %s', async (_, plan, apply, command) => {
    const { edgewise, recorder } = await createWorkspace(MANIFESTS);
    await edgewise(plan);
    recorder.take();
    const { exitCode, stderr } = await edgewise(apply);
    expect(stderr).toContain(command);
    expect(exitCode).toBe(3);
    expect(recorder.take()).toEqual([]);
  });

  it('is refused also if someone put manifests below it', async () => {
    const { edgewise, write, recorder } = await createWorkspace(MANIFESTS);
    await edgewise('plan -R live -o plans');
    await write({ 'plans/sub/.git/HEAD': '', 'plans/sub/edgewise.yaml': ONE });
    recorder.take();
    expect(await edgewise('apply plans --yes')).toMatchObject({ exitCode: 3 });
    expect(recorder.take()).toEqual([]);
  });

  it('does not hide manifests below the working folder', async () => {
    const { edgewise } = await createWorkspace(MANIFESTS);
    await edgewise('plan . -o plan.json');
    expect(await edgewise('apply . --approved plan.json --yes')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('apply -R . --yes')).toMatchObject({ exitCode: 0 });
  });

  it('does not name what is read, whatever it contains', async () => {
    const { edgewise, folder } = await createWorkspace(MANIFESTS);
    await edgewise('plan live/a -o plan.json');
    await editPlan(folder, (plan) => ({ ...plan, manifests: ['evil'], stack: 'evil', baseUrl: 'https://evil.test' }));
    const { stderr } = await edgewise('apply plan.json --yes');
    expect(stderr).toContain(APPROVED);
    expect(stderr).not.toContain('evil');
  });
});
