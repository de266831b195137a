import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import { waitForInstall } from './install.ts';

export const { root: ROOT, project: PROJECT, bin: BIN } = await waitForInstall(inject('installed'));

/** The installed command, as `npx edgewise` and scripts of package.json find it. */
export const EDGEWISE = join(PROJECT, 'node_modules/.bin/edgewise');

/** The user id of `nobody`, which owns none of the files. */
export const NOBODY = 65_534;

/** Whether tests can run the program as another user. */
export const IS_ROOT = process.getuid?.() === 0;

/** The folders of one user, and the environment of that user's programs. Nothing of the environment of the tests is in it. */
export interface Sandbox {
  /** The parent of the other folders. */
  readonly root: string;
  readonly home: string;
  readonly work: string;
  readonly temporary: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Creates a sandbox with these files in its working folder. A file whose name starts with `../` is beside that folder. */
export function createSandbox(files: Readonly<Record<string, string>> = {}, env: NodeJS.ProcessEnv = {}): Sandbox {
  const root = mkdtempSync(join(ROOT, 'place-'));
  chmodSync(root, 0o755);
  const [home, work, temporary] = [join(root, 'home'), join(root, 'work'), join(root, 'tmp')];
  for (const folder of [join(home, '.cache'), work, temporary]) mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), content);
  }
  const own = { HOME: home, TMPDIR: temporary, TERM: 'xterm-256color', LANG: 'C.UTF-8' };
  return { root, home, work, temporary, env: { PATH: `${dirname(EDGEWISE)}:${BIN}:/usr/bin:/bin`, ...own, ...env } };
}

/** Makes the user of the program that of the sandbox's files. Permissions do not stop root, so root runs it as another user. */
export function asUserOfFiles({ root }: Sandbox): StartOptions {
  if (!IS_ROOT) return {};
  for (const path of ['', ...readdirSync(root, { recursive: true, encoding: 'utf8' })])
    lchownSync(join(root, path), NOBODY, NOBODY);
  return { user: NOBODY };
}

/** Copies the program into the sandbox, so that a test can change it. Returns the copy of the package's folder. */
export function copyProgram({ root }: Sandbox): string {
  const program = join(root, 'program');
  cpSync(join(PROJECT, 'node_modules/edgewise'), program, { recursive: true });
  return program;
}

/** Lists everything below a folder by path, with its mode and a digest of its content. */
export function listFiles(folder: string): Readonly<Record<string, string>> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(paths.map((path) => [path, describeFile(join(folder, path))]));
}

function describeFile(path: string): string {
  const found = lstatSync(path);
  const mode = (found.mode & 0o7777).toString(8);
  if (found.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  if (!found.isFile()) return `${found.isDirectory() ? 'folder' : 'other'} ${mode}`;
  return `file ${mode} ${createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 12)}`;
}

/** Lists the paths that differ between two lists of files. */
export function listChanged(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((path) => before[path] !== after[path]);
}

/** The end of a program that wrote to pipes. A signal that ended it is a negative exit code. */
export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Overrides for one program. */
export interface StartOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** The user id of the program. Only root can start it as another user. */
  readonly user?: number;
}

/** Runs a line of bash in the working folder of a sandbox. `edgewise` is the installed command. Standard input is empty. */
export async function runLine(sandbox: Sandbox, line: string, { env, user }: StartOptions = {}): Promise<Ended> {
  const child = spawn('bash', ['-c', `set -o pipefail; ${line}`], {
    cwd: sandbox.work,
    env: { ...sandbox.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 180_000,
    ...(user !== undefined && { uid: user, gid: user }),
  });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { exitCode, stdout, stderr };
}

/** An action of the person when `after` is shown: types a text, sends a signal by its name, or closes the terminal. */
export type Step = readonly [after: string, deed: 'type' | 'signal' | 'close', value: string];

/** The output on the terminal, and the exit code: `null` if the program has not ended. */
export interface TerminalResult {
  readonly shown: string;
  readonly exitCode: number | null;
}

export interface TerminalOptions extends StartOptions {
  readonly steps?: readonly Step[];
  readonly columns?: number;
  /** Whether the program starts with SIGHUP ignored, as with `nohup`. */
  readonly ignoresHangup?: boolean | undefined;
}

const TERMINAL = new URL('terminal.py', import.meta.url).pathname;

/** Runs a line of bash as `runLine` does, on a pseudo-terminal. */
export async function runAtTerminal(
  sandbox: Sandbox,
  line: string,
  options: TerminalOptions = {},
): Promise<TerminalResult> {
  const { steps = [], columns = 80, ignoresHangup = false, env, user = null } = options;
  const child = spawn('python3', [TERMINAL], { stdio: ['pipe', 'pipe', 'inherit'] });
  const program = { argv: ['/bin/bash', '-c', line], cwd: sandbox.work, env: { ...sandbox.env, ...env } };
  child.stdin.end(JSON.stringify({ ...program, columns, rows: 24, user, ignoresHangup, steps, seconds: 120 }));
  const [shown] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return JSON.parse(shown);
}

/** Returns the reason why tests at a terminal cannot run, if there is one. */
export async function findTerminalProblem(): Promise<string | undefined> {
  const child = spawn('python3', ['-c', 'import pty'], { stdio: 'ignore' });
  const code = await new Promise((done) => child.once('error', () => done(1)).once('close', done));
  return code === 0 ? undefined : 'python3 is not installed';
}
