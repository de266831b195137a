import { describe, expect, it } from 'vitest';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { toFieldDigest } from '../../src/model/mark.ts';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';

/** Another user of the account changes a resource, and writes into its mark what would hide that or excuse it. */

const POLICY = 'ipp_2k9XLTJrEKpUhfwyWqZzQNvMbcA';
const BLUE = 'bkdhr_2k9XLTJrEKpUhfwyWqZzQNvMbcA';
const GREEN = 'bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt';

/** A dangerous change of a live resource. `sent`: the request of the other user. `field`: the field that it changes. */
interface Attack {
  readonly kind: string;
  readonly path: string;
  readonly spec: JsonObject;
  readonly sent: JsonObject;
  readonly field: string;
  readonly danger: string;
}

const ATTACKS: readonly Attack[] = [
  {
    kind: 'TCPEdge',
    path: '/edges/tcp',
    spec: { hostports: ['1.tcp.example.net:20001'], ip_restriction: { ip_policy_ids: [POLICY] } },
    sent: { ip_restriction: { enabled: false, ip_policy_ids: [POLICY] } },
    field: 'ip_restriction',
    danger: 'restriction-disabled',
  },
  {
    kind: 'TCPEdge',
    path: '/edges/tcp',
    spec: { hostports: ['1.tcp.example.net:20001'], backend: { backend_id: BLUE } },
    sent: { backend: { enabled: true, backend_id: GREEN } },
    field: 'backend',
    danger: 'target-changed',
  },
  {
    kind: 'WeightedBackend',
    path: '/backends/weighted',
    spec: { backends: { [BLUE]: 1 } },
    sent: { backends: { [BLUE]: 0 } },
    field: 'backends',
    danger: 'no-weight',
  },
  {
    kind: 'IPRestriction',
    path: '/ip_restrictions',
    spec: { type: 'endpoints', enforced: true, ip_policy_ids: [POLICY] },
    sent: { enforced: false },
    field: 'enforced',
    danger: 'restriction-disabled',
  },
  {
    kind: 'Credential',
    path: '/credentials',
    spec: { acl: ['bind:a.example.com'] },
    sent: { acl: ['bind:*.example.com'] },
    field: 'acl',
    danger: 'access-widened',
  },
];

/** What the mark says of the changed field. */
interface Claims {
  readonly live: string;
  readonly desired: string;
  readonly id: string;
}

const FORGERIES: readonly (readonly [string, (mark: JsonObject, field: string, claims: Claims) => JsonObject])[] = [
  ['says that the live value was applied', (mark, field, { live }) => withDigest(mark, field, live)],
  ['says that the desired value was applied', (mark, field, { desired }) => withDigest(mark, field, desired)],
  ['says that another value was applied', (mark, field) => withDigest(mark, field, 'AAAAAA')],
  ['leaves the field to others', (mark, field) => withDigest(mark, field, '')],
  ['says nothing about any field', ({ fields: _, ...mark }) => mark],
  ['remembers the live value as a stored form', (mark, field, { live }) => ({ ...mark, stored: { [field]: live } })],
  [
    'says that the service refused the field',
    (mark, field, { desired, id }) => ({
      ...withDigest(mark, field, desired),
      id,
      refused: { asked: 'AAAAAA', fields: [field] },
    }),
  ],
];

function withDigest(mark: JsonObject, field: string, digest: string): JsonObject {
  return { ...mark, fields: { ...Object(mark['fields']), [field]: digest } };
}

const CERTIFICATE = {
  public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L',
  ssh_certificate_authority_id: 'sshca_2k9XLTJrEKpUhfwyWqZzQNvMbcA',
  principals: ['alice'],
};

const TOKENS = 'spec: { tokens: { default: { directory: tokens } } }\n';

async function createAccount({ kind, spec }: Pick<Attack, 'kind' | 'spec'>): Promise<Workspace> {
  const workspace = await createWorkspace({ 'edgewise.yaml': `${STACK}${TOKENS}${toManifest(kind, 'a', spec)}` });
  expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
  return workspace;
}

function getLive({ server }: Workspace, kind: string): JsonObject {
  const [live] = server.snapshot().resources[kind] ?? [];
  if (live === undefined) throw new Error(`no ${kind}`);
  return live as JsonObject; // a snapshot is JSON
}

