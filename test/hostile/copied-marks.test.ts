import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { sendByHand } from '../by-hand.ts';
import { NOW } from '../cli/fake-context.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';

/** Another user of the account copies the mark of a resource to one of their own, with a token that they know. */

const TOKENS = ' --token-directory tokens';
const APPLY = `apply m --yes${TOKENS}`;
const PROTECTED = { lifecycle: { protect: true } };

function toCredential(more: object = {}): string {
  return `${STACK}${toManifest('Credential', 'agent', { acl: ['bind:a.example.com'] }, more)}`;
}

function list({ server }: Workspace, kind = 'Credential') {
  return server.snapshot().resources[kind] ?? [];
}

/** Applies the manifests an hour ago, so that a resource of the other user is younger. */
async function createAccount(manifests: string): Promise<Workspace> {
  let now = new Date(NOW.getTime() - 3_600_000);
  const workspace = await createWorkspace({ 'm/edgewise.yaml': manifests }, { now: () => now });
  expect(await workspace.edgewise(APPLY, { now: () => now })).toMatchObject({ exitCode: 0 });
  now = NOW;
  return workspace;
}

/** Creates a resource of the other user with a copy of the mark. `change`: their edits of the mark. */
async function createCopy(
  workspace: Workspace,
  change: (mark: JsonObject, id: string) => JsonObject = (mark) => mark,
): Promise<{ readonly mine: string; readonly theirs: string }> {
  const [original] = list(workspace);
  const { edgewise: mark, ...user } = JSON.parse(String(original?.metadata)) as { readonly edgewise: JsonObject };
  const { id: theirs } = await sendByHand(workspace, 'POST', '/credentials', { acl: ['bind:a.example.com'] });
  const metadata = JSON.stringify({ ...user, edgewise: change(mark, String(theirs)) });
  await sendByHand(workspace, 'PATCH', `/credentials/${theirs}`, { metadata });
  return { mine: String(original?.id), theirs: String(theirs) };
}

