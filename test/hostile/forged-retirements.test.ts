import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { sendByHand } from '../by-hand.ts';
import { NOW } from '../cli/fake-context.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from '../cli/workspace.ts';

/** Another user of the account writes marks that claim that a credential is an old one, and retires. */

const TOKENS = ' --token-directory tokens';
const APPLY = `apply m --yes${TOKENS}`;
const PAST = '2020-01-01T00:00:00Z';
const FUTURE = '2099-01-01T00:00:00Z';

function listIds({ server }: Workspace): readonly string[] {
  return (server.snapshot().resources['Credential'] ?? []).map(({ id }) => String(id)).sort();
}

function readMark({ server }: Workspace, id: string): JsonObject {
  const found = server.snapshot().resources['Credential']?.find((one) => one.id === id);
  return (JSON.parse(String(found?.metadata)) as { readonly edgewise: JsonObject }).edgewise; // set by an apply
}

/** Creates a credential of the other user, with the mark that `create` returns for its id. */
async function createForgery(workspace: Workspace, create: (id: string) => JsonObject): Promise<string> {
  const { id } = await sendByHand(workspace, 'POST', '/credentials', { acl: ['bind:a.example.com'] });
  const metadata = JSON.stringify({ edgewise: create(String(id)) });
  await sendByHand(workspace, 'PATCH', `/credentials/${id}`, { metadata });
  return String(id);
}

const toManifestText = (more: object) => toManifest('Credential', 'agent', { acl: ['bind:a.example.com'] }, more);

/** Creates a credential that was delivered an hour ago, and if `isRotated` an old one of it. */
async function createAccount({ isProtected = false, isRotated = false } = {}) {
  let now = new Date(NOW.getTime() - 3_600_000);
  const lifecycle = { keep_old_for: '24h', ...(isProtected && { protect: true }) };
  const workspace = await createWorkspace(
    { 'm/edgewise.yaml': `${STACK}${toManifestText({ lifecycle })}` },
    { now: () => now },
  );
  const run = (line: string) => workspace.edgewise(line, { now: () => now });
  expect(await run(APPLY)).toMatchObject({ exitCode: 0 });
  const [first = ''] = listIds(workspace);
  if (isRotated) expect(await run(`${APPLY} --rotate Credential/agent`)).toMatchObject({ exitCode: 0 });
  const current = listIds(workspace).find((id) => !isRotated || id !== first) ?? '';
  now = NOW;
  return { workspace, current, old: isRotated ? first : undefined };
}

/** The mark of another credential, which claims that the credential of the stack retires. `id`: its own id. */
const toForged = (id: string, mine: string): JsonObject => ({
  stack: 'test',
  name: 'agent',
  delivered: true,
  id,
  retires: { id: mine, at: PAST },
});

