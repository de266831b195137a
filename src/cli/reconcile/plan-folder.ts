import { createHash } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isOwnedByAnotherUser } from '../../files/owners.ts';
import { InputBudgetError, readInput } from '../../files/read-input.ts';
import { createFolder, removeFile } from '../../files/write-file.ts';
import { getErrorMessage } from '../../model/errors.ts';
import { toHarmlessJson } from '../../model/job-commands.ts';
import { checkJsonLimits, isJsonObject, parseJson } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import {
  PLAN_INDEX_FILE_NAME,
  PLAN_INDEX_FORMAT,
  type PlanIndexEntry,
  type PlanIndexFile,
} from '../../model/stack-tree.ts';
import type { SelectedStacks } from '../../repository/select-stacks.ts';
import { PLAN_INDEX_SCHEMA } from '../../schemas/plan.ts';
import { type Context, VERSION } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { refuseOutputPath, writeResultFile } from '../output/output-files.ts';
import { isPlanFile, refusePlanOfAnotherUser, writePlanFile } from './plan-file.ts';

/**
 * A folder of plans has a plan file for each stack of a run, and an index of these files.
 * If a file in the folder is in no index, no plan of the folder is applied, and no new plan is written to it.
 */

type FolderContext = Pick<Context, 'cwd' | 'uid' | 'root' | 'env' | 'budget' | 'secrets'>;

export interface PlanFolderWriter {
  readonly write: (file: string, plan: Plan, text: string) => Promise<void>;
  /** Removes a plan that this run wrote. */
  readonly withdraw: (file: string) => Promise<void>;
  /** Writes the index. Without an index, no plan in the folder can be applied. */
  readonly finish: (selected: Pick<SelectedStacks, 'tree' | 'stacks'>) => Promise<void>;
}

/**
 * Creates the folder, and removes the plans of earlier runs. Throws if the folder contains another file that an apply
 * would read.
 */
export async function createPlanFolderWriter(folder: string, context: FolderContext): Promise<PlanFolderWriter> {
  await makeFolder(folder, context);
  await refuseFolderOfOtherUser(folder, context);
  await clearFolder(folder, context);
  const plans = new Map<string, PlanIndexEntry>();
  return {
    write: async (file, { stack, baseUrl }, text) => {
      await writePlanFile(join(folder, file), text, context);
      plans.set(file, { file, stack, baseUrl, sha256: computeFileDigest(Buffer.from(text)) });
    },
    withdraw: async (file) => {
      if (plans.delete(file)) await removeFile(join(folder, file), context);
    },
    finish: async ({ tree, stacks }) => {
      const index: PlanIndexFile = {
        type: 'PlanIndex',
        format: PLAN_INDEX_FORMAT,
        tool: { name: 'edgewise', version: VERSION },
        manifests: [tree.root],
        stacks: stacks.map(({ name }) => name),
        plans: [...plans.values()].toSorted((left, right) => (left.file < right.file ? -1 : 1)),
      };
      const text = toHarmlessJson(`${JSON.stringify(index, null, 2)}\n`);
      await writeResultFile(join(folder, PLAN_INDEX_FILE_NAME), text, context);
    },
  };
}

async function makeFolder(folder: string, context: FolderContext): Promise<void> {
  try {
    await createFolder(folder, { ...context, mode: 0o777 });
  } catch (cause) {
    const message = `The plans cannot be written to ${folder}: ${getErrorMessage(cause)}`;
    throw new CommandError(message, {
      exitCode: EXIT.invalid,
      remedy: 'With --recursive, name a folder with -o. Edgewise writes one plan file for each stack into it.',
      cause,
    });
  }
}

/** Throws if the folder belongs to another user, who could otherwise choose which files are removed. */
async function refuseFolderOfOtherUser(folder: string, { cwd, uid }: FolderContext): Promise<void> {
  const path = resolve(cwd, folder);
  if (!isOwnedByAnotherUser(path, await lstat(path), uid)) return;
  throw new CommandError(`${folder} belongs to another user.`, {
    exitCode: EXIT.invalid,
    remedy: 'Name another folder. Nothing was written.',
  });
}

/**
 * Removes the index of an earlier run and the plans that it lists. Throws if the folder also contains another file
 * that an apply would read, or a plan that was edited, or if the checked-out commit contains the index.
 */
async function clearFolder(folder: string, context: FolderContext): Promise<void> {
  const path = resolve(context.cwd, folder);
  const names = await listReadable(path);
  const old: string[] = [];
  if (names.includes(PLAN_INDEX_FILE_NAME)) {
    const name = join(folder, PLAN_INDEX_FILE_NAME);
    await refuseOutputPath(name, context);
    const { plans } = readIndex(name, context);
    const unaltered = plans.filter((plan) => hasDigest(join(path, plan.file), plan.sha256, context));
    old.push(PLAN_INDEX_FILE_NAME, ...unaltered.map(({ file }) => file));
  }
  const foreign = names.find((name) => !old.includes(name));
  if (foreign !== undefined) {
    throw new CommandError(
      `${join(folder, foreign)} was not written by an earlier run, so no plan is written to ${folder}.`,
      {
        exitCode: EXIT.invalid,
        remedy: 'Name another folder, or remove the file. Nothing was written.',
      },
    );
  }
  for (const name of old) await removeFile(join(folder, name), context);
}

