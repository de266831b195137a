import type { LintRuleRow, TextOptions } from '../report.ts';
import { wrapBehind } from './layout.ts';

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