describe('a forged retirement', () => {
  it.each<readonly [string, (id: string, mine: string) => JsonObject]>([
    ['in the mark of another stack', (id, mine) => ({ ...toForged(id, mine), stack: 'evil' })],
    ['in a mark that names another resource', (_, mine) => toForged(mine, mine)],
    ['in the mark of another name', (id, mine) => ({ ...toForged(id, mine), name: 'other' })],
    [
      'in a mark without an id',
      (_, mine) => ({ stack: 'test', name: 'agent', delivered: true, retires: { id: mine, at: PAST } }),
    ],
    [
      'in a mark that was not delivered',
      (id, mine) => ({ stack: 'test', name: 'agent', id, retires: { id: mine, at: PAST } }),
    ],
    ['at an invalid time', (id, mine) => ({ ...toForged(id, mine), retires: { id: mine, at: 'now' } })],
  ])('%s deletes nothing of the stack that was in use', async (_, create) => {
    const { workspace, current } = await createAccount({ isProtected: true });
    const token = await readFile(join(workspace.folder, 'tokens/agent.token'), 'utf8');
    await createForgery(workspace, (id) => create(id, current));
    await workspace.edgewise(APPLY);
    expect(listIds(workspace)).toContain(current);
    expect(await readFile(join(workspace.folder, 'tokens/agent.token'), 'utf8')).toBe(token);
  });

  it('in the mark of the own credential, of a resource of another stack or of none, changes neither', async () => {
    const { workspace, current } = await createAccount();
    const theirs = await createForgery(workspace, (id) => ({
      stack: 'theirs',
      name: 'agent',
      delivered: true,
      id,
      retiring: true,
    }));
    const { id: unmanaged } = await sendByHand(workspace, 'POST', '/credentials', {});
    const mark = readMark(workspace, current);
    for (const id of [theirs, String(unmanaged)]) {
      const metadata = JSON.stringify({ edgewise: { ...mark, retires: { id, at: PAST } } });
      await sendByHand(workspace, 'PATCH', `/credentials/${current}`, { metadata });
      workspace.recorder.take();
      for (const line of [APPLY, `${APPLY} --retire Credential/agent`, `${APPLY} --rotate Credential/agent`]) {
        await workspace.edgewise(line);
        expect(listIds(workspace)).toEqual(expect.arrayContaining([theirs, String(unmanaged)]));
      }
      const touched = workspace.recorder.take().filter(({ method, path }) => method !== 'GET' && path.includes(id));
      expect(touched).toEqual([]);
    }
  });

  it('of a protected credential is refused before any write, and of another one is shown with its token', async () => {
    for (const isProtected of [true, false]) {
      const { workspace, current } = await createAccount({ isProtected });
      const mark = readMark(workspace, current);
      await createForgery(workspace, (id) => ({ ...mark, id, retires: { id: current, at: PAST } }));
      const { exitCode, stdout } = await workspace.edgewise(`plan m${TOKENS}`);
      expect(stdout).toContain(`Credential/agent@${current} will lose its token`);
      expect(exitCode).toBe(isProtected ? 5 : 0);
      if (!isProtected) continue;
      workspace.recorder.take();
      expect(await workspace.edgewise(APPLY)).toMatchObject({ exitCode: 5 });
      expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    }
  });

  it('does not take the protection of the credential that it names', async () => {
    const { workspace, current } = await createAccount({ isProtected: true });
    const mark = readMark(workspace, current);
    await createForgery(workspace, (id) => ({ ...mark, id, retires: { id: current, at: FUTURE } }));
    expect(await workspace.edgewise(APPLY)).toMatchObject({ exitCode: 0 });
    expect(readMark(workspace, current)).toMatchObject({ protect: true, retiring: true });
    expect(await workspace.edgewise(`${APPLY} --retire Credential/agent`)).toMatchObject({ exitCode: 5 });
    expect(listIds(workspace)).toContain(current);
  });

  it('by two marks that name each other deletes neither as an old one', async () => {
    const { workspace, current } = await createAccount({ isProtected: true });
    const mark = readMark(workspace, current);
    const theirs = await createForgery(workspace, (id) => ({ ...mark, id, retires: { id: current, at: PAST } }));
    const metadata = JSON.stringify({ edgewise: { ...mark, retires: { id: theirs, at: PAST } } });
    await sendByHand(workspace, 'PATCH', `/credentials/${current}`, { metadata });
    const { exitCode, stdout } = await workspace.edgewise(`plan m${TOKENS}`);
    expect(stdout).not.toContain('an old one');
    expect(exitCode).toBe(5);
  });
});

describe('a copied mark', () => {
  it.each(['new', 'old'] as const)('of the %s one is pruned, and both stay', async (which) => {
    const { workspace, current, old = '' } = await createAccount({ isRotated: true });
    const theirs = await createForgery(workspace, () => readMark(workspace, which === 'new' ? current : old));
    const { stdout } = await workspace.edgewise(`plan m${TOKENS}`);
    expect(stdout).toContain(`- Credential/agent  (${theirs})`);
    expect(await workspace.edgewise(APPLY)).toMatchObject({ exitCode: 0 });
    expect(listIds(workspace)).toEqual([current, old].sort());
    expect(await workspace.edgewise(`plan m --detailed-exitcode${TOKENS}`)).toMatchObject({ exitCode: 0 });
  });
});
