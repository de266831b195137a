import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { toReason } from '../model/errors.ts';
import { toPrintable } from '../model/printable.ts';
import { strikeToken } from './strike-token.ts';
import { openUnlinkedFile, type UnlinkedFile } from './unlinked-file.ts';

/** A program to run once, without a shell. */
export interface CommandRun {
  readonly words: readonly string[];
  /** What it reads on its standard input: a secret, which is struck out of what it says. */
  readonly secret: string;
  readonly timeoutMs: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder for its input and error output, where the system keeps no files in memory. */
  readonly temporaryFolder: string;
}

/**
 * Resolves when the program exits with 0; else rejects with the end of its standard error. Standard input and error are unnamed files: Node's own
 * pipes are sockets, which a program cannot open as `/dev/stdin` and `/dev/stderr`. A program may leave its input unread.
 */
export async function runCommand(run: CommandRun): Promise<void> {
  const [program = ''] = run.words;
  const input = await openUnlinkedFile(run.temporaryFolder);
  const complaints = await openUnlinkedFile(run.temporaryFolder);
  try {
    await input.writer.writeFile(run.secret);
    const ended = start(run, { input, complaints });
    const dropped = await keepSmall(complaints, ended);
    const { fault, cause } = await ended;
    if (fault === undefined) return;
    const said = toComplaint(dropped + (await readEnd(complaints)), run.secret);
    throw new Error(`${program} ${fault}${said === '' ? '' : `: ${said}`}`, { cause });
  } finally {
    await Promise.all([input.close(), complaints.close()]);
  }
}

interface Streams {
  readonly input: UnlinkedFile;
  readonly complaints: UnlinkedFile;
}

/** How a program ended. */
interface End {
  /** `undefined`: nothing went wrong. */
  readonly fault: string | undefined;
  readonly cause?: Error;
}

function start({ words, timeoutMs, cwd, env }: CommandRun, { input, complaints }: Streams): Promise<End> {
  const [program = '', ...args] = words;
  const child = spawn(program, args, {
    cwd,
    env: { ...env },
    stdio: [input.reader.fd, 'ignore', complaints.writer.fd],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  return new Promise((end) => {
    child.on('error', (cause) => end({ fault: `cannot be run: ${toReason(cause)}`, cause }));
    child.on('exit', (code, signal) => end({ fault: toFault(code, signal, timeoutMs) }));
  });
}

function toFault(code: number | null, signal: string | null, timeoutMs: number): string | undefined {
  if (code === 0) return undefined;
  return signal === null ? `ended with exit code ${code}` : `was stopped by ${signal}; its timeout is ${timeoutMs} ms`;
}

const GUARD_MS = 20;
const MAX_KEPT_BYTES = 33_554_432;

/** Limits what a program writes to standard error, in memory and on disk. Resolves when the program has ended, with the last part of what was dropped. */
async function keepSmall(file: UnlinkedFile, ended: Promise<End>): Promise<string> {
  let dropped = '';
  let isOver = false;
  const over = ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    if ((await file.writer.stat()).size > MAX_KEPT_BYTES) {
      dropped = await readEnd(file);
      await file.writer.truncate(0);
    }
    await Promise.race([over, setTimeout(GUARD_MS)]);
  }
  return dropped;
}

const MAX_READ_BYTES = 65_536;
const MAX_SHOWN = 1000;

async function readEnd({ reader }: UnlinkedFile): Promise<string> {
  const { size } = await reader.stat();
  const position = Math.max(0, size - MAX_READ_BYTES);
  const { buffer, bytesRead } = await reader.read({ buffer: Buffer.alloc(size - position), position });
  return buffer.toString('utf8', 0, bytesRead);
}

/** What a program wrote to standard error, to be shown: on one line, its end. The secret is struck out before the text is cut. */
export function toComplaint(complaint: string, secret: string): string {
  const struck = strikeToken(stripVTControlCharacters(complaint), secret);
  const text = toPrintable(struck.replace(/\s+/g, ' ').trim());
  return text.length > MAX_SHOWN ? `…${text.slice(-MAX_SHOWN)}` : text;
}
