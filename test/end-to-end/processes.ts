import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { MUTANT_VARIABLE } from '../broken-source.ts';
import { COMPILED } from '../compiled.ts';

/** The command line as a user starts it: the built file in EDGEWISE_BIN, else the sources. */
export const PROGRAM = resolve(process.env['EDGEWISE_BIN'] ?? 'src/cli/main.ts');

/** The variable that breaks the program, if this is a test of tests. */
const BROKEN = process.env[MUTANT_VARIABLE] === undefined ? {} : { [MUTANT_VARIABLE]: process.env[MUTANT_VARIABLE] };

/** The command line in the sources. */
export const SOURCES = resolve('src/cli/main.ts');

/** The end of a process. */
export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `edgewise` with these arguments. Its environment has only the given variables, and those that make it start faster. */
export async function runEdgewise(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  program: string = PROGRAM,
): Promise<Ended> {
  return startEdgewise(args, env, program).ended;
}

/** A running process. */
export interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** Starts the process that `runEdgewise` runs. */
export function startEdgewise(args: readonly string[], env: NodeJS.ProcessEnv = {}, program: string = PROGRAM): Run {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...COMPILED, ...BROKEN, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { child, ended: readEnd(child) };
}

async function readEnd(child: ChildProcessByStdio<null, Readable, Readable>): Promise<Ended> {
  const [stdout, stderr, [exitCode]] = await Promise.all([
    readAll(child.stdout),
    readAll(child.stderr),
    once(child, 'close'),
  ]);
  return { exitCode, stdout, stderr };
}

/** The bundled server in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  /** Stops the server, and resolves with its exit code. */
  readonly stop: () => Promise<number | null>;
  /** Ends the server at once, without a chance to save anything. */
  readonly kill: () => Promise<void>;
}

/** The program of a server, and its log. */
export interface ServerProcessOptions {
  readonly program?: string;
  /** A file descriptor. Absent: no log. */
  readonly log?: number;
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts `edgewise serve` on a free port and waits until it says that it is ready. */
export async function startServerProcess(
  args: readonly string[],
  { program = PROGRAM, log, env = {} }: ServerProcessOptions = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', ...args], {
    env: { ...COMPILED, ...env },
    stdio: ['ignore', 'pipe', log ?? 'ignore'],
  });
  const url = await readUrl(child);
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    const ended = once(child, 'close');
    child.kill(signal);
    const [exitCode] = await ended;
    return exitCode;
  };
  return { url, stop: () => end('SIGTERM'), kill: async () => void (await end('SIGKILL')) };
}

async function readUrl({ stdout }: ChildProcess): Promise<string> {
  const lines = createInterface({ input: stdout ?? throwProcessFailure('The server has no output') });
  for await (const line of lines) {
    const [url] = /http:\/\/\S+/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  return throwProcessFailure('The server ended before it was ready');
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

function throwProcessFailure(message: string): never {
  throw new Error(message);
}

/** Resolves when a stream has shown a text. */
export function waitForOutput(stream: Readable | null, text: string): Promise<void> {
  let seen = '';
  return new Promise((done) => {
    stream?.on('data', (part: Buffer) => {
      seen += part.toString('utf8');
      if (seen.includes(text)) done();
    });
  });
}