/** Writes into the mark of a resource what `change` makes of it. */
async function forge(
  workspace: Workspace,
  { kind, path }: Pick<Attack, 'kind' | 'path'>,
  change: (mark: JsonObject, live: JsonObject) => JsonObject,
): Promise<void> {
  const live = getLive(workspace, kind);
  const { edgewise: mark, ...user } = JSON.parse(String(live['metadata'])) as { readonly edgewise: JsonObject };
  const metadata = JSON.stringify({ ...user, edgewise: change(mark, live) });
  const always = kind === 'WeightedBackend' ? { backends: live['backends'] ?? {} } : {};
  await sendByHand(workspace, 'PATCH', `${path}/${live['id']}`, { ...always, metadata });
}

/** The digests of the desired value of a field and of the one that the other user has set. */
function toClaims({ kind, spec, sent, field }: Attack, id: string): Claims {
  const [desired, live] = [spec, { ...spec, ...sent }].map((one) =>
    toFieldDigest(canonical(getKind(kind), one, AS_WRITTEN)[field] ?? null),
  );
  return { live: live ?? '', desired: desired ?? '', id };
}

/** The dangers of a drift as another format has them: without what is said of the manifest. */
function listDangers(stdout: string): readonly unknown[] {
  const { changes } = readOnlyStack(stdout);
  return changes.flatMap(({ driftDangers = [] }: { readonly driftDangers?: readonly unknown[] }) => driftDangers);
}

describe.each(ATTACKS)('a live $kind whose $field was changed: $danger', (attack) => {
  it.each(FORGERIES)('is shown with its danger, and counted, if its mark %s', async (_, change) => {
    const workspace = await createAccount(attack);
    const id = String(getLive(workspace, attack.kind)['id']);
    await sendByHand(workspace, 'PATCH', `${attack.path}/${id}`, attack.sent);
    const honest = listDangers((await workspace.edgewise('drift --format json')).stdout);
    expect(honest).toMatchObject([{ danger: attack.danger }]);
    const claims = toClaims(attack, id);
    await forge(workspace, attack, (mark) => change(mark, attack.field, claims));
    const drift = await workspace.edgewise('drift');
    expect(drift.exitCode).toBe(2);
    expect(drift.stdout).toContain('! 1 danger');
    expect(listDangers((await workspace.edgewise('drift --format json')).stdout)).toEqual(honest);
    const plan = await workspace.edgewise('plan --detailed-exitcode');
    expect(plan.exitCode).toBe(2);
    expect(plan.stdout).toContain(`${attack.field}`);
    expect((await workspace.edgewise('apply --yes')).exitCode).toBe(0);
    expect((await workspace.edgewise('drift')).exitCode).toBe(0);
  });
});

describe('a forged mark of a text for people', () => {
  const attack = { kind: 'TCPEdge', path: '/edges/tcp', field: 'description' };
  const spec = { hostports: ['1.tcp.example.net:20001'], description: 'Shop at db.example.com:5432' };
  const change = async (description: string): Promise<Workspace> => {
    const workspace = await createAccount({ kind: 'TCPEdge', spec });
    const id = String(getLive(workspace, 'TCPEdge')['id']);
    await sendByHand(workspace, 'PATCH', `/edges/tcp/${id}`, { description });
    await forge(workspace, attack, (mark) => ({
      ...withDigest(mark, 'description', toFieldDigest(spec.description)),
      stored: { description: toFieldDigest(description) },
    }));
    return workspace;
  };

  it.each([
    'Shop at db.example.net:5432',
    'Old shop at db.example.com:5432',
    'Shop at db.example.com:54321',
    'Shop',
    '',
  ])('hides no other text: %j', async (description) => {
    const workspace = await change(description);
    const plan = await workspace.edgewise('plan --detailed-exitcode');
    expect(plan.exitCode).toBe(2);
    expect(plan.stdout).toContain('description');
    expect((await workspace.edgewise('drift')).exitCode).toBe(2);
    expect((await workspace.edgewise('apply --yes')).exitCode).toBe(0);
    expect(getLive(workspace, 'TCPEdge')).toMatchObject({ description: spec.description });
  });

  it('hides another spelling from the exit code, and lists it', async () => {
    const workspace = await change('SHOP at  db.example.com:5432');
    for (const command of ['plan --detailed-exitcode', 'drift']) {
      const { exitCode, stdout } = await workspace.edgewise(command);
      expect(exitCode).toBe(0);
      expect(stdout).toContain('spelled differently at the service: description (live: "SHOP at  db.example.com:5432"');
    }
  });
});

