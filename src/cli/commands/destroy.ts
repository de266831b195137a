import type { Command } from 'commander';
import { EXIT } from '../exit-code.ts';
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

/** `edgewise destroy`. */
export function defineDestroy(command: Command, act: Act): void {
  command
    .description(
      'Delete everything that the stack owns, and the modules that its manifests attach. Protected resources are refused.',
    )
    .argument('[paths...]', 'the manifests of the stack (default: the current folder)');
  const { done, failed, invalid, authentication, refused, interrupted } = EXIT;
  addExitCodes(command, [done, failed, invalid, authentication, refused, interrupted]);
  addPlanFormatOptions(addWriteOptions(addScopeOptions(command)));
  addExamples(addConnectionOptions(command), [
    ['edgewise destroy', 'plan, show, ask, delete'],
    [`edgewise destroy --target ${EXAMPLE_ADDRESS}`, 'one resource only'],
  ]).action((paths: string[], flags: ApplyFlags) =>
    act(flags, (context) => applyManifests(paths, { flags, mode: 'destroy' }, context)),
  );
}
