import { lstat, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isBelow } from '../../files/boundary.ts';
import { isTemporaryName } from '../../files/file-names.ts';
import { isOfAnotherUser } from '../../files/trusted-users.ts';
import { createFolder, removeFile } from '../../files/write-file.ts';
import { isResourceName } from '../../model/address.ts';
import { getErrorMessage } from '../../model/errors.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import { StackError } from '../../model/user-errors.ts';
import type { Context } from '../context.ts';
import { findOutputFinding } from '../output/output-files.ts';
import { isPlanFile } from './plan-file.ts';

/** A folder of plans has the plan files of one run, one for each of its stacks, and nothing else. */

type FolderContext = Pick<Context, 'cwd' | 'uid' | 'root' | 'env' | 'secrets'>;

/**
 * Creates a folder of plans, and removes the plans of an earlier run. If there is anything else in the folder, throws
 * and removes nothing.
 */
export async function clearPlanFolder(folder: string, context: FolderContext): Promise<void> {
  await makeFolder(folder, context);
  const files = (await readdir(resolve(context.cwd, folder))).map((name) => join(folder, name));
  for (const file of files) {
    const finding = await findOtherFile(file, context);
    if (finding === undefined) continue;
    throw new StackError(`${file} ${finding}, so no plan is written to ${folder}.`, {
      reason: 'invalid',
      remedy: 'Name a folder that is empty, or has only plans of an earlier run. Nothing was written.',
    });
  }
  for (const file of files) await removeFile(file, context);
}

async function makeFolder(folder: string, context: FolderContext): Promise<void> {
  try {
    await createFolder(folder, { ...context, mode: 0o777 });
  } catch (cause) {
    const message = `The plans cannot be written to ${folder}: ${getErrorMessage(cause)}`;
    throw new StackError(message, {
      reason: 'invalid',
      remedy: 'With --recursive, name a folder with -o. Edgewise writes one plan file for each stack into it.',
      cause,
    });
  }
  // Another user could otherwise choose which files are removed.
  const path = resolve(context.cwd, folder);
  if (isOfAnotherUser(path, await lstat(path), context.uid))
    throw new StackError(`${folder} belongs to another user.`, {
      reason: 'invalid',
      remedy: 'Name another folder. Nothing was written.',
    });
}

/** Why a file is none that an earlier run left in a folder of plans. `undefined`: it is one. */
async function findOtherFile(file: string, context: FolderContext): Promise<string | undefined> {
  if (!(await lstat(resolve(context.cwd, file))).isFile()) return 'is not a regular file';
  const finding = await findOutputFinding(file, context);
  if (finding !== undefined) return finding;
  const isOurs = isTemporaryName(file, '.json') || (isPlanName(file) && (await isPlanFile(file, { cwd: context.cwd })));
  return isOurs ? undefined : 'is not a plan file';
}

function isPlanName(file: string): boolean {
  return file.endsWith('.json');
}

/** Lists the plan files in a folder of plans. Throws if there are none, or if one is not a regular file. */
export async function listPlanFiles(folder: string, { cwd }: Pick<Context, 'cwd'>): Promise<readonly string[]> {
  const entries = await readdir(resolve(cwd, folder), { withFileTypes: true }).catch(() => []);
  const plans = entries.filter(({ name }) => isPlanName(name) && !name.startsWith('.'));
  const remedy = 'Name a folder that edgewise plan -R -o FOLDER wrote, or apply only the stack of that plan.';
  const other = plans.find((entry) => !entry.isFile());
  if (other !== undefined)
    throw new StackError(`${join(folder, other.name)} is not a regular file.`, { reason: 'invalid', remedy });
  if (plans.length === 0)
    throw new StackError(`${folder} is not a folder of plans. With --recursive, each stack has its own plan file.`, {
      reason: 'invalid',
      remedy,
    });
  return plans.map(({ name }) => join(folder, name)).sort();
}

/**
 * Whether a path names a folder with plan files and without manifests of its own, whatever is in folders below. The working
 * folder is none, nor one that contains it: there, a plan file is beside the manifests.
 */
export async function isPlanFolder(folder: string, context: Pick<Context, 'cwd' | 'budget'>): Promise<boolean> {
  const path = resolve(context.cwd, folder);
  if (isBelow(context.cwd, path)) return false;
  const names = await readdir(path).catch((): readonly string[] => []);
  const readable = names.filter((name) => /\.(?:json|ya?ml)$/i.test(name) && !name.startsWith('.'));
  for (const name of readable) if (!isPlanName(name) || !(await isPlanFile(join(folder, name), context))) return false;
  return readable.length > 0;
}

/** The name of the only file of a run that selected no stack. No stack has this name. */
export const NO_STACK_FILE = '_no-stack.json';

/**
 * Names the plan files of stacks: by the name of the stack, followed by its folder if another stack has that name. No
 * two names are equal, also where upper and lower case are the same.
 */
export function namePlanFiles(stacks: readonly Pick<StackFolder, 'name' | 'folder'>[]): readonly string[] {
  const used = new Set<string>();
  return stacks.map(({ name, folder }) => {
    const isUnique = stacks.filter((one) => one.name === name).length === 1;
    const title = isResourceName(name) ? name : '';
    // A path may be longer than a name in a folder may be. Its end says most.
    const base = isUnique && title !== '' ? title : `${title}@${folder.replace(/[^\w.-]+/g, '-').slice(-100)}`;
    let number = 1;
    const format = () => `${base}${number === 1 ? '' : `-${number}`}.json`;
    while (used.has(format().toLowerCase())) number += 1;
    used.add(format().toLowerCase());
    return format();
  });
}
