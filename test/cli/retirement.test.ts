import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { readOnlyStack } from '../results.ts';
import { NOW } from './fake-context.ts';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from './workspace.ts';

/** An old credential that stays after a rotation (`lifecycle.keep_old_for`), on the command line. */

const TOKENS = '--token-directory tokens';
const HOUR = 3_600_000;

interface Scene extends Workspace {
  readonly run: (line: string, transport?: Transport) => ReturnType<Workspace['edgewise']>;
  readonly wait: (hours: number) => void;
  readonly now: () => Date;
  readonly listIds: () => readonly string[];
}

const CREDENTIAL = toManifest(
  'Credential',
  'agent',
  { acl: ['bind:*.example.com'] },
  { lifecycle: { keep_old_for: '24h' } },
);

async function createWorkspaceWithClock(files: Readonly<Record<string, string>>): Promise<Scene> {
  let now = NOW.getTime();
  const workspace = await createWorkspace(files, { now: () => new Date(now) });
  return {
    ...workspace,
    run: (line, transport) =>
      workspace.edgewise(line, { now: () => new Date(now), ...(transport !== undefined && { transport }) }),
    now: () => new Date(now),
    wait: (hours) => {
      now += hours * HOUR;
    },
    listIds: () => (workspace.server.snapshot().resources['Credential'] ?? []).map(({ id }) => String(id)),
  };
}

/** A stack with a rotated credential, and the ids of the new and the old one. */
async function createRotatedCredential(more = ''): Promise<Scene & { readonly current: string; readonly old: string }> {
  const scene = await createWorkspaceWithClock({ 'm/edgewise.yaml': `${STACK}${CREDENTIAL}${more}` });
  expect(await scene.run(`apply m --yes ${TOKENS}`)).toMatchObject({ exitCode: 0 });
  const [old = ''] = scene.listIds();
  scene.wait(1);
  expect(await scene.run(`apply m --yes --rotate Credential/agent ${TOKENS}`)).toMatchObject({ exitCode: 0 });
  const current = scene.listIds().find((id) => id !== old) ?? '';
  return { ...scene, current, old };
}

