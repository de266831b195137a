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
  const { rows, summary } = toStacksView(run);
  const head: readonly Piece[] = [
    { text: `${toMarker(`${run.command}-stacks`, run.root)}\n\n`, weight: 'always' },
    { text: `## ${toProse(`Stacks below ${run.root}`)}\n\n**${toProse(summary)}**\n\n`, weight: 'always' },
    ...listTablePieces(rows),
  ];
  const body = run.parts.flatMap((part, index): readonly Piece[] => {
    const row = rows[index];
    if (row === undefined || row.isQuiet) return [];
    const heading = { text: `---\n\n`, weight: 'warning' } as const;
    return [heading, ...listReportPieces(part.report, { ...options, ...part.options }).map(toDispensable)];
  });
  return `${joinPieces(head, body).trimEnd()}\n`;
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
