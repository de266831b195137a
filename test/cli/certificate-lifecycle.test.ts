import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK } from './workspace.ts';

/** A certificate of that name, with this lifecycle. */
function toCertificate(name: string, lifecycle: string): string {
  return `---
apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: ${name} }
spec:
  ssh_certificate_authority_id: sshca_1
  public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L
lifecycle: ${lifecycle}
`;
}

describe('lifecycle of an SSH user certificate', () => {
  it.each([
    ['{ valid_for: 90 days }', '`90 days` is not a whole number and a unit'],
    [
      '{ valid_for: 1d, renew_before: 24h }',
      'lifecycle.renew_before must be shorter than the 24 hours for which the certificate is valid',
    ],
    ['{ renew_before: 2d }', 'lifecycle.renew_before must be shorter than the 24 hours'],
    ['{ rotate_after: 1d }', 'lifecycle.rotate_after is not a known field'],
  ])('is refused: %s', async (lifecycle, message) => {
    const { edgewise } = await createWorkspace({ 'm.yaml': STACK + toCertificate('alice', lifecycle) });
    const { exitCode, stdout } = await edgewise('validate m.yaml');
    expect(exitCode).toBe(3);
    expect(stdout).toContain(message);
  });

  it('accepts a validity or times, not both', async () => {
    const manifest = toCertificate('alice', '{ valid_for: 90d }').replace(
      'spec:\n',
      'spec:\n  valid_until: 2036-01-01T00:00:00Z\n',
    );
    const { edgewise } = await createWorkspace({ 'm.yaml': STACK + manifest });
    const { exitCode, stdout } = await edgewise('validate m.yaml');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('lifecycle.valid_for and spec.valid_until are mutually exclusive');
  });
});
