import type { Command } from 'commander';
import type { PolicyTestResult } from '../../model/policy.ts';
import type { FormName } from '../../report/forms.ts';
import { testPolicies } from '../../stack/test-policies.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { type FormatFlags, toTextOptions } from '../output/present.ts';
import type { Act } from './act.ts';
import { addExamples, addExitCodes, addFormatOptions } from './options.ts';

const FORMS: readonly FormName[] = ['text', 'json', 'junit'];

/** `edgewise test-policy`. */
export function defineTestPolicy(command: Command, act: Act): void {
  command
    .description('Run the cases of policies, which PolicyTest documents describe, as unit tests. Sends no request.')
    .argument('[paths...]', 'files, folders, or - for standard input (default: the current folder)');
  addExitCodes(command, [EXIT.done, EXIT.failed, EXIT.invalid]);
  addExamples(addFormatOptions(command, FORMS), [
    ['edgewise test-policy policies', 'run the cases in this folder'],
    ['edgewise test-policy policies --format junit', 'for a pipeline: a suite for each policy'],
  ]).action((paths: string[], flags: FormatFlags) =>
    act(flags, (context) => testPolicy(paths.length === 0 ? ['.'] : paths, flags, context)),
  );
}

async function testPolicy(paths: readonly string[], flags: FormatFlags, context: Context): Promise<ExitCode> {
  const result = await testPolicies(paths, context);
  context.stdout.write(await render(result, flags, context));
  return result.cases.some(({ failure }) => failure !== undefined) ? EXIT.failed : EXIT.done;
}

async function render(result: PolicyTestResult, flags: FormatFlags, context: Context): Promise<string> {
  const { renderPolicyTestsJson, renderPolicyTestsJunit } = await import('../../report/programs/policy-tests.ts');
  if (flags.format === 'json') return renderPolicyTestsJson(result);
  if (flags.format === 'junit') return renderPolicyTestsJunit(result);
  const { renderPolicyTestsText } = await import('../../report/text/policy-tests.ts');
  return renderPolicyTestsText(result, toTextOptions(context.stdout, context, flags));
}
