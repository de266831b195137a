import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { sendByHand } from '../by-hand.ts';
import { NOW } from '../cli/fake-context.ts';
import { createWorkspace, STACK, toManifest } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';

/** A mark decides which stack owns a resource. Each member of this table is a live resource, and every command must agree on which. */

const POOL = { backends: { bkdhr_a: 1 } };

interface Member {
  /** The metadata, from the mark and the id of the original. */
  readonly metadata: (mark: JsonObject, id: string) => unknown;
  /** Whether the stack `test` owns it. It owns a copy too, and deletes it. */
  readonly isOwned: boolean;
}

const MEMBERS: Readonly<Record<string, Member>> = {
  'without metadata': { metadata: () => '', isOwned: false },
  'with metadata of its user': { metadata: () => ({ stack: 'test', name: 'pool' }), isOwned: false },
  'with a copy of the mark': { metadata: (edgewise) => ({ edgewise }), isOwned: true },
  'with a copy that names the original': { metadata: (mark, id) => ({ edgewise: { ...mark, id } }), isOwned: true },
  'with a mark of another name': { metadata: (mark) => ({ edgewise: { ...mark, name: 'gone' } }), isOwned: true },
  'of another stack': { metadata: (mark) => ({ edgewise: { ...mark, stack: 'other' } }), isOwned: false },
  'of a stack in capitals': { metadata: (mark) => ({ edgewise: { ...mark, stack: 'TEST' } }), isOwned: false },
  'of a stack with a space': { metadata: (mark) => ({ edgewise: { ...mark, stack: 'test ' } }), isOwned: false },
  'of a longer stack': { metadata: (mark) => ({ edgewise: { ...mark, stack: 'test2' } }), isOwned: false },
  'of the stack __proto__': {
    metadata: (mark) => `{"edgewise":${JSON.stringify({ ...mark, stack: '__proto__' })}}`,
    isOwned: false,
  },
  'with a mark that is a list': { metadata: (mark) => ({ edgewise: [mark] }), isOwned: false },
  'with a mark whose stack is a list': {
    metadata: (mark) => ({ edgewise: { ...mark, stack: ['test'] } }),
    isOwned: false,
  },
  'with a mark in its text': { metadata: (mark) => `"${JSON.stringify({ edgewise: mark })}`, isOwned: false },
};

/** A stack with a backend that was applied an hour ago, and a younger resource of another user. */
async function createAccount({ metadata }: Member) {
  let now = new Date(NOW.getTime() - 3_600_000);
  const manifests = STACK + toManifest('WeightedBackend', 'pool', POOL);
  const workspace = await createWorkspace({ 'm/edgewise.yaml': manifests }, { now: () => now });
  expect(await workspace.edgewise('apply m --yes', { now: () => now })).toMatchObject({ exitCode: 0 });
  now = NOW;
  const [original] = workspace.server.snapshot().resources['WeightedBackend'] ?? [];
  const { edgewise: mark } = JSON.parse(String(original?.metadata)) as { readonly edgewise: JsonObject };
  const made = metadata(mark, String(original?.id));
  const { id } = await sendByHand(workspace, 'POST', '/backends/weighted', {
    ...POOL,
    metadata: typeof made === 'string' ? made : JSON.stringify(made),
  });
  return { ...workspace, mine: String(original?.id), theirs: String(id) };
}

type Account = Awaited<ReturnType<typeof createAccount>>;

async function readJson({ edgewise }: Account, line: string) {
  return readOnlyStack((await edgewise(`${line} --format json`)).stdout);
}

/** Lists the ids of live resources that a plan would change. */
async function listPlanned(account: Account, line: string): Promise<readonly string[]> {
  const { changes } = await readJson(account, line);
  return changes
    .filter(({ action }: { readonly action: string }) => action !== 'no-op')
    .map(({ live }: { readonly live?: { readonly id: string } }) => live?.id)
    .sort();
}

