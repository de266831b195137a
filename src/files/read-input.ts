import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { getErrorMessage } from '../model/errors.ts';
import { MAX_INPUT_BYTES } from '../model/json.ts';

/** The code of an error of edgewise itself. `BUDGET`: a `ReadBudget` is used up, and the file itself may be fine. */
const [OWN, BUDGET] = ['EDGEWISE_FILE', 'EDGEWISE_BUDGET'];

/**
 * Creates an error like those of the system, with a code, because a file or stream is not read or written. `finding`: the
 * reason, such as `is a folder, not a file`. In a message, it follows the name of the file.
 */
export function createFileError(finding: string, code = OWN): Error {
  return Object.assign(new Error(`it ${finding}`), { code });
}

/** Whether an error is one of the system or of `createFileError`, and no bug. */
export function isFileError(error: unknown): error is Error & { readonly code: unknown } {
  return error instanceof Error && 'code' in error;
}

/** Whether the reason is that of `createFileError`, so that its message is `it`, then the finding. */
export function isOwnFileError(error: unknown): error is Error {
  return isFileError(error) && (error.code === OWN || error.code === BUDGET);
}

export function isOverBudget(error: unknown): boolean {
  return isFileError(error) && error.code === BUDGET;
}

interface ReadLimit {
  readonly maxBytes?: number;
  /** True: pipes are rejected too, because reading a pipe could wait forever. */
  readonly onlyFiles?: boolean;
  /** Limits the total of several reads. */
  readonly budget?: ReadBudget | undefined;
}

/** Limits the number of files that a run reads, and their total size, because the run keeps the files in memory. */
export interface ReadBudget {
  /** Counts a file of this size before it is read. Throws an error of `createFileError` if the budget is exceeded. */
  readonly spend: (bytes: number) => void;
}

interface BudgetLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
  /** The scope of the limits, for messages: `one stack`. */
  readonly of: string;
}

/** Creates a budget. Each file also counts against `around`, a budget with a larger scope. */
export function createReadBudget({ maxBytes, maxFiles, of }: BudgetLimits, around?: ReadBudget): ReadBudget {
  let [bytes, files] = [0, 0];
  return {
    spend: (size) => {
      if (bytes + size > maxBytes) throw createBudgetError(`of ${formatSize(maxBytes)} for the files of ${of}`);
      if (files + 1 > maxFiles) throw createBudgetError(`of ${maxFiles.toLocaleString('en')} files for ${of}`);
      around?.spend(size);
      bytes += size;
      files += 1;
    },
  };
}

function createBudgetError(limit: string): Error {
  return createFileError(`is where the limit ${limit} was reached`, BUDGET);
}

/**
 * Reads a file or a pipe to its end, because pipes have no size and files may grow. Edgewise reads all files with this
 * function. Throws an error of `createFileError` if the input is too large, or is neither a file nor a pipe. Passes on
 * system errors.
 */
export function readInput(
  path: string,
  { maxBytes = MAX_INPUT_BYTES, onlyFiles = false, budget }: ReadLimit = {},
): Buffer {
  const stats = statSync(path);
  if (!stats.isFile() && (onlyFiles || !stats.isFIFO()))
    throw createFileError(`is a ${formatFileType(stats)}, not a file`);
  if (stats.size > maxBytes) throw createSizeError(maxBytes);
  budget?.spend(stats.size);
  // The file may have become a pipe since `statSync`. Without `O_NONBLOCK`, opening a pipe waits for a writer.
  const file = openSync(path, stats.isFile() ? constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) : 'r');
  try {
    if (stats.isFile() && !fstatSync(file).isFile()) throw createFileError('was replaced while it was read');
    return readAll(file, maxBytes);
  } finally {
    closeSync(file);
  }
}

/** Whether a path names a pipe, which can be read only once. Throws the errors of the operating system. */
export function isPipePath(path: string): boolean {
  return statSync(path).isFIFO();
}

/** Reads a stream to its end. Rejects with an error of `createFileError` if the stream has more than `maxBytes` bytes. */
export async function readStream(
  stream: AsyncIterable<Uint8Array>,
  { maxBytes = MAX_INPUT_BYTES }: ReadLimit = {},
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stream) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > maxBytes) throw createSizeError(maxBytes);
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

/** Returns the bytes as a Buffer, without copying them. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A pipe of Linux buffers this many bytes. */
const PART_BYTES = 65_536;

function readAll(file: number, maxBytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let size = 0; ; ) {
    const part = Buffer.alloc(PART_BYTES);
    const count = readSync(file, part);
    if (count === 0) return Buffer.concat(parts);
    size += count;
    if (size > maxBytes) throw createSizeError(maxBytes);
    parts.push(part.subarray(0, count));
  }
}

function createSizeError(maxBytes: number): Error {
  return createFileError(`is larger than ${formatSize(maxBytes)}`);
}

function formatSize(bytes: number): string {
  return bytes % MEBIBYTE === 0 ? `${bytes / MEBIBYTE} MiB` : `${bytes} bytes`;
}

const MEBIBYTE = 1024 * 1024;

function formatFileType(stats: Stats): string {
  if (stats.isDirectory()) return 'folder';
  if (stats.isFIFO()) return 'pipe';
  return stats.isSocket() ? 'socket' : 'device';
}

/** Describes why a file could not be read. In a message, the text follows the name of the file. */
export function describeFileError(error: unknown): string {
  if (isOwnFileError(error)) return error.message.replace(/^it /, '');
  const code = isFileError(error) ? String(error.code) : '';
  return FINDINGS[code] ?? `cannot be read: ${getErrorMessage(error)}`;
}

/** What to do about most of the reasons that `describeFileError` gives. */
export const UNREADABLE_FILE_REMEDY = 'Correct the path, or make it readable for the user that edgewise runs as.';

const FINDINGS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
  ELOOP: 'is a symbolic link to itself',
  ENOTDIR: 'has a part that is not a folder',
};
