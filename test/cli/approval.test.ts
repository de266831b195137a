import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isSamePlan, NotApprovedError, openStack, parsePlan } from '../../src/index.ts';
import { listFormatNames } from '../../src/report/formats.ts';
import { sendByHand } from '../by-hand.ts';
import { changePlan, readOnlyStack } from '../results.ts';
import { BASE_URL, NOW } from './fake-context.ts';
import {
  changeByHand,
  createWorkspace,
  STACK,
  toCredential,
  toEdge,
  toManifest,
  toTranscript,
  type Workspace,
} from './workspace.ts';

const BEFORE = `${STACK}${toEdge('a', 20001)}${toEdge('old', 20002)}`;
const AFTER = `${STACK}${toEdge('a', 20003)}${toManifest('TCPEdge', 'new', { hostports: ['1.tcp.example.net:20004'], description: 'new' })}`;

/** A planned and approved change: `a` changes, `old` is deleted, `new` is created. */
async function createApprovedPlan(): Promise<Workspace> {
  const workspace = await createWorkspace({ 'edgewise.yaml': BEFORE });
  await workspace.edgewise('apply edgewise.yaml --yes');
  await workspace.write({ 'edgewise.yaml': AFTER });
  await workspace.edgewise('plan edgewise.yaml -o approved.json');
  workspace.recorder.take();
  return workspace;
}

function listWrites({ recorder }: Workspace): readonly string[] {
  return recorder.take().flatMap(({ method, path }) => (method === 'GET' ? [] : [`${method} ${path}`]));
}

/** A certificate for eight days that is not renewed. */
const CERTIFICATE = toManifest(
  'SSHUserCertificate',
  'alice',
  {
    public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L',
    ssh_certificate_authority_id: 'sshca_2k9XLTJrEKpUhfwyWqZzQNvMbcA',
    principals: ['alice'],
  },
  { lifecycle: { valid_for: '8d' } },
);

const TROUBLE = { code: 'token-sink-missing', severity: 'error', message: 'trouble' };
const NO_DANGERS = { access: 0, traffic: 0, secrets: 0, protection: 0, ownership: 0 };
const NO_TOTALS = {
  delete: 0,
  replace: 0,
  withhold: 0,
  update: 0,
  release: 0,
  takeOver: 0,
  adopt: 0,
  create: 0,
  unchanged: 0,
};
const APPLY = 'apply edgewise.yaml --approved approved.json --yes';
const DONE = 'Approved, and done already:\n';

