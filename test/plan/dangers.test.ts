import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toManifest } from '../cli/workspace.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L a@example.com';

/** Kinds with a spec that a case changes in one place. */
const CERTIFICATE = { ssh_certificate_authority_id: 'sshca_one', public_key: KEY, principals: ['alice'] };
const RESTRICTION = { type: 'endpoints', enforced: true, ip_policy_ids: ['ipp_one', 'ipp_two'] };
const FILTER = { edge_id: 'edghts_web', id: 'edghtsrt_api' };
const TLS = { id: 'edghts_web' };
const OPTIONS = { 'force-command': 'ls', 'source-address': '10.0.0.0/8' };

/** What a change from one spec to another is dangerous for, and the change back. */
const CASES: readonly (readonly [
  claim: string,
  kind: string,
  from: object,
  to: object,
  forth: object[],
  back: object[],
])[] = [
  [
    'a module that goes',
    'TCPEdge',
    { ip_restriction: { ip_policy_ids: ['ipp_one'] } },
    {},
    [opens('ip_restriction', 'removed')],
    [],
  ],
  [
    'a module that is disabled',
    'TCPEdge',
    { ip_restriction: { ip_policy_ids: ['ipp_one'] } },
    { ip_restriction: { enabled: false, ip_policy_ids: ['ipp_one'] } },
    [opens('ip_restriction', 'disabled')],
    [],
  ],
  [
    'fewer policies',
    'TCPEdge',
    { ip_restriction: { ip_policy_ids: ['ipp_one', 'ipp_two'] } },
    { ip_restriction: { ip_policy_ids: ['ipp_two'] } },
    [opens('ip_restriction.ip_policy_ids', 'loosened')],
    [],
  ],
  [
    'a rule that goes',
    'TCPEdge',
    { policy: { inbound: [{ actions: [{ type: 'deny' }] }, { actions: [{ type: 'log' }] }] } },
    { policy: { inbound: [{ actions: [{ type: 'log' }] }] } },
    [opens('policy.inbound', 'loosened')],
    [],
  ],
  [
    'a rule with another name',
    'TCPEdge',
    { policy: { inbound: [{ name: 'one', actions: [{ type: 'deny' }] }] } },
    { policy: { inbound: [{ name: 'two', actions: [{ type: 'deny' }] }] } },
    [],
    [],
  ],
  ['a backend', 'TCPEdge', {}, { backend: { backend_id: 'bkdhr_blue' } }, [], []],
  [
    'a restriction that is not enforced any more',
    'IPRestriction',
    RESTRICTION,
    { ...RESTRICTION, enforced: false },
    [opens('enforced', 'disabled')],
    [],
  ],
  [
    'a restriction of the API',
    'IPRestriction',
    { ...RESTRICTION, type: 'api', enforced: false },
    { ...RESTRICTION, type: 'api' },
    [{ danger: 'lockout' }],
    [opens('enforced', 'disabled')],
  ],
  [
    'a restriction of other traffic',
    'IPRestriction',
    RESTRICTION,
    { ...RESTRICTION, type: 'dashboard' },
    [replace(), opens('type', 'loosened'), { danger: 'lockout' }],
    [replace(), opens('type', 'loosened')],
  ],
  [
    'a wider ACL',
    'Credential',
    { acl: ['bind:a.test'] },
    { acl: ['bind:a.test', 'bind:b.test'] },
    [opens('acl', 'loosened')],
    [],
  ],
  [
    'an ACL within a wider one',
    'Credential',
    { acl: ['bind:*.a.test'] },
    { acl: ['bind:b.a.test'] },
    [],
    [opens('acl', 'loosened')],
  ],
  ['no ACL', 'Credential', { acl: ['bind:a.test'] }, {}, [opens('acl', 'removed')], []],
  ['an ACL of everything', 'Credential', { acl: ['bind:a.test'] }, { acl: ['*'] }, [opens('acl', 'removed')], []],
  [
    'more authorities',
    'HTTPSEdge',
    { ...TLS, mutual_tls: { certificate_authority_ids: ['ca_one'] } },
    { ...TLS, mutual_tls: { certificate_authority_ids: ['ca_one', 'ca_two'] } },
    [opens('mutual_tls.certificate_authority_ids', 'loosened')],
    [],
  ],
  [
    'no mutual TLS',
    'HTTPSEdge',
    { ...TLS, mutual_tls: { certificate_authority_ids: ['ca_one'] } },
    TLS,
    [opens('mutual_tls', 'removed')],
    [],
  ],
  [
    'fewer patterns that deny, and more that allow',
    'HTTPSEdgeRoute',
    { ...FILTER, user_agent_filter: { deny: ['curl', 'wget'] } },
    { ...FILTER, user_agent_filter: { deny: ['curl'], allow: ['curl/8'] } },
    [opens('user_agent_filter.allow', 'loosened'), opens('user_agent_filter.deny', 'loosened')],
    [],
  ],
  [
    'more principals',
    'SSHUserCertificate',
    CERTIFICATE,
    { ...CERTIFICATE, principals: ['alice', 'bob'] },
    [replace('certificate'), opens('principals', 'loosened')],
    [replace('certificate')],
  ],
  [
    'a critical option that goes',
    'SSHUserCertificate',
    { ...CERTIFICATE, critical_options: OPTIONS },
    { ...CERTIFICATE, critical_options: { 'force-command': 'ls' } },
    [replace('certificate'), opens('critical_options', 'loosened')],
    [replace('certificate')],
  ],
  [
    'one more extension',
    'SSHUserCertificate',
    { ...CERTIFICATE, extensions: { 'permit-pty': '' } },
    CERTIFICATE,
    [replace('certificate'), opens('extensions', 'loosened')],
    [replace('certificate')],
  ],
  [
    'a later end',
    'SSHUserCertificate',
    { ...CERTIFICATE, valid_until: '2030-01-01T00:00:00Z' },
    { ...CERTIFICATE, valid_until: '2031-01-01T00:00:00Z' },
    [replace('certificate'), { danger: 'validity', from: '2030-01-01T00:00:00Z', to: '2031-01-01T00:00:00Z' }],
    [replace('certificate')],
  ],
  [
    'another owner',
    'Credential',
    { acl: ['bind:a.test'], owner_id: 'usr_one' },
    { acl: ['bind:a.test'], owner_id: 'usr_two' },
    [{ ...replace(), loses: [] }, { danger: 'token' }],
    [{ ...replace(), loses: [] }, { danger: 'token' }],
  ],
];

