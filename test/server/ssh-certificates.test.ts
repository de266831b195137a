import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { createServer } from '../../src/server/server.ts';
import { requireProgramOrSkip } from '../needs.ts';
import { getText } from './caller.ts';
import { ECDSA_256_KEY, ECDSA_384_KEY, ECDSA_521_KEY, ED25519_KEY, RSA_KEY } from './ssh-keys.ts';
import { createTestServer } from './test-server.ts';

/** The output of ssh-keygen about a certificate. */
function readWithSshKeygen(certificate: string): string {
  requireProgramOrSkip('ssh-keygen', ['-?']);
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-certificate-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'key-cert.pub');
  writeFileSync(file, certificate);
  const { error, stdout, stderr } = spawnSync('ssh-keygen', ['-L', '-f', file], {
    encoding: 'utf8',
    env: { ...process.env, TZ: 'UTC' },
  });
  expect([error, stderr]).toEqual([undefined, '']);
  return stdout.replaceAll(file, 'key-cert.pub');
}

async function sign(more: JsonObject): Promise<JsonObject> {
  const { call } = createTestServer();
  const asked = { public_key: ED25519_KEY, ssh_certificate_authority_id: 'sshca_1', ...more };
  return (await call('POST', '/ssh_user_certificates', { body: asked })).body;
}

describe('a signed certificate', () => {
  it('ends with its id as its comment', async () => {
    const { id, certificate } = await sign({});
    expect(getText(certificate)).toMatch(new RegExp(`^ssh-ed25519-cert-v01@openssh\\.com \\S+ ${getText(id)}$`));
  });

  it('is valid for whole seconds, in the response as in itself', async () => {
    const body = await sign({ valid_after: '2026-01-31T12:00:00.9Z', valid_until: '2026-01-31T13:00:00.1+00:00' });
    expect(body).toMatchObject({ valid_after: '2026-01-31T12:00:00Z', valid_until: '2026-01-31T13:00:00Z' });
    const said = readWithSshKeygen(getText(body['certificate']));
    expect(said).toContain('Valid: from 2026-01-31T12:00:00 to 2026-01-31T13:00:00');
  });

  it('is refused for less than a second', async () => {
    const { call } = createTestServer();
    const asked = { public_key: ED25519_KEY, ssh_certificate_authority_id: 'sshca_1' };
    const times = { valid_after: '2026-01-31T12:00:00.1Z', valid_until: '2026-01-31T12:00:00.9Z' };
    const { status, body } = await call('POST', '/ssh_user_certificates', { body: { ...asked, ...times } });
    expect([status, body['details']]).toMatchObject([400, { field: 'valid_until' }]);
  });

  it('shows ssh-keygen what was requested', async () => {
    const { certificate } = await sign({
      principals: ['alice', 'deploy'],
      critical_options: { 'source-address': '192.0.2.0/24,2001:db8::1', 'force-command': '/bin/echo hello' },
      extensions: { 'permit-user-rc': '', 'permit-agent-forwarding': '' },
      valid_after: '2026-01-31T14:00:00+02:00',
      valid_until: '2026-03-01T00:00:00Z',
    });
    expect(readWithSshKeygen(getText(certificate))).toMatchInlineSnapshot(`
      "key-cert.pub:
              Type: ssh-ed25519-cert-v01@openssh.com user certificate
              Public key: ED25519-CERT SHA256:SNrDw53ne8f/jdZCge5P05MWSsW4gmogdOXs1DwXZrM
              Signing CA: ED25519 SHA256:LUAxDuic8Ejegp+m5iKrwvnoaWlN6ypyEhHXjK2KoRQ (using ssh-ed25519)
              Key ID: "sucrt_391PrEUYlzo44ZxgfFa5hBmhejN"
              Serial: 0
              Valid: from 2026-01-31T12:00:00 to 2026-03-01T00:00:00
              Principals: 
                      alice
                      deploy
              Critical Options: 
                      force-command /bin/echo hello
                      source-address 192.0.2.0/24,2001:db8::1
              Extensions: 
                      permit-agent-forwarding
                      permit-user-rc
      "
    `);
  });

  it('has no principals if none are requested, and the defaults of a certificate', async () => {
    const { certificate } = await sign({});
    expect(readWithSshKeygen(getText(certificate))).toMatchInlineSnapshot(`
      "key-cert.pub:
              Type: ssh-ed25519-cert-v01@openssh.com user certificate
              Public key: ED25519-CERT SHA256:SNrDw53ne8f/jdZCge5P05MWSsW4gmogdOXs1DwXZrM
              Signing CA: ED25519 SHA256:LUAxDuic8Ejegp+m5iKrwvnoaWlN6ypyEhHXjK2KoRQ (using ssh-ed25519)
              Key ID: "sucrt_391PrEUYlzo44ZxgfFa5hBmhejN"
              Serial: 0
              Valid: from 2026-01-31T12:00:00 to 2026-02-01T12:00:00
              Principals: (none)
              Critical Options: (none)
              Extensions: 
                      permit-pty
                      permit-user-rc
      "
    `);
  });

  it('has nothing that was not requested', async () => {
    const { certificate } = await sign({ extensions: {} });
    const shown = readWithSshKeygen(getText(certificate));
    expect(shown).toContain('Critical Options: (none)');
    expect(shown).toContain('Extensions: (none)');
  });

  it('has an extension with a value, and a critical option without one, in the form that OpenSSH reads', async () => {
    const { certificate } = await sign({
      critical_options: { 'force-command': '' },
      extensions: { 'login@example.com': 'alice' },
    });
    const shown = readWithSshKeygen(getText(certificate));
    expect(shown).toMatch(/Critical Options: \n +force-command *\n/);
    expect(shown).toContain(`login@example.com UNKNOWN OPTION: 00000005${Buffer.from('alice').toString('hex')}`);
  });

  it.each([
    ['ed25519', 'ssh-ed25519', ED25519_KEY],
    ['ecdsa', 'ecdsa-sha2-nistp256', ECDSA_256_KEY],
    ['ecdsa', 'ecdsa-sha2-nistp384', ECDSA_384_KEY],
    ['ecdsa', 'ecdsa-sha2-nistp521', ECDSA_521_KEY],
    ['rsa', 'ssh-rsa', RSA_KEY],
  ])('is for a key of the type %s: %s', async (keyType, name, key) => {
    const { key_type: shown, certificate } = await sign({ public_key: key });
    expect(shown).toBe(keyType);
    expect(getText(certificate)).toMatch(new RegExp(`^${name}-cert-v01@openssh\\.com `));
  });

  it.for([ED25519_KEY, ECDSA_256_KEY, ECDSA_384_KEY, ECDSA_521_KEY, RSA_KEY])(
    'has a signature that ssh-keygen accepts: %s',
    async (key) => {
      const { certificate, id } = await sign({ public_key: key });
      const shown = readWithSshKeygen(getText(certificate));
      expect(shown).toContain(`Key ID: "${getText(id)}"`);
      expect(shown).toContain('(using ssh-ed25519)');
    },
  );

  it.each([
    ['before 1970', { valid_after: '1969-12-31T23:59:59Z' }],
    ['after 9999', { valid_until: '9999-12-31T23:59:59-01:00' }],
  ])('is refused %s', async (_, times) => {
    expect(await sign(times)).toMatchObject({ status_code: 400, msg: expect.stringContaining('between the years') });
  });

  it('is accepted in the last 24 hours before the year 10000 only with an end', async () => {
    const after = '9999-12-31T00:00:00Z';
    expect(await sign({ valid_after: after })).toMatchObject({ status_code: 400, details: { field: 'valid_after' } });
    const until = '9999-12-31T23:59:59Z';
    expect(await sign({ valid_after: after, valid_until: until })).toMatchObject({ valid_until: until });
    expect(await sign({ valid_after: '9999-12-30T23:59:59Z' })).toMatchObject({ valid_until: until });
  });

  it.each([
    [
      'is too short',
      (blob: Buffer) => Buffer.concat([blob.subarray(0, 15), Buffer.from([0, 0, 0, 16]), blob.subarray(19, 35)]),
    ],
    ['goes on behind its end', (blob: Buffer) => Buffer.concat([blob, Buffer.from('more')])],
    ['breaks off', (blob: Buffer) => blob.subarray(0, 30)],
  ])('is refused for a key that %s', async (_, change) => {
    const [name = '', blob = ''] = ED25519_KEY.split(' ');
    const key = `${name} ${change(Buffer.from(blob, 'base64')).toString('base64')}`;
    expect(await sign({ public_key: key })).toMatchObject({
      status_code: 400,
      msg: 'public_key is not a complete SSH public key',
      details: { field: 'public_key' },
    });
  });
});

