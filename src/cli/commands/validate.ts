import { type Command, Option } from 'commander';
import { getRuleSeverity } from '../../lint/lint.ts';
import { LINT_RULES } from '../../lint/rules.ts';
import { type Diagnostic, LINT_CODES } from '../../model/diagnostic.ts';
import type { PolicyTestResults } from '../../model/policy.ts';
import type { LintSettings } from '../../model/stack.ts';
import { InvalidManifests, StackError } from '../../model/user-errors.ts';
import { renderPolicyTestsJunit } from '../../report/findings/write-junit.ts';
import type { FormatName } from '../../report/formats.ts';
import { renderLintRulesJson, renderPolicyTestsJson } from '../../report/machine/json.ts';
import type { LintRuleRow } from '../../report/report.ts';
import { renderLintRulesText, renderPolicyTestsText } from '../../report/text/lists.ts';

import { readManifests, testPolicies } from '../../stack/read-manifests.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { type CommandBodyRunner, type FormatFlags, getTextOptions } from '../output/present.ts';
import { runValidate } from '../reconcile/validate-stacks.ts';
import type { StackFilterFlags } from '../reconcile/with-stacks.ts';
import {
  addToCommand,
  createFormatOptions,
  createReportOptions,
  createRequestOptions,
  READ_LIMIT_OPTIONS,
  RECURSIVE_OPTIONS,
  refuseFiltersWithoutRecursive,
} from './options.ts';

interface ValidateCommandFlags extends FormatFlags, StackFilterFlags {
  readonly strict?: boolean;
  readonly listRules?: boolean;
  readonly policies?: readonly string[];
}

export function configureValidateCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Check manifests, and warn about valid lines that are probably mistakes. Sends no request.')
    .argument('[paths...]', 'files, folders, or - for standard input (default: the current folder)');
  addToCommand(command, {
    options: [
      new Option('--strict', 'fail on warnings too'),
      new Option('--list-rules', 'list the lint rules instead; with paths, with the severities that their Stack sets'),
      ...createRequestOptions(['policies']),
      ...RECURSIVE_OPTIONS,
      ...createReportOptions(),
    ],
    exitCodes: [EXIT.success, EXIT.invalid, EXIT.refused],
    examples: [
      ['edgewise validate', 'check the manifests in this folder'],
      ['edgewise validate manifests --strict', 'for a pipeline: any warning fails it'],
      ['kustomize build overlays/production | edgewise validate -', 'check what another tool makes'],
      ['edgewise validate --list-rules', 'what lint looks for'],
    ],
  }).action((paths: string[], flags: ValidateCommandFlags) =>
    act(flags, (context) => (flags.listRules ? printRules(paths, flags, context) : validate(paths, flags, context))),
  );
}

async function validate(paths: readonly string[], flags: ValidateCommandFlags, context: Context): Promise<ExitCode> {
  refuseFiltersWithoutRecursive(flags);
  const toShown = flags.strict ? toError : (diagnostic: Diagnostic) => diagnostic;
  return runValidate(paths, { flags, toShown }, context);
}

/** For `--strict`: turns a diagnostic into an error, so that no format reports success. */
function toError(diagnostic: Diagnostic): Diagnostic {
  return { ...diagnostic, severity: 'error' };
}

/** Lists the lint rules. If paths are given, shows the severities that their Stack sets. */
async function printRules(paths: readonly string[], flags: FormatFlags, context: Context): Promise<ExitCode> {
  checkFormat(flags);
  const settings = await readSettingsOfStack(paths, context);
  const rows = LINT_RULES.map((rule): LintRuleRow => {
    const severity = settings === undefined ? rule.severity : getRuleSeverity(rule, settings);
    return { id: rule.id, severity, sentence: LINT_CODES[rule.id], remedy: rule.remedy };
  });
  context.stdout.write(renderRules(rows, flags, context));
  return EXIT.success;
}

function renderRules(rows: readonly LintRuleRow[], flags: FormatFlags, context: Context): string {
  if (flags.format === 'json') return renderLintRulesJson(rows);
  return renderLintRulesText(rows, getTextOptions(context.stdout, context, flags));
}

function checkFormat({ format, report = [] }: FormatFlags): void {
  if (format !== 'text' && format !== 'json')
    throw new StackError(`--list-rules has the formats text and json, not ${format}.`, { reason: 'invalid' });
  if (report.length > 0)
    throw new StackError('--report cannot be used with --list-rules, which produces no findings.', {
      reason: 'invalid',
    });
}

async function readSettingsOfStack(paths: readonly string[], context: Context): Promise<LintSettings | undefined> {
  if (paths.length === 0) return undefined;
  const { state, diagnostics } = await readManifests(paths, context, { requireStack: false });
  if (state === undefined) throw new InvalidManifests(diagnostics);
  return state.stack.lint;
}

const POLICY_TEST_FORMATS: readonly FormatName[] = ['text', 'json', 'junit'];

export function configureTestPolicyCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Run the unit tests of policies: the cases in PolicyTest documents. Sends no request.')
    .argument('[paths...]', 'files, folders, or - for standard input (default: the current folder)');
  addToCommand(command, {
    options: [...READ_LIMIT_OPTIONS, ...createFormatOptions(POLICY_TEST_FORMATS)],
    exitCodes: [EXIT.success, EXIT.failed, EXIT.invalid],
    examples: [
      ['edgewise test-policy policies', 'run the cases in this folder'],
      ['edgewise test-policy policies --format junit', 'for a pipeline: a suite for each policy'],
    ],
  }).action((paths: string[], flags: FormatFlags) =>
    act(flags, (context) => testPolicy(paths.length === 0 ? ['.'] : paths, flags, context)),
  );
}

async function testPolicy(paths: readonly string[], flags: FormatFlags, context: Context): Promise<ExitCode> {
  const result = await testPolicies(paths, context);
  context.stdout.write(renderPolicyTests(result, flags, context));
  return result.cases.some(({ failure }) => failure !== undefined) ? EXIT.failed : EXIT.success;
}

function renderPolicyTests(result: PolicyTestResults, flags: FormatFlags, context: Context): string {
  if (flags.format === 'json') return renderPolicyTestsJson(result);
  if (flags.format === 'junit') return renderPolicyTestsJunit(result);
  return renderPolicyTestsText(result, getTextOptions(context.stdout, context, flags));
}
