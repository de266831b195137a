import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { NOW } from '../cli/fake-context.ts';
import { createWorkspace, toEdge, toManifest, toTranscript, type Workspace } from '../cli/workspace.ts';
import { listWrites, toStack } from './tree.ts';

const API = { api: { base_url: 'https://api.test' } };
const OWN_URL = { env: { EDGEWISE_BASE_URL: '' } };
const UNKNOWN = 'is kept in this run: live/b cannot be read, and might take it over';
const TAKEN = `${toEdge('shop', 20_001)}lifecycle: { renamed_from: { stack: a, name: x } }\n`;

/** The error of the new stack, why the resource is kept, and whether the old stack prunes resources without a new stack. */
const UNREADABLE: readonly (readonly [string, Readonly<Record<string, string>>, string, boolean])[] = [
  [
    'has a key variable that is not set',
    { 'live/b/edgewise.yaml': `${toStack('b', { api: { ...API.api, key_env: 'EDGEWISE_API_KEY_TYPO' } })}${TAKEN}` },
    'is kept: the stack b takes it over as TCPEdge/shop',
    false,
  ],
  [
    'is at a base URL with a slip in it',
    { 'live/b/edgewise.yaml': `${toStack('b', { api: { base_url: 'https://apj.test' } })}${TAKEN}` },
    'is kept: the stack b takes it over as TCPEdge/shop',
    true,
  ],
  [
    'is at what is no base URL',
    { 'live/b/edgewise.yaml': `${toStack('b', { api: { base_url: 'api.test' } })}${TAKEN}` },
    'is kept: the stack b takes it over as TCPEdge/shop',
    true,
  ],
  [
    'has manifests that are no YAML',
    {
      'live/b/edgewise.yaml': toStack('b', API),
      'live/b/shop.yaml': '}{ kind: TCPEdge, lifecycle: { renamed_from: { stack: a, name: x } }\n',
    },
    UNKNOWN,
    false,
  ],
  [
    'has a file that is not there',
    { 'live/b/edgewise.yaml': toStack('b', API), 'live/b/shop.yaml': '-> nowhere.yaml' },
    UNKNOWN,
    false,
  ],
  ...[
    ['renamed_from: { stack: a, name: x }', 'renamed_from: { stack: a, nme: x }'],
    ['renamed_from: { stack: a, name: x }', 'rename_from: { stack: a, name: x }'],
    ['renamed_from: { stack: a, name: x }', 'renamed_from: a/x'],
    ['lifecycle:', 'lifecyle:'],
    ['kind: TCPEdge', 'kind: TCPEgde'],
    ['name: x }', 'name: TCPEdge/x }'],
    ['stack: a', 'stack: "\u0024{env:OLD_STACK}"'],
  ].map(
    ([right = '', wrong = '']) =>
      [
        `says ${wrong} by mistake`,
        { 'live/b/edgewise.yaml': toStack('b', API), 'live/b/shop.yaml': TAKEN.replace(right, wrong) },
        UNKNOWN,
        false,
      ] as const,
  ),
  [
    'has no document of its own',
    { 'live/b/shop.yaml': TAKEN },
    'is kept: live/b/shop.yaml, which belongs to no stack, takes it over as TCPEdge/shop',
    true,
  ],
];

describe('a move to another stack without renamed_from', () => {
  it('is shown with the line that keeps the resource, and the line does', async () => {
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('shop', 20_001)}${toEdge('other', 20_002)}`,
      'live/b/edgewise.yaml': toStack('b'),
    });
    await workspace.edgewise('apply -R live --yes');
    await workspace.write({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('other', 20_002)}`,
      'live/b/edgewise.yaml': `${toStack('b')}${toEdge('shop', 20_001)}`,
    });
    const { stdout } = await workspace.edgewise('plan -R live');
    const line = 'lifecycle: { renamed_from: { stack: a, name: shop } }';
    expect(stdout).toMatch(/If TCPEdge\/shop is the same resource, keep it: add to the document/);
    expect(stdout).toContain(line);
    await workspace.write({ 'live/b/edgewise.yaml': `${toStack('b')}${toEdge('shop', 20_001)}${line}\n` });
    workspace.recorder.take();
    await workspace.edgewise('apply -R live --yes');
    expect(listWrites(workspace)).toEqual([expect.stringMatching(/^PATCH \/edges\/tcp\//)]);
  });
});