describe('a mark that no longer says that a token was delivered', () => {
  it('does not excuse that the token is lost', async () => {
    const workspace = await createAccount({ kind: 'Credential', spec: { acl: ['bind:a.example.com'] } });
    await forge(workspace, { kind: 'Credential', path: '/credentials' }, ({ delivered: _, ...mark }) => mark);
    const replace = await workspace.edgewise('plan');
    expect(replace.stdout).toContain('goes to the folder tokens: agents with the old token are disconnected');
    await workspace.write({ 'edgewise.yaml': `${STACK}${TOKENS}` });
    const { stdout } = await workspace.edgewise('plan');
    expect(stdout).toContain('will lose its token: agents with the old token are disconnected');
    expect(stdout).toContain('its mark does not say that the token was delivered');
  });
});

describe('a forged record of a refused creation', () => {
  const manifests = (end: string): string =>
    `${STACK}${TOKENS}${toManifest('SSHUserCertificate', 'alice', { ...CERTIFICATE, valid_until: end })}${toManifest('TCPEdge', 'edge', { hostports: ['1.tcp.example.net:20001'] })}`;
  const target = { kind: 'SSHUserCertificate', path: '/ssh_user_certificates' };
  /** The digest of what the manifest asks for, as a run that the service refused has recorded it. */
  const findAsked = async (end: string): Promise<string> => {
    const workspace = await createWorkspace({ 'edgewise.yaml': manifests(end) });
    const transport = async (request: Request): Promise<Response> => {
      const changed = (await request.clone().text()).replace(end, '2026-03-05T00:00:00Z');
      return workspace.recorder.transport(
        request.method === 'POST' ? new Request(request, { body: changed }) : request,
      );
    };
    await workspace.edgewise('apply --yes', { transport });
    const { edgewise } = JSON.parse(String(getLive(workspace, 'SSHUserCertificate')['metadata']));
    return edgewise.refused.asked;
  };
  /** An account whose certificate must be replaced, with a record that this was refused. */
  const forgeRefusal = async (change: (id: string) => JsonObject): Promise<Workspace> => {
    const asked = await findAsked('2026-09-01T00:00:00Z');
    const workspace = await createWorkspace({ 'edgewise.yaml': manifests('2026-06-01T00:00:00Z') });
    await workspace.edgewise('apply --yes');
    await forge(workspace, target, ({ id: _, ...mark }, { id }) => ({
      ...mark,
      ...change(String(id)),
      refused: { asked, fields: ['valid_until'] },
    }));
    await workspace.write({ 'edgewise.yaml': manifests('2026-09-01T00:00:00Z') });
    return workspace;
  };

  it.each([
    ['no resource', () => ({})],
    ['another resource', () => ({ id: 'sshcert_2k9XLTJrEKpUhfwyWqZzQNvMbcA' })],
  ])('stops nothing and costs one warning if its mark names %s', async (_, change) => {
    const workspace = await forgeRefusal(change);
    const plan = await workspace.edgewise('plan --detailed-exitcode');
    expect(plan.exitCode).toBe(2);
    expect(plan.stdout).toContain('1 to replace');
    expect(plan.stdout.match(/^warning\[creation-withheld\]/gm)).toHaveLength(1);
    expect(plan.stdout).toContain('and does not name its own resource, so this does not count');
    expect((await workspace.edgewise('apply --yes')).exitCode).toBe(0);
    expect(getLive(workspace, 'SSHUserCertificate')).toMatchObject({ valid_until: '2026-09-01T00:00:00Z' });
    expect((await workspace.edgewise('plan --detailed-exitcode')).stdout).not.toContain('creation-withheld');
  });

  it('stops only the creation that it is about, hides no difference, and is overruled by --rotate', async () => {
    const workspace = await forgeRefusal((id) => ({ id }));
    const edge = String(getLive(workspace, 'TCPEdge')['id']);
    await sendByHand(workspace, 'PATCH', `/edges/tcp/${edge}`, { description: 'by hand' });
    workspace.recorder.take();
    expect((await workspace.edgewise('plan')).exitCode).toBe(1);
    const plan = await workspace.edgewise('plan --detailed-exitcode');
    expect(plan.exitCode).toBe(2);
    expect(plan.stdout).toContain('valid_until: 2026-06-01T00:00:00Z → 2026-09-01T00:00:00Z');
    expect(plan.stdout.match(/^warning\[creation-withheld\]/gm)).toHaveLength(1);
    expect((await workspace.edgewise('drift')).exitCode).toBe(2);
    const apply = await workspace.edgewise('apply --yes');
    expect(apply.exitCode).toBe(1);
    expect(apply.stdout).toContain('1 write applied, 0 failed, 0 skipped');
    expect(getLive(workspace, 'TCPEdge')['description'] ?? '').toBe('');
    expect(getLive(workspace, 'SSHUserCertificate')).toMatchObject({ valid_until: '2026-06-01T00:00:00Z' });
    expect(await workspace.edgewise('apply --yes --rotate SSHUserCertificate/alice')).toMatchObject({ exitCode: 0 });
    expect(getLive(workspace, 'SSHUserCertificate')).toMatchObject({ valid_until: '2026-09-01T00:00:00Z' });
  });
});

