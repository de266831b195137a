import type { Command } from 'commander';
import { toSeverity } from '../../lint/lint.ts';
import { LINT_RULES } from '../../lint/rules.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { LINT_CODES } from '../../model/diagnostic-codes.ts';
import { renderLintRulesJson } from '../../report/programs/json.ts';
import type { LintRuleRow } from '../../report/report.ts';
import { renderLintRulesText } from '../../report/text/lint-rules.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { type FormatFlags, toTextOptions } from '../output/present.ts';
import { publish } from '../output/publish.ts';
import { readManifests } from '../reconcile/manifests.ts';
import type { Act } from './act.ts';
import { addExamples, addExitCodes, addReportOptions } from './options.ts';

interface Flags extends FormatFlags {
  readonly strict?: boolean;
  readonly list?: boolean;
}

/** `edgewise lint`. */
export function defineLint(program: Command, act: Act): void {
  const command = program
    .command('lint')
    .description('Check manifests, and look for what is legal but most likely not meant. Sends no request.')
    .argument('[paths...]', 'files, folders, or - for standard input (default: the current folder)')
    .option('--strict', 'let warnings fail too')
    .option('--list', 'list the rules instead; with paths, as grave as their Stack makes them');
  addExitCodes(command, [EXIT.done, EXIT.invalid]);
  addExamples(addReportOptions(command), [
    ['edgewise lint', 'check the manifests in this folder'],
    ['edgewise lint manifests --strict', 'for a pipeline: any finding fails it'],
    ['edgewise lint --list', 'what is looked for'],
  ]).action((paths: string[], flags: Flags) =>
    act(flags, (context) => (flags.list ? list(paths, flags, context) : lint(paths, flags, context))),
  );
}

async function lint(paths: readonly string[], flags: Flags, context: Context): Promise<ExitCode> {
  const {
    state,
    diagnostics: found,
    files,
  } = await readManifests(paths, context, { requireStack: false, lint: 'all' });
  const diagnostics = flags.strict ? found.map(toError) : found;
  const exitCode = hasErrors(diagnostics) ? EXIT.invalid : EXIT.done;
  const addresses = [...(state?.resources.keys() ?? [])];
  const validation = { diagnostics, files, resources: addresses.length, addresses };
  return publish({ about: 'validation', command: 'lint', validation }, { flags, exitCode }, context);
}

/** An error in every form, so that none says that all is well. */
function toError(diagnostic: Diagnostic): Diagnostic {
  return { ...diagnostic, severity: 'error' };
}

async function list(paths: readonly string[], flags: Flags, context: Context): Promise<ExitCode> {
  if (flags.format !== 'text' && flags.format !== 'json')
    throw new CommandError(`The rules are listed as text or json, not as ${flags.format}.`, { exitCode: EXIT.invalid });
  if ((flags.report ?? []).length > 0)
    throw new CommandError('--report is for findings, and --list gives none.', { exitCode: EXIT.invalid });
  const read = paths.length === 0 ? undefined : await readManifests(paths, context, { requireStack: false });
  if (read !== undefined && read.state === undefined) {
    const failure = { command: 'lint', diagnostics: read.diagnostics };
    return publish({ about: 'failure', failure }, { flags, exitCode: EXIT.invalid }, context);
  }
  const settings = read?.state?.stack.lint;
  const rows = LINT_RULES.map((rule): LintRuleRow => {
    const severity = settings === undefined ? rule.severity : toSeverity(rule, settings);
    return { id: rule.id, severity, sentence: LINT_CODES[rule.id], remedy: rule.remedy };
  });
  const text =
    flags.format === 'json'
      ? renderLintRulesJson(rows)
      : renderLintRulesText(rows, toTextOptions(context.stdout, context, flags));
  context.stdout.write(text);
  return EXIT.done;
}
