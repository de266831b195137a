import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ServerFaults, withFaults } from '../../src/server/index.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from './workspace.ts';

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 2, 1, 12);
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';
const CREDENTIAL = toManifest(
  'Credential',
  'agent',
  { acl: ['bind:a.example.com'] },
  { lifecycle: { rotate_after: '1h' } },
);
const SPEC = {
  ssh_certificate_authority_id: 'sshca_2k9XLN4QSRa2CXSGdTMwZDWQXjk',
  public_key: KEY,
  principals: ['alice'],
};
const CERTIFICATE = toManifest('SSHUserCertificate', 'alice', SPEC, {
  lifecycle: { valid_for: '12h', renew_before: '1h' },
});
const MANIFESTS = `${STACK}spec:
  tokens: { default: { directory: tokens } }
`;

/** A workspace whose service has a clock of its own. The clock of the machine is `skewHours` ahead of it. */
async function createWorkspaceWithClocks(manifests = CREDENTIAL + CERTIFICATE) {
  const service = { ms: START };
  const workspace = await createWorkspace(
    { 'edgewise.yaml': MANIFESTS + manifests },
    { now: () => new Date(service.ms) },
  );
  const edgewise = (line: string, skewHours = 0, more: Parameters<Workspace['edgewise']>[1] = {}) =>
    workspace.edgewise(line, { now: () => new Date(service.ms + skewHours * HOUR_MS), ...more });
  return { ...workspace, edgewise, service };
}

/** The same service behind a proxy that shows a wrong `Date`. */
function withProxyDate({ server }: Pick<Workspace, 'server'>, seconds: number) {
  const faults: ServerFaults = { rules: [{ on: '*', fault: 'wrong_date', seconds }] };
  return { transport: withFaults(server, faults).handle };
}

describe('a machine whose clock is wrong', () => {
  it.each([-13, -2, 2, 13])('replaces nothing that is not due if it is off by %s hours, and warns', async (skew) => {
    const { edgewise } = await createWorkspaceWithClocks();
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    const { exitCode, stdout } = await edgewise('plan --detailed-exitcode', skew);
    expect(exitCode).toBe(0);
    const side = skew > 0 ? 'ahead of' : 'behind';
    expect(stdout).toContain(
      `warning[clock-skew]: The clock of this machine is ${Math.abs(skew)} hours ${side} the clock of the service: ages and ends`,
    );
    expect(await edgewise('drift', skew)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('clock-skew') });
  });

  it('rotates a credential by its age at the service', async () => {
    const { edgewise, service } = await createWorkspaceWithClocks(CREDENTIAL);
    await edgewise('apply --yes');
    service.ms += 1.5 * HOUR_MS;
    const { stdout } = await edgewise('plan', -2);
    expect(stdout).toContain('it is 90 minutes old, and is rotated after 1h');
  });

  it('creates certificates that are valid from now at the service', async () => {
    const { edgewise, server } = await createWorkspaceWithClocks(CERTIFICATE);
    expect(await edgewise('apply --yes', 13)).toMatchObject({ exitCode: 0 });
    const [certificate] = server.snapshot().resources['SSHUserCertificate'] ?? [];
    const after = Date.parse(String(certificate?.['valid_after']));
    expect(Math.abs(after - START)).toBeLessThan(2_000);
    expect(Date.parse(String(certificate?.['valid_until'])) - after).toBe(12 * HOUR_MS);
  });

  it('shows when a certificate expires by the clock of the service', async () => {
    const { edgewise } = await createWorkspaceWithClocks(CERTIFICATE);
    await edgewise('apply --yes');
    const { stdout, stderr } = await edgewise('get', 2);
    expect(stdout).toContain('expires in 12 hours');
    expect(stderr).toContain('Warning: The clock of this machine is 2 hours ahead of the clock of the service');
  });

  it.each([
    ['with a plan, whose warning is the only one', 2, 0],
    ['if only the times of new resources show it', -1, -3_600],
  ])('causes one warning of an apply %s', async (_, skew, proxySeconds) => {
    const workspace = await createWorkspaceWithClocks(CREDENTIAL);
    const applied = await workspace.edgewise('apply --yes', skew, withProxyDate(workspace, proxySeconds));
    expect(applied.exitCode).toBe(0);
    expect(applied.stdout.match(/clock-skew/g)).toHaveLength(1);
  });

  it('causes no warning if the clocks differ by less than a minute', async () => {
    const { edgewise } = await createWorkspaceWithClocks();
    await edgewise('apply --yes');
    expect((await edgewise('plan', 0.01)).stdout).not.toContain('clock-skew');
  });
});