describe('a copied mark', () => {
  it.each([
    ['unchanged', (mark: JsonObject) => mark],
    ['that claims protection', (mark: JsonObject) => ({ ...mark, protect: true })],
    ['without an id', ({ id: _, ...mark }: JsonObject) => mark],
  ])('never wins: its resource is deleted, and the original stays: %s', async (_, change) => {
    for (const more of [{}, PROTECTED]) {
      const workspace = await createAccount(toCredential(more));
      const token = await readFile(join(workspace.folder, 'tokens/agent.token'), 'utf8');
      const { mine } = await createCopy(workspace, change);
      const { exitCode, stdout } = await workspace.edgewise(APPLY);
      expect(stdout).toContain('will lose its token');
      expect(exitCode).toBe(0);
      expect(list(workspace).map(({ id }) => id)).toEqual([mine]);
      expect(await readFile(join(workspace.folder, 'tokens/agent.token'), 'utf8')).toBe(token);
      expect(await workspace.edgewise(`plan m --detailed-exitcode${TOKENS}`)).toMatchObject({ exitCode: 0 });
    }
  });

  it.each([
    ['replaces it', (mine: string) => ({ replaces: mine })],
    ['retires it', (mine: string) => ({ retires: { id: mine, at: '2020-01-01T00:00:00Z' } })],
  ])(
    'deletes no original that its manifest protects, if its mark lost that word and that of the copy %s',
    async (_, claim) => {
      const workspace = await createAccount(toCredential(PROTECTED));
      const { mine, theirs } = await createCopy(workspace, (mark, id) => ({
        ...mark,
        id,
        ...claim(String(mark['id'])),
      }));
      const { edgewise: mark } = JSON.parse(String(list(workspace).find(({ id }) => id === mine)?.metadata));
      const { protect: __, ...stripped } = mark;
      await sendByHand(workspace, 'PATCH', `/credentials/${mine}`, {
        metadata: JSON.stringify({ edgewise: stripped }),
      });
      workspace.recorder.take();
      const { exitCode, stdout, stderr } = await workspace.edgewise(APPLY);
      expect(stdout + stderr).toContain(`Credential/agent@${mine} is protected, and this plan would delete it`);
      expect(exitCode).toBe(5);
      expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
      expect(theirs).not.toBe(mine);
    },
  );

  it.each([
    ['names the copy', (mark: JsonObject, id: string) => ({ ...mark, id })],
    ['hides that a token was delivered', ({ delivered: _, id: __, ...mark }: JsonObject) => mark],
  ])('refuses a plan that would delete or replace the protected original if it %s', async (_, change) => {
    const workspace = await createAccount(toCredential(PROTECTED));
    const { mine, theirs } = await createCopy(workspace, change);
    workspace.recorder.take();
    for (const command of [APPLY, 'destroy m --yes']) {
      const { exitCode, stdout, stderr } = await workspace.edgewise(command);
      expect(stdout + stderr).toMatch(/is protected, and this plan would (delete|replace) it/);
      expect(exitCode).toBe(5);
    }
    expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(
      list(workspace)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([mine, theirs].sort());
    expect(await workspace.edgewise(`${APPLY} --allow-protected Credential/agent`)).toMatchObject({ exitCode: 0 });
    expect(list(workspace)).toHaveLength(1);
    expect(list(workspace).map(({ id }) => id)).not.toContain(theirs);
  });

  it('replaces the credential if it names the copy, because it is unknown which token was delivered', async () => {
    const workspace = await createAccount(toCredential());
    const { mine, theirs } = await createCopy(workspace, (mark, id) => ({ ...mark, id }));
    const { exitCode, stdout } = await workspace.edgewise(APPLY);
    expect(stdout).toContain('it is unknown which of the two tokens was delivered last');
    expect(exitCode).toBe(0);
    const [left, ...others] = list(workspace);
    expect(others).toEqual([]);
    expect([mine, theirs]).not.toContain(left?.id);
    const token = await readFile(join(workspace.folder, 'tokens/agent.token'), 'utf8');
    expect(token).toContain(String(left?.id).slice('cr_'.length));
  });

  it('deletes a protected credential only with consent if it claims to replace the original, and is shown', async () => {
    const forge = (replaces: unknown) => (mark: JsonObject, id: string) => ({
      ...mark,
      id,
      replaces: String(replaces),
    });
    for (const more of [PROTECTED, {}]) {
      const workspace = await createAccount(toCredential(more));
      const [original] = list(workspace);
      const { mine, theirs } = await createCopy(workspace, forge(original?.id));
      const { exitCode, stdout } = await workspace.edgewise('plan m');
      expect(stdout).toContain(`- Credential/agent  (${mine})   delete: a duplicate: ${theirs}`);
      expect(stdout).toContain('! secrets: will lose its token');
      expect(exitCode).toBe(more === PROTECTED ? 5 : 0);
    }
  });

  it('shows that the delivered credential is gone if it is on the only one left', async () => {
    const workspace = await createAccount(toCredential());
    const { mine, theirs } = await createCopy(workspace);
    await sendByHand(workspace, 'DELETE', `/credentials/${mine}`);
    const shown = await workspace.edgewise('get m');
    expect(shown.stdout).toContain(`its mark is a copy of that of ${mine}`);
    expect(shown.stdout).toContain('token not delivered');
    expect(readOnlyStack((await workspace.edgewise('get m --format json')).stdout).resources).toMatchObject([
      { id: theirs, delivered: false },
    ]);
    expect(await workspace.edgewise('drift m')).toMatchObject({ exitCode: 2 });
    const { exitCode, stdout } = await workspace.edgewise(APPLY);
    expect(stdout).toContain(
      `its mark is that of ${mine}, whose token was delivered, and that credential no longer exists`,
    );
    expect(exitCode).toBe(0);
    expect(list(workspace)).toHaveLength(1);
    expect([mine, theirs]).not.toContain(list(workspace)[0]?.id);
  });
});

const EDGES = `${STACK}${toManifest('TCPEdge', 'shop', { description: 'the shop', hostports: ['1.tcp.example.net:20001'] })}`;

describe('an edge with a copied mark', () => {
  it('is pruned by a plan that shows its hostport and its description', async () => {
    const workspace = await createAccount(EDGES);
    const [original] = list(workspace, 'TCPEdge');
    const { id } = await sendByHand(workspace, 'POST', '/edges/tcp', {
      description: 'for partners',
      hostports: ['7.tcp.example.net:20007'],
      metadata: original?.metadata,
    });
    const text = await workspace.edgewise('plan m');
    expect(text.stdout).toContain(`a duplicate: ${original?.id} has the same mark and is kept`);
    expect(text.stdout).toContain('7.tcp.example.net:20007');
    expect(text.stdout).toContain('its description is "for partners"');
    const { changes, dangers } = readOnlyStack((await workspace.edgewise('plan m --format json')).stdout);
    expect(dangers).toMatchObject({ traffic: 1 });
    expect(changes).toMatchObject([
      { action: 'delete', live: { id }, dangers: [{ danger: 'address-removed', from: ['7.tcp.example.net:20007'] }] },
      { action: 'no-op', live: { id: original?.id } },
    ]);
  });

  it('gets its own id once if it is the only one left', async () => {
    const workspace = await createAccount(EDGES);
    await workspace.write({ 'm/edgewise.yaml': EDGES.replace('the shop', 'our shop') });
    await workspace.edgewise(APPLY);
    const [original] = list(workspace, 'TCPEdge');
    expect(JSON.parse(String(original?.metadata)).edgewise.id).toBe(original?.id);
    await sendByHand(workspace, 'DELETE', `/edges/tcp/${original?.id}`);
    const { id } = await sendByHand(workspace, 'POST', '/edges/tcp', {
      description: 'our shop',
      hostports: ['1.tcp.example.net:20001'],
      metadata: original?.metadata,
    });
    expect((await workspace.edgewise('plan m')).stdout).toContain(
      `mark.id:\n      - "${original?.id}"\n      + "${id}"`,
    );
    expect(await workspace.edgewise(APPLY)).toMatchObject({ exitCode: 0 });
    expect(list(workspace, 'TCPEdge').map((one) => [one.id, JSON.parse(String(one.metadata)).edgewise.id])).toEqual([
      [id, id],
    ]);
    expect(await workspace.edgewise('plan m --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });
});

describe('the resource that other stacks find by a mark', () => {
  const BACKENDS = `${STACK}${toManifest('WeightedBackend', 'pool', { backends: { bkdhr_a: 1 }, description: 'ours' })}`;

  it('is never a copy: for a reference, and for a take-over', async () => {
    const workspace = await createAccount(BACKENDS);
    await workspace.write({ 'm/edgewise.yaml': BACKENDS.replace('ours', 'changed') });
    await workspace.edgewise(APPLY);
    const [original] = list(workspace, 'WeightedBackend');
    await sendByHand(workspace, 'DELETE', `/backends/weighted/${original?.id}`);
    await sendByHand(workspace, 'POST', '/backends/weighted', {
      backends: { bkdhr_evil: 1 },
      metadata: original?.metadata,
    });
    const other = STACK.replace('test', 'other');
    const external = toManifest('External', 'pool', { stack: 'test', resource: 'WeightedBackend/pool' });
    const edge = toManifest('TCPEdge', 'e', { backend: { backend_id: 'External/pool' } });
    await workspace.write({
      'ref/edgewise.yaml': other + external + edge,
      'take/.git/HEAD': '',
      'take/edgewise.yaml':
        other.replace('name: other', 'name: other\n  renamed_from: test') +
        toManifest('WeightedBackend', 'pool', { backends: { bkdhr_a: 1 } }),
    });
    const referred = await workspace.edgewise('plan ref');
    expect(referred.exitCode).toBe(3);
    expect(referred.stdout + referred.stderr).toContain('WeightedBackend/pool');
    const taken = await workspace.edgewise('plan take --allow-take-over test --format json');
    expect(readOnlyStack(taken.stdout).changes).toMatchObject([{ action: 'create' }]);
  });
});
