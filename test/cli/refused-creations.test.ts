import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/model/json.ts';
import { splitMetadata } from '../../src/model/mark.ts';
import { type Transport, toSend } from '../../src/model/transport.ts';
import { withFaults } from '../../src/server/index.ts';
import { sendByHand } from '../by-hand.ts';
import { selectFirst, selectTypical } from '../cases.ts';
import { listWrites } from '../repository/tree.ts';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from './workspace.ts';

/**
 * Credentials and certificates that the service stores otherwise than requested, most of them with more than that. What it
 * granted is not delivered, and is not asked for again without consent.
 */

const TOKENS = 'spec: { tokens: { default: { directory: tokens } } }\n';
const RULES = ['bind:a.example.com', 'bind:b.example.com'];
const CERTIFICATE = {
  public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L',
  ssh_certificate_authority_id: 'sshca_2k9XLTJrEKpUhfwyWqZzQNvMbcA',
  principals: ['alice', 'bob'],
  critical_options: { 'source-address': '192.0.2.0/24' },
  extensions: { 'permit-pty': '' },
  valid_after: '2026-03-01T00:00:00Z',
  valid_until: '2026-09-01T00:00:00Z',
};

const WIDER_CREDENTIALS = [
  ['no ACL', { acl: [] }],
  ['every rule', { acl: ['*'] }],
  ['another rule', { acl: [...RULES, 'bind:c.example.com'] }],
  ['a wider rule', { acl: ['bind:*.example.com'] }],
] as const;

const WIDER_CERTIFICATES = [
  ['no principals', { principals: [] }],
  ['another principal', { principals: ['alice', 'bob', 'root'] }],
  ['another extension', { extensions: { 'permit-pty': '', 'permit-port-forwarding': '' } }],
  ['no critical option', { critical_options: {} }],
  ['a later end', { valid_until: '2027-09-01T00:00:00Z' }],
  ['an earlier start', { valid_after: '2026-02-01T00:00:00Z' }],
] as const;

/** Not wider: a record of it does no harm. */
const NARROWER = [
  ['Credential', { acl: ['bind:a.example.com'] }],
  ['SSHUserCertificate', { valid_until: '2026-03-02T00:00:00Z' }],
  ['SSHUserCertificate', { principals: ['alice'] }],
] as const;

interface Subject {
  readonly kind: 'Credential' | 'SSHUserCertificate';
  readonly path: string;
  readonly address: string;
  readonly manifest: (more?: object) => string;
}

const CREDENTIAL: Subject = {
  kind: 'Credential',
  path: '/credentials',
  address: 'Credential/agent',
  manifest: (more = {}) => STACK + TOKENS + toManifest('Credential', 'agent', { acl: RULES, ...more }),
};

const SSH_CERTIFICATE: Subject = {
  kind: 'SSHUserCertificate',
  path: '/ssh_user_certificates',
  address: 'SSHUserCertificate/alice',
  manifest: (more = {}) => STACK + toManifest('SSHUserCertificate', 'alice', { ...CERTIFICATE, ...more }),
};

const SUBJECTS = { Credential: CREDENTIAL, SSHUserCertificate: SSH_CERTIFICATE };

/** Runs commands at a service that stores these values in each new resource of the kind. */
function atService({ server, recorder, edgewise }: Workspace, { path }: Subject, values: JsonObject) {
  const inner = server.behind(() => toSend(recorder.transport));
  const rules = [{ on: `POST ${path}`, fault: 'other_values', values }] as const;
  const transport = withFaults(inner, { seed: 1, rules }).handle;
  return (line: string) => edgewise(line, { transport });
}

function listLive({ server }: Workspace, { kind }: Subject): readonly JsonObject[] {
  return server.snapshot().resources[kind] ?? [];
}

function readMark(resource: JsonObject | undefined) {
  return splitMetadata(String(resource?.['metadata'])).mark;
}

function hasToken({ folder }: Workspace): boolean {
  return existsSync(join(folder, 'tokens/agent.token'));
}

