import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { createServer, listen, parseApiKey } from '../../src/server/index.ts';
import { runCommand } from '../cli/fake-context.ts';
import { EXTERNAL_IDS } from '../external-ids.ts';
import { runTool } from '../pipelines/tools.ts';
import {
  createKeyPair,
  findProgram,
  type KeyPair,
  type SignedIn,
  type SignIn,
  type Sshd,
  signIn,
  startSshd,
} from './openssh.ts';

const missing = ['sshd', 'ssh', 'ssh-keygen'].filter((program) => findProgram(program) === undefined);
const isSkipped = missing.length > 0 && process.env['EDGEWISE_REQUIRE_SYSTEM'] !== '1';
if (isSkipped) process.stderr.write(`Not tested with OpenSSH, because it is not installed: ${missing.join(', ')}\n`);

const PAGE = readFileSync('docs/how-to/ssh.md', 'utf8');

/** The commands of the page that get a certificate. */
const [GET = ''] = /^edgewise get .* > alice-cert.new && mv .*$/m.exec(PAGE) ?? [];

/** The user that runs the tests: an unprivileged sshd admits only its own user. */
const USER = userInfo().username;
const ROLE = 'database-operators';
const AUTHORITY = 'sshca_sshd';
const DAY_MS = 24 * 3_600_000;

