import { describe, expect, it } from 'vitest';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { SSH_USER_CERTIFICATE } from '../../src/kinds/tables/ssh-user-certificate.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { createManifestSpecSchema } from '../../src/schemas/field.ts';
import { checkAgainstSchema } from '../../src/schemas/findings.ts';

describe('an SSH user certificate in a manifest', () => {
  it.each(['alice\0', '\u001b[2Jalice', 'a\u007f', '\u0085b\u0090'])('has no principal %j', (principal) => {
    const findings = checkAgainstSchema(createManifestSpecSchema(SSH_USER_CERTIFICATE), { principals: [principal] });
    expect(findings.map(({ path }) => path.join('.'))).toContain('principals.0');
  });

  it.each(['deploy', 'é', 'a-b.c', '*', '$(id)'])('accepts the principal %j', (principal) => {
    const findings = checkAgainstSchema(createManifestSpecSchema(SSH_USER_CERTIFICATE), { principals: [principal] });
    expect(findings.map(({ path }) => path.join('.'))).not.toContain('principals.0');
  });

  it('has no extension without a name', () => {
    const listMessages = (extensions: JsonObject) =>
      checkAgainstSchema(createManifestSpecSchema(SSH_USER_CERTIFICATE), { extensions }).flatMap(
        ({ path, at, message }) => (path[0] === 'extensions' ? [`${at} ${message}`] : []),
      );
    expect(listMessages({ '': 'x' })).toEqual(['key `` is empty']);
    expect(listMessages({ 'permit-pty': '' })).toEqual([]);
  });

  it('has times in whole seconds', () => {
    const normalize = (time: string) =>
      canonical(SSH_USER_CERTIFICATE, { valid_until: time }, AS_WRITTEN)['valid_until'];
    expect(normalize('2026-03-01T12:00:00.999+01:00')).toBe('2026-03-01T11:00:00Z');
    const inOneSecond = { valid_after: '2026-03-01T12:00:00.1Z', valid_until: '2026-03-01T12:00:00.9Z' };
    const problem = { path: ['valid_until'], message: 'valid_until must be later than valid_after' };
    expect(SSH_USER_CERTIFICATE.check(inOneSecond)).toEqual([problem]);
    expect(SSH_USER_CERTIFICATE.check({ ...inOneSecond, valid_until: '2026-03-01T12:00:01Z' })).toEqual([]);
  });
});
