import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toManifest } from '../cli/workspace.ts';
import { changePlan, readOnlyStack } from '../results.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L a@example.com';
const CERTIFICATE = { ssh_certificate_authority_id: 'sshca_one', public_key: KEY, principals: ['alice'] };
const RESTRICTION = { type: 'endpoints', enforced: true, ip_policy_ids: ['ipp_one', 'ipp_two'] };
const ACL = { acl: ['bind:a.test'] };
const OLD_TOKEN = 'agents with the old token are disconnected';

/** Applies the first state of a stack, and plans the next one. */
async function planNext(from: string, to: string, options = '') {
  const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': STACK + from });
  expect(await edgewise('apply --yes --token-directory tokens')).toMatchObject({ exitCode: 0 });
  await write({ 'edgewise.yaml': STACK + to });
  const { stdout } = await edgewise(`plan --format json --token-directory tokens ${options}`);
  return readOnlyStack(stdout);
}

/** Lists the dangers of each change that is not a no-op. */
async function listDangers(from: string, to: string, options = ''): Promise<readonly object[]> {
  const plan = await planNext(from, to, options);
  const changes: readonly { dangers?: readonly object[] }[] = plan.changes;
  return changes.flatMap(({ dangers = [] }) => dangers);
}

describe('the dangers of', () => {
  it('a create are its tokens, with their sinks, and no restrictions', async () => {
    const token = { group: 'secrets', danger: 'token', path: 'token', to: 'the folder tokens' };
    expect(await listDangers('', toManifest('TCPEdge', 'one', {}))).toEqual([]);
    expect(await listDangers('', toManifest('Credential', 'one', ACL))).toEqual([token]);
    // Open on purpose: the plan lists it, without alarm.
    expect(await listDangers('', toManifest('Credential', 'one', {}))).toEqual([token]);
    expect((await planNext('', toManifest('Credential', 'one', {}))).changes).toMatchObject([
      { isOpenToEveryone: true },
    ]);
    expect(await listDangers('', toManifest('Credential', 'one', { acl: [] }))).toEqual([
      { group: 'secrets', danger: 'unrestricted', path: 'acl', consequence: 'it is empty' },
      token,
    ]);
  });

  it('a rotation are the new token, its sink, and who uses the old one', async () => {
    const one = toManifest('Credential', 'one', ACL);
    expect(await listDangers(one, one, '--rotate Credential/one')).toEqual([
      { group: 'secrets', danger: 'token', path: 'token', to: 'the folder tokens', consequence: OLD_TOKEN },
    ]);
  });

  it('a delete are its hostports, its restriction and its token', async () => {
    const edge = toManifest('TCPEdge', 'one', {
      hostports: ['a.test:1'],
      ip_restriction: { ip_policy_ids: ['ipp_1'] },
    });
    expect(await listDangers(edge, '')).toEqual([
      { group: 'traffic', danger: 'address-removed', path: 'hostports', from: ['a.test:1'] },
    ]);
    expect(await listDangers(toManifest('IPRestriction', 'one', RESTRICTION), '')).toEqual([
      { group: 'access', danger: 'restriction-removed' },
    ]);
    expect(await listDangers(toManifest('Credential', 'one', ACL), '')).toEqual([
      { group: 'secrets', danger: 'token-revoked', path: 'token', consequence: OLD_TOKEN },
    ]);
    expect(await listDangers(toManifest('TCPEdge', 'one', {}), '')).toEqual([]);
  });

  it('a new domain are that its NS records have to be set again', async () => {
    const [a, b] = ['a.test', 'b.test'].map((domain) => toManifest('AgentIngress', 'one', { domain }));
    expect(await listDangers(a ?? '', b ?? '')).toEqual([
      { group: 'traffic', danger: 'address-changed', path: 'domain', from: 'a.test', to: 'b.test' },
      {
        group: 'traffic',
        danger: 'new-values',
        path: 'ns_targets',
        consequence: 'set the NS records of the domain to them',
      },
    ]);
  });

  it('a certificate are a longer validity, if the manifest sets one', async () => {
    const [day, week] = ['24h', '168h'].map((valid_for) =>
      toManifest('SSHUserCertificate', 'one', CERTIFICATE, { lifecycle: { valid_for } }),
    );
    const longer = { group: 'secrets', danger: 'longer-validity', path: 'lifecycle.valid_for', from: '1d', to: '7d' };
    expect(await listDangers(day ?? '', week ?? '')).toEqual([longer]);
    expect(await listDangers(week ?? '', day ?? '')).toEqual([]);
  });

  it('lost protection are shown', async () => {
    const [kept, free] = [{ lifecycle: { protect: true } }, {}].map((more) => toManifest('TCPEdge', 'one', {}, more));
    const unprotected = { group: 'protection', danger: 'unprotected' };
    expect(await listDangers(kept ?? '', free ?? '')).toEqual([unprotected]);
    expect(await listDangers(kept ?? '', '')).toEqual([unprotected]);
  });

  it('a hand-over are shown, with and without protection', async () => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': STACK + toManifest('TCPEdge', 'one', {}) });
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    const lifecycle = { renamed_from: { stack: 'test', name: 'one' } };
    await write({ 'edgewise.yaml': STACK.replace('test', 'other') + toManifest('TCPEdge', 'one', {}, { lifecycle }) });
    const { changes } = readOnlyStack((await edgewise('plan --format json')).stdout);
    expect(changes).toMatchObject([
      { action: 'take-over', dangers: [{ group: 'ownership', danger: 'handed-over', from: 'test', to: 'other' }] },
    ]);
  });

  it('a delete before a create are the writes in between, at the rate limit', async () => {
    const [a, b] = [
      ['endpoints', 'dashboard'],
      ['dashboard', 'endpoints'],
    ].map((types) =>
      types.map((type, index) => toManifest('IPRestriction', `r${index}`, { ...RESTRICTION, type })).join(''),
    );
    const swapped = await listDangers(a ?? '', b ?? '', '--rate-limit 6/60s');
    const gap = { group: 'access', danger: 'gap', path: 'type', writes: 1, limitMs: 10_000 };
    expect(swapped.filter((one) => 'writes' in one)).toEqual([
      { ...gap, from: ['dashboard'] },
      { ...gap, from: ['endpoints'] },
    ]);
    const off = (manifests = '') => manifests.replaceAll('"enforced":true', '"enforced":false');
    expect(off(a)).not.toBe(a);
    expect(await listDangers(off(a), off(b))).toEqual([]);
  });

  it('a plan are counted by group beside its totals', async () => {
    const { totals, dangers } = await planNext(
      toManifest('TCPEdge', 'one', { hostports: ['a.test:1'] }),
      toManifest('Credential', 'one', {}),
    );
    expect(totals).toMatchObject({ delete: 1, create: 1 });
    expect(dangers).toEqual({ access: 0, traffic: 1, secrets: 1, protection: 0, ownership: 0 });
  });

  it('an approved plan are required: an apply is refused if its file has none of them', async () => {
    const edge = toManifest('TCPEdge', 'one', { hostports: ['a.test:1'] });
    const { edgewise, write, folder } = await createWorkspace({ 'edgewise.yaml': STACK + edge });
    await edgewise('apply --yes');
    await write({ 'edgewise.yaml': STACK });
    await edgewise('plan -o plan.json --allow-deletes');
    const harmless = changePlan(await readFile(join(folder, 'plan.json'), 'utf8'), (plan) => {
      delete plan.changes[0].dangers;
      return plan;
    });
    await write({ 'harmless.json': harmless });
    const { exitCode, stdout } = await edgewise('apply . --approved harmless.json --yes --allow-deletes');
    expect(stdout).toContain('not as approved: traffic: it will be deleted');
    expect(exitCode).toBe(6);
  });
});
