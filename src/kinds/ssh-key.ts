import sshpk from 'sshpk';

/**
 * Used instead of the package's own type, which users of the library do not have. Lists only the members that are used.
 */
export interface SshPublicKey {
  readonly type: string;
  readonly size: number;
  readonly toBuffer: (format: 'rfc4253', options?: object) => Buffer;
  readonly toString: (format: 'ssh') => string;
}

/** The members of a private key that are used here. */
export interface SshSigningKey {
  readonly toPublic: () => SshPublicKey;
  readonly createSign: (hash: 'sha512') => KeySigner;
}

interface KeySigner {
  readonly update: (bytes: Buffer) => unknown;
  readonly sign: () => { readonly toBuffer: (format: 'ssh') => Buffer };
}

/** Shorter RSA keys can be broken. */
const MIN_RSA_BITS = 2048;

/** Returns why an OpenSSH public key of a known type is invalid, without quoting it. `undefined` if it is valid. */
export function checkSshKey(text: string): string | undefined {
  const key = parseSshPublicKey(text);
  if (key === undefined) return 'is not a complete SSH public key';
  if (key.type === 'rsa' && key.size < MIN_RSA_BITS)
    return `is an RSA key of ${key.size} bits, and less than ${MIN_RSA_BITS} are refused`;
  return undefined;
}

/** Parses a public key in OpenSSH authorized-keys format. `undefined` if the text is not a complete key. */
export function parseSshPublicKey(text: string): SshPublicKey | undefined {
  const bytes = Buffer.from(text.trim().split(/\s+/)[1] ?? '', 'base64');
  const key = parseSshKey(text.trim());
  // sshpk repairs keys that are too short and ignores excess bytes, so compare its output with the input.
  return key?.toBuffer('rfc4253', {}).equals(bytes) ? key : undefined;
}

/** Parses a private key in PKCS #8 PEM format. Throws on any other input. */
export function parsePkcs8Key(pem: string | Buffer): SshSigningKey {
  return sshpk.parsePrivateKey(pem, 'pkcs8');
}

function parseSshKey(text: string): SshPublicKey | undefined {
  try {
    return sshpk.parseKey(text, 'ssh');
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}
