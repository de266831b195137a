import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { describeError } from '../model/errors.ts';

/** Maximum size of one file, or of standard input. A plan of ten thousand changes has half of it. */
const MAX_INPUT_BYTES = 32 * 1024 * 1024;

/** Thrown for an input that is not read, with a reason such as `is a folder`. */
export class InputError extends Error {
  override readonly name = 'InputError';
  /** The reason. It follows the name of the file in a message. */
  readonly finding: string;

  constructor(finding: string) {
    super(`it ${finding}`);
    this.finding = finding;
  }
}

interface ReadLimit {
  readonly maxBytes?: number;
  /** True: rejects pipes too, because reading one could wait forever. */
  readonly onlyFiles?: boolean;
  /** Limits the total of several reads. */
  readonly budget?: ReadBudget | undefined;
}

/** Limits how much a run reads, and so keeps in memory at once. */
export interface ReadBudget {
  /** Counts a file before it is read. Throws `InputError` if the file exceeds the limit. */
  readonly take: (bytes: number) => void;
}

/** The limits of a budget. */
interface BudgetLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
  /** Names what the limit applies to, in a message: `one stack`. */
  readonly of: string;
}

/** Creates a budget. Reads also count against the budget `around` it. */
export function createReadBudget({ maxBytes, maxFiles, of }: BudgetLimits, around?: ReadBudget): ReadBudget {
  let [bytes, files] = [0, 0];
  return {
    take: (size) => {
      if (bytes + size > maxBytes) throw new InputBudgetError(`of ${formatSize(maxBytes)} for the files of ${of}`);
      if (files + 1 > maxFiles) throw new InputBudgetError(`of ${maxFiles.toLocaleString('en')} files for ${of}`);
      around?.take(size);
      bytes += size;
      files += 1;
    },
  };
}

/** Thrown for a file that is not read, because the files before it used up the budget. */
export class InputBudgetError extends InputError {
  constructor(limit: string) {
    super(`is where the limit ${limit} was reached`);
  }
}

/**
 * Reads the bytes of a file or a pipe. All files are read with this function. Throws `InputError` for anything else and
 * for a file that is too large, and the errors of the system. Reads until the end instead of trusting the size: a pipe
 * has none, and a file may grow.
 */
export function readInput(
  path: string,
  { maxBytes = MAX_INPUT_BYTES, onlyFiles = false, budget }: ReadLimit = {},
): Buffer {
  const stats = statSync(path);
  if (!stats.isFile() && (onlyFiles || !stats.isFIFO()))
    throw new InputError(`is a ${formatFileType(stats)}, not a file`);
  if (stats.size > maxBytes) throw createSizeError(maxBytes);
  budget?.take(stats.size);
  // The file may have become a pipe since `statSync`. Without `O_NONBLOCK`, opening a pipe waits for a writer.
  const file = openSync(path, stats.isFile() ? constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) : 'r');
  try {
    if (stats.isFile() && !fstatSync(file).isFile()) throw new InputError('became another file while it was read');
    return readAll(file, maxBytes);
  } finally {
    closeSync(file);
  }
}

/** Whether a path names a pipe, which can be read only once. Throws the errors of the system. */
export function isPipe(path: string): boolean {
  return statSync(path).isFIFO();
}

/** Reads a stream to its end. Rejects with `InputError` if it is too large. */
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

const PART_BYTES = 65_536;

/** Reused for each read. Only the bytes read are copied out of it. */
let part: Buffer | undefined;

function readAll(file: number, maxBytes: number): Buffer {
  part ??= Buffer.allocUnsafeSlow(PART_BYTES);
  const parts: Buffer[] = [];
  for (let size = 0; ; ) {
    const count = readSync(file, part);
    if (count === 0) return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    size += count;
    if (size > maxBytes) throw createSizeError(maxBytes);
    parts.push(Buffer.from(part.subarray(0, count)));
  }
}

function createSizeError(maxBytes: number): InputError {
  return new InputError(`is larger than ${formatSize(maxBytes)}`);
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

/** Describes why a file could not be read. The text follows the name of the file in a message. */
export function describeFileError(error: unknown): string {
  if (error instanceof InputError) return error.finding;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return FINDINGS[code] ?? `cannot be read: ${describeError(error)}`;
}

const FINDINGS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
  ELOOP: 'is a symbolic link to itself',
  ENOTDIR: 'has a part that is not a folder',
};