describe('a service with an impossible time', () => {
  const YEARS_S = 60 * 365 * 86_400;

  it.each([YEARS_S, -YEARS_S])('causes no replace: %s seconds', async (seconds) => {
    const workspace = await createWorkspaceWithClocks();
    await workspace.edgewise('apply --yes');
    const { exitCode, stdout } = await workspace.edgewise(
      'plan --detailed-exitcode',
      0,
      withProxyDate(workspace, seconds),
    );
    expect(exitCode).toBe(0);
    expect(stdout).toContain('it is unknown which one is right, so only what is due by both is replaced');
    if (seconds > 0)
      expect(stdout).toMatch(/it is 21900 days old, and is rotated after 1h; not by the clock of this machine/);
  });

  it('allows a replace that is due by both clocks', async () => {
    const workspace = await createWorkspaceWithClocks(CREDENTIAL);
    await workspace.edgewise('apply --yes');
    workspace.service.ms += 2 * HOUR_MS;
    const { stdout } = await workspace.edgewise('plan', 0, withProxyDate(workspace, YEARS_S));
    expect(stdout).toMatch(/Credential\/agent .* replace: it is .* old, and is rotated after 1h/);
  });

  it('refuses to create a certificate that would begin now', async () => {
    const workspace = await createWorkspaceWithClocks(CERTIFICATE);
    const { exitCode, stdout } = await workspace.edgewise('apply --yes', 0, withProxyDate(workspace, YEARS_S));
    expect(exitCode).toBe(3);
    expect(stdout).toContain(
      'error[clock-skew]: SSHUserCertificate/alice would begin now, and it is unknown which clock is right',
    );
    expect(workspace.server.snapshot().resources['SSHUserCertificate'] ?? []).toEqual([]);
  });
});

describe('a certificate that is not valid yet', () => {
  const LATER = new Date(START + 13 * HOUR_MS).toISOString();

  async function createLater() {
    const workspace = await createWorkspaceWithClocks(CERTIFICATE);
    await workspace.edgewise('apply --yes');
    const snapshot = workspace.server.snapshot().resources['SSHUserCertificate']?.[0];
    const later = await createWorkspace(
      { 'edgewise.yaml': await readFile(join(workspace.folder, 'edgewise.yaml'), 'utf8') },
      {
        seed: {
          resources: {
            SSHUserCertificate: [
              { ...snapshot, valid_after: LATER, valid_until: new Date(START + 25 * HOUR_MS).toISOString() },
            ],
          },
        },
      },
    );
    return later;
  }

  it('is shown as a state by get', async () => {
    expect((await (await createLater()).edgewise('get')).stdout).toContain('not valid yet: begins in 13 hours');
  });

  it('is a danger in drift', async () => {
    const { stdout } = await (await createLater()).edgewise('drift');
    expect(stdout).toContain(`is not valid before 2026-03-02T01:00:00Z`);
  });

  it('is a warning in a plan', async () => {
    const { stdout } = await (await createLater()).edgewise('plan');
    expect(stdout).toContain(
      'warning[certificate-validity]: SSHUserCertificate/alice is not valid yet: it begins in 13 hours',
    );
  });

  it('is no danger if its manifest sets when it begins', async () => {
    const stated = toManifest('SSHUserCertificate', 'alice', { ...SPEC, valid_after: LATER });
    const workspace = await createWorkspaceWithClocks(stated);
    await workspace.edgewise('apply --yes');
    const { stdout } = await workspace.edgewise('drift');
    expect(stdout).not.toContain('is not valid before');
    expect((await workspace.edgewise('get')).stdout).toContain('not valid yet: begins in 13 hours');
    expect((await workspace.edgewise('plan')).stdout).not.toContain('certificate-validity');
  });
});