describe('a service that drops the mark when a refusal is recorded in it', () => {
  /** Drops the metadata of each PATCH, and stores another ACL in each new credential. */
  function withLosses({ recorder, server }: Workspace): Transport {
    const inner = server.behind(() =>
      toSend(async (request) => {
        if (request.method !== 'PATCH') return recorder.transport(request);
        const { metadata: _, ...body } = (await request.json()) as JsonObject; // the body of a PATCH is an object
        return recorder.transport(new Request(request, { body: JSON.stringify({ ...body, metadata: '' }) }));
      }),
    );
    const rules = [{ on: `POST ${CREDENTIAL.path}`, fault: 'other_values', values: { acl: ['*'] } }] as const;
    return withFaults(inner, { seed: 1, rules }).handle;
  }

  it('does not keep a first credential, and cannot be managed', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': CREDENTIAL.manifest() });
    for (const run of [1, 2, 3, 4]) {
      const { exitCode, stdout } = await workspace.edgewise('apply --yes', { transport: withLosses(workspace) });
      expect({ run, exitCode }).toEqual({ run, exitCode: 1 });
      expect(stdout).toContain('This service cannot be managed');
      expect(listLive(workspace, CREDENTIAL)).toEqual([]);
    }
    expect(hasToken(workspace)).toBe(false);
  });

  it('keeps the credential that was to be replaced, as the run says, and the next plan names it', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': CREDENTIAL.manifest() });
    await workspace.edgewise('apply --yes');
    const [{ id } = {}] = listLive(workspace, CREDENTIAL);
    const line = 'apply --yes --rotate Credential/agent';
    const { exitCode, stdout } = await workspace.edgewise(line, { transport: withLosses(workspace) });
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`the update removed the mark of ${id}`);
    expect(listLive(workspace, CREDENTIAL)).toMatchObject([{ id }]);
    const plan = await workspace.edgewise('plan');
    expect(plan.exitCode).toBe(3);
    expect(plan.stdout).toContain(`Credential/agent is not created: ${id}`);
  });
});

describe.each(WIDER_CREDENTIALS)('a first credential that comes back with %s', (_, values) => {
  it('stays as its own record: undelivered, not tried again, and never taken for the credential', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': CREDENTIAL.manifest() });
    const edgewise = atService(workspace, CREDENTIAL, { ...values });
    const first = await edgewise('apply --yes');
    expect(first.exitCode).toBe(1);
    expect(first.stdout).toContain('nothing was delivered');
    expect(listWrites(workspace)).toEqual(['POST /credentials', expect.stringMatching(/^PATCH \/credentials\/cr_/)]);
    expect(hasToken(workspace)).toBe(false);
    const [record, ...others] = listLive(workspace, CREDENTIAL);
    expect(others).toEqual([]);
    expect(readMark(record)).toMatchObject({ id: record?.['id'], delivered: false, refused: { record: true } });

    const plan = await edgewise('plan');
    expect(plan.exitCode).toBe(1);
    expect(plan.stdout).toMatch(/Credential\/agent is not created: .*\n +--> edgewise\.yaml:\d+/);
    expect(plan.stdout).toContain(`${record?.['id']} only records that`);
    const drift = await edgewise('drift');
    expect(drift.exitCode).toBe(2);
    expect(drift.stdout).toMatch(/\b1 missing\b/);
    expect((await edgewise('get Credential/agent')).stdout).not.toContain(String(record?.['id']));
    expect((await edgewise('export --owner test')).stdout).not.toContain('name: agent');

    await workspace.write({ 'edge.yaml': toEdge('a', 20_001) });
    listWrites(workspace);
    for (const writes of [['POST /edges/tcp'], []]) {
      expect((await edgewise('apply . --yes')).exitCode).toBe(1);
      expect(listWrites(workspace)).toEqual(writes);
    }
    expect(listLive(workspace, CREDENTIAL)).toEqual([record]);
  });
});

describe.each(selectFirst(WIDER_CERTIFICATES))('a first certificate that comes back with %s', (_, values) => {
  it('is deleted at once, and the plan says that each try issues one', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': SSH_CERTIFICATE.manifest() });
    const edgewise = atService(workspace, SSH_CERTIFICATE, { ...values });
    for (let times = 0; times < 2; times += 1) {
      const plan = await edgewise('plan');
      expect(plan.stdout.replaceAll(/\s+/g, ' ')).toContain('each try issues a certificate, which stays valid');
      const { exitCode, stdout } = await edgewise('apply --yes');
      expect(exitCode).toBe(1);
      expect(stdout).toContain('which this run created, was then deleted');
      expect(listWrites(workspace)).toEqual([
        'POST /ssh_user_certificates',
        expect.stringMatching(/^DELETE \/ssh_user_certificates\/sucrt_/),
      ]);
      expect(listLive(workspace, SSH_CERTIFICATE)).toEqual([]);
    }
  });
});

const WIDER = [
  ...WIDER_CREDENTIALS.map(([name, values]) => ({ name, values, subject: CREDENTIAL })),
  ...WIDER_CERTIFICATES.map(([name, values]) => ({ name, values, subject: SSH_CERTIFICATE })),
];

