import type { RuleSeverity } from '../../model/stack.ts';
import { renderDocument } from '../programs/json.ts';
import { wrapBehind } from './layout.ts';
import type { TextOptions } from './options.ts';

/** A lint rule, as it is listed. */
export interface LintRuleRow {
  readonly id: string;
  readonly severity: RuleSeverity;
  readonly sentence: string;
  /** What to do about what it finds. */
  readonly remedy: string;
}

/** The lint rules for a person: a line each, wrapped to the terminal. */
export function renderLintRulesText(rows: readonly LintRuleRow[], { width }: TextOptions): string {
  const ids = Math.max(...rows.map(({ id }) => id.length));
  const severities = Math.max(...rows.map(({ severity }) => severity.length));
  const lines = rows.flatMap(({ id, severity, sentence }) => {
    const label = `${id.padEnd(ids)}  ${severity.padEnd(severities)}  `;
    return wrapBehind(label, sentence, { width, rest: label.length });
  });
  return `${lines.join('\n')}\n`;
}

/** The lint rules for programs. */
export function renderLintRulesJson(rows: readonly LintRuleRow[]): string {
  return renderDocument({ command: 'lint', ok: true, rules: rows });
}