describe('metadata that another user writes around the mark', () => {
  const target = { kind: 'TCPEdge', path: '/edges/tcp' };
  const create = (metadata: object | string): Promise<Workspace> =>
    createAccount({ kind: 'TCPEdge', spec: { hostports: ['1.tcp.example.net:20001'], metadata } as JsonObject });
  const getMetadata = (workspace: Workspace): string => String(getLive(workspace, 'TCPEdge')['metadata']);
  const expectDifference = async (workspace: Workspace): Promise<void> => {
    const before = JSON.parse(getMetadata(workspace));
    const plan = await workspace.edgewise('plan --detailed-exitcode');
    expect(plan.exitCode, plan.stdout).toBe(2);
    expect(plan.stdout).toContain('metadata');
    expect((await workspace.edgewise('drift')).exitCode).toBe(2);
    expect((await workspace.edgewise('apply --yes')).exitCode).toBe(0);
    expect((await workspace.edgewise('plan --detailed-exitcode')).exitCode).toBe(0);
    expect(JSON.parse(getMetadata(workspace))).not.toEqual(before);
  };
  /** Writes the metadata of the edge. */
  const set = async (workspace: Workspace, metadata: string): Promise<void> => {
    await sendByHand(workspace, 'PATCH', `${target.path}/${getLive(workspace, 'TCPEdge')['id']}`, { metadata });
  };

  it.each<[string, object | string, (user: JsonObject, mark: JsonObject) => JsonObject]>([
    [
      'a changed member beside a text that has the old one',
      { team: 'data' },
      (_, mark) => ({ team: 'evil', edgewise: { ...mark, text: '{"team":"data"}' } }),
    ],
    ['an added member beside an empty text', '', (_, mark) => ({ admin: 'all', edgewise: { ...mark, text: '' } })],
    ['an added member beside the text', 'owned by data', (_, mark) => ({ admin: 'all', edgewise: mark })],
    ['a text without members', { team: 'data' }, (_, mark) => ({ edgewise: { ...mark, text: '{"team":"data"}' } })],
  ])('is a difference: %s', async (_, metadata, change) => {
    const workspace = await create(metadata);
    const { edgewise: mark, ...user } = JSON.parse(getMetadata(workspace)) as { readonly edgewise: JsonObject };
    await set(workspace, JSON.stringify(change(user, mark)));
    await expectDifference(workspace);
  });

  it.each([
    ['a member that a second one of its name hides', { team: 'data' }, '"team":"data"', '"team":"evil","team":"data"'],
    ['digits that no number keeps', { id: 5 }, '"id":5', '"id":5.00000000000000000001'],
  ])('is a difference: %s', async (_, metadata, from, to) => {
    const workspace = await create(metadata);
    expect(getMetadata(workspace)).toContain(from);
    await set(workspace, getMetadata(workspace).replace(from, to));
    const { exitCode, stdout } = await workspace.edgewise('plan --detailed-exitcode');
    expect(exitCode).toBe(2);
    expect(stdout).toContain('metadata');
    expect((await workspace.edgewise('drift')).exitCode).toBe(2);
    expect((await workspace.edgewise('apply --yes')).exitCode).toBe(0);
    expect(getMetadata(workspace)).toContain(from);
    expect((await workspace.edgewise('plan --detailed-exitcode')).exitCode).toBe(0);
  });

  it('is gone after a release', async () => {
    const workspace = await create({ team: 'data' });
    const { edgewise: mark, ...user } = JSON.parse(getMetadata(workspace)) as { readonly edgewise: JsonObject };
    await set(workspace, JSON.stringify({ ...user, edgewise: { ...mark, text: 'x' } }));
    await workspace.edgewise('release TCPEdge/a --yes');
    expect(getMetadata(workspace)).toBe('{"team":"data"}');
  });
});