describe.each(Object.entries(MEMBERS))('a resource %s', (_, member) => {
  it(`is ${member.isOwned ? 'owned by the stack' : 'left alone'} for every command`, async () => {
    const account = await createAccount(member);
    const { mine, theirs } = account;
    const owned = (member.isOwned ? [mine, theirs] : [mine]).sort();
    const listed = (await readJson(account, 'get m')).resources.map(({ id }: { readonly id: string }) => id).sort();
    expect(listed).toEqual(owned);
    expect(await listPlanned(account, 'plan m --allow-deletes')).toEqual(member.isOwned ? [theirs] : []);
    const drift = await readJson(account, 'drift m');
    const unowned = drift.unowned.map(({ id }: { readonly id: string }) => id);
    expect(unowned).toEqual(member.isOwned ? [] : [theirs]);
    expect(await account.edgewise('destroy m --yes')).toMatchObject({ exitCode: 0 });
    const left = (account.server.snapshot().resources['WeightedBackend'] ?? []).map(({ id }) => String(id));
    expect(left).toEqual(member.isOwned ? [] : [theirs]);
  });

  it('is not found by another stack by the name of the original', async () => {
    const account = await createAccount(member);
    const other = STACK.replace('test', 'asking');
    await account.write({
      'ref/edgewise.yaml': `${other}${toManifest('External', 'pool', { stack: 'test', resource: 'WeightedBackend/pool' })}${toManifest('TCPEdge', 'e', { backend: { backend_id: 'External/pool' } })}`,
      'take/.git/HEAD': '',
      'take/edgewise.yaml': `${other}${toManifest('WeightedBackend', 'pool', POOL, { lifecycle: { renamed_from: { stack: 'test', name: 'pool' } } })}`,
    });
    const referring = await readJson(account, 'plan ref');
    expect(JSON.stringify(referring.changes)).toContain(account.mine);
    expect(JSON.stringify(referring.changes)).not.toContain(account.theirs);
    expect(await listPlanned(account, 'plan take')).toEqual([account.mine]);
  });

  it('is not exported in place of the original', async () => {
    const account = await createAccount(member);
    const { stdout } = await account.edgewise('export --owner test');
    expect(stdout).toContain(account.mine);
    if (member.isOwned && !/name: gone/.test(stdout))
      expect(stdout).toMatch(new RegExp(`# Left out: .*${account.theirs}`));
  });
});

describe('an export', () => {
  it('keeps the resource that a plan keeps, although a copy is older', async () => {
    const account = await createAccount({ metadata: () => '', isOwned: false });
    const { mine, theirs } = account;
    // The resource of the stack is the younger one, and its mark names it. The older one has a copy.
    await sendByHand(account, 'PATCH', `/backends/weighted/${mine}`, { description: 'the copy' });
    const [original] = account.server.snapshot().resources['WeightedBackend'] ?? [];
    const { edgewise: mark } = JSON.parse(String(original?.metadata)) as { readonly edgewise: JsonObject };
    const metadata = JSON.stringify({ edgewise: { ...mark, id: theirs } });
    for (const id of [mine, theirs]) await sendByHand(account, 'PATCH', `/backends/weighted/${id}`, { metadata });
    expect(await listPlanned(account, 'plan m --allow-deletes')).toContain(mine);
    const { stdout } = await account.edgewise('export --owner test');
    expect(stdout).toMatch(new RegExp(`# Left out: .*${mine}`));
    expect(stdout).not.toContain('the copy');
  });
});

describe('the sources', () => {
  it('compare the stack and the name of a mark in one place', () => {
    const comparing = globSync('src/**/*.ts').filter((file) =>
      /\bmark\??\.(?:stack|name) (?:===|!==)/.test(readFileSync(file, 'utf8')),
    );
    expect(comparing).toEqual(['src/model/ownership.ts']);
  });
});