describe('apply --approved', () => {
  it('applies the approved changes, and later the rest of them', async () => {
    const workspace = await createApprovedPlan();
    await workspace.edgewise('apply edgewise.yaml --target TCPEdge/new --yes');
    workspace.recorder.take();
    const rest = await workspace.edgewise(APPLY);
    expect(rest).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`${DONE}  create TCPEdge/new\n\n`) });
    expect(listWrites(workspace).map((line) => line.split(' ')[0])).toEqual(['DELETE', 'PATCH']);
    const again = await workspace.edgewise(APPLY);
    expect(again).toMatchObject({ exitCode: 0 });
    expect(again.stdout).toContain(`${DONE}  delete TCPEdge/old\n  update TCPEdge/a\n  create TCPEdge/new\n\n`);
  });

  it('exits with 6 for any other change, shows only that, and writes nothing', async () => {
    const workspace = await createApprovedPlan();
    const { edgewise, write } = workspace;
    await changeByHand(workspace, 'TCPEdge/a', { description: 'by hand' });
    const merged = AFTER.replace('20004', '20005').replace(
      'name: test\n',
      'name: test\nspec: { tokens: { default: { directory: tokens } } }\n',
    );
    await write({ 'edgewise.yaml': `${merged}${toEdge('merged', 20006)}${toCredential('agent')}` });
    const refused = await edgewise(APPLY);
    await expect(toTranscript(refused)).toMatchFileSnapshot('goldens/not-approved.txt');
    expect(listWrites(workspace)).toEqual([]);
    for (const form of listFormatNames('plan')) {
      const shown = await edgewise(`${APPLY} --format ${form}`);
      expect(shown.exitCode).toBe(6);
      expect(shown.stdout, form).toContain('TCPEdge/merged');
      if (form !== 'junit') expect(shown.stdout, form).not.toContain('TCPEdge/old');
    }
    expect(listWrites(workspace)).toEqual([]);
  });

  it('takes no path for done that only an edited plan has, whatever its name', async () => {
    const { edgewise, write, folder } = await createApprovedPlan();
    await edgewise('apply edgewise.yaml --yes');
    const text = await readFile(join(folder, 'approved.json'), 'utf8');
    const { changes } = parsePlan(text);
    for (const path of ['__proto__', 'constructor', 'mark.other']) {
      const added = { path, to: {}, origin: 'manifest', forcesReplace: false };
      const edited = changes.map((one) =>
        one.action === 'update' ? { ...one, differences: [...one.differences, added] } : one,
      );
      await write({ 'approved.json': changePlan(text, (plan) => ({ ...plan, changes: edited })) });
      expect(await edgewise(APPLY), path).toMatchObject({ exitCode: 6, stdout: expect.stringContaining(path) });
    }
  });

  it.each<[string, (plan: object) => object]>([
    [
      'a plan of another stack',
      (plan) => ({ ...plan, stack: 'other', changes: [], writes: [], totals: NO_TOTALS, dangers: NO_DANGERS }),
    ],
    ['a plan that has errors', (plan) => ({ ...plan, diagnostics: [TROUBLE], writes: [] })],
    ['a plan of another version', (plan) => ({ ...plan, tool: { name: 'edgewise', version: '0.0.1' } })],
  ])('refuses %s', async (_, edit) => {
    const workspace = await createApprovedPlan();
    const { edgewise, write, folder } = workspace;
    const text = await readFile(join(folder, 'approved.json'), 'utf8');
    await write({ 'approved.json': changePlan(text, edit) });
    expect(await edgewise(APPLY)).toMatchObject({ exitCode: 6 });
    expect(listWrites(workspace)).toEqual([]);
  });

  it('applies a plan of last week, although texts about times differ', async () => {
    const clock = { now: NOW };
    const files = { 'edgewise.yaml': STACK + CERTIFICATE };
    const { edgewise, write } = await createWorkspace(files, { now: () => clock.now });
    const line = (words: string) => edgewise(words, { now: () => clock.now });
    expect(await line('apply edgewise.yaml --yes')).toMatchObject({ exitCode: 0 });
    await write({ 'edgewise.yaml': STACK + CERTIFICATE + toEdge('a', 20001) });
    await line('plan edgewise.yaml -o plan.json');
    clock.now = new Date(NOW.getTime() + 7 * 86_400_000);
    const applied = await line('apply edgewise.yaml --approved plan.json --yes');
    expect(applied).toMatchObject({ exitCode: 0 });
    expect(applied.stdout).toContain('expires in 24 hours');
    expect(applied.stdout).toContain('1 write applied');
  });

  it('requires manifests and a plan', async () => {
    const { edgewise } = await createApprovedPlan();
    expect(await edgewise('apply approved.json --approved approved.json --yes')).toMatchObject({ exitCode: 3 });
    expect(await edgewise('apply edgewise.yaml --approved edgewise.yaml --yes')).toMatchObject({ exitCode: 3 });
  });

  it('works with programs: compare, and apply of a plan from elsewhere', async () => {
    const workspace = await createApprovedPlan();
    const { folder, recorder, write } = workspace;
    const approved = parsePlan(await readFile(join(folder, 'approved.json'), 'utf8'));
    const env = { EDGEWISE_BASE_URL: BASE_URL, EDGEWISE_API_KEY: 'dev' };
    await write({ 'edgewise.yaml': `${AFTER}${toEdge('merged', 20006)}` });
    const stack = await openStack({ cwd: folder, env, transport: recorder.transport });
    const error = await stack.apply(approved).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NotApprovedError);
    expect(error).toMatchObject({ comparison: { more: [{ change: { address: 'TCPEdge/merged' } }] } });
    const comparison = await stack.compare(approved);
    expect(isSamePlan(comparison)).toBe(false);
    expect(listWrites(workspace)).toEqual([]);
    await write({ 'edgewise.yaml': AFTER });
    const again = await openStack({ cwd: folder, env, transport: recorder.transport });
    const same = await again.compare(approved);
    expect(isSamePlan(same)).toBe(true);
    expect((await again.apply(same.after)).outcomes).toHaveLength(3);
  });
});

