import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { openUnlinkedFile, type UnlinkedFile } from '../files/write-file.ts';
import { getErrorMessage } from '../model/errors.ts';
import { toPrintable } from '../model/printable.ts';
import { createPieceMatcher } from '../model/secret-matcher.ts';
import { StackError } from '../model/user-errors.ts';
import type { ProgramPlace } from '../programs/find-program.ts';
import { startProgram } from '../programs/start-program.ts';

/** A program that is run once, without a shell. */
interface CommandRun extends ProgramPlace {
  readonly words: readonly string[];
  /** Written to the standard input of the program, and redacted in its error output. */
  readonly secret: string;
  readonly timeoutMs: number;
  /** Folder for the program's input and error output, as unnamed files. Used only if /dev/shm cannot hold them. */
  readonly temporaryFolder: string;
}

/**
 * Runs a program. Resolves if it exits with 0, otherwise rejects with the end of its standard error. Standard input and
 * error are unnamed files: Node's pipes are sockets, and a program cannot open a socket as `/dev/stdin` or
 * `/dev/stderr`. The program need not read its input.
 */
export async function runCommand(run: CommandRun): Promise<void> {
  const [program = ''] = run.words;
  const input = await openUnlinkedFile(run.temporaryFolder);
  const errors = await openUnlinkedFile(run.temporaryFolder);
  try {
    await input.writer.writeFile(run.secret);
    const ended = startCommand(run, { input, errors });
    const dropped = await limitSize(errors, ended);
    const { failure, cause } = await ended;
    if (failure === undefined) return;
    const said = formatStderrExcerpt(dropped + (await readCommandEnd(errors)), run.secret);
    throw new Error(`${program} ${failure}${said === '' ? '' : `: ${said}`}`, { cause });
  } finally {
    await Promise.all([input.close(), errors.close()]);
  }
}

interface Streams {
  readonly input: UnlinkedFile;
  readonly errors: UnlinkedFile;
}

interface End {
  /** The reason of the failure. `undefined` if the program succeeded. */
  readonly failure: string | undefined;
  readonly cause?: Error;
}

async function startCommand(run: CommandRun, { input, errors }: Streams): Promise<End> {
  try {
    const child = startProgram({ ...run, stdio: [input.reader.fd, 'ignore', errors.writer.fd] });
    return await new Promise((end) => {
      child.on('error', (cause) => end(createStartFailure(cause)));
      child.on('exit', (code, signal) => end({ failure: formatCommandFailure(code, signal, run.timeoutMs) }));
    });
  } catch (error) {
    if (error instanceof StackError) return createStartFailure(error);
    throw error;
  }
}

function createStartFailure(cause: Error): End {
  return { failure: `cannot be run: ${getErrorMessage(cause)}`, cause };
}

function formatCommandFailure(code: number | null, signal: string | null, timeoutMs: number): string | undefined {
  if (code === 0) return undefined;
  return signal === null ? `ended with exit code ${code}` : `was stopped by ${signal}; its timeout is ${timeoutMs} ms`;
}

/** The interval between two checks of the file's size: at 1 GB a second, 20 MB are written in that time. */
const GUARD_MS = 20;
const MAX_KEPT_BYTES = 33_554_432;

/**
 * Limits the size of the file with standard error: empties the file when it exceeds `MAX_KEPT_BYTES`. Resolves when the
 * program has ended, with the end of the text that was dropped last.
 */
async function limitSize(file: UnlinkedFile, ended: Promise<End>): Promise<string> {
  let dropped = '';
  let isOver = false;
  const over = ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    if ((await file.writer.stat()).size > MAX_KEPT_BYTES) {
      dropped = await readCommandEnd(file);
      await file.writer.truncate(0);
    }
    await Promise.race([over, setTimeout(GUARD_MS)]);
  }
  return dropped;
}

/** The end of standard error usually has the cause of a failure. More is read than shown, to redact secrets first. */
const MAX_READ_BYTES = 65_536;
const MAX_SHOWN = 1000;

async function readCommandEnd({ reader }: UnlinkedFile): Promise<string> {
  const { size } = await reader.stat();
  const position = Math.max(0, size - MAX_READ_BYTES);
  const { buffer, bytesRead } = await reader.read({ buffer: Buffer.alloc(size - position), position });
  return buffer.toString('utf8', 0, bytesRead);
}

/**
 * Formats the end of a program's standard error for a message, on one line. Redacts the secret before it cuts the text.
 */
function formatStderrExcerpt(stderr: string, secret: string): string {
  const struck = createPieceMatcher(secret, PIECE_LENGTH).replace(stripVTControlCharacters(stderr), TOKEN_PLACEHOLDER);
  const text = toPrintable(struck.replace(/\s+/g, ' ').trim());
  return text.length > MAX_SHOWN ? `…${text.slice(-MAX_SHOWN)}` : text;
}

const TOKEN_PLACEHOLDER = '[token]';

/** A match of at least this many characters counts as a part of the token. A shorter match may be a coincidence. */
const PIECE_LENGTH = 8;
