/** As much of tweetnacl as sshpk needs for keys of Ed25519, by a package that is smaller. */

import { getPublicKey, hashes, sign as signWith } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';

hashes.sha512 = sha512;

const SEED_BYTES = 32;

export const sign = {
  keyPair: { fromSeed: (seed: Uint8Array) => ({ publicKey: getPublicKey(seed) }) },
  /** `secret`: the seed, and the public key. */
  detached: (message: Uint8Array, secret: Uint8Array) => signWith(message, secret.subarray(0, SEED_BYTES)),
};
