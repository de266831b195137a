import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { NarrowingFlags } from '../many/narrowing.ts';
import { type ApplyFlags, applyManifests } from '../reconcile/apply-manifests.ts';
import { applySaved } from '../reconcile/apply-saved.ts';
import { isPlanFile, listPlanFiles } from '../reconcile/plan-file.ts';
import type { Act } from './act.ts';
import { TOKEN_ADDRESS } from './example-names.ts';
import {
  addConnectionOptions,
  addExamples,
  addExitCodes,
  addPlanFormatOptions,
  addPlanOptions,
  addWriteOptions,
} from './options.ts';
import { addRecursiveOptionsWith, isRecursive } from './stack-options.ts';

/** `edgewise apply`. */
export function defineApply(command: Command, act: Act): void {
  command
    .description(
      'Make the service match the manifests: plan, show, ask, apply. Or apply a saved plan exactly as it is.',
    )
    .argument(
      '[paths...]',
      'files, folders, or - for standard input; or one plan file, or a folder of plan files (default: the current folder)',
    );
  addRecursiveOptionsWith(
    command,
    'with a plan file: the manifests that it was made of, whose Stack says where tokens and the API key may go',
  );
  command.option(
    '--approved <plan>',
    'apply only what this plan file shows, or less; else exit with 6 and show the difference',
  );
  const { done, failed, invalid, authentication, refused, stale, interrupted } = EXIT;
  addExitCodes(command, [done, failed, invalid, authentication, refused, stale, interrupted]);
  addPlanFormatOptions(addWriteOptions(addPlanOptions(command)));
  addExamples(addConnectionOptions(command), [
    ['edgewise apply', 'plan, show, ask, apply'],
    ['edgewise apply -R live', 'every stack below a folder'],
    ['edgewise apply manifests --yes', 'without asking, for a pipeline'],
    [`edgewise apply --rotate ${TOKEN_ADDRESS}`, 'a new token, delivered before the old one is deleted'],
    ['edgewise apply plan.json --yes', 'exactly this plan; refused if it is stale'],
    ['edgewise apply plan.json --stack manifests', 'with the place for tokens from the Stack'],
    ['edgewise apply manifests --approved plan.json --yes', 'after a merge: plan anew, do no more than was approved'],
  ]).action((paths: string[], flags: Flags) => act(flags, (context) => apply(paths, flags, context)));
}

interface Flags extends ApplyFlags, NarrowingFlags {
  readonly recursive?: boolean;
  readonly stack?: readonly string[];
}

async function apply(paths: readonly string[], flags: Flags, context: Context): Promise<ExitCode> {
  if (isRecursive({ ...flags, stack: flags.recursive === true ? (flags.stack ?? []) : [] })) {
    const { applyStacks } = await import('../many/apply-stacks.ts');
    return applyStacks(paths, { flags, mode: 'apply' }, context);
  }
  const [first, ...more] = paths;
  const files = first === undefined || more.length > 0 ? [] : await listPlanFiles(first, context.cwd);
  if (first !== undefined && files.length > 0) {
    const { applyPlans } = await import('../many/apply-plans.ts');
    return applyPlans({ folder: first, files }, flags, context);
  }
  const isSaved = first !== undefined && more.length === 0 && (await isPlanFile(first, context.cwd));
  return isSaved ? applySaved(first, flags, context) : applyManifests(paths, { flags, mode: 'apply' }, context);
}
