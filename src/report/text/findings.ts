import { assertNever } from '../../model/errors.ts';
import type { ShownFinding } from '../document.ts';
import type { TextStyleOptions } from '../report.ts';
import { type FindingTextLine, listFindingLines } from '../view/finding-wording.ts';
import { createPainter, type TextRole, wrapWithPrefix } from './layout.ts';

/** One finding: the message, its place, related places, the remedy. All lines but the first are indented. */
export function renderFindingLines(finding: ShownFinding, options: TextStyleOptions): readonly string[] {
  const style = finding.level === 'error' ? 'error' : 'warning';
  return renderFindingTextLines(listFindingLines(finding, options), style, options);
}

/** The lines of a message. Wraps sentences, and paints the headline's label in `style`. All texts must be printable. */
export function renderFindingTextLines(
  lines: readonly FindingTextLine[],
  style: TextRole,
  options: TextStyleOptions,
): readonly string[] {
  return lines.flatMap((line) => renderExcerptLine(line, style, options));
}

/**
 * Never wraps positions and excerpts. A terminal can open an unbroken position, and wrapping would misplace the caret
 * of an excerpt.
 */
function renderExcerptLine(line: FindingTextLine, style: TextRole, options: TextStyleOptions): readonly string[] {
  const { role, label, text } = line;
  const paint = createPainter(options.color);
  switch (role) {
    case 'headline': {
      const [first = '', ...rest] = wrapWithPrefix(`${label} `, text, { width: options.width, rest: 4 });
      return [
        paint(style, label) + paint('strong', first.slice(label.length)),
        ...rest.map((one) => paint('strong', one)),
      ];
    }
    case 'note':
      return renderSentence(line, 'strong', options);
    case 'help':
      return renderSentence(line, 'added', options);
    case 'place':
    case 'excerpt':
      return [`${label} ${paint('muted', text)}`.trimEnd()];
    case 'copied':
      return [`${label} ${text}`];
    default:
      return assertNever(role);
  }
}

function renderSentence(
  { label, text }: FindingTextLine,
  style: TextRole,
  { color, width }: TextStyleOptions,
): readonly string[] {
  const [first = '', ...rest] = wrapWithPrefix(`${label} `, text, { width, rest: label.length + 1 });
  return [createPainter(color)(style, label) + first.slice(label.length), ...rest];
}

export function formatErrorWithRemedy(message: string, remedy: string | undefined): string {
  return `edgewise: ${message}\n${remedy === undefined ? '' : `${remedy}\n`}`;
}
