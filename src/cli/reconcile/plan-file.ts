import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { listRootsOfPaths, resolvePathWithin } from '../../files/boundary.ts';
import { createStrangerSearch } from '../../files/owners.ts';
import { InputError, type ReadBudget, readInput } from '../../files/read-input.ts';
import { describeWriteError } from '../../files/write-file.ts';
import type { LocateManifest } from '../../model/diagnostic.ts';
import { getErrorMessage } from '../../model/errors.ts';
import { checkJsonLimits, isJsonObject, parseJson } from '../../model/json.ts';
import { isResultDocument, type Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { escapePath, quoteForShell } from '../../model/shell-words.ts';
import { parsePlan } from '../../stack/parse-plan.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { type OutputFileContext, writeResultFile } from '../output/output-files.ts';

/** A plan file or a folder of plans, and the manifests that it names. */
interface NamedManifests {
  readonly name: string;
  /** `undefined`: the file or folder names no manifests. */
  readonly manifests: readonly string[] | undefined;
}

/**
 * Finds the manifests to compare a plan with: those of `--manifests`, else those that the plan file names. Throws if
 * any of these is not in this checkout. The file cannot choose what is applied, because the plan is computed again from
 * these manifests, and must be as the file approves it.
 */
export function listManifestPathsForPlan(
  { name, manifests }: NamedManifests,
  given: readonly string[],
  { cwd, uid, root, stderr }: Pick<Context, 'cwd' | 'uid' | 'root' | 'stderr'>,
): readonly string[] {
  if (given.length > 0) return given;
  if (manifests === undefined || manifests.length === 0)
    throw new CommandError(`${name} does not name the manifests that it was made from.`, {
      exitCode: EXIT.invalid,
      remedy: 'Add --manifests with their path.',
    });
  const roots = listRootsOfPaths([], { cwd, uid, root });
  const isThere = (path: string): boolean => {
    const whole = resolve(cwd, path);
    return path !== '-' && existsSync(whole) && 'real' in resolvePathWithin(whole, roots);
  };
  if (manifests.every(isThere)) {
    const named = manifests.join(', ');
    stderr.write(`${toPrintable(`${name} is compared with the manifests that it names: ${named}.`)}\n`);
    return manifests;
  }
  const flags = manifests.map((path) => `--manifests ${quoteForShell(escapePath(path))}`).join(' ');
  if (manifests.includes('-'))
    throw new CommandError(`${name} was made from manifests on standard input.`, {
      exitCode: EXIT.invalid,
      remedy: `Pipe the same manifests in, and add ${flags}.`,
    });
  const missing = manifests.filter((path) => !isThere(path)).join(', ');
  throw new CommandError(`${name} was made from ${missing}, which is not below this folder.`, {
    exitCode: EXIT.invalid,
    remedy: `Run the command in a folder that contains it, or add ${flags}, with the path from here.`,
  });
}

/** `text`: the document of one stack. */
export async function writePlanFile(
  file: string,
  text: string,
  context: OutputFileContext & Pick<Context, 'secrets'>,
): Promise<void> {
  try {
    await writeResultFile(file, text, context);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`The plan cannot be written to ${file}: ${describeWriteError(error)}`, {
      exitCode: EXIT.failed,
      refusedOutputs: [file],
      cause: error,
    });
  }
}

/** Reads a plan file, and passes its stack to `onSubject`. Throws the first error of an invalid file. */
export async function readPlanFile(file: string, context: PlanReader): Promise<Plan> {
  const { cwd, onSubject, onInput, budget } = context;
  refusePlanOfAnotherUser(file, context);
  onInput?.(file);
  onSubject?.({ locate: createLocateAtPlanFileStart(file) });
  const plan = parsePlan(await readPlanText(file, { cwd, budget }), file);
  onSubject?.({ stack: plan.stack, locate: createLocateAtPlanFileStart(file) });
  return plan;
}

type PlanReader = Pick<Context, 'cwd' | 'uid' | 'root' | 'onSubject' | 'onInput' | 'budget'>;

/**
 * Throws if another user put a plan, or a folder of plans, into a folder that every user can write to. Its content is an
 * approval, and that user could replace it after somebody has read it.
 */
export function refusePlanOfAnotherUser(path: string, context: Pick<Context, 'cwd' | 'uid' | 'root'>): void {
  const found = createStrangerSearch(context)(path);
  if (found === undefined) return;
  throw new CommandError(`The plan ${path} is not read: ${found.path} ${found.finding}.`, {
    exitCode: EXIT.invalid,
    remedy: 'That user can replace it at any time. Copy it to a folder of your own, check the copy, and name that.',
  });
}

/** Creates a `LocateManifest` without manifests. Diagnostics without an address point to the start of the plan file. */
export function createLocateAtPlanFileStart(file: string): LocateManifest {
  return (address) => (address === undefined ? { file, line: 1, column: 1, excerpt: '' } : undefined);
}

/** Whether a path names a result of edgewise, such as a plan, and not manifests. */
export async function isPlanFile(path: string, cwd: string, budget?: ReadBudget): Promise<boolean> {
  if (path === '-') return false;
  try {
    const text = readInput(resolve(cwd, path), { budget, onlyFiles: true }).toString('utf8');
    const value = checkJsonLimits(text) === undefined ? parseJson(text) : undefined;
    return isJsonObject(value) && isResultDocument(value);
  } catch (error) {
    if (error instanceof InputError || (error instanceof Error && 'code' in error)) return false;
    throw error;
  }
}

async function readPlanText(file: string, { cwd, budget }: Pick<Context, 'cwd' | 'budget'>): Promise<string> {
  try {
    return readInput(resolve(cwd, file), { budget }).toString('utf8');
  } catch (error) {
    throw new CommandError(`The plan file ${file} cannot be read: ${getErrorMessage(error)}`, {
      exitCode: EXIT.invalid,
      cause: error,
    });
  }
}