describe('a certificate authority', () => {
  it('is an ed25519 key for each id, the same for the same seed', () => {
    const first = createServer({ idSeed: 'a' });
    const key = first.certificateAuthorityKey('sshca_1');
    expect(key).toMatch(/^ssh-ed25519 [A-Za-z0-9+/=]+$/);
    expect(createServer({ idSeed: 'a' }).certificateAuthorityKey('sshca_1')).toBe(key);
    expect(createServer({ idSeed: 'b' }).certificateAuthorityKey('sshca_1')).not.toBe(key);
    expect(first.certificateAuthorityKey('sshca_2')).not.toBe(key);
    expect(createServer().certificateAuthorityKey('sshca_1')).not.toBe(
      createServer().certificateAuthorityKey('sshca_1'),
    );
  });

  it('signs certificates', async () => {
    const { server, call } = createTestServer();
    const asked = { public_key: ED25519_KEY, ssh_certificate_authority_id: 'sshca_1' };
    const { body } = await call('POST', '/ssh_user_certificates', { body: asked });
    const authority = server.certificateAuthorityKey('sshca_1');
    const fingerprint = spawnSync('ssh-keygen', ['-l', '-f', '-'], { encoding: 'utf8', input: authority });
    const shown = readWithSshKeygen(getText(body['certificate']));
    expect(shown).toContain(`Signing CA: ED25519 ${fingerprint.stdout.split(' ')[1]} (using ssh-ed25519)`);
  });

  it('is kept in a snapshot, so that the next server signs with the same key', () => {
    const server = createServer();
    const key = server.certificateAuthorityKey('sshca_1');
    expect(createServer({ seed: server.snapshot() }).certificateAuthorityKey('sshca_1')).toBe(key);
  });

  it('is refused if its secret is invalid', () => {
    const seed = { certificate_authorities: { sshca_1: 'c2hvcnQ' } };
    expect(() => createServer({ seed })).toThrow('certificate_authorities.sshca_1 is not 32 bytes in base64url');
  });
});
