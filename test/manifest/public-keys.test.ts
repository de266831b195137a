import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sshpk from 'sshpk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFieldFileReader } from '../../src/manifest/load.ts';
import { explain, validate } from './explain.ts';

const ED25519 = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-keys-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** A manifest with this public key. */
function toManifest(publicKey: string): string {
  return `apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: alice }
spec:
  ssh_certificate_authority_id: sshca_1
  public_key: ${publicKey}
`;
}

const OPTIONS = () => ({ readFile: createFieldFileReader({ cwd: folder, uid: process.getuid?.() }) });

function explainKey(publicKey: string, file = 'm.yaml'): readonly string[] {
  return explain({ [file]: toManifest(publicKey) }, OPTIONS());
}

function toPublicKey(type: 'rsa' | 'dsa', modulusLength: number): string {
  const { publicKey } =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength })
      : generateKeyPairSync('dsa', { modulusLength, divisorLength: 160 });
  return sshpk
    .parseKey(publicKey.export({ type: 'spki', format: 'pem' }), 'pem')
    .toString('ssh')
    .split(' ')
    .slice(0, 2)
    .join(' ');
}

describe('a public key in a file', () => {
  it.each([
    ['alice.pub', 'Alice.pub', 'Alice.pub'],
    ['ALICE.PUB', 'alice.pub', 'alice.pub'],
    ['gru\u0308n.pub', 'gr\u00fcn.pub', String.raw`gr\u00fcn.pub`],
  ])('is suggested if its name is only similar: %s', (named, existing, shown) => {
    writeFileSync(join(folder, existing), `${ED25519} alice@example.com\n`);
    expect(explainKey(`{ file: ${named} }`).join('\n')).toContain(`Did you mean \`${shown}\`?`);
  });

  it('is the text of that file, relative to the folder of the manifest', () => {
    mkdirSync(join(folder, 'team/keys'), { recursive: true });
    writeFileSync(join(folder, 'team/keys/alice.pub'), `${ED25519} alice@example.com\n`);
    const { state, diagnostics } = validate({ 'team/m.yaml': toManifest('{ file: keys/alice.pub }') }, OPTIONS());
    expect(diagnostics).toEqual([]);
    expect(state?.resources.get('SSHUserCertificate/alice')?.spec['public_key']).toBe(`${ED25519} alice@example.com`);
  });

  it('is relative to the working folder if the manifest comes from a pipe', () => {
    writeFileSync(join(folder, 'alice.pub'), ED25519);
    expect(explainKey('{ file: alice.pub }', '<stdin>')).toEqual([]);
  });

  it('can be named by the environment', () => {
    writeFileSync(join(folder, 'alice.pub'), ED25519);
    const manifest = toManifest(`{ file: "\${env:WHO}.pub" }`);
    expect(explain(manifest, { ...OPTIONS(), env: { variables: { WHO: 'alice' }, offered: ['WHO'] } })).toEqual([]);
  });

  it.each([
    ['does not exist', () => undefined],
    ['is a folder, not a file', (path: string) => mkdirSync(path)],
    ['is larger than 65536 bytes', (path: string) => writeFileSync(path, 'a'.repeat(65_537))],
    ['is not UTF-8 text', (path: string) => writeFileSync(path, Buffer.from([0xff, 0xfe]))],
    ['is a pipe, not a file', (path: string) => execFileSync('mkfifo', [path])],
    ['is a symbolic link to itself', (path: string) => symlinkSync(path, path)],
  ])('is refused at its place if it %s', (fault, make) => {
    make(join(folder, 'alice.pub'));
    expect(explainKey('{ file: alice.pub }')).toEqual([
      `6:23 [(hidden)] file-unreadable: SSHUserCertificate/alice: spec.public_key names alice.pub, which ${fault}`,
      '  The path is relative to the folder of this manifest.',
    ]);
  });

  it('is not quoted if it is something else', () => {
    writeFileSync(join(folder, 'secret'), 'root:x:0:0:hunter2\n');
    const said = explainKey('{ file: secret }').join('\n');
    expect(said).toContain('which does not hold an RSA, ECDSA or Ed25519 public key in OpenSSH authorized-keys format');
    expect(said).not.toContain('hunter2');
  });

  it('is not read if only manifests are read', () => {
    expect(explain(toManifest('{ file: alice.pub }')).join()).toContain('nothing but the manifests is read here');
  });

  it('is a mapping with the right keys, and nothing else', () => {
    expect(explainKey('{ path: alice.pub }').join('\n')).toContain('spec.public_key has an unknown field');
    expect(explainKey('7').join('\n')).toContain('spec.public_key must be text or a mapping');
  });
});

describe('a public key', () => {
  it.each([
    ['RSA', toPublicKey('rsa', 2048)],
    ['Ed25519', ED25519],
  ])('is accepted: %s', (_, key) => {
    expect(explainKey(`${key} alice@example.com`)).toEqual([]);
  });

  it('of RSA needs 2048 bits', () => {
    expect(explainKey(toPublicKey('rsa', 1024)).join('\n')).toContain(
      'bad-value: SSHUserCertificate/alice: spec.public_key is an RSA key of 1024 bits, and less than 2048 are refused',
    );
  });

  it('of DSA is refused', () => {
    expect(explainKey(toPublicKey('dsa', 1024)).join('\n')).toContain(
      'has the key type `ssh-dss` instead of RSA, ECDSA or Ed25519',
    );
  });

  it.each([
    ['cut off', ED25519.slice(0, -4)],
    ['with more behind its end', `${ED25519}AAAA`],
  ])('is refused if it is not whole: %s', (_, key) => {
    expect(explainKey(key).join('\n')).toContain('spec.public_key is not a complete SSH public key');
  });
});

it('says of the file of a private key that it is one, and which file to name', () => {
  writeFileSync(join(folder, 'key'), '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n');
  expect(explainKey('{ file: key }').join('\n')).toMatch(
    /spec\.public_key names key, which holds a private key\n {2}Name the file of the public key, which usually ends with \.pub: /,
  );
});
