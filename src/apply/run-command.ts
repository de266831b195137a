import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { describeError } from '../model/errors.ts';
import { toPrintable } from '../model/printable.ts';

/** A program to run once, without a shell. */
interface CommandRun {
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
    const { failure, cause } = await ended;
    if (failure === undefined) return;
    const said = stderrExcerpt(dropped + (await readEnd(complaints)), run.secret);
    throw new Error(`${program} ${failure}${said === '' ? '' : `: ${said}`}`, { cause });
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
  readonly failure: string | undefined;
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
    child.on('error', (cause) => end({ failure: `cannot be run: ${describeError(cause)}`, cause }));
    child.on('exit', (code, signal) => end({ failure: toFailure(code, signal, timeoutMs) }));
  });
}

function toFailure(code: number | null, signal: string | null, timeoutMs: number): string | undefined {
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
export function stderrExcerpt(complaint: string, secret: string): string {
  const struck = redactToken(stripVTControlCharacters(complaint), secret);
  const text = toPrintable(struck.replace(/\s+/g, ' ').trim());
  return text.length > MAX_SHOWN ? `…${text.slice(-MAX_SHOWN)}` : text;
}

/** A file without a name: the system deletes it with its last handle, however the run ends. A program that inherits a handle can open it as `/dev/stdin`. */
interface UnlinkedFile {
  readonly reader: FileHandle;
  /** Appends. */
  readonly writer: FileHandle;
  readonly close: () => Promise<void>;
}

/** Where files stay in memory, on Linux. */
const MEMORY_FOLDER = '/dev/shm';

/** An empty file for its owner only, in memory where the system allows that, else in the folder. Its name is gone before anything is written. */
async function openUnlinkedFile(folder: string): Promise<UnlinkedFile> {
  try {
    return await openIn(MEMORY_FOLDER);
  } catch {
    return openIn(folder);
  }
}

async function openIn(folder: string): Promise<UnlinkedFile> {
  const path = join(folder, `edgewise-${randomUUID()}`);
  const writer = await open(path, 'ax', 0o600);
  try {
    const reader = await open(path, 'r');
    return { reader, writer, close: async () => void (await Promise.all([reader.close(), writer.close()])) };
  } catch (error) {
    await writer.close();
    throw error;
  } finally {
    await rm(path, { force: true });
  }
}

const STANDS_FOR_TOKEN = '[token]';

/** A run of at least this many characters counts as part of the token, not as a word that happens to match. */
const PIECE_LENGTH = 8;

/**
 * The text with every piece of a token struck out: as it is, in base64 at any offset, URL-encoded, escaped, in hex or in other codes of its
 * characters, in any case, and broken over lines or by other characters in between. Parts of it that are at least eight characters long count.
 */
function redactToken(text: string, token: string): string {
  const pieces = listPieces(token);
  const { letters, places } = toLetters(text);
  let struck = '';
  let end = 0; // of copied or redacted letters
  for (let at = 0; at < letters.length; at += 1) {
    const length = pieces.lengths.find((size) => pieces.texts.has(letters.slice(at, at + size)));
    if (length === undefined) continue;
    const [start = 0, last = 0] = [places[at], places[at + length - 1]];
    if (start >= end) struck += `${text.slice(end, start)}${STANDS_FOR_TOKEN}`;
    end = Math.max(end, last + 1);
  }
  return struck + text.slice(end);
}

interface Pieces {
  readonly texts: ReadonlySet<string>;
  readonly lengths: readonly number[];
}

/** Every run of letters and digits that only a form of the token has; of a form that is shorter, all of it. */
function listPieces(token: string): Pieces {
  const texts = new Set(listForms(token).flatMap(listRuns));
  return { texts, lengths: [...new Set(Array.from(texts, ({ length }) => length))] };
}

function listRuns(form: string): readonly string[] {
  const { letters } = toLetters(form);
  if (letters.length <= PIECE_LENGTH) return letters === '' ? [] : [letters];
  return Array.from({ length: letters.length - PIECE_LENGTH + 1 }, (_, at) => letters.slice(at, at + PIECE_LENGTH));
}

function listForms(token: string): readonly string[] {
  const bytes = Buffer.from(token, 'utf8');
  const codes = (prefix: string, radix: number, width: number) =>
    Array.from(bytes, (byte) => `${prefix}${byte.toString(radix).padStart(width, '0')}`).join('');
  return [
    token,
    JSON.stringify(token),
    encodeURIComponent(token),
    token.replace(/[^A-Za-z0-9]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`),
    ...[0, 1, 2].map((offset) => toBase64(bytes, offset)),
    codes('', 16, 2),
    codes('x', 16, 2),
    codes('0x', 16, 2),
    codes('u', 16, 2),
    codes('u', 16, 4),
    codes('', 10, 1),
    codes('', 8, 3),
  ];
}

/** What base64 shows of bytes with others in front of them and behind, whatever those are. */
function toBase64(bytes: Buffer, offset: number): string {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  return padded.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((padded.length * 8) / 6));
}

/** The letters and digits of a text, in lower case, and the index of each. */
function toLetters(text: string): { readonly letters: string; readonly places: readonly number[] } {
  const places = Array.from(text.matchAll(/[A-Za-z0-9]/g), ({ index }) => index);
  return { letters: places.map((index) => text.charAt(index).toLowerCase()).join(''), places };
}
