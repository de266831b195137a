import { createPrivateKey, createPublicKey } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createCertificateAuthorities } from '../../src/server/certificate-authority.ts';

it('the key of an authority is the ed25519 key of its secret', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const secret = Buffer.from(bytes);
      const key = createCertificateAuthorities(() => secret, {})
        .getKey('sshca_1')
        .toPublic();
      const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), secret]);
      const expected = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
      const raw = Buffer.from(expected.export({ format: 'jwk' }).x ?? '', 'base64url');
      expect(key.toBuffer('rfc4253', {}).subarray(-32)).toEqual(raw);
    }),
  );
});