function opens(path: string, how: string) {
  return { danger: 'opens', path, how };
}

function replace(...loses: readonly string[]) {
  return { danger: 'replace', loses, gap: 0 };
}

/** A stack of one resource, applied, and then its next form: the dangers of each change that does something. */
async function listDangers(from: string, to: string): Promise<readonly object[]> {
  const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': STACK + from });
  const applied = await edgewise('apply --yes --token-directory tokens');
  expect(applied).toMatchObject({ exitCode: 0 });
  await write({ 'edgewise.yaml': STACK + to });
  const { stdout } = await edgewise('plan --format json --token-directory tokens');
  const changes: readonly { action: string; dangers?: readonly object[] }[] = JSON.parse(stdout).changes;
  return changes.filter(({ action }) => action !== 'no-op').flatMap(({ dangers = [] }) => dangers);
}

describe('the dangers of', () => {
  it.each(CASES.map((one) => [one[0], one] as const))('%s', async (_claim, [, kind, from, to, forth, back]) => {
    const [before, after] = [from, to].map((spec) => toManifest(kind, 'one', spec));
    expect(await listDangers(before ?? '', after ?? '')).toEqual(forth);
    expect(await listDangers(after ?? '', before ?? '')).toEqual(back);
  });

  it('a restriction that is not enforced are none', async () => {
    const [two, one] = [RESTRICTION.ip_policy_ids, ['ipp_one']].map((ids) =>
      toManifest('IPRestriction', 'one', { ...RESTRICTION, enforced: false, ip_policy_ids: ids }),
    );
    expect(await listDangers(two ?? '', one ?? '')).toEqual([]);
    expect(await listDangers(two ?? '', '')).toEqual([{ danger: 'delete' }]);
  });

  it('a certificate are a longer time, where the manifest states one', async () => {
    const [day, week] = ['24h', '168h'].map((valid_for) =>
      toManifest('SSHUserCertificate', 'one', CERTIFICATE, { lifecycle: { valid_for } }),
    );
    const longer = { danger: 'validity', from: '1d', to: '7d' };
    expect(await listDangers(day ?? '', week ?? '')).toEqual([replace('certificate'), longer]);
    expect(await listDangers(week ?? '', day ?? '')).toEqual([replace('certificate')]);
  });

  it('what loses its protection say so, and so does what another takes the place of', async () => {
    const protect = { lifecycle: { protect: true } };
    const [kept, free] = [protect, {}].map((more) => toManifest('TCPEdge', 'one', {}, more));
    expect(await listDangers(kept ?? '', free ?? '')).toEqual([{ danger: 'unprotects' }]);
    const [a, b] = [
      ['endpoints', 'dashboard'],
      ['dashboard', 'endpoints'],
    ].map((types) =>
      types
        .map((type, index) => toManifest('IPRestriction', `r${index}`, { ...RESTRICTION, type, enforced: false }))
        .join(''),
    );
    const swapped = await listDangers(a ?? '', b ?? '');
    expect(swapped).toEqual([
      expect.objectContaining({ danger: 'replace' }),
      expect.objectContaining({ danger: 'replace' }),
    ]);
    expect(swapped).toContainEqual(expect.objectContaining({ gap: 3 }));
  });

  it('a creation are none', async () => {
    expect(await listDangers('', toManifest('TCPEdge', 'one', {}))).toEqual([]);
  });

  it('a delete are the resource, and whom it kept out', async () => {
    const edge = toManifest('TCPEdge', 'one', { ip_restriction: { ip_policy_ids: ['ipp_one'] } });
    expect(await listDangers(edge, '')).toEqual([{ danger: 'delete' }]);
    expect(await listDangers(toManifest('IPRestriction', 'one', RESTRICTION), '')).toEqual([
      { danger: 'delete' },
      opens('', 'removed'),
    ]);
  });

  it('a plan file are those that follow from it', async () => {
    const { edgewise, write, folder } = await createWorkspace({
      'edgewise.yaml': STACK + toManifest('TCPEdge', 'one', {}),
    });
    await edgewise('apply --yes');
    await write({ 'edgewise.yaml': STACK });
    await edgewise('plan -o plan.json --allow-deletes');
    const plan = JSON.parse(await readFile(join(folder, 'plan.json'), 'utf8'));
    delete plan.changes[0].dangers;
    await write({ 'harmless.json': JSON.stringify(plan) });
    const { exitCode, stderr } = await edgewise('apply harmless.json --yes --allow-deletes');
    expect(stderr).toContain('TCPEdge/one has other dangers than it shows');
    expect(exitCode).toBe(3);
  });
});
