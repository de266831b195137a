import type { Diagnostic } from '../../model/diagnostic.ts';
import { hasDrift, isComplete } from '../../model/drift.ts';
import { readManifests } from '../../stack/read-manifests.ts';
import { isTakenOver } from '../../stacks/hand-over.ts';
import { toAccountId } from '../../stacks/to-account-id.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode, toValidationExitCode } from '../exit-code.ts';
import {
  forEachStack,
  noteClaims,
  openFolder,
  publishRun,
  type StackResult,
  type StacksFlags,
  withStacks,
} from './stacks-run.ts';
import { stopRivals } from './stop-rivals.ts';

/** Validates every stack below a folder. Sends no request. */
export async function validateStacks(
  paths: readonly string[],
  flags: StacksFlags & { readonly toShown: (found: Diagnostic) => Diagnostic },
  context: Context,
): Promise<ExitCode> {
  return withStacks(paths, { flags, command: 'validate' }, context, async (run) => {
    const { onSubject: _, ...quiet } = context;
    const parts = await forEachStack(run, async (one): Promise<StackResult> => {
      const { name, folder } = one;
      const {
        state,
        diagnostics: found,
        files,
        subject,
      } = await readManifests([folder], quiet, {
        lint: 'all',
        policies: flags.policies ?? [],
      });
      if (state !== undefined)
        noteClaims({ state, tokens: state.stack.tokens }, { folder: one, account: toAccountId(one, context) }, run);
      const diagnostics = found.map(flags.toShown);
      const addresses = [...(state?.resources.keys() ?? [])];
      const stack = name === '' ? {} : { stack: name };
      const validation = { diagnostics, files, resources: addresses.length, addresses, ...stack };
      return {
        report: { about: 'validation', command: 'validate', validation },
        exitCode: state === undefined ? EXIT.invalid : toValidationExitCode(diagnostics),
        options: diagnostics.length === 0 ? {} : { locate: subject.locate },
      };
    });
    return publishRun(run, await stopRivals(run, parts));
  });
}

/** Compares every stack below a folder with what is live. Sends GETs only. */
export async function driftOfStacks(
  paths: readonly string[],
  flags: StacksFlags & { readonly target: readonly string[] },
  context: Context,
): Promise<ExitCode> {
  return withStacks(paths, { flags, command: 'drift' }, context, async (run) => {
    const parts = await forEachStack(run, async (folder): Promise<StackResult> => {
      const { stack, locate } = await openFolder(run, folder);
      const isHandedOver = (address: string): boolean =>
        isTakenOver(folder, { tree: run.selected.tree, address }, context);
      const drift = await stack.drift({ signal: run.signal, targets: flags.target, isHandedOver });
      const differs = hasDrift(drift) ? EXIT.changes : EXIT.done;
      return {
        report: { about: 'drift', drift },
        exitCode: isComplete(drift) ? differs : EXIT.invalid,
        options: differs === EXIT.done && drift.diagnostics.length === 0 ? {} : { locate },
      };
    });
    return publishRun(run, await stopRivals(run, parts));
  });
}
