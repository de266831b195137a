import { describe, expect, it } from 'vitest';
import { getKind } from '../../src/kinds/tables/registry.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, STACK } from './workspace.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';
const OTHER_KEY =
  'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBMwqCIGNbs2C8ZlvJp/FrGgNUGM38v+sJTBMVqUMybPw/ojEqjdNOIN6psEI8pcJTrhJ8QXvzFfGSYzNCxvDWKE=';

/** The values before and after the change of each field. */
const VALUES: Readonly<Record<string, Readonly<Record<string, readonly [Json, Json]>>>> = {
  SSHUserCertificate: {
    public_key: [KEY, OTHER_KEY],
    ssh_certificate_authority_id: ['sshca_1', 'sshca_2'],
    principals: [['alice'], ['bob']],
    critical_options: [{ 'force-command': '/bin/true' }, { 'force-command': '/bin/false' }],
    extensions: [{ 'permit-pty': '' }, { 'permit-user-rc': '' }],
    valid_after: ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
    valid_until: ['2036-01-01T00:00:00Z', '2036-01-02T00:00:00Z'],
  },
  Credential: { owner_id: ['usr_1', 'usr_2'] },
};

function toManifest(kind: string, spec: JsonObject): string {
  const settings = 'spec: { tokens: { default: { directory: tokens } } }';
  return `${STACK}${settings}\n---\n${JSON.stringify({ apiVersion: 'edgewise/v1', kind, metadata: { name: 'it' }, spec })}\n`;
}

describe.each(Object.entries(VALUES))('%s', (kind, values) => {
  it('has a value here for each immutable field', () => {
    const fixed = getKind(kind).specFields.filter(([, { lifecycle }]) => lifecycle === 'immutable');
    expect(Object.keys(values)).toEqual(fixed.map(([name]) => name));
  });

  it.each(Object.keys(values))('is replaced, with the new one created first, when %s changes', async (name) => {
    const before = Object.fromEntries(Object.entries(values).map(([field, [from]]) => [field, from]));
    const after = { ...before, [name]: values[name]?.[1] ?? null };
    const { edgewise, write, recorder } = await createWorkspace({ 'm.yaml': toManifest(kind, before) });
    expect(await edgewise('apply m.yaml --yes')).toMatchObject({ exitCode: 0 });
    await write({ 'm.yaml': toManifest(kind, after) });

    const { changes } = readOnlyStack((await edgewise('plan m.yaml --format json')).stdout);
    const paths: readonly string[] = changes[0].differences.map(({ path }: { readonly path: string }) => path);
    expect(changes).toMatchObject([{ action: 'replace' }]);
    expect(new Set(paths.map((path) => path.split(/[.[]/)[0]))).toEqual(new Set([name]));
    expect((await edgewise('plan m.yaml')).stdout).toMatch(new RegExp(`${name}.*forces replacement`));

    recorder.take();
    expect(await edgewise('apply m.yaml --yes')).toMatchObject({ exitCode: 0 });
    const methods = recorder.take().map(({ method }) => method);
    expect(methods.filter((method) => method === 'POST' || method === 'DELETE')).toEqual(['POST', 'DELETE']);
  });
});
