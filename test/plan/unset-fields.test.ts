import { describe, expect, it } from 'vitest';
import { type Field, field, text } from '../../src/kinds/field.ts';
import { defineKind } from '../../src/kinds/kind.ts';
import { IGNORED_FIELD_DIGEST, type Mark, toFieldDigest } from '../../src/model/mark.ts';
import type { Spec } from '../../src/model/state.ts';
import { diffNoLongerSetFields, needsReplaceForServiceDefault } from '../../src/plan/unset-fields.ts';
import { createWorkspace, STACK, toCredential, toManifest } from '../cli/workspace.ts';

const CHOSEN = { serviceDefault: true } as const;

function toKind(options: Partial<Field>) {
  const fields = { id: field(text(), 'Id.', { lifecycle: 'computed' }), size: field(text(), 'Size.', options) };
  const base = { name: 'Made', role: 'owned', title: 'made', description: 'Made up.', idPrefix: 'made' } as const;
  return defineKind({ ...base, path: '/made', listKey: 'made', fields });
}

interface Case {
  readonly options: Partial<Field>;
  readonly normal?: Spec;
  readonly live?: Spec;
  readonly ignore?: readonly string[];
  readonly digest?: string;
}

function diffUnset({ options, normal = {}, live = { size: 'l' }, ignore = [], digest = toFieldDigest('l') }: Case) {
  const kind = toKind(options);
  const mark: Mark = { stack: 'test', name: 'a', protect: false, delivered: false, fields: { size: digest } };
  const described = { kind, live: { spec: live, mark }, ignored: ignore, validForMs: undefined };
  return {
    found: diffNoLongerSetFields(described, normal),
    isReplaced: needsReplaceForServiceDefault(described, normal),
  };
}

describe('a field that a manifest no longer sets', () => {
  it.each([
    ['is cleared, when it can be changed', { ...CHOSEN }, false],
    ['replaces the resource, when it cannot be changed', { ...CHOSEN, lifecycle: 'immutable' }, true],
    [
      'stays, when the default depends on the caller',
      { ...CHOSEN, lifecycle: 'immutable', keepsLiveValue: true },
      false,
    ],
  ] as const)('%s', (_, options, forcesReplace) => {
    const { found, isReplaced } = diffUnset({ options });
    expect(found).toEqual([{ field: 'size', path: 'size', from: 'l', origin: 'manifest', forcesReplace }]);
    expect(isReplaced).toBe(forcesReplace);
  });

  it('is changed in the manifest and drifted if it was changed at the service too', () => {
    expect(diffUnset({ options: CHOSEN, live: { size: 'm' } }).found).toMatchObject([{ from: 'm', origin: 'both' }]);
  });

  it('is found even if the service does not show it', () => {
    expect(diffUnset({ options: CHOSEN, live: {} }).found).toEqual([
      { field: 'size', path: 'size', origin: 'manifest', forcesReplace: false },
    ]);
  });

  it.each([
    ['it is still set', { options: CHOSEN, normal: { size: 'm' } }],
    ['it is ignored', { options: CHOSEN, ignore: ['size'] }],
    ['it was ignored when the mark was written', { options: CHOSEN, digest: IGNORED_FIELD_DIGEST }],
    ['leaving it out has a meaning of its own', { options: {} }],
  ])('is absent if %s', (_, known) => {
    expect(diffUnset(known)).toEqual({ found: [], isReplaced: false });
  });
});

describe('an owner that a manifest no longer sets', () => {
  const stated = `${toCredential('agent')}spec: { owner_id: usr_bot }\n`;

  it('is pending in drift, and settled by one apply', async () => {
    const { edgewise, write, recorder } = await createWorkspace({ 'edgewise.yaml': STACK + stated });
    expect(await edgewise('apply --yes --token-directory tokens')).toMatchObject({ exitCode: 0 });
    await write({ 'edgewise.yaml': STACK + toCredential('agent') });
    const drift = await edgewise('drift');
    expect(drift.exitCode).toBe(2);
    expect(drift.stdout).toMatch(/^Changed in the manifests and not applied yet:\n\n» Credential\/agent /m);
    expect(drift.stdout).toContain('owner_id: usr_bot → (no longer in the manifest)\n');
    expect(drift.stdout).toContain('warning[unset-field-kept]');
    recorder.take();
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    expect(recorder.take().map(({ method }) => method)).toEqual([...Array(6).fill('GET'), 'PATCH']);
    const again = await edgewise('plan --detailed-exitcode');
    expect(again.stdout).not.toContain('unset-field-kept');
    expect(again.exitCode).toBe(0);
  });

  it('is settled by an approved plan, which counts as done after that', async () => {
    const { edgewise, write, recorder } = await createWorkspace({ 'edgewise.yaml': STACK + stated });
    await edgewise('apply --yes --token-directory tokens');
    await write({ 'edgewise.yaml': STACK + toCredential('agent') });
    expect(await edgewise('plan -o plan.json')).toMatchObject({ exitCode: 0 });
    recorder.take();
    for (const methods of [['PATCH'], []]) {
      const { exitCode, stderr } = await edgewise('apply --approved plan.json --yes');
      expect(exitCode, stderr).toBe(0);
      expect(recorder.take().flatMap(({ method }) => (method === 'GET' ? [] : [method]))).toEqual(methods);
    }
  });

  it('is chosen by the service again after a rotation', async () => {
    const { edgewise, write, server } = await createWorkspace({ 'edgewise.yaml': STACK + stated });
    await edgewise('apply --yes --token-directory tokens');
    await write({ 'edgewise.yaml': STACK + toCredential('agent') });
    const rotated = await edgewise('apply --yes --token-directory tokens --rotate Credential/agent');
    expect(rotated.exitCode).toBe(0);
    expect(rotated.stdout).not.toContain('warning[unset-field-kept]');
    expect(server.snapshot().resources['Credential']).toMatchObject([
      { owner_id: expect.not.stringMatching('usr_bot') },
    ]);
  });
});

describe('a certificate without its former lifecycle.valid_for', () => {
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';
  const spec = { public_key: key, ssh_certificate_authority_id: 'sshca_main', principals: ['alice'] };
  const toText = (lifecycle: object, times: object = {}) =>
    STACK + toManifest('SSHUserCertificate', 'alice', { ...spec, ...times }, { lifecycle });

  it('is reported, with the remedy, until a new one is made', async () => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': toText({ valid_for: '90d' }) });
    await edgewise('apply --yes');
    expect((await edgewise('plan')).stdout).not.toContain('unset-field-kept');
    await write({ 'edgewise.yaml': toText({}) });
    const { stdout } = await edgewise('plan');
    expect(stdout).toContain(
      'it is valid for 90d, but its manifest sets no length; a replacement would be valid for 1d',
    );
    expect(stdout).toContain('To keep the length, set lifecycle.valid_for.');
    await edgewise('apply --yes --rotate SSHUserCertificate/alice');
    expect((await edgewise('plan')).stdout).not.toContain('unset-field-kept');
  });

  it.each([
    ['sets times instead', { valid_until: '2026-05-30T12:00:00Z' }, {}],
    ['ignores its end', {}, { ignore: ['valid_until'] }],
  ])('is not reported if its manifest %s', async (_, times, lifecycle) => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': toText({ valid_for: '90d' }) });
    await edgewise('apply --yes');
    await write({ 'edgewise.yaml': toText(lifecycle, times) });
    expect((await edgewise('plan')).stdout).not.toContain('unset-field-kept');
  });
});