describe('an old credential', () => {
  it('is shown with its time by plan, drift, get, JSON, Markdown, HTML and metrics, and is no drift', async () => {
    const { run, old, wait } = await createRotatedCredential();
    wait(1);
    const said = `Credential/agent@${old}: an old one, which retires in 23 hours`;
    expect((await run(`plan m ${TOKENS}`)).stdout).toContain(said);
    expect((await run(`plan m ${TOKENS} --format html`)).stdout).toContain('retires in 23 hours');
    expect((await run(`plan m ${TOKENS} --format markdown`)).stdout).toContain('retires in 23 hours');
    const { changes } = readOnlyStack((await run(`plan m ${TOKENS} --format json`)).stdout);
    expect(changes).toContainEqual(
      expect.objectContaining({
        action: 'no-op',
        retiresAt: expect.stringMatching(/^2026/),
        notes: [said.split(': ')[1]],
      }),
    );
    const drift = await run('drift m');
    expect(drift.stdout).toContain(said);
    expect(drift.exitCode).toBe(0);
    expect((await run('drift m --format metrics')).stdout).toMatch(
      /^edgewise_retirement_timestamp_seconds\{stack="test",address="Credential\/agent"\} \d+$/m,
    );
    expect((await run('get m')).stdout).toMatch(
      new RegExp(`^Credential/agent@${old} .* old: retires in 23 hours$`, 'm'),
    );
    const { resources } = readOnlyStack((await run('get m --format json')).stdout);
    expect(resources.map(({ retiresAt }: JsonObject) => typeof retiresAt).sort()).toEqual(['string', 'undefined']);
  });

  it('that is due is pending for drift, and does not count as a delete for the guard', async () => {
    const { run, wait, listIds, current } = await createRotatedCredential();
    wait(25);
    const drift = await run('drift m --format json');
    expect(drift.exitCode).toBe(2);
    expect(readOnlyStack(drift.stdout)).toMatchObject({ counts: { pending: 1, 'to-prune': 0 } });
    expect((await run('drift m --format metrics')).stdout).toContain('state="pending"} 1');
    expect(await run(`apply m --yes ${TOKENS}`)).toMatchObject({ exitCode: 0 });
    expect(listIds()).toEqual([current]);
  });

  it('that becomes due while the question waits is left for the next apply', async () => {
    const { edgewise, write, wait, now, listIds, current } = await createRotatedCredential();
    wait(22);
    await write({ 'm/edgewise.yaml': `${STACK}${CREDENTIAL}${toEdge('a', 20_001)}` });
    const { exitCode, stdout } = await edgewise(`apply m ${TOKENS}`, {
      now,
      answers: ['yes'],
      onAsk: async () => wait(2),
    });
    expect(exitCode, stdout).toBe(0);
    expect(stdout).not.toContain('delete Credential/agent@');
    expect(listIds()).toHaveLength(2);
    expect(await edgewise(`apply m --yes ${TOKENS}`, { now })).toMatchObject({ exitCode: 0 });
    expect(listIds()).toEqual([current]);
  });

  it('of many credentials may be deleted together, without consent to many deletes', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `a${index}`);
    const manifests = names.map((name) =>
      toManifest('Credential', name, { acl: ['bind:*.example.com'] }, { lifecycle: { keep_old_for: '1h' } }),
    );
    const { run, wait, listIds } = await createWorkspaceWithClock({
      'm/edgewise.yaml': `${STACK}${manifests.join('')}`,
    });
    await run(`apply m --yes ${TOKENS}`);
    await run(`apply m --yes ${names.map((name) => `--rotate Credential/${name}`).join(' ')} ${TOKENS}`);
    expect(listIds()).toHaveLength(16);
    wait(2);
    expect(await run(`apply m --yes ${TOKENS}`)).toMatchObject({ exitCode: 0 });
    expect(listIds()).toHaveLength(8);
  });

  it('is kept by --exclude, although it is due', async () => {
    const { run, wait, listIds, current, old } = await createRotatedCredential();
    wait(25);
    const kept = await run(`apply m --yes --exclude Credential/agent ${TOKENS}`);
    expect(kept).toMatchObject({ exitCode: 0 });
    expect(kept.stdout).toContain(old);
    expect(listIds()).toHaveLength(2);
    expect(await run(`apply m --yes ${TOKENS}`)).toMatchObject({ exitCode: 0 });
    expect(listIds()).toEqual([current]);
  });

  it('is released together with the new one', async () => {
    const { run, server } = await createRotatedCredential();
    expect(await run('release Credential/agent m --yes')).toMatchObject({ exitCode: 0 });
    const metadata = server.snapshot().resources['Credential']?.map((one) => one['metadata']);
    expect(metadata).toEqual([undefined, undefined]);
  });

  it('keeps its fields when the manifest changes, and its retirement stays in the new mark', async () => {
    const { run, write, server, old, wait, listIds, current } = await createRotatedCredential();
    await write({ 'm/edgewise.yaml': `${STACK}${CREDENTIAL.replace('*.example.com', 'app.example.com')}` });
    expect(await run(`apply m --yes ${TOKENS}`)).toMatchObject({ exitCode: 0 });
    const left = server.snapshot().resources['Credential']?.find(({ id }) => id === old);
    expect(left).toMatchObject({ acl: ['bind:*.example.com'] });
    wait(25);
    expect(await run(`apply m --yes ${TOKENS}`)).toMatchObject({ exitCode: 0 });
    expect(listIds()).toEqual([current]);
  });

  it('is left alone by --exclude and by a target elsewhere', async () => {
    const { run, wait, listIds } = await createRotatedCredential(toEdge('a', 20_001));
    wait(25);
    for (const words of ['--exclude Credential/agent', '--target TCPEdge/a'])
      expect(await run(`apply m --yes ${words} ${TOKENS}`)).toMatchObject({ exitCode: 0 });
    expect(listIds()).toHaveLength(2);
  });

  it('moves with the new one to another stack in one run, also if the old stack is applied first afterwards', async () => {
    const stack = (name: string) => `${STACK.replace('test', name)}`;
    const files = { 's/a/edgewise.yaml': `${stack('a')}${CREDENTIAL}`, 's/b/edgewise.yaml': stack('b') };
    const { run, write, listIds, server } = await createWorkspaceWithClock(files);
    await run(`apply -R s --yes ${TOKENS}`);
    await run(`apply s/a --yes --rotate Credential/agent ${TOKENS}`);
    const before = listIds();
    expect(before).toHaveLength(2);
    const lifecycle = { keep_old_for: '24h', renamed_from: { stack: 'a', name: 'agent' } };
    const moved = toManifest('Credential', 'robot', { acl: ['bind:*.example.com'] }, { lifecycle });
    await write({ 's/a/edgewise.yaml': stack('a'), 's/b/edgewise.yaml': `${stack('b')}${moved}` });
    await run(`apply s/a --yes ${TOKENS}`);
    expect(listIds()).toEqual(before);
    expect(await run(`apply -R s --yes ${TOKENS}`)).toMatchObject({ exitCode: 0 });
    expect(await run(`plan -R s --detailed-exitcode ${TOKENS}`)).toMatchObject({ exitCode: 0 });
    expect(listIds()).toEqual(before);
    for (const { metadata } of server.snapshot().resources['Credential'] ?? [])
      expect(JSON.parse(String(metadata))).toMatchObject({ edgewise: { stack: 'b', name: 'robot' } });
  });
});