describe.each(selectTypical(WIDER, 'subject'))(
  'a $subject.kind that replaces another and comes back with $name',
  ({ values, subject }) => {
    it('is deleted at once: the other one stays, and its mark records the refusal', async () => {
      const workspace = await createWorkspace({ 'edgewise.yaml': subject.manifest() });
      await workspace.edgewise('apply --yes');
      const [before] = listLive(workspace, subject);
      const token = subject === CREDENTIAL && (await readFile(join(workspace.folder, 'tokens/agent.token'), 'utf8'));
      listWrites(workspace);
      const edgewise = atService(workspace, subject, { ...values });
      expect((await edgewise(`apply --yes --rotate ${subject.address}`)).exitCode).toBe(1);
      expect(listWrites(workspace).map((write) => write.split(' ')[0])).toEqual(['POST', 'DELETE', 'PATCH']);
      const live = listLive(workspace, subject);
      expect(live.map(({ id }) => id)).toEqual([before?.['id']]);
      expect(readMark(live[0])?.refused).toMatchObject({ asked: expect.any(String) });
      expect(readMark(live[0])?.refused?.record).toBeUndefined();
      if (token !== false) expect(await readFile(join(workspace.folder, 'tokens/agent.token'), 'utf8')).toBe(token);
      expect((await edgewise('get')).stdout).toContain(String(before?.['id']));
      expect((await edgewise('apply --yes')).exitCode).toBe(0);
      expect(listWrites(workspace)).toEqual([]);
    });
  },
);

it('does not call an id unchecked that a withheld replacement would have sent', async () => {
  const workspace = await createWorkspace({ 'edgewise.yaml': SSH_CERTIFICATE.manifest() });
  await workspace.edgewise('apply --yes');
  const edgewise = atService(workspace, SSH_CERTIFICATE, { principals: [] });
  const other = SSH_CERTIFICATE.manifest({ ssh_certificate_authority_id: 'sshca_2k9XLTJrEKpUhfwyWqZzQNvMbcB' });
  await workspace.write({ 'edgewise.yaml': other });
  expect((await edgewise('apply --yes')).exitCode).toBe(1);
  await workspace.write({ 'edgewise.yaml': other + toEdge('a', 20_001) });
  const { stdout } = await edgewise('plan --format json');
  expect(readOnlyStack(stdout)['rehearsal']).not.toHaveProperty('unchecked');
});

describe.each(NARROWER)('a first %s that comes back with %j', (kind, values) => {
  it('stays as its own record, too', async () => {
    const subject = SUBJECTS[kind];
    const workspace = await createWorkspace({ 'edgewise.yaml': subject.manifest() });
    const edgewise = atService(workspace, subject, { ...values });
    for (const writes of [['POST', 'PATCH'], []]) {
      expect((await edgewise('apply --yes')).exitCode).toBe(1);
      expect(listWrites(workspace).map((write) => write.split(' ')[0])).toEqual(writes);
    }
    expect(readMark(listLive(workspace, subject)[0])?.refused?.record).toBe(true);
    expect((await edgewise('drift')).stdout).toMatch(/\b1 missing\b/);
    // What the service granted is not taken for what the manifest now asks for.
    await workspace.write({ 'edgewise.yaml': subject.manifest(values) });
    const { exitCode, stdout } = await edgewise('apply --yes');
    expect(exitCode, stdout).toBe(0);
    expect(listWrites(workspace).map((write) => write.split(' ')[0])).toEqual(
      kind === 'Credential' ? ['DELETE', 'POST', 'PATCH'] : ['DELETE', 'POST'],
    );
    expect((await edgewise('plan --detailed-exitcode')).exitCode).toBe(0);
    expect(hasToken(workspace)).toBe(kind === 'Credential');
  });
});

