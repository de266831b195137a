import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { delimiter, join } from 'node:path';

/** The programs of OpenSSH: a server that trusts a certificate authority, and a client that signs in with a certificate. */

/** Administrators have these in their path, other users often not. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];

/** The absolute path of a program, which sshd requires. `undefined` if it is not installed. */
export function findProgram(name: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A key pair: the file of the private half, and the public half in authorized-keys format. */
export interface KeyPair {
  readonly file: string;
  readonly publicKey: string;
}

/** Creates a key pair without a passphrase. */
export function createKeyPair(file: string, type: 'ed25519' | 'ecdsa' | 'rsa'): KeyPair {
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', 'test', '-f', file]);
  return { file, publicKey: readFileSync(`${file}.pub`, 'utf8').trim() };
}

/** An SSH server on a free port of the loopback interface. */
export interface Sshd {
  readonly port: number;
  /** A file with the server's host key. */
  readonly knownHosts: string;
  /** The log of the server. */
  readonly log: () => string;
  /** Stops the server and its sessions. */
  readonly close: () => Promise<void>;
}

/**
 * Listens as socket activation does: each connection gets its own `sshd -i`, so that no other process can claim the port first, and no start
 * has to be awaited. `settings`: lines of sshd_config.
 */
export async function startSshd(folder: string, settings: readonly string[]): Promise<Sshd> {
  createPrivilegeSeparationFolder();
  const hostKey = createKeyPair(join(folder, 'host_key'), 'ed25519');
  const config = join(folder, 'sshd_config');
  const log = join(folder, 'sshd.log');
  writeFileSync(config, [`HostKey ${hostKey.file}`, ...COMMON_SETTINGS, ...settings, ''].join('\n'));
  writeFileSync(log, '');
  const program = findProgram('sshd') ?? 'sshd';
  const sessions = new Set<ChildProcess>();
  const listener = createServer({ pauseOnConnect: true }, (socket) => {
    const session = spawnSession([program, '-i', '-f', config, '-E', log], socket);
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
  const { port } = listener.address() as AddressInfo; // a listener on a port has an address
  const knownHosts = join(folder, 'known_hosts');
  writeFileSync(knownHosts, `[127.0.0.1]:${port} ${hostKey.publicKey}\n`);
  return {
    port,
    knownHosts,
    log: () => readFileSync(log, 'utf8'),
    close: async () => {
      const ended = [...sessions].map((session) => new Promise((done) => session.once('close', done)));
      for (const session of sessions) session.kill('SIGKILL');
      await Promise.all([...ended, new Promise((closed) => listener.close(closed))]);
    },
  };
}

/** Only certificates are accepted, and the temporary folder may belong to another user. */
const COMMON_SETTINGS = [
  'AuthenticationMethods publickey',
  'PermitRootLogin prohibit-password',
  'StrictModes no',
  'UsePAM no',
  'PidFile none',
  'LogLevel VERBOSE',
];

/** sshd of root requires this folder, which its service creates when it starts. Other processes may need it then, so it stays. */
function createPrivilegeSeparationFolder(): void {
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
}

function spawnSession([program = '', ...args]: readonly string[], socket: Socket): ChildProcess {
  const session = spawn(program, args, { stdio: [socket, socket, 'ignore'] });
  session.once('error', () => socket.destroy());
  session.once('spawn', () => socket.destroy());
  return session;
}

/** The result of a sign-in. */
export interface SignedIn {
  /** The exit code of the command, or 255. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The log of the server during the sign-in. */
  readonly log: string;
}

/** The user, and the key. */
export interface SignIn {
  readonly user: string;
  readonly key: KeyPair;
  /** The certificate of the key. */
  readonly certificate: string;
  readonly command: string;
}

/** Signs in and runs a command, without the settings of the user: no agent, no other key. */
export async function signIn(sshd: Sshd, { user, key, certificate, command }: SignIn): Promise<SignedIn> {
  const settings = [
    `Port=${sshd.port}`,
    `IdentityFile=${key.file}`,
    `CertificateFile=${certificate}`,
    `UserKnownHostsFile=${sshd.knownHosts}`,
    'GlobalKnownHostsFile=none',
    'StrictHostKeyChecking=yes',
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    'BatchMode=yes',
    'ConnectTimeout=10',
  ].flatMap((setting) => ['-o', setting]);
  const before = sshd.log().length;
  const args = ['-F', 'none', ...settings, `${user}@127.0.0.1`, command];
  return new Promise((resolve) => {
    const client = execFile('ssh', args, { timeout: 15_000, killSignal: 'SIGKILL' }, (_error, stdout, stderr) => {
      resolve({ exitCode: client.exitCode, stdout, stderr, log: sshd.log().slice(before) });
    });
    client.stdin?.end();
  });
}