/** The content of a folder of plans, as its indexes list it. */
export interface IndexedPlanFolder {
  readonly folder: string;
  /** Paths of the plan files. */
  readonly files: readonly string[];
  /** Names of all stacks of the runs that made the plans, including stacks without a plan. */
  readonly stacks: readonly string[];
  /** The folders that contain these stacks. `undefined`: an index does not name its folder. */
  readonly manifests: readonly string[] | undefined;
}

/**
 * Reads a folder of plans. Without an index, throws if the folder contains only plans, else returns `undefined`. With
 * an index, throws if a file is not in it, and if a plan was changed after it was written. A plan that is missing only
 * matters if its stack has something to do.
 */
export async function findIndexedPlanFolder(
  folder: string,
  context: Pick<Context, 'cwd' | 'uid' | 'root' | 'budget'>,
): Promise<IndexedPlanFolder | undefined> {
  const path = resolve(context.cwd, folder);
  const names = await listReadable(path).catch((): readonly string[] => []);
  const indexNames = names.filter((name) => name === PLAN_INDEX_FILE_NAME);
  if (indexNames.length === 0) {
    if (await hasOnlyPlans(folder, names, context)) throw createNoIndexError(folder);
    return undefined;
  }
  for (const name of indexNames) refusePlanOfAnotherUser(join(folder, name), context);
  const indexes = indexNames.map((name) => readIndex(join(folder, name), context));
  const plans = indexes.flatMap((index) => index.plans);
  const known = new Set(plans.map(({ file }) => file));
  for (const name of names)
    if (!known.has(name) && name !== PLAN_INDEX_FILE_NAME)
      throw createPlanFolderError(folder, `${join(folder, name)} is not in its index`);
  const present = plans.filter(({ file }) => names.includes(file));
  for (const { file, sha256 } of present)
    if (!hasDigest(join(path, file), sha256, context))
      throw createPlanFolderError(folder, `${join(folder, file)} is not the file that was written`);
  return {
    folder,
    files: present.map(({ file }) => join(folder, file)).toSorted(),
    stacks: [...new Set([...indexes.flatMap(({ stacks }) => stacks), ...plans.map(({ stack }) => stack)])],
    manifests: indexes.some(({ manifests }) => manifests === undefined)
      ? undefined
      : [...new Set(indexes.flatMap(({ manifests = [] }) => manifests))],
  };
}

/** Lists the names of the files that an apply of the folder would read. */
async function listReadable(path: string): Promise<readonly string[]> {
  const names = await readdir(path);
  return names.filter((name) => /\.(?:json|ya?ml)$/i.test(name) && !name.startsWith('.')).sort();
}

async function hasOnlyPlans(
  folder: string,
  names: readonly string[],
  { cwd, budget }: Pick<Context, 'cwd' | 'budget'>,
): Promise<boolean> {
  for (const name of names)
    if (!name.endsWith('.json') || !(await isPlanFile(join(folder, name), cwd, budget))) return false;
  return names.length > 0;
}

function readIndex(file: string, { cwd, budget }: Pick<Context, 'cwd' | 'budget'>): PlanIndexFile {
  const finding = (why: string, cause?: unknown): CommandError =>
    new CommandError(`${file} is not the index of a folder of plans: ${why}.`, {
      exitCode: EXIT.invalid,
      remedy: 'Make the plans again with edgewise plan -R -o FOLDER, in another folder.',
      cause,
    });
  let text: string;
  try {
    text = readInput(resolve(cwd, file), { onlyFiles: true, budget }).toString('utf8');
  } catch (error) {
    throw finding(getErrorMessage(error), error);
  }
  const value = checkJsonLimits(text) === undefined ? parseJson(text) : undefined;
  if (!isJsonObject(value)) throw finding('it is not a JSON object');
  const parsed = PLAN_INDEX_SCHEMA.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw finding(`${issue?.path.join('.') || 'the document'}: ${issue?.message}`);
}

/** Whether a file has this SHA-256 digest. Throws if the file exceeds the read limits of the run. */
function hasDigest(path: string, sha256: string, { budget }: Pick<Context, 'budget'>): boolean {
  try {
    return computeFileDigest(readInput(path, { onlyFiles: true, budget })) === sha256;
  } catch (error) {
    if (error instanceof InputBudgetError)
      throw new CommandError(`${path} ${error.finding}.`, {
        exitCode: EXIT.invalid,
        remedy: 'Plan fewer stacks in one run, such as with --stack.',
        cause: error,
      });
    if (error instanceof Error) return false; // an unreadable file counts as changed
    throw error;
  }
}

function computeFileDigest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function createPlanFolderError(folder: string, why: string): CommandError {
  return new CommandError(`${folder} cannot be applied: ${why}.`, {
    exitCode: EXIT.stale,
    remedy: 'Nothing was written. Make the plans again with edgewise plan -R -o FOLDER, and have those approved.',
  });
}

function createNoIndexError(folder: string): CommandError {
  return new CommandError(`${folder} has no index, so it is unknown which plans belong to it.`, {
    exitCode: EXIT.stale,
    remedy:
      'Make the plans with edgewise plan -R -o FOLDER, which writes an index. To apply a single plan file, name the file.',
  });
}
