import { type Key, type PrivateKey, parsePkcs8Key } from '../kinds/ssh-key.ts';

/** The SSH certificate authorities of the server: one ed25519 key for each id, made when it is first used. */
export interface CertificateAuthorities {
  readonly getKey: (id: string) => PrivateKey;
  /** The secret of each authority that was used, by id, in base64url. */
  readonly listSecrets: () => Readonly<Record<string, string>>;
}

/** What a PKCS #8 ed25519 private key has before its 32 bytes. Source: RFC 8410. */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SECRET_BYTES = 32;

/** `derive` gives 32 secret bytes for a purpose; `secrets` are those of authorities that were used before. Throws `RangeError` on a bad secret. */
export function createCertificateAuthorities(
  derive: (purpose: string) => Buffer,
  secrets: Readonly<Record<string, string>>,
): CertificateAuthorities {
  const known = new Map(Object.entries(secrets).map(([id, secret]) => [id, parseSecret(id, secret)]));
  const keys = new Map<string, PrivateKey>();
  return {
    getKey: (id) => {
      const secret = known.get(id) ?? derive(`certificate authority ${id}`).subarray(0, SECRET_BYTES);
      const key = keys.get(id) ?? toKey(secret);
      known.set(id, secret);
      keys.set(id, key);
      return key;
    },
    listSecrets: () => Object.fromEntries([...known].map(([id, secret]) => [id, secret.toString('base64url')])),
  };
}

/** A public key in OpenSSH authorized-keys format, without a comment. */
export function toAuthorizedKey(key: Key): string {
  return key.toString('ssh').split(' ').slice(0, 2).join(' ');
}

function parseSecret(id: string, text: string): Buffer {
  const secret = Buffer.from(text, 'base64url');
  if (secret.length !== SECRET_BYTES)
    throw new RangeError(`certificate_authorities.${id} is not 32 bytes in base64url`);
  return secret;
}

/** Encoded as PEM by hand: Node's own parser may report an error that something else left behind in OpenSSL. */
function toKey(secret: Buffer): PrivateKey {
  const der = Buffer.concat([PKCS8_ED25519, secret]).toString('base64');
  return parsePkcs8Key(`-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n`);
}
