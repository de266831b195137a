import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import type { NarrowingFlags } from '../many/narrowing.ts';
import { type ApplyFlags, applyManifests } from '../reconcile/apply-manifests.ts';
import type { Act } from './act.ts';
import { EXAMPLE_ADDRESS } from './example-names.ts';
import {
  addConnectionOptions,
  addExamples,
  addExitCodes,
  addPlanFormatOptions,
  addScopeOptions,
  addWriteOptions,
} from './options.ts';
import { addRecursiveOptions, isRecursive } from './stack-options.ts';

/** `edgewise destroy`. */
export function defineDestroy(command: Command, act: Act): void {
  command
    .description(
      'Delete everything that the stack owns, and the modules that its manifests attach. Protected resources are refused.',
    )
    .argument('[paths...]', 'the manifests of the stack (default: the current folder)');
  addRecursiveOptions(command);
  const { done, failed, invalid, authentication, refused, interrupted } = EXIT;
  addExitCodes(command, [done, failed, invalid, authentication, refused, interrupted]);
  addPlanFormatOptions(addWriteOptions(addScopeOptions(command)));
  addExamples(addConnectionOptions(command), [
    ['edgewise destroy', 'plan, show, ask, delete'],
    [`edgewise destroy --target ${EXAMPLE_ADDRESS}`, 'one resource only'],
  ]).action((paths: string[], flags: Flags) => act(flags, (context) => destroy(paths, flags, context)));
}

interface Flags extends ApplyFlags, NarrowingFlags {
  readonly recursive?: boolean;
  readonly stack?: readonly string[];
}

async function destroy(paths: readonly string[], flags: Flags, context: Context): Promise<ExitCode> {
  if (!isRecursive(flags)) return applyManifests(paths, { flags, mode: 'destroy' }, context);
  if ((flags.stack ?? []).length === 0)
    throw new CommandError('destroy --recursive needs the names of the stacks.', {
      exitCode: EXIT.invalid,
      remedy: 'Name each with --stack NAME. edgewise stacks lists them.',
    });
  const { applyStacks } = await import('../many/apply-stacks.ts');
  return applyStacks(paths, { flags, mode: 'destroy' }, context);
}
