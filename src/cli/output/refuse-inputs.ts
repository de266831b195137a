import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { DesiredState } from '../../model/state.ts';
import { listFilePaths } from '../../plan/files.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import type { FormatFlags } from './present.ts';

/** The files that a run is asked to write. */
export interface OutputFlags extends Pick<FormatFlags, 'report'> {
  readonly out?: string;
  readonly journal?: string;
}

/** Refuses to write over a file that the run has read, before anything is sent. A link to such a file is that file. */
export async function refuseInputs(
  { out, report = [], journal }: OutputFlags,
  state: DesiredState,
  { cwd, env }: Pick<Context, 'cwd' | 'env'>,
): Promise<void> {
  const outputs = [out, journal ?? env['EDGEWISE_JOURNAL'], ...report.map(({ file }) => file), ...listFilePaths(state)];
  const inputs = [...state.inputs.map(({ file }) => file), env['EDGEWISE_API_KEY_FILE'] ?? ''].filter(
    (file) => file !== '',
  );
  const read = new Set((await Promise.all(inputs.map((file) => identify(file, cwd)))).filter((id) => id !== undefined));
  for (const file of outputs) {
    const id = file === undefined || file === '' ? undefined : await identify(file, cwd);
    if (id === undefined || !read.has(id)) continue;
    const message = `${file} is a file that this run has read, and would be written over.`;
    throw new CommandError(message, {
      exitCode: EXIT.invalid,
      isUnreported: true,
      remedy: 'Name another file to write. Nothing was written.',
    });
  }
}

/** The same for two names of one file; `undefined`: no regular file is there. */
async function identify(file: string, cwd: string): Promise<string | undefined> {
  const found = await stat(resolve(cwd, file)).catch(() => undefined);
  return found?.isFile() === true ? `${found.dev} ${found.ino}` : undefined;
}
