import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toThrownNetworkError } from '../../src/client/api-error.ts';
import { createWorkspace, STACK } from './workspace.ts';

const CERTIFICATE = readFileSync('examples/everything/authorities.pem', 'utf8');

describe('a file of certificates to trust', () => {
  it.each([
    ['nothing', '', 'there is no certificate in it'],
    ['a certificate that is cut off', CERTIFICATE.slice(0, 200), 'a certificate in it has no END line'],
    ['a second one that is cut off', CERTIFICATE + CERTIFICATE.slice(0, 200), 'a certificate in it has no END line'],
  ])('is refused before any request if it contains %s', async (_, text, why) => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': STACK, 'ca.pem': text });
    const { exitCode, stderr } = await edgewise('plan edgewise.yaml --ca-file ca.pem');
    expect(stderr).toContain(`--ca-file: the certificates in ca.pem cannot be read: ${why}`);
    expect(exitCode).toBe(3);
    expect(recorder.take()).toEqual([]);
  });

  it('is accepted with a TRUSTED CERTIFICATE of OpenSSL in it', async () => {
    // After the certificate, OpenSSL writes its trusted uses: here none.
    const der = Buffer.concat([new X509Certificate(CERTIFICATE).raw, Buffer.from([0x30, 0x00])]);
    const lines = der.toString('base64').replace(/.{64}/g, '$&\n');
    const text = `-----BEGIN TRUSTED CERTIFICATE-----\n${lines}\n-----END TRUSTED CERTIFICATE-----\n`;
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': STACK, 'ca.pem': text });
    expect(await edgewise('plan edgewise.yaml --ca-file ca.pem')).toMatchObject({ exitCode: 0 });
  });

  it('is what the error of an unknown authority names first', () => {
    const message =
      'self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca';
    const cause = Object.assign(new Error(message), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(toThrownNetworkError(cause, { method: 'GET', url: 'https://api.test/edges/tcp' })).toMatchObject({
      message:
        'GET https://api.test/edges/tcp: no trusted authority signed the certificate of the service: name a file with its authority, with --ca-file or EDGEWISE_CA_FILE (self-signed certificate)',
    });
  });
});