const HOSTPORTS = ['1.tcp.example.net:20001', '1.tcp.example.net:20002'];

/** An edge that gets a hostport and a restriction in one approved update. */
const OPENED = toManifest('TCPEdge', 'a', {
  hostports: HOSTPORTS,
  ip_restriction: { ip_policy_ids: ['ipp_office'] },
});

describe('an approval', () => {
  it('includes the variable of the API key: a plan for staging is not applied with the key of production', async () => {
    const toStack = (key: string) =>
      STACK.replace('name: test\n', `name: test\nspec: { api: { key_env: EDGEWISE_API_KEY_${key} } }\n`);
    const env = { EDGEWISE_API_KEY_STAGING: 'dev', EDGEWISE_API_KEY_PROD: 'dev' };
    const { edgewise, write, recorder } = await createWorkspace({ 'm.yaml': toStack('STAGING') + toEdge('a', 20001) });
    expect(await edgewise('plan m.yaml -o plan.json', { env })).toMatchObject({ exitCode: 0 });
    await write({ 'm.yaml': toStack('PROD') + toEdge('a', 20001) });
    recorder.take();
    for (const line of ['apply m.yaml --approved plan.json --yes']) {
      const { exitCode, stderr } = await edgewise(line, { env });
      expect(exitCode).toBe(6);
      expect(stderr).toContain(
        'the variable of the API key: approved for EDGEWISE_API_KEY_STAGING, now EDGEWISE_API_KEY_PROD',
      );
    }
    expect(recorder.take()).toEqual([]);
  });

  it('includes each field: a hostport is not opened without the restriction that was approved with it', async () => {
    const workspace = await createWorkspace({ 'm.yaml': STACK + toEdge('a', 20001) });
    const { edgewise, write } = workspace;
    await edgewise('apply m.yaml --yes');
    await write({ 'm.yaml': STACK + OPENED });
    expect(await edgewise('plan m.yaml -o plan.json')).toMatchObject({ exitCode: 0 });
    await write({ 'm.yaml': STACK + toManifest('TCPEdge', 'a', { hostports: HOSTPORTS }) });
    workspace.recorder.take();
    const { exitCode, stdout } = await edgewise('apply m.yaml --approved plan.json --yes');
    expect(exitCode).toBe(6);
    expect(stdout).toContain('Approved, but not in this plan:');
    expect(stdout).toContain('ip_restriction: added, the manifests changed');
    expect(listWrites(workspace)).toEqual([]);
  });
});

describe('the side that changed', () => {
  it('is the manifests if they adopt another resource than the approved one', async () => {
    const { edgewise, server, write } = await createWorkspace({ 'others.yaml': toOthers() });
    await edgewise('apply others.yaml --yes');
    await edgewise('release TCPEdge/one TCPEdge/two others.yaml --yes');
    const [one, two] = (server.snapshot().resources['TCPEdge'] ?? []).map(({ id }) => String(id)).sort();
    const toAdoption = (id: string | undefined) =>
      STACK + toManifest('TCPEdge', 'a', { description: 'new' }, { lifecycle: { adopt: id } });
    await write({ 'm.yaml': toAdoption(one) });
    await edgewise('plan m.yaml -o plan.json');
    await write({ 'm.yaml': toAdoption(two) });
    const { exitCode, stdout } = await edgewise('apply m.yaml --approved plan.json --yes');
    expect(stdout).toContain(`id: "${two}"  (approved: "${one}", the manifests changed)`);
    expect(exitCode).toBe(6);
  });

  function toOthers(): string {
    return STACK.replace('test', 'others') + toEdge('one', 20001) + toEdge('two', 20002);
  }
});

