import { createHmac } from 'node:crypto';
import { parsePkcs8Key, type SshPublicKey, type SshSigningKey } from '../kinds/ssh-key.ts';

/** Creates ids, tokens and keys. Two generators with the same seed return the same results for the same calls. */
export interface IdGenerator {
  /** Creates an id such as `edgtcp_2fmn…`. Ids sort in the order of their creation, unless the clock is set back. */
  readonly createId: (prefix: string, now: Date) => string;
  readonly createOperationId: () => string;
  /** Returns the token of the credential with this id. */
  readonly toToken: (id: string) => string;
  /** Returns 32 bytes that cannot be guessed without the seed. The same purpose gives the same bytes. */
  readonly derive: (purpose: string) => Buffer;
  /** The number of ids created so far. A server that starts from a snapshot continues with this number. */
  readonly sequence: () => number;
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KSUID_EPOCH_SECONDS = 1_400_000_000;
const KSUID_LENGTH = 27;
const TOKEN_BYTES = 15;
const TOKEN_LENGTH = 20;

/** The last digits of an operation id are a counter. The other digits identify the server, and are not secret. */
const OPERATION_DIGITS = 9;

/** `sequence`: the number of ids that were already created from this seed. */
export function createIdGenerator(seed: string | Buffer, sequence: number): IdGenerator {
  let ids = sequence;
  let operations = 0;
  const derive = (purpose: string): Buffer => createHmac('sha256', seed).update(purpose).digest();
  const operationPrefix = encodeBase62(derive('operation'), KSUID_LENGTH - OPERATION_DIGITS);
  return {
    createId: (prefix, now) => {
      const count = ids++;
      return `${prefix}_${encodeKsuid(now, count, derive(`id ${count}`))}`;
    },
    createOperationId: () => `op_${operationPrefix}${formatDigits(operations++, OPERATION_DIGITS)}`,
    toToken: (id) => {
      const secret = encodeBase62(derive(`token ${id}`).subarray(0, TOKEN_BYTES), TOKEN_LENGTH + 1);
      return `${id.slice(id.indexOf('_') + 1)}_${secret.slice(1)}`;
    },
    derive,
    sequence: () => ids,
  };
}

/**
 * Encodes 4 bytes of time, 5 bytes of the count, and 11 random bytes. Ids sort by time, then by count. Source: the
 * KSUID format.
 */
function encodeKsuid(now: Date, count: number, random: Buffer): string {
  const bytes = Buffer.alloc(20);
  const seconds = Math.floor(now.getTime() / 1000) - KSUID_EPOCH_SECONDS;
  bytes.writeUInt32BE(Math.min(Math.max(seconds, 0), 0xffff_ffff), 0);
  bytes.writeUIntBE(count, 4, 5);
  random.copy(bytes, 9, 0, 11);
  return encodeBase62(bytes, KSUID_LENGTH);
}

/** The number of base-62 digits per division. DIGITS_BASE times 2^16 is less than 2^53, so each division is exact. */
const DIGITS = 5;
const DIGITS_BASE = 62 ** DIGITS;

/** Encodes bytes, as one big-endian number, in base 62. Returns only the last `length` digits. */
function encodeBase62(bytes: Buffer, length: number): string {
  const words = splitWords(bytes);
  let text = '';
  while (text.length < length) text = formatDigits(divideWords(words), DIGITS) + text;
  return text.slice(-length);
}

/**
 * Splits bytes into 16-bit numbers, the highest first. If the number of bytes is odd, the first number is a single
 * byte.
 */
function splitWords(bytes: Buffer): number[] {
  const words: number[] = bytes.length % 2 === 0 ? [] : [bytes.readUInt8(0)];
  for (let index = words.length; index < bytes.length; index += 2) words.push(bytes.readUInt16BE(index));
  return words;
}

/** Divides a number, given as 16-bit words, by `DIGITS_BASE` in place, and returns the remainder. */
function divideWords(words: number[]): number {
  let rest = 0;
  for (let index = 0; index < words.length; index += 1) {
    const value = rest * 0x1_0000 + (words[index] ?? 0);
    words[index] = Math.floor(value / DIGITS_BASE);
    rest = value % DIGITS_BASE;
  }
  return rest;
}

/** Encodes a number in base 62. Returns only the last `length` digits. */
function formatDigits(value: number, length: number): string {
  let [rest, text] = [value, ''];
  for (let count = 0; count < length; count += 1) {
    text = ALPHABET.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** The SSH certificate authorities of the server. Each id has an ed25519 key, which is created at its first use. */
export interface SshCertificateAuthorities {
  readonly getKey: (id: string) => SshSigningKey;
  /** Maps the id of each authority that was used to its secret, in base64url. */
  readonly getSecrets: () => Readonly<Record<string, string>>;
}

/** The DER header of a PKCS #8 ed25519 private key. The 32 secret bytes of the key follow. Source: RFC 8410. */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SECRET_BYTES = 32;

/**
 * Creates the certificate authorities. `derive` returns 32 secret bytes for a purpose. `secrets` maps the ids of
 * authorities that were used before to their secrets, in base64url. `onNew`: called with the secret of each further authority
 * at its first use. Throws `RangeError` for an invalid secret.
 */
export function createCertificateAuthorities(
  derive: (purpose: string) => Buffer,
  secrets: Readonly<Record<string, string>>,
  onNew: (secrets: Readonly<Record<string, string>>) => void = () => undefined,
): SshCertificateAuthorities {
  const known = new Map(Object.entries(secrets).map(([id, secret]) => [id, parseSecret(id, secret)]));
  const keys = new Map<string, SshSigningKey>();
  return {
    getKey: (id) => {
      const secret = known.get(id) ?? derive(`certificate authority ${id}`).subarray(0, SECRET_BYTES);
      const key = keys.get(id) ?? parseKey(secret);
      if (!known.has(id)) onNew({ [id]: secret.toString('base64url') });
      known.set(id, secret);
      keys.set(id, key);
      return key;
    },
    getSecrets: () => Object.fromEntries([...known].map(([id, secret]) => [id, secret.toString('base64url')])),
  };
}

/** Formats a public key for OpenSSH authorized-keys files, without a comment. */
export function formatAuthorizedKey(key: SshPublicKey): string {
  return key.toString('ssh').split(' ').slice(0, 2).join(' ');
}

function parseSecret(id: string, text: string): Buffer {
  const secret = Buffer.from(text, 'base64url');
  if (secret.length !== SECRET_BYTES)
    throw new RangeError(`certificate_authorities.${id} is not 32 bytes in base64url`);
  return secret;
}

/** Parses the key without Node's own parser, which may report an error that an earlier call left behind in OpenSSL. */
function parseKey(secret: Buffer): SshSigningKey {
  const der = Buffer.concat([PKCS8_ED25519, secret]).toString('base64');
  return parsePkcs8Key(`-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n`);
}
