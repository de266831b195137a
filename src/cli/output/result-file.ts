import { realpath, stat, writeFile } from 'node:fs/promises';
import { writeAtomically } from '../../files/atomic-file.ts';

/** Writes a result as a whole or not at all; what is no regular file, such as a device or a pipe, is written to as it is. */
export async function writeResultFile(path: string, text: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && !found.isFile()) await writeFile(path, text);
  else await writeAtomically(found === undefined ? path : await realpath(path), text, { mode: 0o644 });
}
