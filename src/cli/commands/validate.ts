import type { Command } from 'commander';
import { hasErrors } from '../../model/diagnostic.ts';
import { renderValidationJson } from '../../report/json.ts';
import { renderDiagnosticsText } from '../../report/text-diagnostics.ts';
import type { Act } from '../act.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { readManifests } from '../manifests.ts';
import { addExamples, addExitCodes, addFormatOptions } from '../options.ts';
import { type FormatFlags, toTextOptions } from '../present.ts';

/** `edgewise validate`. */
export function defineValidate(program: Command, act: Act): void {
  const command = program
    .command('validate')
    .description('Check manifests. Sends no request.')
    .argument('[paths...]', 'files, folders, or - for standard input (default: the current folder)');
  addExitCodes(command, [EXIT.done, EXIT.invalid]);
  addExamples(addFormatOptions(command), [
    ['edgewise validate', 'check the manifests in this folder'],
    ['kustomize build overlays/production | edgewise validate -', 'check what another tool makes'],
  ]).action((paths: string[], flags: FormatFlags) => act(flags, (context) => validate(paths, flags, context)));
}

async function validate(paths: readonly string[], flags: FormatFlags, context: Context): Promise<ExitCode> {
  const { state, diagnostics, files } = await readManifests(paths, context, false);
  const isValid = state !== undefined && !hasErrors(diagnostics);
  if (flags.format === 'json')
    context.stdout.write(renderValidationJson({ diagnostics, files, resources: state?.resources.size ?? 0 }));
  else {
    if (diagnostics.length > 0)
      context.stdout.write(renderDiagnosticsText(diagnostics, toTextOptions(context.stdout, context, flags)));
    if (isValid)
      context.stdout.write(`${toCount(state.resources.size, 'resource')} in ${toCount(files, 'file')}: valid.\n`);
  }
  return isValid ? EXIT.done : EXIT.invalid;
}

function toCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
