import { describe, expect, it } from 'vitest';
import { SSH_USER_CERTIFICATE } from '../../src/kinds/tables/ssh-user-certificate.ts';
import { toManifestSchema } from '../../src/schemas/field.ts';
import { listFindings } from '../../src/schemas/findings.ts';

describe('an SSH user certificate in a manifest', () => {
  it.each(['alice\0', '\u001b[2Jalice', 'a\u007f', '\u0085b\u0090'])('has no principal %j', (principal) => {
    const findings = listFindings(toManifestSchema(SSH_USER_CERTIFICATE), { principals: [principal] });
    expect(findings.map(({ path }) => path.join('.'))).toContain('principals.0');
  });

  it.each(['deploy', 'é', 'a-b.c', '*', '$(id)'])('may have the principal %j', (principal) => {
    const findings = listFindings(toManifestSchema(SSH_USER_CERTIFICATE), { principals: [principal] });
    expect(findings.map(({ path }) => path.join('.'))).not.toContain('principals.0');
  });

  it('has no extension without a name', () => {
    const problem = { path: ['extensions', ''], message: 'extensions contains one with an empty name' };
    expect(SSH_USER_CERTIFICATE.check({ extensions: { '': 'x' } })).toEqual([problem]);
    expect(SSH_USER_CERTIFICATE.check({ extensions: { 'permit-pty': '' } })).toEqual([]);
  });
});
