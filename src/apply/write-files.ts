import { toReason } from '../model/errors.ts';
import type { FileOutcome } from '../model/outcome.ts';
import type { Plan, PlannedFile } from '../model/plan.ts';
import type { WriteFile } from './certificate-file.ts';

/** What writing the files of a plan takes. */
export interface FileContext {
  readonly write: WriteFile;
  /** Texts that were not known when the plan was made, by address. */
  readonly texts: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
}

/** Writes the files that a plan lists, and no others. Never rejects: failures are in the result. */
export async function writePlannedFiles({ files }: Plan, context: FileContext): Promise<readonly FileOutcome[]> {
  return Promise.all(files.map((file) => writePlannedFile(file, context)));
}

async function writePlannedFile(file: PlannedFile, context: FileContext): Promise<FileOutcome> {
  const { address, path } = file;
  const text = file.text ?? context.texts.get(address);
  if (context.signal.aborted) return { address, path, outcome: 'skipped', message: 'interrupted' };
  if (text === undefined) return { address, path, outcome: 'skipped', message: `${address} was not created` };
  try {
    await context.write(path, text);
    return { address, path, outcome: 'applied' };
  } catch (error) {
    return { address, path, outcome: 'failed', message: toReason(error) };
  }
}
