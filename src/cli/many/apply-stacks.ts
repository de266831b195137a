import type { StackFolder } from '../../model/stack-tree.ts';
import { listFilePaths } from '../../plan/files.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import type { ApplyFlags } from '../reconcile/apply-manifests.ts';
import { toConsent, toPlanOptions } from '../reconcile/plan-flags.ts';
import { type Applying, type ApplyStacksFlags, admit, finishApply } from './apply-ready.ts';
import { forEachStack, openFolder, planFolder, type StackResult, withStacks } from './stacks-run.ts';
import { stopRivals } from './stop-rivals.ts';

/** Plans every stack below a folder, shows all of that, asks once, and applies each plan. */
export async function applyStacks(
  paths: readonly string[],
  { flags, mode }: { readonly flags: ApplyStacksFlags; readonly mode: 'apply' | 'destroy' },
  context: Context,
): Promise<ExitCode> {
  refuseApproved(flags);
  return withStacks(paths, { flags, command: mode }, context, async (run) => {
    const applying: Applying = { run, flags, mode, ready: new Map() };
    const planned = await forEachStack(run, (folder) => planOne(applying, folder));
    return finishApply(applying, await stopRivals(run, planned, (folder) => void applying.ready.delete(folder)));
  });
}

async function planOne(applying: Applying, folder: StackFolder): Promise<StackResult> {
  const { run, flags, mode } = applying;
  const opened = await openFolder(run, folder, {
    ...(mode === 'apply' && { lint: 'for-plan' }),
    isPlanned: true,
    listOutputs: listFilePaths,
  });
  const plan = await planFolder(run, opened, toPlanOptions(flags, mode));
  const { stack, pooled, locate } = opened;
  const consent = toConsent(flags);
  return admit(applying, folder, {
    plan,
    pooled,
    locate,
    apply: (options) => stack.apply(plan, { ...consent, ...options }),
  });
}

function refuseApproved({ approved }: ApplyFlags): void {
  if (approved === undefined) return;
  throw new CommandError('--approved holds one plan against one stack, and cannot be used with --recursive.', {
    exitCode: EXIT.invalid,
    remedy: 'Run the command on the folder of the stack that the plan is of.',
  });
}
