import { describe, expect, it } from 'vitest';
import { SSH_USER_CERTIFICATE } from '../../src/kinds/tables/ssh-user-certificate.ts';
import type { Json } from '../../src/model/json.ts';
import { getText } from './caller.ts';
import { describeKind, expectFields, type Sample, useCleanCaller } from './contract.ts';
import type { ContractTarget } from './contract-target.ts';
import { ED25519_KEY } from './ssh-keys.ts';

const DAY_MS = 24 * 3_600_000;

const SAMPLE: Sample = {
  kind: SSH_USER_CERTIFICATE,
  create: (number, { sshca }) => ({
    public_key: ED25519_KEY,
    ssh_certificate_authority_id: sshca,
    principals: ['alice', `deploy-${number}`],
    critical_options: { 'force-command': '/usr/bin/true', 'source-address': '192.0.2.0/24,2001:db8::1' },
    extensions: { 'permit-pty': '' },
    valid_after: '2026-01-01T00:00:00Z',
    valid_until: '2026-01-02T02:00:00+02:00',
  }),
  immutable: { principals: ['root'] },
};

export function describeSshCertificates(target: ContractTarget): void {
  describeKind(target, SAMPLE);

  describe('SSH user certificate, what it says', () => {
    const call = useCleanCaller(target);
    const post = (body: Record<string, Json> = {}) =>
      call('POST', '/ssh_user_certificates', {
        body: { public_key: ED25519_KEY, ssh_certificate_authority_id: target.ids.sshca, ...body },
      });

    it('is signed, with the type of its key', async () => {
      const { body } = await post();
      expect(body['key_type']).toBe('ed25519');
      expect(getText(body['certificate'])).toMatch(/^ssh-ed25519-cert-v01@openssh\.com [A-Za-z0-9+/=]+/);
    });

    it('holds for 24 hours from now unless something else is said', async () => {
      const { body } = await post();
      const [after, until] = [getText(body['valid_after']), getText(body['valid_until'])].map(Date.parse);
      expect(Number(until) - Number(after)).toBe(DAY_MS);
    });

    it('holds for 24 hours from the beginning that is given', async () => {
      const { body } = await post({ valid_after: '2030-05-01T00:00:00Z' });
      expectFields(SSH_USER_CERTIFICATE, body, { valid_until: '2030-05-02T00:00:00Z' });
    });

    it('permits a terminal and user rc unless something else is said', async () => {
      const permitted = { 'permit-pty': '', 'permit-user-rc': '' };
      expect((await post()).body['extensions']).toEqual(permitted);
      expect((await post({ extensions: {} })).body['extensions']).toEqual({});
    });

    it('is the same when description and metadata change', async () => {
      const created = await post();
      const path = `/ssh_user_certificates/${getText(created.body['id'])}`;
      const changed = await call('PATCH', path, { body: { description: 'x', metadata: 'y' } });
      expect(changed.body).toEqual({ ...created.body, description: 'x', metadata: 'y' });
    });

    it.each<[string, Record<string, Json>]>([
      ['no key', { public_key: null }],
      ['text instead of a key', { public_key: 'alice' }],
      ['a key that breaks off', { public_key: ED25519_KEY.slice(0, 60) }],
      ['a DSA key', { public_key: 'ssh-dss AAAAB3NzaC1kc3MAAACBAP' }],
      ['another critical option', { critical_options: { 'no-touch-required': '' } }],
      ['a source address that is none', { critical_options: { 'source-address': 'example.com' } }],
      ['an end before its beginning', { valid_after: '2026-01-02T00:00:00Z', valid_until: '2026-01-01T00:00:00Z' }],
      ['an end in the past', { valid_until: '2001-01-01T00:00:00Z' }],
      ['a time that is none', { valid_after: 'tomorrow' }],
      ['the wrong authority', { ssh_certificate_authority_id: target.ids.ca }],
      ['no authority', { ssh_certificate_authority_id: null }],
      ['a principal with a comma', { principals: ['a,b'] }],
      ['a principal with a NUL', { principals: ['alice\0'] }],
      ['a principal with a control character', { principals: ['\u001b[2Jalice'] }],
      ['an extension without a name', { extensions: { 'permit-pty': '', '': 'x' } }],
    ])('is refused with %s', async (_, body) => {
      expect((await post(body)).status).toBe(400);
    });
  });
}
