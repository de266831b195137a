import { realpath, stat, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { writeAtomically } from '../../files/atomic-file.ts';
import { readInput } from '../../files/read-input.ts';
import type { Context } from '../context.ts';

/**
 * Writes a result as a whole or not at all, and says when it replaces a file with other content. Writes directly to a device or a pipe.
 */
export async function writeResultFile(
  file: string,
  text: string,
  { cwd, stderr }: Pick<Context, 'cwd' | 'stderr'>,
): Promise<void> {
  const path = resolve(cwd, file);
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && !found.isFile()) return writeFile(path, text);
  const isOther = found !== undefined && found.size > 0 && !holds(path, found.size, text);
  await writeAtomically(found === undefined ? path : await realpath(path), text, { mode: 0o644 });
  if (isOther) stderr.write(`${file} had other content, which was replaced.\n`);
}

function holds(path: string, size: number, text: string): boolean {
  const bytes = Buffer.from(text);
  try {
    return size === bytes.length && readInput(path, { maxBytes: size }).equals(bytes);
  } catch (error) {
    if (error instanceof Error) return false; // what cannot be read is not the same
    throw error;
  }
}
