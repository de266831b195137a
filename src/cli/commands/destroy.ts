import type { Command } from 'commander';
import { StackError } from '../../model/user-errors.ts';
import { refuseUntrustedManifests } from '../../stack/settings.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import type { ApplyFlags } from '../reconcile/question.ts';
import { runApply } from '../reconcile/run-stacks.ts';
import { isResourceAddress, refuseMisspelt } from './get.ts';
import {
  addToCommand,
  CONNECTION_OPTIONS,
  createDetailedReportOptions,
  createRequestOptions,
  DESTROY_OPTIONS,
  EXAMPLE_ADDRESS,
  EXAMPLE_TOKEN_ADDRESS,
  RECURSIVE_OPTIONS,
  refuseFiltersWithoutRecursive,
  SHOW_SECRETS,
  TRUST_OPTIONS,
  YES,
} from './options.ts';

export function configureDestroyCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description(
      'Delete everything that the stack owns, and the modules that its manifests attach. A protected resource blocks the plan.',
    )
    .argument('[paths...]', 'the manifests of the stack (default: the current folder)');
  const { success, failed, invalid, authentication, refused, stale, interrupted } = EXIT;
  addToCommand(command, {
    options: [
      ...RECURSIVE_OPTIONS,
      ...DESTROY_OPTIONS,
      YES,
      ...createDetailedReportOptions(),
      SHOW_SECRETS,
      ...CONNECTION_OPTIONS,
    ],
    exitCodes: [success, failed, invalid, authentication, refused, stale, interrupted],
    examples: [
      ['edgewise destroy', 'plan, show, ask, delete'],
      [`edgewise destroy --target ${EXAMPLE_ADDRESS}`, 'one resource only'],
    ],
  }).action((paths: string[], flags: ApplyFlags) => act(flags, (context) => destroy(paths, flags, context)));
}

async function destroy(paths: readonly string[], flags: ApplyFlags, context: Context): Promise<ExitCode> {
  refuseUntrustedManifests(context);
  refuseFiltersWithoutRecursive(flags);
  if (flags.recursive === true && (flags.stack ?? []).length === 0)
    throw new StackError('destroy --recursive needs the names of the stacks.', {
      reason: 'invalid',
      remedy: 'Name each stack with --stack NAME. The command edgewise stacks lists all of them.',
    });
  return runApply(paths, { flags, mode: 'destroy' }, context);
}

export function configureReleaseCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Remove the mark of the stack from resources and change nothing else. They are unmanaged afterwards.')
    .usage('[options] <address...> [paths...]')
    .argument(
      '<address...>',
      'what to release (Kind/name), then the manifests of the stack (default: the current folder)',
    );
  const { success, failed, invalid, authentication, refused, interrupted } = EXIT;
  addToCommand(command, {
    options: [
      ...TRUST_OPTIONS,
      ...createRequestOptions(['allowProtected']),
      YES,
      ...createDetailedReportOptions(),
      SHOW_SECRETS,
      ...CONNECTION_OPTIONS,
    ],
    exitCodes: [success, failed, invalid, authentication, refused, interrupted],
    examples: [
      [`edgewise release ${EXAMPLE_ADDRESS}`, 'plan, show, ask, remove the mark'],
      [`edgewise release ${EXAMPLE_ADDRESS} ${EXAMPLE_TOKEN_ADDRESS} manifests`, 'several, of the stack in a folder'],
    ],
  }).action((words: string[], flags: ApplyFlags) =>
    act(flags, (context) => {
      refuseUntrustedManifests(context);
      refuseMisspelt(words);
      const targets = words.filter(isResourceAddress);
      if (targets.length === 0) throw new StackError('The command names no resource to release.', NO_ADDRESS);
      const paths = words.filter((word) => !isResourceAddress(word));
      return runApply(paths, { flags: { ...flags, targets }, mode: 'release' }, context);
    }),
  );
}

const NO_ADDRESS = {
  reason: 'invalid',
  remedy: `Name a resource by its address, such as ${EXAMPLE_ADDRESS}.`,
} as const;