describe('a hand-over in git', () => {
  it.each(UNREADABLE)('keeps the resource if the new stack %s', async (_, files, why, prunes) => {
    const { edgewise, write, recorder, folder } = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a', API)}${toEdge('x', 20_001)}${toEdge('y', 20_002)}`,
    });
    await edgewise('apply live/a --yes', OWN_URL);
    const links = Object.entries(files).filter(([, text]) => text.startsWith('-> '));
    const plain = Object.entries(files).filter(([, text]) => !text.startsWith('-> '));
    await write({ 'live/a/edgewise.yaml': toStack('a', API), ...Object.fromEntries(plain) });
    for (const [file, text] of links) await symlink(text.slice('-> '.length), join(folder, file));
    recorder.take();
    const { stdout } = await edgewise('apply -R live --yes --allow-deletes', OWN_URL);
    expect(stdout).toMatch(/^warning\[kept-[a-z-]+\]: TCPEdge\/x .* is in no manifest, and is kept/m);
    expect(stdout).toContain(why);
    const deletes = recorder.take().filter(({ method }) => method === 'DELETE');
    expect(deletes, 'y is handed over to nobody').toHaveLength(prunes ? 1 : 0);
    if (!prunes) expect(stdout).toMatch(/^warning\[kept-prune\]: TCPEdge\/y .* might take it over$/m);
  });

  it('names a second resource with the old mark, and deletes it: the new stack has its own', async () => {
    const { edgewise, write, server, recorder } = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toManifest('WeightedBackend', 'x', { backends: { bkdhr_1: 1 } })}`,
      'live/b/edgewise.yaml': toStack('b'),
    });
    await edgewise('apply live/a --yes');
    const [{ metadata, backends } = {}] = server.snapshot().resources?.['WeightedBackend'] ?? [];
    const taken = { lifecycle: { renamed_from: { stack: 'a', name: 'x' } } };
    await write({
      'live/a/edgewise.yaml': toStack('a'),
      'live/b/edgewise.yaml': `${toStack('b')}${toManifest('WeightedBackend', 'pool', { backends: { bkdhr_1: 1 } }, taken)}`,
    });
    expect((await edgewise('apply -R live --yes')).exitCode).toBe(0);
    await sendByHand({ server }, 'POST', '/backends/weighted', { metadata, backends });
    recorder.take();
    const alone = await edgewise('plan live/a --allow-deletes');
    const all = await edgewise('plan -R live --allow-deletes');
    for (const { stdout } of [alone, all]) expect(stdout).toMatch(/^- WeightedBackend\/x .* delete/m);
    expect((await edgewise('apply -R live --yes --allow-deletes')).exitCode).toBe(0);
    expect(recorder.take().filter(({ method }) => method === 'DELETE')).toHaveLength(1);
    expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
    expect(server.snapshot().resources?.['WeightedBackend']).toMatchObject([
      { metadata: expect.stringContaining('pool') },
    ]);
  });

  it('moves the mark, and shows its source; the old stack deletes nothing', async () => {
    const { edgewise, write } = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}`,
      'live/b/edgewise.yaml': toStack('b'),
    });
    await edgewise('apply live/a --yes');
    await write({ 'live/a/edgewise.yaml': toStack('a'), 'live/b/edgewise.yaml': `${toStack('b')}${TAKEN}` });
    await expect(toTranscript(await edgewise('apply -R live --yes'))).toMatchFileSnapshot('goldens/hand-over.txt');
    expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
    expect((await edgewise('drift live/a')).exitCode).toBe(0);
  });

  it('frees a value for the old stack in the same run', async () => {
    const { edgewise, write } = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}`,
      'live/b/edgewise.yaml': toStack('b'),
    });
    await edgewise('apply live/a --yes');
    const taken = `${toEdge('shop', 20_002)}lifecycle: { renamed_from: { stack: a, name: x } }\n`;
    await write({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('y', 20_001)}`,
      'live/b/edgewise.yaml': `${toStack('b')}${taken}`,
    });
    const alone = await edgewise('plan -R live --stack a');
    expect(alone.exitCode).toBe(5);
    expect(alone.stdout).toContain('Apply the stack b first, which takes it over, or both in one run.');
    expect((await edgewise('apply -R live --yes')).exitCode).toBe(0);
    expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it('exchanges two resources whose values stay, with a third value in between', async () => {
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}`,
      'live/b/edgewise.yaml': `${toStack('b')}${toEdge('y', 20_002)}`,
    });
    const { edgewise, write, server } = workspace;
    await edgewise('apply -R live --yes');
    const before = server.snapshot().resources;
    const exchange = (port: number): Promise<void> =>
      write({
        'live/a/edgewise.yaml': `${toStack('a')}${toEdge('y', 20_001)}lifecycle: { renamed_from: { stack: b, name: y } }\n`,
        'live/b/edgewise.yaml': `${toStack('b')}${toEdge('x', port)}lifecycle: { renamed_from: { stack: a, name: x } }\n`,
      });
    await exchange(20_002);
    const direct = await edgewise('apply -R live --yes');
    expect(direct.exitCode).toBe(5);
    expect(direct.stdout).toMatch(/^refused.value-exchange.: TCPEdge\/x: the stacks b and a exchange unique values/m);
    expect(server.snapshot().resources).toEqual(before);
    for (const port of [20_003, 20_002]) {
      await exchange(port);
      expect((await edgewise('apply -R live --yes')).exitCode).toBe(0);
    }
    expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it('is applied from a plan of each stack, in any order', async () => {
    const { edgewise, write } = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}`,
      'live/b/edgewise.yaml': toStack('b'),
    });
    await edgewise('apply live/a --yes');
    await write({ 'live/a/edgewise.yaml': toStack('a'), 'live/b/edgewise.yaml': `${toStack('b')}${TAKEN}` });
    await edgewise('plan -R live -o plans');
    for (const name of ['a', 'b', 'a'])
      expect((await edgewise(`apply live/${name} --approved plans/${name}.json --yes`)).exitCode).toBe(0);
    expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it('is refused while the old stack still describes the resource, here or there', async () => {
    const { edgewise, recorder } = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}`,
      'live/b/edgewise.yaml': `${toStack('b')}${TAKEN}`,
      'other/edgewise.yaml': `${toStack('c', { handed_over: ['TCPEdge/y', 'TCPEdge/z'] })}${toEdge('y', 20_009)}`,
    });
    await edgewise('apply live/a --yes');
    recorder.take();
    const { stdout, exitCode } = await edgewise('apply -R live --yes');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('b takes over TCPEdge/x of the stack a, and a document in live/a still describes it.');
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    const validated = await edgewise('validate other');
    expect(validated.stdout).toContain('spec.handed_over names TCPEdge/y, which a document still describes');
    expect(validated.stdout).not.toContain('names TCPEdge/z');
  });

  it('is refused if the old stack describes the resource again before the answer', async () => {
    const old = `${toStack('a')}${toEdge('x', 20_001)}`;
    const { edgewise, write, recorder } = await createWorkspace({
      'live/a/edgewise.yaml': old,
      'live/b/edgewise.yaml': `${toStack('b')}${TAKEN}`,
    });
    await edgewise('apply live/a --yes');
    await write({ 'live/a/edgewise.yaml': toStack('a') });
    recorder.take();
    const onAsk = () => write({ 'live/a/edgewise.yaml': old });
    const { stderr, exitCode } = await edgewise('apply live/b', { answers: ['yes'], onAsk });
    expect(stderr).toContain('b takes over TCPEdge/x of the stack a, and a document in live/a still describes it.');
    expect(exitCode).toBe(3);
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('takes over, of several duplicates, the one that the old stack would keep: the credential whose token is in use', async () => {
    const credential = toManifest('Credential', 'agent', {});
    const taken = toManifest('Credential', 'agent', {}, { lifecycle: { renamed_from: { stack: 'a', name: 'agent' } } });
    const [a, b] = ['a', 'b'].map((name) => toStack(name, { tokens: { default: { directory: 'tokens' } } }));
    let elapsedMs = 0;
    const now = (): Date => new Date(NOW.getTime() + elapsedMs);
    const { edgewise, write, server } = await createWorkspace(
      { 'live/a/edgewise.yaml': `${a}${credential}`, 'live/b/edgewise.yaml': String(b) },
      { now },
    );
    await edgewise('apply live/a --yes', { now });
    elapsedMs = 60_000;
    // The rotation is interrupted before it deletes the old one.
    const transport = async (request: Request): Promise<Response> =>
      request.method === 'DELETE' ? new Response('{}', { status: 403 }) : server.handle(request);
    await edgewise('apply live/a --yes --rotate Credential/agent', { now, transport });
    const [old, inUse] = (server.snapshot().resources?.['Credential'] ?? []).map(({ id }) => id);
    expect((await edgewise('plan live/a', { now })).stdout).toMatch(new RegExp(`^- .*${old}`, 'm'));
    await write({ 'live/a/edgewise.yaml': String(a), 'live/b/edgewise.yaml': `${b}${taken}` });
    const { stdout } = await edgewise('plan -R live', { now });
    expect(stdout).toMatch(new RegExp(`^» Credential/agent .*${inUse}`, 'm'));
    expect(stdout).toContain('1 to take over, 0 to adopt, 0 to create');
    expect(stdout).not.toContain(String(old));
  });

  it('does not remove protection', async () => {
    const { edgewise, write } = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}lifecycle: { protect: true }\n`,
      'live/b/edgewise.yaml': toStack('b'),
    });
    await edgewise('apply live/a --yes');
    await write({ 'live/a/edgewise.yaml': toStack('a'), 'live/b/edgewise.yaml': `${toStack('b')}${TAKEN}` });
    const { stdout, exitCode } = await edgewise('apply live/b --yes');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('is protected by the stack a, and would no longer be protected');
  });

  it('leaves released resources alone, also in a destroy', async () => {
    const { edgewise, write, recorder } = await createWorkspace({
      'a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}${toEdge('y', 20_002)}`,
    });
    await edgewise('apply a --yes');
    await write({ 'a/edgewise.yaml': `${toStack('a', { handed_over: ['TCPEdge/x'] })}${toEdge('y', 20_002)}` });
    recorder.take();
    expect((await edgewise('plan a --detailed-exitcode')).exitCode).toBe(0);
    expect((await edgewise('destroy a --yes')).exitCode).toBe(0);
    expect(recorder.take().filter(({ method }) => method === 'DELETE')).toHaveLength(1);
    expect((await edgewise('release TCPEdge/x a --yes')).exitCode).toBe(0);
  });
});

