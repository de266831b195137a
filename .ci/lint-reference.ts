import { LINT_RULES } from '../src/lint/rules.ts';
import { LINT_CODES } from '../src/model/diagnostic-codes.ts';

/** The part of docs/lint.md that says what each rule looks for, as the table of rules says it. */
export function renderLintReference(): string {
  const rows = LINT_RULES.map(({ id, severity, remedy }) => [`\`${id}\``, severity, LINT_CODES[id], remedy]);
  const headings = ['Rule', 'Default', 'What it finds', 'What to do'];
  const lines = [headings, headings.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return lines.join('\n');
}