it('counts a field that is already live as done, also if its resource is still to be replaced', async () => {
  const stack = `${STACK}spec:\n  tokens: { default: { directory: tokens } }\n`;
  const { edgewise, write } = await createWorkspace({ 'm.yaml': stack + toCredential('c') });
  await edgewise('apply m.yaml --yes');
  await write({ 'm.yaml': stack + toManifest('Credential', 'c', { acl: ['bind:a.example.com'] }) });
  await edgewise('plan m.yaml --rotate Credential/c -o plan.json');
  await edgewise('apply m.yaml --yes');
  const { exitCode, stdout } = await edgewise('apply m.yaml --approved plan.json --rotate Credential/c --yes');
  expect(stdout).toContain(`${DONE}  replace Credential/c: acl`);
  expect(exitCode).toBe(0);
});

it('a program that came with an approved plan ends its apply, also if the user has that folder on the PATH', async () => {
  const tokens = 'spec: { tokens: { default: { command: [deliver] } } }\n';
  const { edgewise, folder } = await createWorkspace({
    'work/m.yaml': `${STACK}${tokens}${toCredential('agent')}`,
    'home/deliver': '#!/bin/sh\n',
  });
  await chmod(join(folder, 'home/deliver'), 0o755);
  const env = { PATH: join(folder, 'home'), HOME: join(folder, 'home') };
  const more = { env, cwd: join(folder, 'work') };
  await edgewise('plan m.yaml -o ../home/plan.json', more);
  const refused = await edgewise('apply m.yaml --approved ../home/plan.json --yes', more);
  expect(refused).toMatchObject({ exitCode: 3, stdout: '' });
  expect(refused.stderr).toContain('home/deliver is in ../home, the folder of the approved plan, and would be used.');
});

describe('a part of an approved plan', () => {
  it('is not done while the old resource of a rotation is live', async () => {
    const stack = `${STACK}spec:\n  tokens: { default: { directory: tokens } }\n`;
    const { edgewise } = await createWorkspace({ 'm.yaml': stack + toCredential('c') });
    await edgewise('apply m.yaml --yes');
    await edgewise('plan m.yaml --rotate Credential/c -o plan.json');
    const { exitCode, stdout } = await edgewise('apply m.yaml --approved plan.json --yes');
    expect(exitCode).toBe(6);
    expect(stdout).not.toContain(DONE);
    expect(stdout).toMatch(/^Approved, but not in this plan:\n+± Credential\/c/m);
  });

  const toDescribed = (description: string, port: number) =>
    STACK + toManifest('TCPEdge', 'a', { description, hostports: [`1.tcp.example.net:${port}`] });

  it('names the fields that are done if the others differ at the service', async () => {
    const workspace = await createWorkspace({ 'm.yaml': toDescribed('old', 20001) });
    const { edgewise, write } = workspace;
    await edgewise('apply m.yaml --yes');
    await write({ 'm.yaml': toDescribed('new', 20002) });
    await edgewise('plan m.yaml -o plan.json');
    await changeByHand(workspace, 'TCPEdge/a', { description: 'new', hostports: ['1.tcp.example.net:20003'] });
    const { exitCode, stdout } = await edgewise('apply m.yaml --approved plan.json --yes --format json');
    expect(exitCode).toBe(6);
    expect(readOnlyStack(stdout)).toMatchObject({
      done: [{ address: 'TCPEdge/a', action: 'update', paths: ['description'] }],
      more: [{ address: 'TCPEdge/a', fields: [{ path: 'hostports', changed: 'live' }] }],
    });
  });

  it('names the fields that are done if the manifests no longer have the others', async () => {
    const workspace = await createWorkspace({ 'm.yaml': toDescribed('old', 20001) });
    const { edgewise, write, server } = workspace;
    await edgewise('apply m.yaml --yes');
    await write({ 'm.yaml': toDescribed('new', 20002) });
    await edgewise('plan m.yaml -o plan.json');
    await write({ 'm.yaml': toDescribed('new', 20001) });
    const [edge] = server.snapshot().resources['TCPEdge'] ?? [];
    await sendByHand(workspace, 'PATCH', `/edges/tcp/${edge?.['id']}`, { description: 'new' });
    const { exitCode, stdout } = await edgewise('apply m.yaml --approved plan.json --yes --format json');
    expect(exitCode).toBe(6);
    expect(readOnlyStack(stdout)).toMatchObject({
      done: [{ address: 'TCPEdge/a', action: 'update', paths: ['description'] }],
      less: [{ address: 'TCPEdge/a', fields: [{ path: 'hostports', changed: 'manifests' }] }],
    });
  });
});

