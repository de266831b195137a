import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK } from './workspace.ts';

const CERTIFICATE = readFileSync('examples/everything/authorities.pem', 'utf8');

describe('a file of certificates to trust', () => {
  it.each([
    ['nothing', '', 'there is no certificate in it'],
    ['a certificate that is cut off', CERTIFICATE.slice(0, 200), 'a certificate in it has no END line'],
    ['a second one that is cut off', CERTIFICATE + CERTIFICATE.slice(0, 200), 'a certificate in it has no END line'],
  ])('is refused with %s in it, before any request', async (_, text, why) => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': STACK, 'ca.pem': text });
    const { exitCode, stderr } = await edgewise('plan edgewise.yaml --ca-file ca.pem');
    expect(stderr).toContain(`The certificates in ca.pem cannot be read: ${why}`);
    expect(exitCode).toBe(3);
    expect(recorder.take()).toEqual([]);
  });
});
