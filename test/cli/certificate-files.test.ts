import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NOW } from './fake-context.ts';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

const DAY_MS = 86_400_000;

/** A certificate of that name, with this lifecycle. */
function toCertificate(name: string, lifecycle: string): string {
  return `---
apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: ${name} }
spec:
  ssh_certificate_authority_id: sshca_1
  public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L
lifecycle: ${lifecycle}
`;
}

const WRITTEN = STACK + toCertificate('alice', '{ valid_for: 90d, renew_before: 14d, write_to: keys/alice-cert.pub }');
/** The file is kept between runs, so it must exist. */
const KEPT = WRITTEN.replace('lifecycle: {', 'lifecycle: { keep_file: true,');

describe('lifecycle.write_to', () => {
  it('is relative to the folder of the manifest, and creates a file that every user can read', async () => {
    const { folder, write, edgewise, server } = await createWorkspace();
    await mkdir(join(folder, 'team'));
    await write({ 'team/m.yaml': WRITTEN });
    expect(await edgewise('apply team --yes')).toMatchObject({ exitCode: 0 });
    const file = join(folder, 'team/keys/alice-cert.pub');
    const text = await readFile(file, 'utf8');
    expect(text).toMatch(/^ssh-ed25519-cert-v01@openssh\.com [^\n]+\n$/);
    expect(JSON.stringify(server.snapshot().resources['SSHUserCertificate'])).toContain(text.trim());
    expect((await stat(file)).mode & 0o777).toBe(0o644);
    expect(await readdir(join(folder, 'team/keys'))).toEqual(['alice-cert.pub']);
  });

  it.each(['apply plan.json --manifests FOLDER/team --yes', 'apply FOLDER/team --approved plan.json --yes'])(
    'is the same file for manifests that are named by %s',
    async (line) => {
      const { folder, write, edgewise } = await createWorkspace();
      await mkdir(join(folder, 'team'));
      await write({ 'team/m.yaml': WRITTEN });
      await edgewise('plan team -o plan.json');
      const { exitCode, stderr } = await edgewise(line.replace('FOLDER', folder));
      expect(exitCode, stderr).toBe(0);
      expect(await readdir(join(folder, 'team/keys'))).toEqual(['alice-cert.pub']);
    },
  );

  it('is written again after a change of the file, which a plan only reports', async () => {
    const { folder, edgewise, recorder } = await createWorkspace({ 'm.yaml': WRITTEN });
    await edgewise('apply m.yaml --yes');
    const file = join(folder, 'keys/alice-cert.pub');
    const text = await readFile(file, 'utf8');
    await writeFile(file, 'something else');
    recorder.take();
    expect(await edgewise('plan m.yaml --detailed-exitcode')).toMatchObject({ exitCode: 2 });
    expect(await readFile(file, 'utf8')).toBe('something else');
    expect(await edgewise('apply m.yaml --yes')).toMatchObject({ exitCode: 0 });
    expect(await readFile(file, 'utf8')).toBe(text);
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(await edgewise('plan m.yaml --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });

  it('is drift if a kept file is missing or differs, as it is a change in a plan', async () => {
    const { folder, edgewise, write } = await createWorkspace({ 'm.yaml': KEPT });
    await edgewise('apply m.yaml --yes');
    expect(await edgewise('drift m.yaml')).toMatchObject({ exitCode: 0 });
    const file = join(folder, 'keys/alice-cert.pub');
    for (const [change, fault] of [
      [() => rm(file), 'keys/alice-cert.pub is missing'],
      [() => writeFile(file, 'something else'), 'keys/alice-cert.pub has other content'],
    ] as const) {
      await change();
      const { exitCode, stdout } = await edgewise('drift m.yaml');
      expect(exitCode).toBe(2);
      expect(stdout).toContain(`In sync, but its file differs:\n\n≠ SSHUserCertificate/alice`);
      expect(stdout).toContain(`   ${fault}\n`);
      expect(stdout).toContain('1 with a file that differs, 0 pending, 0 to prune; 0 in sync.');
      const gauges = (await edgewise('drift m.yaml --format metrics')).stdout;
      expect(gauges).toContain('kind="SSHUserCertificate",state="file-differs"} 1\n');
      expect(await edgewise('plan m.yaml --detailed-exitcode')).toMatchObject({ exitCode: 2 });
    }
    await write({ 'm.yaml': KEPT.replace('spec:', 'spec:\n  description: changed') });
    const both = await edgewise('drift m.yaml --format json');
    expect(JSON.parse(both.stdout).changes).toMatchObject([
      { state: 'pending', reason: 'keys/alice-cert.pub has other content' },
    ]);
  });

  it('reports that it replaces a file with other content, and nothing if there is no file', async () => {
    const { folder, edgewise } = await createWorkspace({ 'm.yaml': WRITTEN });
    const replaced = 'keys/alice-cert.pub: what is issued for SSHUserCertificate/alice (known after apply; replaces';
    expect((await edgewise('plan m.yaml')).stdout).toContain('SSHUserCertificate/alice (known after apply)\n');
    await mkdir(join(folder, 'keys'));
    await writeFile(join(folder, 'keys/alice-cert.pub'), 'something else');
    for (const format of ['text', 'markdown', 'html'])
      expect((await edgewise(`plan m.yaml --format ${format}`)).stdout).toContain(replaced);
    await edgewise('apply m.yaml --yes');
    await writeFile(join(folder, 'keys/alice-cert.pub'), 'something else');
    const { files } = JSON.parse((await edgewise('plan m.yaml --format json')).stdout);
    expect(files).toMatchObject([{ path: 'keys/alice-cert.pub', replaces: true }]);
  });

  it('is written after a renewal', async () => {
    let now = NOW;
    const { folder, edgewise } = await createWorkspace({ 'm.yaml': WRITTEN }, { now: () => now });
    await edgewise('apply m.yaml --yes', { now: () => now });
    const file = join(folder, 'keys/alice-cert.pub');
    const before = await readFile(file, 'utf8');
    now = new Date(NOW.getTime() + 80 * DAY_MS);
    await edgewise('apply m.yaml --yes', { now: () => now });
    expect(await readFile(file, 'utf8')).not.toBe(before);
    expect(await edgewise('plan m.yaml --detailed-exitcode', { now: () => now })).toMatchObject({ exitCode: 0 });
  });

  it('fails the run if the file cannot be written, and the next apply repairs it', async () => {
    const { folder, edgewise } = await createWorkspace({ 'm.yaml': WRITTEN, keys: 'a file where a folder is needed' });
    const failed = await edgewise('apply m.yaml --yes');
    expect(failed.exitCode).toBe(1);
    expect(failed.stdout).toContain('keys/alice-cert.pub of SSHUserCertificate/alice failed');
    const again = await edgewise('apply m.yaml --yes --format json');
    expect(JSON.parse(again.stdout)).toMatchObject({ ok: false, files: [{ outcome: 'failed' }] });
    await rm(join(folder, 'keys'));
    expect(await edgewise('apply m.yaml --yes')).toMatchObject({ exitCode: 0 });
    expect(await readdir(join(folder, 'keys'))).toEqual(['alice-cert.pub']);
  });

  it('is written when a saved plan that created the certificate is applied again', async () => {
    const { folder, edgewise, recorder } = await createWorkspace({ 'm.yaml': WRITTEN });
    await edgewise('plan m.yaml -o plan.json');
    await edgewise('apply plan.json --yes');
    const file = join(folder, 'keys/alice-cert.pub');
    const text = await readFile(file, 'utf8');
    await writeFile(file, '');
    recorder.take();
    expect(await edgewise('apply plan.json --yes')).toMatchObject({ exitCode: 0 });
    expect(await readFile(file, 'utf8')).toBe(text);
    expect(recorder.take().every(({ method }) => method === 'GET')).toBe(true);
  });

  it('asks before it writes, even if it writes only files', async () => {
    const { folder, edgewise } = await createWorkspace({ 'm.yaml': WRITTEN });
    await edgewise('apply m.yaml --yes');
    await writeFile(join(folder, 'keys/alice-cert.pub'), '');
    expect(await edgewise('apply m.yaml', { answers: ['no'] })).toMatchObject({ exitCode: 130 });
    expect(await readFile(join(folder, 'keys/alice-cert.pub'), 'utf8')).toBe('');
  });

  it('cannot name one file for two certificates', async () => {
    const two = toCertificate('alice', '{ write_to: a.pub }') + toCertificate('bob', '{ write_to: ./keys/../a.pub }');
    const { edgewise } = await createWorkspace({ 'm.yaml': STACK + two });
    const { exitCode, stderr, stdout } = await edgewise('validate m.yaml');
    expect(exitCode).toBe(3);
    expect(stdout + stderr).toContain('lifecycle.write_to claims a.pub, which SSHUserCertificate/alice already claims');
  });

  it('writes no file for a plan with errors', async () => {
    const both = WRITTEN + toEdge('postgres', 20_001);
    const { edgewise } = await createWorkspace({ 'm.yaml': both });
    const { exitCode, stdout } = await edgewise('plan m.yaml --target TCPEdge/nothing --format json');
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ files: [] });
  });
});

describe('lifecycle of an SSH user certificate', () => {
  it.each([
    ['{ valid_for: 90 days }', '`90 days` is not a whole number and a unit'],
    [
      '{ valid_for: 1d, renew_before: 24h }',
      'lifecycle.renew_before must be shorter than the 24 hours for which the certificate is valid',
    ],
    ['{ renew_before: 2d }', 'lifecycle.renew_before must be shorter than the 24 hours'],
    ['{ rotate_after: 1d }', 'lifecycle.rotate_after is not a known field'],
  ])('is refused: %s', async (lifecycle, message) => {
    const { edgewise } = await createWorkspace({ 'm.yaml': STACK + toCertificate('alice', lifecycle) });
    const { exitCode, stdout } = await edgewise('validate m.yaml');
    expect(exitCode).toBe(3);
    expect(stdout).toContain(message);
  });

  it('accepts a validity or times, not both', async () => {
    const manifest = toCertificate('alice', '{ valid_for: 90d }').replace(
      'spec:\n',
      'spec:\n  valid_until: 2036-01-01T00:00:00Z\n',
    );
    const { edgewise } = await createWorkspace({ 'm.yaml': STACK + manifest });
    const { exitCode, stdout } = await edgewise('validate m.yaml');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('lifecycle.valid_for and spec.valid_until are mutually exclusive');
  });
});