describe('an apply after the answer yes', () => {
  const shown = { 'm.yaml': STACK + toEdge('a', 20001) };
  const gone = { 'm.yaml': STACK };

  /** Another user gives the edge the mark of another stack. */
  async function moveMarkToOtherStack(workspace: Workspace): Promise<void> {
    const [edge] = workspace.server.snapshot().resources['TCPEdge'] ?? [];
    const mark = { edgewise: { stack: 'billing', name: 'a', fields: {} } };
    await sendByHand(workspace, 'PATCH', `/edges/tcp/${edge?.['id']}`, { metadata: JSON.stringify(mark) });
  }

  it.each([
    ['apply', 'apply m.yaml --allow-deletes', 0],
    ['apply of an approved plan', 'apply m.yaml --approved plan.json --allow-deletes', 0],
    ['destroy', 'destroy m.yaml', 0],
    ['release', 'release TCPEdge/a m.yaml', 1],
    ['apply -R', 'apply -R . --allow-deletes', 0],
    ['destroy -R', 'destroy -R . --stack test', 0],
  ])(
    'writes nothing if the resource of %s was given the mark of another stack before the answer, and shows it',
    async (_, line, manifests) => {
      const workspace = await createWorkspace(shown);
      const { edgewise, write } = workspace;
      await edgewise('apply m.yaml --yes');
      if (manifests === 0) await write(gone);
      await edgewise('plan m.yaml -o plan.json --allow-deletes');
      workspace.recorder.take();
      const { exitCode, stdout } = await edgewise(line, {
        answers: [line.startsWith('destroy') ? 'test' : 'yes'],
        onAsk: () => moveMarkToOtherStack(workspace),
      });
      expect(exitCode).toBe(6);
      expect(stdout).toContain('TCPEdge/a');
      expect(stdout).toContain('it changed at the service');
      expect(stdout).toContain('Run the command again to see the new plan.');
      expect(listWrites(workspace)).toEqual([]);
    },
  );

  it('shows both values of a field that changed before the answer', async () => {
    const workspace = await createWorkspace(shown);
    const { edgewise, write } = workspace;
    await edgewise('apply m.yaml --yes');
    await write({
      'm.yaml': STACK + toManifest('TCPEdge', 'a', { hostports: ['1.tcp.example.net:20001'], description: 'v2' }),
    });
    const [edge] = workspace.server.snapshot().resources['TCPEdge'] ?? [];
    workspace.recorder.take();
    const { exitCode, stdout } = await edgewise('apply m.yaml', {
      answers: ['yes'],
      onAsk: async () => {
        await sendByHand(workspace, 'PATCH', `/edges/tcp/${edge?.['id']}`, { description: 'urgent' });
      },
    });
    expect(exitCode).toBe(6);
    expect(stdout).toContain('description: "urgent" → "v2"  (shown: (none) → "v2", it changed at the service)');
    expect(listWrites(workspace)).toEqual([]);
  });

  it('lists the changes that were made before the answer, and applies the rest', async () => {
    const workspace = await createWorkspace({ 'm.yaml': STACK + toEdge('a', 20001) + toEdge('b', 20002) });
    const { exitCode, stdout } = await workspace.edgewise('apply m.yaml --format json', {
      answers: ['yes'],
      onAsk: async () => {
        await workspace.edgewise('apply m.yaml --target TCPEdge/a --yes');
      },
    });
    expect(exitCode).toBe(0);
    const { outcomes, plan } = readOnlyStack(stdout);
    expect(outcomes).toMatchObject([{ address: 'TCPEdge/b' }]);
    expect(plan.done).toEqual([{ action: 'create', address: 'TCPEdge/a' }]);
  });

  it('does not repeat a rotation that was done before the question', async () => {
    const stack = `${STACK}spec:\n  tokens: { default: { directory: tokens } }\n${toCredential('c')}`;
    const { edgewise, write } = await createWorkspace({ 'm.yaml': stack });
    await edgewise('apply m.yaml --yes');
    await write({ 'm.yaml': stack + toEdge('z', 20009) });
    await edgewise('plan m.yaml --rotate Credential/c -o plan.json');
    await edgewise('apply m.yaml --rotate Credential/c --target Credential/c --yes');
    const { exitCode, stdout } = await edgewise('apply m.yaml --approved plan.json --rotate Credential/c', {
      answers: ['yes'],
    });
    expect(stdout).toContain(`${DONE}  replace Credential/c`);
    expect(stdout).toContain('create TCPEdge/z');
    expect(exitCode).toBe(0);
  });

  it('obeys a policy that was added before the answer', async () => {
    const policy = `---
apiVersion: edgewise/v1
kind: Policy
metadata: { name: both }
spec: { match: {}, require: plan.totals.create == 2, message: Create both. }
`;
    const edges = STACK + toEdge('a', 20001) + toEdge('b', 20002);
    const { edgewise, recorder } = await createWorkspace({ 'm.yaml': edges, 'policy/both.yaml': policy });
    const { exitCode, stdout } = await edgewise('apply m.yaml --policies policy', {
      answers: ['yes'],
      onAsk: async () => {
        await edgewise('apply m.yaml --target TCPEdge/a --yes');
        recorder.take();
      },
    });
    expect(stdout).toContain('Create both.');
    expect(exitCode).toBe(5);
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('plans once with --yes', async () => {
    const { edgewise, recorder } = await createWorkspace(shown);
    expect(await edgewise('apply m.yaml --yes')).toMatchObject({ exitCode: 0 });
    const lists = recorder.take().filter(({ method, path }) => method === 'GET' && path.startsWith('/credentials'));
    expect(lists).toHaveLength(1);
  });
});

describe('diff', () => {
  it('exits with 0 for two equal plans, and with 2 for different ones', async () => {
    const { edgewise, write, recorder } = await createApprovedPlan();
    await edgewise('plan edgewise.yaml -o again.json');
    await write({
      'edgewise.yaml': `${AFTER.replace('20003', '20007')}${toEdge('more', 20008)}${toEdge('old', 20002)}`,
    });
    await edgewise('plan edgewise.yaml -o later.json');
    recorder.take();
    expect(await edgewise('diff approved.json again.json')).toMatchObject({ exitCode: 0 });
    await expect(toTranscript(await edgewise('diff approved.json later.json'))).toMatchFileSnapshot('goldens/diff.txt');
    const json = await edgewise('diff approved.json later.json --format json');
    expect({ ...readOnlyStack(json.stdout), ok: true }).toMatchObject({ command: 'diff', same: false });
    const markdown = await edgewise('diff approved.json later.json --format markdown');
    await expect(markdown.stdout).toMatchFileSnapshot('goldens/diff.md');
    expect(recorder.take()).toEqual([]);
  });
});
