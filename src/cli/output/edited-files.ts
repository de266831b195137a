import { Buffer } from 'node:buffer';
import { resolve } from 'node:path';
import type { AcceptedFile } from '../../accept/accept-drift.ts';
import { resolveWritePath, type WriteBoundary } from '../../files/boundary.ts';
import { readInput } from '../../files/read-input.ts';
import { checkReplaceable, describeWriteError, removeFile, replaceFile } from '../../files/write-file.ts';
import { hashSha256 } from '../../model/json.ts';
import type { DesiredState } from '../../model/state.ts';
import { StackError, type StackErrorReason } from '../../model/user-errors.ts';
import type { Context } from '../context.ts';

/** The edited manifests of one stack. */
export interface EditedFiles {
  readonly files: readonly AcceptedFile[];
  readonly state: Pick<DesiredState, 'inputs' | 'roots'>;
}

/**
 * Writes manifests that were edited, each in one step. Before the first, checks of each that it is inside the repository,
 * that no link leads to it, that it can be replaced, and that it is as it was read. A removed file has no documents.
 */
export async function writeEditedFiles(edited: readonly EditedFiles[], context: Context): Promise<void> {
  const all = edited.flatMap(({ files, state }) => files.map((file) => ({ ...file, state })));
  const checked = [];
  for (const one of all) checked.push({ ...one, ...(await checkFile(one, context)) });
  for (const { file, after, boundary, hasMark } of checked) {
    if (after === undefined) await removeFile(file, boundary);
    else
      await replaceFile(file, `${hasMark ? MARK : ''}${after}`, { ...boundary, mode: 0o644, keepsPermissions: true });
  }
}

/** The byte order mark. */
const MARK = '\uFEFF';

interface CheckedFile {
  readonly boundary: WriteBoundary;
  readonly hasMark: boolean;
}

async function checkFile(
  { file, state }: AcceptedFile & Pick<EditedFiles, 'state'>,
  { cwd, root, uid }: Context,
): Promise<CheckedFile> {
  const boundary = { cwd, root, uid, roots: state.roots };
  const place = resolveWritePath(file, boundary);
  if ('finding' in place) throw createError(`${file} ${place.finding}`, 'refused');
  const bytes = readInput(resolve(cwd, file));
  const known = state.inputs.find((input) => input.file === file)?.digest;
  if (hashSha256(bytes, 'hex') !== known) throw createError(`${file} was changed since it was read`, 'stale');
  try {
    await checkReplaceable(file, { ...boundary, mode: 0o644 });
  } catch (error) {
    throw createError(`${file} cannot be written: ${describeWriteError(error)}`, 'failed');
  }
  return { boundary, hasMark: Buffer.from(bytes.subarray(0, 3)).toString('utf8') === MARK };
}

function createError(why: string, reason: StackErrorReason): StackError {
  return new StackError(`Nothing was written, because ${why}.`, {
    reason,
    remedy: 'Run the command again, on manifests that you may write.',
  });
}
