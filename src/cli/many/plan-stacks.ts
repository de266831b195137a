import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { toReason } from '../../model/errors.ts';
import type { Plan } from '../../model/plan.ts';
import type { StackFolder, StackTree } from '../../model/stack-tree.ts';
import { listFilePaths } from '../../plan/files.ts';
import { isInvalid } from '../../stack/plan-live.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { lacksSink, toApplyCommand, toSavedCommand } from '../reconcile/apply-command.ts';
import { withdrawPlanFile, writePlanFile } from '../reconcile/plan-file.ts';
import { listRefused, type PlanFlags, toPlanExitCode, toPlanOptions } from '../reconcile/plan-flags.ts';
import {
  forEachStack,
  openFolder,
  planFolder,
  publishRun,
  type StackResult,
  type StacksFlags,
  type StacksRun,
  withStacks,
} from './stacks-run.ts';
import { stopRivals } from './stop-rivals.ts';

/** Flags of a plan for many stacks. */
export interface PlanStacksFlags extends StacksFlags, PlanFlags {
  /** A folder: a plan file for each stack. */
  readonly out?: string;
  readonly detailedExitcode?: boolean;
}

/** Plans every stack below a folder, and shows one report of all. */
export async function planStacks(
  paths: readonly string[],
  flags: PlanStacksFlags,
  context: Context,
): Promise<ExitCode> {
  if (flags.out !== undefined) await makeFolder(flags.out, context);
  return withStacks(paths, { flags, command: 'plan' }, context, async (run) => {
    const parts = await forEachStack(run, (folder) => planOne(run, folder, flags));
    return publishRun(run, await stopRivals(run, parts, (folder) => withdraw(run, folder, flags)));
  });
}

/** If no plan can be made, an older plan file is removed, so that nobody takes it for the new one. */
async function planOne(run: StacksRun, folder: StackFolder, flags: PlanStacksFlags): Promise<StackResult> {
  const { context } = run;
  const out = toPlanFile(run, folder, flags);
  try {
    const opened = await openFolder(run, folder, { lint: 'for-plan', isPlanned: true, listOutputs: listFilePaths });
    const { locate } = opened;
    const plan = await planFolder(run, opened, toPlanOptions(flags));
    if (isInvalid(plan)) await withdraw(run, folder, flags);
    else if (out !== undefined) await writePlanFile(out, plan, context);
    return toPlanResult(plan, { run, folder, flags, out, locate });
  } catch (error) {
    await withdraw(run, folder, flags);
    throw error;
  }
}

function toPlanFile({ selected }: StacksRun, folder: StackFolder, { out }: PlanStacksFlags): string | undefined {
  return out === undefined ? undefined : join(out, toPlanFileName(folder, selected.tree));
}

async function withdraw(run: StacksRun, folder: StackFolder, flags: PlanStacksFlags): Promise<void> {
  const out = toPlanFile(run, folder, flags);
  if (out !== undefined) await withdrawPlanFile(out, run.context.cwd);
}

interface PlannedStack {
  readonly run: StacksRun;
  readonly folder: StackFolder;
  readonly flags: PlanStacksFlags;
  readonly out?: string | undefined;
  readonly locate: NonNullable<NonNullable<StackResult['options']>['locate']>;
}

/** A plan as the result of its stack. */
export function toPlanResult(plan: Plan, { run, folder, flags, out, locate }: PlannedStack): StackResult {
  const standing = listRefused(plan, flags);
  const planned = { paths: [folder.folder], flags, env: run.context.env };
  const applyCommand = out === undefined ? toApplyCommand(planned) : toSavedCommand(out, planned);
  return {
    report: { about: 'plan', plan, standing },
    exitCode: toPlanExitCode(plan, standing, flags),
    options: { ...(isQuiet(plan) ? {} : { locate }), ...(!lacksSink(plan) && { applyCommand }) },
  };
}

/** Nothing is said of it, so nobody asks where it stands: its manifests need not be kept for that. */
function isQuiet({ writes, files, diagnostics, violations }: Plan): boolean {
  return writes.length + files.length + diagnostics.length + violations.length === 0;
}

/** The name of the stack; where another of that name is for another service, the folder too. */
export function toPlanFileName({ name, folder }: StackFolder, { stacks }: Pick<StackTree, 'stacks'>): string {
  const isUnique = name !== '' && stacks.filter((stack) => stack.name === name).length === 1;
  return isUnique ? `${name}.json` : `${name}@${folder.replace(/[^\w.-]+/g, '-')}.json`;
}

async function makeFolder(out: string, { cwd }: Pick<Context, 'cwd'>): Promise<void> {
  try {
    await mkdir(resolve(cwd, out), { recursive: true });
  } catch (cause) {
    const message = `The plans cannot be written to ${out}: ${toReason(cause)}`;
    throw new CommandError(message, {
      exitCode: EXIT.invalid,
      remedy: 'With --recursive, -o names a folder, which gets a plan file for each stack.',
      cause,
    });
  }
}
