import type { FormOptions } from '../report.ts';
import type { StacksReport } from '../stacks-report.ts';
import { type StackRow, toStacksView } from '../view/stacks-view.ts';
import { listReportPieces } from './form.ts';
import { joinPieces, type Piece } from './pieces.ts';
import { toMarker, toProse, toRow } from './text.ts';

/**
 * A run over many stacks as one comment: a table of all, then each that has something to say. It never has more characters than a comment
 * may, whatever it has to leave out of the single stacks.
 */
export function renderStacksMarkdown(run: StacksReport, options: FormOptions): string {
  const { title, rows, summary } = toStacksView(run);
  const head: readonly Piece[] = [
    { text: `${toMarker(`${run.command}-stacks`, run.root)}\n\n`, weight: 'always' },
    { text: `## ${toProse(title)}\n\n**${toProse(summary)}**\n\n`, weight: 'always' },
    ...listTablePieces(rows),
  ];
  const body = run.parts.flatMap((part, index): readonly Piece[] => {
    const row = rows[index];
    if (row === undefined || row.isQuiet) return [];
    const heading = { text: `---\n\n## ${toProse(row.title)}\n\n`, weight: 'refusal' } as const;
    const pieces = listReportPieces(part.report, { ...options, ...part.options, isPart: true });
    return [heading, ...pieces.map(toInner)];
  });
  const footers = body.filter(isFooter).slice(0, 1);
  return `${joinPieces(head, [...body.filter((piece) => !isFooter(piece)).map(toDispensable), ...footers]).trimEnd()}\n`;
}

/** A heading stands below that of its stack. */
function toInner(piece: Piece): Piece {
  return /^#+ /.test(piece.text) ? { ...piece, text: `#${piece.text}` } : piece;
}

/** When and by what it was made is the same for all. */
function isFooter({ text }: Piece): boolean {
  return text.startsWith('<sub>');
}

/** Rows of what has nothing to say go first. */
function listTablePieces(rows: readonly StackRow[]): readonly Piece[] {
  if (rows.length === 0) return [];
  const hasTime = rows.some(({ time }) => time !== '');
  const columns = ['Stack', 'Folder', 'Result', ...(hasTime ? ['Least time'] : [])];
  const cells = ({ name, folder, said, time }: StackRow) => [name, folder, said, ...(hasTime ? [time] : [])];
  return [
    { text: `${toRow(columns)}${toRow(columns.map(() => '---'))}`, weight: 'always' },
    ...rows.map((row): Piece => {
      const names = ['stack without anything to say', 'stacks without anything to say'] as const;
      const text = toRow(cells(row).map(toProse));
      return row.isQuiet ? { text, weight: 'unchanged', names } : { text, weight: 'always' };
    }),
    { text: '\n', weight: 'always' },
  ];
}

/** In a comment on one stack its head always stays; with two hundred of them there is no room for that. */
function toDispensable(piece: Piece): Piece {
  return piece.weight === 'always'
    ? { ...piece, weight: 'refusal', names: ['summary of a stack', 'summaries of stacks'] }
    : piece;
}
