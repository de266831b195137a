import sshpk from 'sshpk';

/**
 * Everything that needs the package for SSH keys. Loading it takes time, so import this file only when a key is at hand.
 */

/** As much of a public key as is used here. Not the package's own type: those who use this one do not have its types. */
export interface Key {
  readonly type: string;
  readonly size: number;
  readonly toBuffer: (format: 'rfc4253', options?: object) => Buffer;
  readonly toString: (format: 'ssh') => string;
}

/** As much of a private key. */
export interface PrivateKey {
  readonly toPublic: () => Key;
  readonly createSign: (hash: 'sha512') => KeySigner;
}

/** Signs what it was given. */
interface KeySigner {
  readonly update: (bytes: Buffer) => unknown;
  readonly sign: () => { readonly toBuffer: (format: 'ssh') => Buffer };
}

/** Shorter RSA keys can be broken. */
const MIN_RSA_BITS = 2048;

/** Why an OpenSSH public key of a known type is invalid; `undefined`: it is valid. The key itself is not quoted. */
export function checkSshKey(text: string): string | undefined {
  const key = parseSshPublicKey(text);
  if (key === undefined) return 'is not a complete SSH public key';
  if (key.type === 'rsa' && key.size < MIN_RSA_BITS)
    return `is an RSA key of ${key.size} bits, and less than ${MIN_RSA_BITS} are refused`;
  return undefined;
}

/** The key of a text in OpenSSH authorized-keys format; `undefined` when it holds none, or not a whole one. */
export function parseSshPublicKey(text: string): Key | undefined {
  const bytes = Buffer.from(text.trim().split(/\s+/)[1] ?? '', 'base64');
  const key = readKey(text.trim());
  // sshpk repairs keys that are too short and ignores excess bytes, so the key must come out as it went in.
  return key?.toBuffer('rfc4253', {}).equals(bytes) ? key : undefined;
}

/** The private key of a PEM text in PKCS #8. Throws on anything else. */
export function parsePkcs8Key(pem: string | Buffer): PrivateKey {
  return sshpk.parsePrivateKey(pem, 'pkcs8');
}

function readKey(text: string): Key | undefined {
  try {
    return sshpk.parseKey(text, 'ssh');
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}