describe('the record of a refused creation', () => {
  /** A workspace whose credential was refused. */
  const refuse = async (): Promise<Workspace> => {
    const workspace = await createWorkspace({ 'edgewise.yaml': CREDENTIAL.manifest() });
    await atService(workspace, CREDENTIAL, { acl: [] })('apply --yes');
    listWrites(workspace);
    return workspace;
  };
  const getId = (workspace: Workspace): string => String(listLive(workspace, CREDENTIAL)[0]?.['id']);

  it('is deleted before --rotate tries again, as the plan shows, and is recorded anew if that is refused, too', async () => {
    const workspace = await refuse();
    const id = getId(workspace);
    const plan = await workspace.edgewise('plan --rotate Credential/agent');
    expect(plan.exitCode).toBe(0);
    expect(plan.stdout).toContain(`${id} only records that the service did not store a creation as requested`);
    const edgewise = atService(workspace, CREDENTIAL, { acl: ['*'] });
    expect((await edgewise('apply --yes --rotate Credential/agent')).exitCode).toBe(1);
    expect(listWrites(workspace).map((write) => write.split(' ')[0])).toEqual(['DELETE', 'POST', 'PATCH']);
    expect(listLive(workspace, CREDENTIAL)).toHaveLength(1);
    expect(getId(workspace)).not.toBe(id);
    expect(hasToken(workspace)).toBe(false);
    expect((await workspace.edgewise('apply --yes --rotate Credential/agent')).exitCode).toBe(0);
    expect(listWrites(workspace).map((write) => write.split(' ')[0])).toEqual(['DELETE', 'POST', 'PATCH']);
    expect(hasToken(workspace)).toBe(true);
    const [credential, ...others] = listLive(workspace, CREDENTIAL);
    expect(others).toEqual([]);
    expect(readMark(credential)).toMatchObject({ delivered: true });
    expect(readMark(credential)).not.toHaveProperty('refused');
    expect((await workspace.edgewise('plan --detailed-exitcode')).exitCode).toBe(0);
  });

  it('is no obstacle to an approved plan that was interrupted after its delete', async () => {
    const workspace = await refuse();
    expect((await workspace.edgewise('plan -o plan.json --rotate Credential/agent')).exitCode).toBe(0);
    const inner = workspace.server.behind(() => toSend(workspace.recorder.transport));
    const failing = { on: 'POST /credentials', fault: 'status', code: 503, when: 'before' } as const;
    const transport = withFaults(inner, { seed: 1, rules: [failing] }).handle;
    expect(
      (await workspace.edgewise('apply --yes --approved plan.json --rotate Credential/agent', { transport })).exitCode,
    ).toBe(1);
    expect(listLive(workspace, CREDENTIAL)).toEqual([]);
    const again = await workspace.edgewise('apply --yes --approved plan.json --rotate Credential/agent');
    expect(again.exitCode, again.stdout + again.stderr).toBe(0);
    expect(hasToken(workspace)).toBe(true);
  });

  it('is deleted when its manifest asks for something else, or is gone', async () => {
    const workspace = await refuse();
    await workspace.write({ 'edgewise.yaml': CREDENTIAL.manifest({ acl: ['bind:a.example.com'] }) });
    expect((await workspace.edgewise('plan --detailed-exitcode')).exitCode).toBe(2);
    expect((await workspace.edgewise('apply --yes')).exitCode).toBe(0);
    expect(listWrites(workspace).map((write) => write.split(' ')[0])).toEqual(['DELETE', 'POST', 'PATCH']);

    const other = await refuse();
    const id = getId(other);
    await other.write({ 'edgewise.yaml': STACK + TOKENS + toEdge('a', 20_001) });
    const plan = await other.edgewise('plan');
    expect(plan.stdout).toContain('1 to delete');
    expect(plan.stdout).toContain(`${id} only records`);
    expect((await other.edgewise('apply --yes')).exitCode).toBe(0);
    expect(listWrites(other).toSorted()).toEqual([`DELETE /credentials/${id}`, 'POST /edges/tcp']);
    expect(listLive(other, CREDENTIAL)).toEqual([]);
  });

  it('is no former name, and is deleted beside a resource of its address', async () => {
    const workspace = await refuse();
    await workspace.write({
      'edgewise.yaml': `${STACK}${TOKENS}${toManifest('Credential', 'renamed', { acl: RULES }, { lifecycle: { renamed_from: 'agent' } })}`,
    });
    const renamed = await workspace.edgewise('apply --yes');
    expect(renamed.exitCode, renamed.stdout).toBe(0);
    expect(
      listWrites(workspace)
        .map((write) => write.split(' ')[0])
        .toSorted(),
    ).toEqual(['DELETE', 'PATCH', 'POST']);

    const other = await refuse();
    const id = getId(other);
    const { id: made } = await sendByHand(other, 'POST', '/credentials', { acl: RULES });
    await other.write({
      'edgewise.yaml': `${STACK}${TOKENS}${toManifest('Credential', 'agent', { acl: RULES }, { lifecycle: { adopt: made } })}`,
    });
    listWrites(other);
    expect((await other.edgewise('apply --yes')).exitCode).toBe(0);
    expect(
      listWrites(other)
        .map((write) => write.split(' ')[0])
        .toSorted(),
    ).toEqual(['DELETE', 'PATCH']);
    expect(listLive(other, CREDENTIAL).map((one) => one['id'])).toEqual([made]);
    expect(id).not.toBe(made);
  });

  it('is deleted in the apply that renames the credential beside it', async () => {
    const workspace = await refuse();
    const [record] = listLive(workspace, CREDENTIAL);
    await workspace.edgewise('apply --yes --rotate Credential/agent');
    // A concurrent apply had left it.
    await sendByHand(workspace, 'POST', '/credentials', { acl: [] });
    const left = listLive(workspace, CREDENTIAL).find(({ metadata = '' }) => metadata === '');
    const metadata = JSON.parse(String(record?.['metadata']));
    const forged = { ...metadata, edgewise: { ...metadata.edgewise, id: left?.['id'] } };
    await sendByHand(workspace, 'PATCH', `/credentials/${left?.['id']}`, { metadata: JSON.stringify(forged) });
    await workspace.write({
      'edgewise.yaml': `${STACK}${TOKENS}${toManifest('Credential', 'renamed', { acl: RULES }, { lifecycle: { renamed_from: 'agent' } })}`,
    });
    listWrites(workspace);
    expect((await workspace.edgewise('apply --yes')).exitCode).toBe(0);
    expect(
      listWrites(workspace)
        .map((write) => write.split(' ')[0])
        .toSorted(),
    ).toEqual(['DELETE', 'PATCH']);
    expect((await workspace.edgewise('plan --detailed-exitcode')).exitCode).toBe(0);
  });

  it('counts only in a mark that names its own resource, and not of a delivered credential', async () => {
    const forge = async (workspace: Workspace, change: (mark: JsonObject) => JsonObject): Promise<void> => {
      const [one] = listLive(workspace, CREDENTIAL);
      const metadata = JSON.parse(String(one?.['metadata']));
      const changed = isJsonObject(metadata.edgewise) ? change(metadata.edgewise) : {};
      await sendByHand(workspace, 'PATCH', `/credentials/${one?.['id']}`, {
        metadata: JSON.stringify({ ...metadata, edgewise: changed }),
      });
    };
    const workspace = await refuse();
    await forge(workspace, (mark) => ({ ...mark, id: 'cr_2k9XLTJrEKpUhfwyWqZzQNvMbcA' }));
    const plan = await workspace.edgewise('plan');
    expect(plan.exitCode).toBe(0);
    expect(plan.stdout).toContain('does not name its own resource, so this does not count');

    const delivered = await createWorkspace({ 'edgewise.yaml': CREDENTIAL.manifest() });
    await delivered.edgewise('apply --yes');
    await forge(delivered, (mark) => ({ ...mark, refused: { asked: 'k3f9aQ', fields: ['acl'], record: true } }));
    expect((await delivered.edgewise('plan --detailed-exitcode')).exitCode).toBe(0);
    expect((await delivered.edgewise('get')).stdout).toContain(getId(delivered));
  });

  it('keeps the protection of its manifest, because a mark can be forged', async () => {
    const manifest = (acl: readonly string[]) =>
      `${STACK}${TOKENS}${toManifest('Credential', 'agent', { acl }, { lifecycle: { protect: true } })}`;
    const workspace = await createWorkspace({ 'edgewise.yaml': manifest(RULES) });
    await atService(workspace, CREDENTIAL, { acl: [] })('apply --yes');
    await workspace.write({ 'edgewise.yaml': manifest(['bind:a.example.com']) });
    expect((await workspace.edgewise('apply --yes')).exitCode).toBe(5);
    expect((await workspace.edgewise('apply --yes --allow-protected Credential/agent')).exitCode).toBe(0);
  });
});

describe('a certificate whose creation got no response', () => {
  it('is deleted if the look-up finds it with more than requested', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': SSH_CERTIFICATE.manifest() });
    const inner = workspace.server.behind(() => toSend(workspace.recorder.transport));
    const other = { on: 'POST /ssh_user_certificates', fault: 'other_values', values: { principals: [] } } as const;
    const wide = withFaults(inner, { seed: 1, rules: [other] });
    const lost = { on: 'POST /ssh_user_certificates', fault: 'reset', when: 'after' } as const;
    const transport = withFaults(wide, { seed: 1, rules: [lost] }).handle;
    const { exitCode, stdout } = await workspace.edgewise('apply --yes', { transport });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('which this run created, was then deleted');
    expect(listLive(workspace, SSH_CERTIFICATE)).toEqual([]);
  });
});