/** A stack with a credential that is handed over before its token was delivered. */
async function createUndeliveredCredential(): Promise<Workspace> {
  const sink = { tokens: { default: { directory: '../../tokens' } } };
  const workspace = await createWorkspace({
    'live/a/edgewise.yaml': `${toStack('a', sink)}${toManifest('Credential', 'agent', {})}`,
    'live/b/edgewise.yaml': toStack('b', sink),
  });
  // The apply ends before it records that the token was delivered.
  const transport = async (request: Request): Promise<Response> =>
    request.method === 'PATCH' ? new Response('{}', { status: 403 }) : workspace.recorder.transport(request);
  expect((await workspace.edgewise('apply live/a --yes', { transport })).exitCode).toBe(1);
  await rm(join(workspace.folder, 'tokens'), { recursive: true });
  const taken = { lifecycle: { renamed_from: { stack: 'a', name: 'agent' } } };
  await workspace.write({
    'live/a/edgewise.yaml': toStack('a', sink),
    'live/b/edgewise.yaml': `${toStack('b', sink)}${toManifest('Credential', 'agent', {}, taken)}`,
  });
  return workspace;
}

describe('a credential whose token was not delivered', () => {
  it.each([['apply -R live --yes'], ['apply live/b --yes'], ['apply -R live --approved plans --yes']])(
    'is delivered by the run that hands it over: %s',
    async (line) => {
      const { edgewise, server, folder } = await createUndeliveredCredential();
      const [lost] = server.snapshot().resources?.['Credential'] ?? [];
      const plan = await edgewise('plan -R live -o plans');
      expect(plan.stdout).toMatch(
        /^± Credential\/agent .* replace: taken over from the stack a, .*; nothing shows that/m,
      );
      const applied = await edgewise(line);
      expect(applied.exitCode, applied.stderr).toBe(0);
      const [made, ...more] = server.snapshot().resources?.['Credential'] ?? [];
      expect(more).toEqual([]);
      expect(made?.['id']).not.toBe(lost?.['id']);
      expect(made?.['metadata']).toContain('"stack":"b","name":"agent","delivered":true');
      const token = await readFile(join(folder, 'tokens/agent.token'), 'utf8');
      expect(token.trim()).toMatch(new RegExp(`^${String(made?.['id']).replace('cr_', '')}_`));
      expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
    },
  );

  it.each([
    ['by its name', {}],
    ['by its id', { lifecycle: { adopt: 'ID' } }],
  ])('is delivered if it is taken over from a former name %s', async (_, more) => {
    const { edgewise, server, folder, write } = await createUndeliveredCredential();
    const [lost] = server.snapshot().resources?.['Credential'] ?? [];
    const stack = toStack('b', { tokens: { default: { directory: '../../tokens' } } });
    const text = `${stack.replace('"name":"b"', '"name":"b","renamed_from":"a"')}${toManifest('Credential', 'agent', {}, more)}`;
    await write({ 'live/b/edgewise.yaml': text.replace('ID', String(lost?.['id'])) });
    const applied = await edgewise('apply live/b --allow-take-over a --yes');
    expect(applied.exitCode, applied.stderr).toBe(0);
    const [made] = server.snapshot().resources?.['Credential'] ?? [];
    expect(made?.['metadata']).toContain('"stack":"b","name":"agent","delivered":true');
    const token = await readFile(join(folder, 'tokens/agent.token'), 'utf8');
    expect(token.trim()).toMatch(new RegExp(`^${String(made?.['id']).replace('cr_', '')}_`));
  });

  it('fails the run if it cannot be delivered', async () => {
    const { edgewise, server, folder } = await createUndeliveredCredential();
    await writeFile(join(folder, 'tokens'), '');
    const { exitCode } = await edgewise('apply -R live --yes');
    expect(exitCode).not.toBe(0);
    expect(server.snapshot().resources?.['Credential']).toMatchObject([{ metadata: expect.stringContaining('"a"') }]);
  });
});

