import { resolve } from 'node:path';
import { parseTerraformState, type TerraformState, TerraformStateError } from '../../export/terraform-state.ts';
import { checkCommandLinePath } from '../../files/boundary.ts';
import { createFileError, describeFileError, readInput, toBuffer } from '../../files/read-input.ts';
import { StackError } from '../../model/user-errors.ts';
import type { Context } from '../context.ts';

/** Reads a Terraform state. Throws a `StackError` if it cannot be used. */
export async function readTerraformNames(path: string, context: Context): Promise<TerraformState> {
  const shown = path === '-' ? 'standard input' : path;
  const bytes = await readBytes(path, shown, context);
  try {
    return parseTerraformState(toBuffer(bytes));
  } catch (error) {
    if (!(error instanceof TerraformStateError)) throw error;
    const { finding, remedy } = error;
    throw new StackError(`${shown} ${finding}.`, { reason: 'invalid', remedy, cause: error });
  }
}

async function readBytes(path: string, shown: string, context: Context): Promise<Uint8Array> {
  try {
    if (path === '-') return await context.readStdin();
    const place = checkCommandLinePath(path, context);
    if ('finding' in place) throw createFileError(place.finding);
    context.onInput?.(path);
    return readInput(resolve(context.cwd, path));
  } catch (error) {
    throw new StackError(`${shown} ${describeFileError(error)}.`, {
      reason: 'invalid',
      remedy: 'Name a state file, or pipe the output of terraform show -json to --names -',
      cause: error,
    });
  }
}