describe.skipIf(isSkipped)('a certificate of an apply at sshd', () => {
  const start = Date.now();
  let time = start;
  const server = createServer({
    apiKeys: [parseApiKey('dev:admin')],
    now: () => new Date(time),
    seed: { externals: EXTERNAL_IDS },
  });
  let folder: string;
  let keys: Readonly<Record<'ed25519' | 'ecdsa' | 'rsa', KeyPair>>;
  let service: Awaited<ReturnType<typeof listen>>;
  let sshd: Sshd;
  let sshdOfRoles: Sshd;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-sshd-'));
    const create = (type: keyof typeof keys): KeyPair => createKeyPair(join(folder, type), type);
    keys = { ed25519: create('ed25519'), ecdsa: create('ecdsa'), rsa: create('rsa') };
    mkdirSync(join(folder, 'bin'));
    const program = `#!/bin/sh\nexec '${process.execPath}' '${resolve(process.env['EDGEWISE_BIN'] ?? '')}' "$@"\n`;
    writeFileSync(join(folder, 'bin/edgewise'), program, { mode: 0o755 });
    service = await listen(server, { port: 0 });
    [sshd, sshdOfRoles] = await startServers();
    time = start - 2 * DAY_MS;
    await apply('past', { expired: { principals: [USER], valid_until: toTime(-1) } });
    time = start;
    await apply('present', {
      own: { principals: [USER] },
      ecdsa: { principals: [USER], public_key: keys.ecdsa.publicKey },
      rsa: { principals: [USER], public_key: keys.rsa.publicKey },
      early: { principals: [USER], valid_after: toTime(1), valid_until: toTime(2) },
      another: { principals: [`not-${USER}`, `${USER}2`] },
      role: { principals: ['somebody', ROLE] },
      anybody: { principals: [] },
      forced: {
        principals: [USER],
        critical_options: { 'force-command': 'echo forced instead of $SSH_ORIGINAL_COMMAND' },
      },
      near: { principals: [USER], critical_options: { 'source-address': '192.0.2.0/24,127.0.0.0/8' } },
      far: { principals: [USER], critical_options: { 'source-address': '192.0.2.0/24,2001:db8::/32' } },
    });
  }, 180_000);

  afterAll(async () => {
    await Promise.all([sshd?.close(), sshdOfRoles?.close(), service?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  /** A server that requires the user's name among the principals, and one that requires a role. */
  async function startServers(): Promise<[Sshd, Sshd]> {
    const files = { authority: join(folder, 'ca.pub'), roles: join(folder, 'roles') };
    writeFileSync(files.authority, `${server.certificateAuthorityKey(AUTHORITY)}\n`);
    writeFileSync(files.roles, `${ROLE}\n`);
    const trusting = ['AuthorizedKeysFile none', `TrustedUserCAKeys ${files.authority}`];
    const startOne = (name: string, more: readonly string[]): Promise<Sshd> => {
      mkdirSync(join(folder, name));
      return startSshd(join(folder, name), [...trusting, ...more]);
    };
    return [await startOne('by-name', []), await startOne('by-role', [`AuthorizedPrincipalsFile ${files.roles}`])];
  }

  /** Applies a stack of certificates, and gets each with the commands of the page, into a file with its name. */
  async function apply(stack: string, certificates: Readonly<Record<string, JsonObject>>): Promise<void> {
    const authority = { ssh_certificate_authority_id: AUTHORITY, public_key: keys.ed25519.publicKey };
    const documents = Object.entries(certificates).map(([name, fields]) => {
      return { kind: 'SSHUserCertificate', metadata: { name }, spec: { ...authority, ...fields } };
    });
    const manifests = [{ kind: 'Stack', metadata: { name: stack } }, ...documents];
    const text = manifests.map((one) => JSON.stringify({ apiVersion: 'edgewise/v1', ...one })).join('\n---\n');
    mkdirSync(join(folder, stack));
    writeFileSync(join(folder, stack, 'edgewise.yaml'), text);
    const { exitCode, stderr } = await runCommand(['apply', stack, '--yes'], {
      cwd: folder,
      transport: server.handle,
      now: () => new Date(time),
    });
    expect(exitCode, stderr).toBe(0);
    for (const name of Object.keys(certificates))
      expect(await getCertificate(stack, name)).toMatchObject({ status: 0 });
  }

  /** Runs the commands of the page that get a certificate, with the program as a process. */
  function getCertificate(stack: string, name: string): Promise<{ readonly status: number | null }> {
    const line = GET.replaceAll('alice', name).replace(' ingress ', ` ${stack} `);
    const env = { PATH: `${folder}/bin:/usr/bin:/bin`, EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: service.url };
    return runTool('bash', ['-c', line], { cwd: folder, env });
  }

  function toTime(days: number): string {
    return new Date(start + days * DAY_MS).toISOString();
  }

  function toFile(name: string): string {
    return join(folder, `${name}-cert.pub`);
  }

  /** Signs in with the certificate of that name, and prints a word. */
  function use(name: string, more: Partial<SignIn> & { readonly at?: Sshd } = {}): Promise<SignedIn> {
    const { at = sshd, ...what } = more;
    const asked = { user: USER, key: keys.ed25519, certificate: toFile(name), command: 'echo asked' };
    return signIn(at, { ...asked, ...what });
  }

  const LET_IN = { exitCode: 0, stdout: 'asked\n' };

  /** A sign-in that sshd rejects with this reason in its log. */
  function refusedFor(reason: RegExp): object {
    return { exitCode: 255, stdout: '', log: expect.stringMatching(reason) };
  }

  it.each(['ed25519', 'ecdsa', 'rsa'] as const)('admits its principal with an %s key', async (type) => {
    expect(await use(type === 'ed25519' ? 'own' : type, { key: keys[type] })).toMatchObject(LET_IN);
  });

  it('stays in its file, byte for byte, if the next one cannot be got', async () => {
    const before = readFileSync(toFile('own'), 'utf8');
    const manifests = join(folder, 'present/edgewise.yaml');
    const text = readFileSync(manifests, 'utf8');
    writeFileSync(manifests, text.replace(keys.ed25519.publicKey, keys.ecdsa.publicKey));
    onTestFinished(() => writeFileSync(manifests, text));
    expect(await getCertificate('present', 'own')).toMatchObject({
      status: 1,
      output: expect.stringContaining('SSHUserCertificate/own: certificate, as the service shows it, is for another'),
    });
    expect(readFileSync(toFile('own'), 'utf8')).toBe(before);
    expect(await use('own')).toMatchObject(LET_IN);
  });

  it('is required: the key alone does not admit', async () => {
    expect(await use('own', { certificate: 'none' })).toMatchObject({ exitCode: 255, stdout: '' });
  });

  it('admits only its principals', async () => {
    expect(await use('another')).toMatchObject(refusedFor(/name is not a listed principal/));
  });

  it('admits a user to whom the server gives one of its principals', async () => {
    expect(await use('role', { at: sshdOfRoles })).toMatchObject(LET_IN);
    expect(await use('own', { at: sshdOfRoles })).toMatchObject(refusedFor(/does not contain an authorized principal/));
  });

  it('runs its forced command, whatever was requested', async () => {
    expect(await use('forced')).toMatchObject({ exitCode: 0, stdout: 'forced instead of echo asked\n' });
  });

  it('admits only its source addresses', async () => {
    expect(await use('near')).toMatchObject(LET_IN);
    expect(await use('far')).toMatchObject(refusedFor(/not from a permitted source address/));
  });

  it('admits no user before it is valid and after it has expired', async () => {
    expect(await use('early')).toMatchObject(refusedFor(/Certificate invalid: not yet valid/));
    expect(await use('expired')).toMatchObject(refusedFor(/Certificate invalid: expired/));
  });

  it('admits no user after a revocation as in docs/how-to/ssh.md, unlike other certificates of the key', async () => {
    const list = join(folder, 'revoked_keys');
    mkdirSync(join(folder, 'revoking'));
    const authority = `TrustedUserCAKeys ${join(folder, 'ca.pub')}`;
    const revoking = await startSshd(join(folder, 'revoking'), [
      'AuthorizedKeysFile none',
      authority,
      `RevokedKeys ${list}`,
    ]);
    onTestFinished(revoking.close);
    const line = /ssh-keygen -k -u -f \S+ alice-cert.pub/.exec(PAGE)?.[0] ?? '';
    const revoke = (name: string, command: string) => {
      const [program = '', ...args] = command.split(' ');
      const values = new Map([
        ['/etc/ssh/revoked_keys', list],
        ['alice-cert.pub', toFile(name)],
      ]);
      execFileSync(
        program,
        args.map((arg) => values.get(arg) ?? arg),
      );
    };
    revoke('near', line.replace(' -u', ''));
    expect(await use('near', { at: revoking })).toMatchObject(refusedFor(/revoked/));
    expect(await use('own', { at: revoking })).toMatchObject(LET_IN);
    revoke('own', line);
    for (const name of ['near', 'own']) expect(await use(name, { at: revoking })).toMatchObject(refusedFor(/revoked/));
    expect(await use('forced', { at: revoking })).toMatchObject({ exitCode: 0 });
  });

  it('admits no user without principals if the authority is trusted by TrustedUserCAKeys', async () => {
    expect(await use('anybody')).toMatchObject(refusedFor(/Certificate lacks principal list/));
    const reason = /does not contain an authorized principal/;
    expect(await use('anybody', { at: sshdOfRoles })).toMatchObject(refusedFor(reason));
  });
});