describe('--retire', () => {
  it('of an unknown address is an error, and of one without an old one a warning', async () => {
    const { run } = await createWorkspaceWithClock({ 'm/edgewise.yaml': `${STACK}${CREDENTIAL}` });
    await run(`apply m --yes ${TOKENS}`);
    const wrong = await run(`plan m --retire Credential/agnet ${TOKENS}`);
    expect(wrong).toMatchObject({ exitCode: 3 });
    expect(wrong.stdout).toContain('Did you mean `Credential/agent`?');
    const idle = await run(`apply m --yes --retire Credential/agent ${TOKENS}`);
    expect(idle).toMatchObject({ exitCode: 0 });
    expect(idle.stdout).toContain('--retire Credential/agent does nothing');
  });
});

describe('an approved plan', () => {
  it.each([2, 3])('of a rotation is completed after its write %i was not sent', async (at) => {
    const { run, listIds, recorder } = await createWorkspaceWithClock({ 'm/edgewise.yaml': `${STACK}${CREDENTIAL}` });
    await run(`apply m --yes ${TOKENS}`);
    const [old = ''] = listIds();
    expect(await run(`plan m --rotate Credential/agent ${TOKENS} -o plan.json`)).toMatchObject({ exitCode: 0 });
    let writes = 0;
    const flaky: Transport = async (request) => {
      if (request.method !== 'GET') writes += 1;
      if (request.method === 'PATCH' && writes >= at)
        throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
      return recorder.transport(request);
    };
    expect(await run(`apply m --approved plan.json --yes --rotate Credential/agent ${TOKENS}`, flaky)).toMatchObject({
      exitCode: 1,
    });
    for (let time = 0; time < 2; time += 1)
      expect(await run(`apply m --approved plan.json --yes --rotate Credential/agent ${TOKENS}`)).toMatchObject({
        exitCode: 0,
      });
    expect(listIds()).toHaveLength(2);
    expect(listIds()).toContain(old);
    expect(await run(`plan m --detailed-exitcode ${TOKENS}`)).toMatchObject({ exitCode: 0 });
  });

  it('of a delete that is due can be applied twice', async () => {
    const { run, wait, listIds, current } = await createRotatedCredential();
    wait(25);
    await run(`plan m ${TOKENS} -o plan.json`);
    for (let time = 0; time < 2; time += 1)
      expect(await run(`apply m --approved plan.json --yes ${TOKENS}`)).toMatchObject({ exitCode: 0 });
    expect(listIds()).toEqual([current]);
  });

  it('that keeps the old one for another time is not as approved', async () => {
    const { run, write, recorder } = await createWorkspaceWithClock({ 'm/edgewise.yaml': `${STACK}${CREDENTIAL}` });
    await run(`apply m --yes ${TOKENS}`);
    await run(`plan m --rotate Credential/agent ${TOKENS} -o plan.json`);
    await write({ 'm/edgewise.yaml': `${STACK}${CREDENTIAL.replace('24h', '48h')}` });
    recorder.take();
    const { exitCode, stdout } = await run(`apply m --approved plan.json --yes --rotate Credential/agent ${TOKENS}`);
    expect(exitCode).toBe(6);
    expect(stdout).toContain('lifecycle.keep_old_for');
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});

describe('a token folder', () => {
  it('has a file for each credential if the id is in the file name', async () => {
    const stack = STACK.trimEnd().concat(
      '\nspec: { tokens: { default: { directory: tokens, file: "{name}.{id}.token" } } }\n',
    );
    const { run, listIds, folder } = await createWorkspaceWithClock({ 'm/edgewise.yaml': `${stack}${CREDENTIAL}` });
    await run('apply m --yes');
    const plan = await run('plan m --rotate Credential/agent');
    expect(plan.stdout).toContain('which goes to the folder m/tokens, as {name}.{id}.token');
    expect(await run('apply m --yes --rotate Credential/agent')).toMatchObject({ exitCode: 0 });
    const files = await readdir(join(folder, 'm/tokens'));
    expect(files.sort()).toEqual(
      listIds()
        .map((id) => `agent.${id}.token`)
        .sort(),
    );
  });

  it.each(['{id}.token', '../{name}', '.{name}', 'a/{name}', '{name}.{address}'])(
    'is refused with the file name %s',
    async (file) => {
      const stack = STACK.trimEnd().concat(`\nspec: { tokens: { default: { directory: tokens, file: "${file}" } } }\n`);
      const { run } = await createWorkspaceWithClock({ 'm/edgewise.yaml': `${stack}${CREDENTIAL}` });
      expect(await run('plan m')).toMatchObject({ exitCode: 3 });
    },
  );
});
