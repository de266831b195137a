import type { Command } from 'commander';
import { CommandError, EXIT } from '../exit-code.ts';
import { type ApplyFlags, applyManifests } from '../reconcile/apply-manifests.ts';
import type { Act } from './act.ts';
import { EXAMPLE_ADDRESS, TOKEN_ADDRESS } from './example-names.ts';
import {
  addConnectionOptions,
  addExamples,
  addExitCodes,
  addPlanFormatOptions,
  addProtectedOption,
  addWriteOptions,
} from './options.ts';
import { isResourceAddress, refuseMisspelt } from './resource-words.ts';
import { addRenderOption } from './stack-options.ts';

/** `edgewise release`. */
export function defineRelease(command: Command, act: Act): void {
  command
    .description('Remove the mark of the stack from resources and change nothing else. Nobody manages them then.')
    .usage('[options] <address...> [paths...]')
    .argument(
      '<address...>',
      'what to release, Kind/name; and the manifests of the stack (default: the current folder)',
    );
  const { done, failed, invalid, authentication, refused, interrupted } = EXIT;
  addExitCodes(command, [done, failed, invalid, authentication, refused, interrupted]);
  addPlanFormatOptions(addWriteOptions(addProtectedOption(addRenderOption(command))));
  addExamples(addConnectionOptions(command), [
    [`edgewise release ${EXAMPLE_ADDRESS}`, 'plan, show, ask, remove the mark'],
    [`edgewise release ${EXAMPLE_ADDRESS} ${TOKEN_ADDRESS} manifests`, 'several, of the stack in a folder'],
  ]).action((words: string[], flags: Omit<ApplyFlags, 'target'>) =>
    act(flags, (context) => {
      refuseMisspelt(words);
      const target = words.filter(isResourceAddress);
      if (target.length === 0) throw new CommandError('No resource to release is named.', NO_ADDRESS);
      const paths = words.filter((word) => !isResourceAddress(word));
      return applyManifests(paths, { flags: { ...flags, target }, mode: 'release' }, context);
    }),
  );
}

const NO_ADDRESS = { exitCode: EXIT.invalid, remedy: `An address is Kind/name, such as ${EXAMPLE_ADDRESS}.` };
