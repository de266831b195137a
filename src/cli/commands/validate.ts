import type { Command } from 'commander';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { readManifests } from '../../stack/read-manifests.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode, toValidationExitCode } from '../exit-code.ts';
import type { NarrowingFlags } from '../many/narrowing.ts';
import type { FormatFlags } from '../output/present.ts';
import { publish } from '../output/publish.ts';
import type { Act } from './act.ts';
import { listRules } from './list-rules.ts';
import { addExamples, addExitCodes, addPolicyOption, addReportOptions } from './options.ts';
import { addRecursiveOptions, isRecursive } from './stack-options.ts';

interface Flags extends FormatFlags, NarrowingFlags {
  readonly recursive?: boolean;
  readonly strict?: boolean;
  readonly listRules?: boolean;
  readonly policies?: readonly string[];
}

/** `edgewise validate`, which is `edgewise lint` too. */
export function defineValidate(command: Command, act: Act): void {
  command
    .description('Check manifests, and warn about what is valid but probably a mistake. Sends no request.')
    .argument('[paths...]', 'files, folders, or - for standard input (default: the current folder)')
    .option('--strict', 'fail on warnings too')
    .option('--list-rules', 'list the lint rules instead; with paths, with the severities that their Stack sets');
  addRecursiveOptions(addPolicyOption(command));
  addExitCodes(command, [EXIT.done, EXIT.invalid, EXIT.refused]);
  addExamples(addReportOptions(command), [
    ['edgewise validate', 'check the manifests in this folder'],
    ['edgewise validate manifests --strict', 'for a pipeline: any warning fails it'],
    ['kustomize build overlays/production | edgewise validate -', 'check what another tool makes'],
    ['edgewise validate --list-rules', 'what lint looks for'],
  ]).action((paths: string[], flags: Flags) =>
    act(flags, (context) => (flags.listRules ? listRules(paths, flags, context) : validateAny(paths, flags, context))),
  );
}

async function validateAny(paths: readonly string[], flags: Flags, context: Context): Promise<ExitCode> {
  if (!isRecursive(flags)) return validate(paths, flags, context);
  const { validateStacks } = await import('../many/check-stacks.ts');
  const toShown = flags.strict ? toError : (diagnostic: Diagnostic) => diagnostic;
  return validateStacks(paths, { ...flags, toShown }, context);
}

async function validate(paths: readonly string[], flags: Flags, context: Context): Promise<ExitCode> {
  const policies = flags.policies ?? [];
  const read = await readManifests(paths, context, { requireStack: false, lint: 'all', policies });
  const { state, diagnostics: found, files, subject } = read;
  const diagnostics = flags.strict ? found.map(toError) : found;
  const exitCode = state === undefined ? EXIT.invalid : toValidationExitCode(diagnostics);
  const addresses = [...(state?.resources.keys() ?? [])];
  const stack = subject.stack === undefined ? {} : { stack: subject.stack };
  const validation = { diagnostics, files, resources: addresses.length, addresses, ...stack };
  const publication = { flags, exitCode, locate: subject.locate };
  return publish({ about: 'validation', command: 'validate', validation }, publication, context);
}

/** An error in every form, so that none says that all is well. */
function toError(diagnostic: Diagnostic): Diagnostic {
  return { ...diagnostic, severity: 'error' };
}
