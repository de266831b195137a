import { stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { readInput } from '../../files/read-input.ts';
import { isForeignFile } from '../../manifest/foreign-file.ts';
import { KEY_VARIABLE, toKeyFileVariable } from '../../model/api-key.ts';
import { isEmbedded, toEmbeddedFile } from '../../stack/embedded-url.ts';
import type { RunSettings } from '../../stack/settings.ts';
import type { Context, RunInputs } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import type { FormatFlags } from './present.ts';

/** The inputs of a run that begins. Until the first one is known, every path among its words counts as one. */
export function createRunInputs(words: readonly string[], cwd: string): RunInputs {
  const files = new Set<string>();
  return {
    add: (file) => {
      files.add(file);
    },
    has: async (file) => {
      const id = await identify(file, cwd);
      if (id === undefined) return false;
      const named = files.size === 0 ? words : [...files];
      const ids = await Promise.all(named.map((name) => identify(name, cwd)));
      return ids.includes(id) || (files.size === 0 && mayBeManifest(resolve(cwd, file), [cwd, ...words], cwd));
    },
  };
}

/** The files that a run is asked to write. */
export interface OutputFlags extends Pick<FormatFlags, 'report'> {
  readonly out?: string;
  readonly journal?: string;
}

/** What a run writes besides, and how it reaches the service. */
export interface Written {
  /** Files of `lifecycle.write_to`. */
  readonly files: readonly string[];
  readonly settings: RunSettings;
}

/** Refuses to write over a file that the run reads, before anything is sent. */
export async function refuseInputs(
  { out, report = [], journal }: OutputFlags,
  { files, settings: { baseUrl, caFile, keyEnv = KEY_VARIABLE } }: Written,
  { env, inputs }: Pick<Context, 'env' | 'inputs'>,
): Promise<void> {
  const data = isEmbedded(baseUrl) ? toEmbeddedFile(baseUrl) : undefined;
  const read = [env[toKeyFileVariable(keyEnv)], caFile, data];
  for (const file of read) if (file !== undefined && file !== '') inputs?.add(file);
  const outputs = [out, journal ?? env['EDGEWISE_JOURNAL'], ...report.map(({ file }) => file), ...files];
  for (const file of outputs) {
    if (file === undefined || file === '' || (await inputs?.has(file)) !== true) continue;
    throw new CommandError(`${file} is a file that this run reads, and would be written over.`, {
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

/** Whether a file is below one of the folders, and may be a manifest. */
function mayBeManifest(path: string, folders: readonly string[], cwd: string): boolean {
  if (!/\.(ya?ml|json)$/.test(path)) return false;
  if (!folders.some((folder) => path.startsWith(`${resolve(cwd, folder)}${sep}`))) return false;
  try {
    return !isForeignFile(path, readInput(path));
  } catch (error) {
    if (error instanceof Error) return true;
    throw error;
  }
}
