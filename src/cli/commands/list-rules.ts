import { toSeverity } from '../../lint/lint.ts';
import { LINT_RULES } from '../../lint/rules.ts';
import { LINT_CODES } from '../../model/diagnostic-codes.ts';
import type { LintSettings } from '../../model/stack.ts';
import { renderLintRulesJson } from '../../report/programs/json.ts';
import type { LintRuleRow } from '../../report/report.ts';
import { renderLintRulesText } from '../../report/text/lint-rules.ts';
import { readManifests } from '../../stack/read-manifests.ts';
import { InvalidManifests } from '../../stack/stack-error.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { type FormatFlags, toTextOptions } from '../output/present.ts';

/** Lists the lint rules; with paths, with the severities that their Stack sets. */
export async function listRules(paths: readonly string[], flags: FormatFlags, context: Context): Promise<ExitCode> {
  checkForm(flags);
  const settings = await readSettings(paths, context);
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

function checkForm({ format, report = [] }: FormatFlags): void {
  if (format !== 'text' && format !== 'json')
    throw new CommandError(`--list-rules has the forms text and json, not ${format}.`, { exitCode: EXIT.invalid });
  if (report.length > 0)
    throw new CommandError('--report is for findings, and --list-rules gives none.', { exitCode: EXIT.invalid });
}

async function readSettings(paths: readonly string[], context: Context): Promise<LintSettings | undefined> {
  if (paths.length === 0) return undefined;
  const { state, diagnostics } = await readManifests(paths, context, { requireStack: false, isRendered: false });
  if (state === undefined) throw new InvalidManifests(diagnostics);
  return state.stack.lint;
}
