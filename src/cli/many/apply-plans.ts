import type { StackFolder } from '../../model/stack-tree.ts';
import { findStacks } from '../../stacks/find-stacks.ts';
import type { SelectedStacks } from '../../stacks/select-stacks.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { prepareSaved } from '../reconcile/apply-saved.ts';
import { readPlanFile } from '../reconcile/plan-file.ts';
import { type Applying, type ApplyStacksFlags, admit, finishApply } from './apply-ready.ts';
import { refuseSingleFlags } from './refuse-single-flags.ts';
import { forEachStack, type StackResult, withSelected } from './stacks-run.ts';

/** Applies exactly the plans that were saved in a folder, each when nothing that it would touch has moved since. */
export async function applyPlans(
  { folder, files }: { readonly folder: string; readonly files: readonly string[] },
  flags: ApplyStacksFlags,
  context: Context,
): Promise<ExitCode> {
  const selected = await selectPlans(folder, files, context);
  refuseSingleFlags(flags, { names: [], count: selected.stacks.length });
  return withSelected(selected, { flags, command: 'apply' }, context, async (run) => {
    const applying: Applying = { run, flags, mode: 'apply', ready: new Map() };
    const { stack: roots = [] } = flags;
    const named = roots.length === 0 ? undefined : roots.flatMap((one) => findStacks(one, context).stacks);
    return finishApply(applying, await forEachStack(run, (one) => prepareOne(applying, one, named)));
  });
}

async function prepareOne(
  applying: Applying,
  folder: StackFolder,
  named: readonly StackFolder[] | undefined,
): Promise<StackResult> {
  const { run, flags } = applying;
  const stack = named === undefined ? [] : [findMeant(folder, named, flags)];
  const { onSubject: _, ...quiet } = run.context;
  const { plan, settings, approved, locate } = await prepareSaved(folder.file, { ...flags, stack }, quiet);
  const pooled = await run.pool.find(settings, folder.file);
  const account = pooled.account.toView(settings);
  return admit(applying, folder, { plan, pooled, locate, apply: (options) => account.apply(approved, options) });
}

/** The plans of a folder as its stacks: each behind those whose resources it waits for. */
async function selectPlans(root: string, files: readonly string[], context: Context): Promise<SelectedStacks> {
  const { onSubject: _, ...quiet } = context;
  const stacks: StackFolder[] = [];
  for (const file of files) {
    const { stack, baseUrl, settings, awaited = {} } = await readPlanFile(file, quiet);
    const { keyEnv } = settings;
    const needs = [...new Set(Object.values(awaited).map((foreign) => foreign.stack))];
    const named = { name: stack, folder: file, file, baseUrl, ...(keyEnv !== undefined && { keyEnv }) };
    stacks.push({ ...named, inputs: [], policies: [], needs, takes: [], isRendered: false });
  }
  refuseTwice(stacks);
  return { tree: { root, stacks, unowned: [], diagnostics: [] }, stacks };
}

function refuseTwice(stacks: readonly StackFolder[]): void {
  const groups = Map.groupBy(stacks, ({ name, baseUrl }) => `${name} on ${baseUrl}`);
  const twice = [...groups].find(([, members]) => members.length > 1);
  if (twice === undefined) return;
  const [subject, members] = twice;
  const names = members.map(({ file }) => file).join(' and ');
  throw new CommandError(`${names} are both plans of the stack ${subject}.`, {
    exitCode: EXIT.invalid,
    remedy: 'Keep the one that was approved.',
  });
}

/** Of the stacks below the folders that `--stack` names, the folder of the one of this name: its Stack says where tokens and the key may go. */
function findMeant(
  { name, baseUrl }: StackFolder,
  named: readonly StackFolder[],
  { stack: roots = [] }: ApplyStacksFlags,
): string {
  const found = named.filter((one) => one.name === name);
  // Two services may each have a stack of that name.
  const meant = found.find((one) => one.baseUrl === baseUrl) ?? found[0];
  if (meant !== undefined) return meant.folder;
  throw new CommandError(`There is no stack ${name} below ${roots.join(', ')}.`, {
    exitCode: EXIT.invalid,
    remedy: 'Name the folder that the plans were made of.',
  });
}
