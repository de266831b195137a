import { resolve } from 'node:path';
import { describeFileError, isFileError, isOverBudget, readInput } from '../../files/read-input.ts';
import { createStrangerSearch } from '../../files/trusted-users.ts';
import { describeWriteError } from '../../files/write-file.ts';
import { checkJsonLimits, isJsonObject, parseJson } from '../../model/json.ts';
import type { Locate } from '../../model/place.ts';
import type { Plan } from '../../model/plan.ts';
import { NO_OP_SECRET_REDACTOR } from '../../model/secrets.ts';
import { StackError } from '../../model/user-errors.ts';
import { parsePlan, parsePlanFileEntry } from '../../stack/parse-plan.ts';
import type { Context } from '../context.ts';
import { type OutputFileContext, writeResultFile } from '../output/output-files.ts';
import { redactText } from '../output/redact-text.ts';

/** `text`: the document of one stack. Throws if no apply could read it. */
export async function writePlanFile(
  file: string,
  text: string,
  context: OutputFileContext & Pick<Context, 'secrets'>,
): Promise<void> {
  const finding = checkJsonLimits(text);
  if (finding !== undefined)
    throw new StackError(`The plan is not written to ${file}: it ${finding}, so no apply could read it.`, {
      reason: 'failed',
      remedy: 'Plan a part of it with --target, or divide the stack.',
    });
  refuseUnreadablePlan(file, text, context);
  try {
    await writeResultFile(file, text, context);
  } catch (error) {
    if (error instanceof StackError) throw error;
    throw new StackError(`The plan cannot be written to ${file}: ${describeWriteError(error)}`, {
      reason: 'failed',
      output: file,
      cause: error,
    });
  }
}

/** Throws if a secret is a word of the format, such as `create`, so that its redaction makes a file that no apply reads. */
function refuseUnreadablePlan(
  file: string,
  text: string,
  { secrets = NO_OP_SECRET_REDACTOR }: Pick<Context, 'secrets'>,
): void {
  const redacted = redactText(text, secrets);
  if (redacted === text) return;
  try {
    parsePlanFileEntry(redacted, file);
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    throw new StackError(
      `The plan is not written to ${file}: a secret is hidden in it that is also a word or a number of its format, so no apply could read it.`,
      { reason: 'failed', remedy: 'Use a secret that is longer than a word.', cause: error },
    );
  }
}

/** Reads a plan file, and passes its stack to `onSubject`. Throws the first error of an invalid file, or of a failed plan. */
export async function readPlanFile(file: string, context: PlanReader): Promise<Plan> {
  const { onSubject } = context;
  onSubject?.({ locate: createLocateAtPlanFileStart(file) });
  const plan = parsePlan(readPlanText(file, context), file);
  onSubject?.({ stack: plan.stack, locate: createLocateAtPlanFileStart(file) });
  return plan;
}

interface PlanReader extends Pick<Context, 'cwd' | 'uid' | 'root' | 'onSubject' | 'onInput' | 'budget'> {
  /** Whether a pipe is refused, as for an approval: one in an artifact would hold the run. */
  readonly onlyFiles?: boolean;
}

/**
 * Throws if another user put a plan, or a folder of plans, into a folder that every user can write to. Its content is an
 * approval, and that user could replace it after somebody has read it.
 */
export function refusePlanOfAnotherUser(path: string, context: Pick<Context, 'cwd' | 'uid' | 'root'>): void {
  const found = createStrangerSearch(context)(path);
  if (found === undefined) return;
  throw new StackError(`The plan ${path} is not read: ${found.path} ${found.finding}.`, {
    reason: 'invalid',
    remedy: 'That user can replace it at any time. Copy it to a folder of your own, check the copy, and name that.',
  });
}

/** Creates a `Locate` without manifests. Diagnostics without an address point to the start of the plan file. */
export function createLocateAtPlanFileStart(file: string): Locate {
  return (address) => (address === undefined ? { file, line: 1, column: 1 } : undefined);
}

/** Whether a path names a plan file, also one of another version or of a failed plan, and not manifests. */
export async function isPlanFile(path: string, { cwd, budget }: Pick<Context, 'cwd' | 'budget'>): Promise<boolean> {
  if (path === '-') return false;
  try {
    const text = readInput(resolve(cwd, path), { budget, onlyFiles: true }).toString('utf8');
    const value = checkJsonLimits(text) === undefined ? parseJson(text) : undefined;
    return (
      isJsonObject(value) && value['command'] === 'plan' && typeof value['format'] === 'number' && 'stacks' in value
    );
  } catch (error) {
    if (isOverBudget(error))
      throw new StackError(`${path} ${describeFileError(error)}.`, { reason: 'invalid', cause: error });
    if (isFileError(error)) return false;
    throw error;
  }
}

/** Reads the text of a plan file of this user. */
export function readPlanText(file: string, context: PlanReader): string {
  const { cwd, budget, onlyFiles = false, onInput } = context;
  refusePlanOfAnotherUser(file, context);
  onInput?.(file);
  try {
    return readInput(resolve(cwd, file), { budget, onlyFiles }).toString('utf8');
  } catch (error) {
    throw new StackError(`The plan file ${file} ${describeFileError(error)}.`, {
      reason: 'invalid',
      remedy: 'Correct the name, or make one: edgewise plan MANIFESTS -o FILE.',
      cause: error,
    });
  }
}
