import type { Key, PrivateKey } from '../kinds/ssh-key.ts';

/** What an SSH user certificate says. */
export interface SshCertificate {
  readonly publicKey: Key;
  readonly keyId: string;
  /** Empty: valid for any user name. */
  readonly principals: readonly string[];
  readonly validAfter: Date;
  readonly validBefore: Date;
  readonly criticalOptions: Readonly<Record<string, string>>;
  readonly extensions: Readonly<Record<string, string>>;
  /** Makes two certificates that say the same different. */
  readonly nonce: Buffer;
}

const USER_CERTIFICATE = 1;

/**
 * A signed user certificate in OpenSSH authorized-keys format, with serial 0 and its key id as the comment. sshpk's own writer cannot leave the principals out.
 * Source: OpenSSH PROTOCOL.certkeys.
 */
export function renderSshCertificate(certificate: SshCertificate, authority: PrivateKey): string {
  const key = certificate.publicKey.toBuffer('rfc4253', {});
  const nameLength = 4 + key.readUInt32BE(0);
  const type = `${key.toString('latin1', 4, nameLength)}-cert-v01@openssh.com`;
  const signed = Buffer.concat([
    toField(type),
    toField(certificate.nonce),
    key.subarray(nameLength),
    toUint64(0),
    toUint32(USER_CERTIFICATE),
    toField(certificate.keyId),
    toField(Buffer.concat(certificate.principals.map(toField))),
    toUint64(toSeconds(certificate.validAfter)),
    toUint64(toSeconds(certificate.validBefore)),
    toField(toOptions(certificate.criticalOptions, toField)),
    toField(toOptions(certificate.extensions, (value) => (value === '' ? Buffer.alloc(0) : toField(value)))),
    toField(''),
    toField(authority.toPublic().toBuffer('rfc4253', {})),
  ]);
  const blob = Buffer.concat([signed, toField(toSignature(authority, signed))]);
  return `${type} ${blob.toString('base64')} ${certificate.keyId}`;
}

function toSignature(authority: PrivateKey, bytes: Buffer): Buffer {
  const signer = authority.createSign('sha512');
  signer.update(bytes);
  return signer.sign().toBuffer('ssh');
}

/** Sorted by name, the value packed once more; an extension without a value is a flag, and has no data. */
function toOptions(options: Readonly<Record<string, string>>, pack: (value: string) => Buffer): Buffer {
  const sorted = Object.entries(options).sort(([left], [right]) => (left < right ? -1 : 1));
  return Buffer.concat(sorted.flatMap(([name, value]) => [toField(name), toField(pack(value))]));
}

function toField(value: string | Buffer): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  return Buffer.concat([toUint32(bytes.length), bytes]);
}

function toUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function toUint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
