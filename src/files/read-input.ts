import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { describeError } from '../model/errors.ts';

/** The most that is read of one file, or of standard input: a plan of ten thousand changes has half of it. */
const MAX_INPUT_BYTES = 32 * 1024 * 1024;

/** An input that is refused, and why: `is a folder`. */
export class InputError extends Error {
  override readonly name = 'InputError';
  /** Follows the name of the file in a message. */
  readonly finding: string;

  constructor(finding: string) {
    super(`it ${finding}`);
    this.finding = finding;
  }
}

/** The limit of a read. */
interface ReadLimit {
  readonly maxBytes?: number;
  /** A pipe is refused too, because reading it could wait forever. */
  readonly onlyFiles?: boolean;
  /** What all reads together may come to. */
  readonly budget?: ReadBudget | undefined;
}

/** The most that a run reads, and that is kept at once. */
export interface ReadBudget {
  /** Takes a file before it is read. Throws `InputError` when that would be too much. */
  readonly take: (bytes: number) => void;
}

/** How much all reads of a budget may come to. */
interface BudgetLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
  /** What the limit is of, in a message: `one stack`. */
  readonly of: string;
}

/** A budget, as a part of a larger one. */
export function createReadBudget({ maxBytes, maxFiles, of }: BudgetLimits, around?: ReadBudget): ReadBudget {
  let [bytes, files] = [0, 0];
  return {
    take: (size) => {
      if (bytes + size > maxBytes) throw new InputBudgetError(`of ${toSizeText(maxBytes)} for the files of ${of}`);
      if (files + 1 > maxFiles) throw new InputBudgetError(`of ${maxFiles.toLocaleString('en')} files for ${of}`);
      around?.take(size);
      bytes += size;
      files += 1;
    },
  };
}

/** A file that was not read, because everything before it is all that may be read. */
export class InputBudgetError extends InputError {
  constructor(limit: string) {
    super(`is where the limit ${limit} was reached`);
  }
}

/**
 * The bytes of a file or a pipe: the one function by which files are read. Throws `InputError` for anything else and for a file that is too large, and the
 * system's errors. Reads until the end instead of trusting the size: a pipe has none, and a file may grow.
 */
export function readInput(
  path: string,
  { maxBytes = MAX_INPUT_BYTES, onlyFiles = false, budget }: ReadLimit = {},
): Buffer {
  const stats = statSync(path);
  if (!stats.isFile() && (onlyFiles || !stats.isFIFO())) throw new InputError(`is a ${toKindName(stats)}, not a file`);
  if (stats.size > maxBytes) throw toSizeError(maxBytes);
  budget?.take(stats.size);
  // The file may have become a pipe since `statSync`: to open that would wait for a writer.
  const file = openSync(path, stats.isFile() ? constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) : 'r');
  try {
    if (stats.isFile() && !fstatSync(file).isFile()) throw new InputError('became another file while it was read');
    return readAll(file, maxBytes);
  } finally {
    closeSync(file);
  }
}

/** Whether a path names a pipe, which can be read once. Throws as the system does. */
export function isPipe(path: string): boolean {
  return statSync(path).isFIFO();
}

/** All that a stream gives. Rejects with `InputError` when that is too large. */
export async function readStream(
  stream: AsyncIterable<Uint8Array>,
  { maxBytes = MAX_INPUT_BYTES }: ReadLimit = {},
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stream) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > maxBytes) throw toSizeError(maxBytes);
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

/** The same bytes as a Buffer, without a copy. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const PART_BYTES = 65_536;

/** Where parts are read to, before as much as was read is kept. */
let part: Buffer | undefined;

function readAll(file: number, maxBytes: number): Buffer {
  part ??= Buffer.allocUnsafeSlow(PART_BYTES);
  const parts: Buffer[] = [];
  for (let size = 0; ; ) {
    const count = readSync(file, part);
    if (count === 0) return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    size += count;
    if (size > maxBytes) throw toSizeError(maxBytes);
    parts.push(Buffer.from(part.subarray(0, count)));
  }
}

function toSizeError(maxBytes: number): InputError {
  return new InputError(`is larger than ${toSizeText(maxBytes)}`);
}

function toSizeText(bytes: number): string {
  return bytes % MEBIBYTE === 0 ? `${bytes / MEBIBYTE} MiB` : `${bytes} bytes`;
}

const MEBIBYTE = 1024 * 1024;

function toKindName(stats: Stats): string {
  if (stats.isDirectory()) return 'folder';
  if (stats.isFIFO()) return 'pipe';
  return stats.isSocket() ? 'socket' : 'device';
}

/** Why a file could not be read; follows its name in a message. */
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
