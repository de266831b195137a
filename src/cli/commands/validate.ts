import type { Command } from 'commander';
import { hasErrors } from '../../model/diagnostic.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { FormatFlags } from '../output/present.ts';
import { publish } from '../output/publish.ts';
import { readManifests } from '../reconcile/manifests.ts';
import type { Act } from './act.ts';
import { addExamples, addExitCodes, addReportOptions } from './options.ts';

/** `edgewise validate`. */
export function defineValidate(program: Command, act: Act): void {
  const command = program
    .command('validate')
    .description('Check manifests. Sends no request.')
    .argument('[paths...]', 'files, folders, or - for standard input (default: the current folder)');
  addExitCodes(command, [EXIT.done, EXIT.invalid]);
  addExamples(addReportOptions(command), [
    ['edgewise validate', 'check the manifests in this folder'],
    ['kustomize build overlays/production | edgewise validate -', 'check what another tool makes'],
  ]).action((paths: string[], flags: FormatFlags) => act(flags, (context) => validate(paths, flags, context)));
}

async function validate(paths: readonly string[], flags: FormatFlags, context: Context): Promise<ExitCode> {
  const { state, diagnostics, files } = await readManifests(paths, context, { requireStack: false, lint: 'all' });
  const exitCode = state !== undefined && !hasErrors(diagnostics) ? EXIT.done : EXIT.invalid;
  const addresses = [...(state?.resources.keys() ?? [])];
  const validation = { diagnostics, files, resources: addresses.length, addresses };
  return publish({ about: 'validation', command: 'validate', validation }, { flags, exitCode }, context);
}