describe('a module of a resource that is handed over', () => {
  it('is removed when the mark is taken, and not before', async () => {
    const toUser = (more: object, rest: object = {}): string =>
      toManifest('TCPEdge', 'x', { hostports: ['1.tcp.example.net:20001'], ...more }, rest);
    const backend = { backend: { backend_id: 'bkdhr_1' } };
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toUser(backend)}`,
      'live/b/edgewise.yaml': toStack('b'),
    });

    await workspace.edgewise('apply live/a --yes');
    const taken = { lifecycle: { renamed_from: { stack: 'a', name: 'x' } } };
    await workspace.write({
      'live/a/edgewise.yaml': toStack('a'),
      'live/b/edgewise.yaml': `${toStack('b')}${toUser({}, taken)}`,
    });
    const transport = async (request: Request): Promise<Response> =>
      request.method === 'DELETE' ? new Response('{}', { status: 403 }) : workspace.recorder.transport(request);
    workspace.recorder.take();
    await workspace.edgewise('apply -R live --yes', { transport });
    expect(listWrites(workspace).map((one) => one.replace(/_\w+/, ''))).toEqual(['PATCH /edges/tcp/edgtcp']);
    expect((await workspace.edgewise('apply -R live --yes')).exitCode).toBe(0);
    expect(listWrites(workspace).map((one) => one.replace(/_\w+/, ''))).toEqual(['DELETE /edges/tcp/edgtcp/backend']);
    expect((await workspace.edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });
});

describe('the old stack of a hand-over, planned alone', () => {
  const BEFORE = { 'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}${toEdge('y', 20_002)}` };
  const AFTER = { 'live/a/edgewise.yaml': toStack('a'), 'live/b/edgewise.yaml': `${toStack('b')}${TAKEN}` };

  async function handOver(more: Readonly<Record<string, string>>): Promise<Workspace> {
    const workspace = await createWorkspace(BEFORE);
    await workspace.edgewise('apply live/a --yes');
    await workspace.write({ ...AFTER, ...more });
    return workspace;
  }

  it('keeps what another stack of the repository takes over, and nothing else', async () => {
    const { edgewise, recorder } = await handOver({ '.git/HEAD': '' });
    recorder.take();
    const { stdout, exitCode } = await edgewise('apply live/a --yes --allow-deletes');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^warning\[kept-for-hand-over\]: TCPEdge\/x \(\w+\) is in no manifest, and is kept: the stack b takes it over as TCPEdge\/shop\n +help: Apply the stack in live\/b\. The order does not matter\.$/m,
    );
    expect(stdout.match(/kept-for-hand-over/g)).toHaveLength(1);
    expect(recorder.take().filter(({ method }) => method === 'DELETE')).toHaveLength(1);
    await edgewise('apply live/b --yes');
    expect((await edgewise('plan live/a --detailed-exitcode')).exitCode).toBe(0);
  });

  it('says that it leaves out an approved delete, and for whom, if the other stack was merged later', async () => {
    const workspace = await handOver({ '.git/HEAD': '', 'live/b/edgewise.yaml': toStack('b') });
    const { edgewise, write } = workspace;
    await edgewise('plan live/a -o approved.json');
    await write(AFTER);
    listWrites(workspace);
    const line = 'apply live/a --approved approved.json --allow-deletes --yes';
    const { stdout } = await edgewise(line);
    expect(stdout).toContain('Changed since then: what the run leaves out (1).');
    expect(stdout).toMatch(/^ +now: left out$/m);
    expect(stdout).toMatch(/TCPEdge\/x \(\w+\) is in no manifest, and is kept: the stack b takes it over/);
    expect(stdout).not.toMatch(/changed at the service|what is live/);
    const [{ comparison }] = JSON.parse((await edgewise(`${line} --format json`)).stdout).stacks;
    expect(comparison.less).toMatchObject([{ address: 'TCPEdge/x', action: 'delete', changed: 'run' }]);
    expect(comparison.diagnostics).toMatchObject([{ code: 'kept-for-hand-over' }]);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('looks below the working folder without a repository, and at no checkout inside of it', async () => {
    const { edgewise, write } = await handOver({});
    const isKept = async () => (await edgewise('plan live/a --allow-deletes')).stdout.includes('kept-for-hand-over');
    expect(await isKept()).toBe(true);
    await write({ 'live/b/.git/HEAD': '' });
    expect(await isKept()).toBe(false);
  });

  it('deletes although another stack of the repository is broken, unlike a run over both', async () => {
    const { edgewise, write, recorder } = await handOver({ '.git/HEAD': '' });
    await write({ 'live/b/edgewise.yaml': toStack('b'), 'live/b/shop.yaml': `}{${TAKEN}` });
    recorder.take();
    const { stdout, exitCode } = await edgewise('apply -R live --yes --allow-deletes');
    expect(exitCode).toBe(1);
    expect(recorder.take().filter(({ method }) => method === 'DELETE')).toEqual([]);
    expect(stdout).toContain('To delete it now, apply this stack alone: edgewise apply live/a');
    expect((await edgewise('apply live/a --yes --allow-deletes')).exitCode).toBe(0);
    expect(recorder.take().filter(({ method }) => method === 'DELETE')).toHaveLength(2);
  });
});
