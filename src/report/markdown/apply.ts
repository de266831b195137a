import type { AppliedView, ApplyView, FailedView, SkippedView } from '../view/apply-view.ts';
import { NOT_ALL, RESULT_HEADINGS } from '../view/apply-wording.ts';
import { type Piece, toDiagnosticPiece } from './pieces.ts';
import { toCode, toProse, toRow } from './text.ts';

/** How an apply ended, above the fold: its numbers, and what to do next. */
export function listResultHeadPieces({ title, isComplete, summary, next }: ApplyView): readonly Piece[] {
  const steps = next.map((step) => `- ${toProse(step)}\n`).join('');
  return [
    { text: `## ${toProse(title)}\n\n`, weight: 'always' },
    { text: `**${isComplete ? '' : NOT_ALL}${toProse(summary)}.**\n\n`, weight: 'always' },
    { text: steps === '' ? '' : `${RESULT_HEADINGS.next}:\n\n${steps}\n`, weight: 'always' },
  ];
}

/** What became of each write, what went wrong first; then where tokens and files went. */
export function listResultPieces({
  failed,
  skipped,
  notStarted,
  applied,
  tokens,
  files,
  diagnostics,
}: ApplyView): readonly Piece[] {
  return [
    ...(notStarted === undefined ? [] : [{ text: `${toProse(notStarted)}\n\n`, weight: 'always' } as const]),
    ...listTablePieces(
      ['', 'Write', 'What'],
      [...failed.map(toFailedPiece), ...skipped.map(toSkippedPiece), ...applied.map(toAppliedPiece)],
    ),
    ...listTablePieces(
      ['', 'Token of', 'Place'],
      tokens.map(({ address, place, rescued }) =>
        toRowPiece([rescued ? '**rescued**' : 'delivered', toCode(address), toCode(place)], 'of a token'),
      ),
    ),
    ...listTablePieces(
      ['', 'File', 'What'],
      files.map(({ address, path, outcome, message = '' }) =>
        toRowPiece([outcome, toCode(path), `${toCode(address)} ${toProse(message)}`.trim()], 'of a file'),
      ),
    ),
    ...diagnostics.map(toDiagnosticPiece),
  ];
}

function listTablePieces(heading: readonly string[], rows: readonly Piece[]): readonly Piece[] {
  if (rows.length === 0) return [];
  const head = `${toRow(heading)}${toRow(heading.map(() => '---'))}`;
  return [{ text: head, weight: 'always' }, ...rows, { text: '\n', weight: 'always' }];
}

function toRowPiece(cells: readonly string[], what: string, weight: Piece['weight'] = 'warning'): Piece {
  return { text: toRow(cells), weight, names: [`row ${what}`, `rows ${what}`] };
}

function toFailedPiece({ name, request, sentences, place }: FailedView): Piece {
  const where = request === undefined ? '' : `${toCode(request)}: `;
  const at = place === undefined ? '' : ` at ${toCode(`${place.file}:${place.line}:${place.column}`)}`;
  const why = `${where}${sentences.map(toProse).join('. ')}`;
  return toRowPiece(['**failed**', `${toCode(name)}${at}`, why], 'of what failed', 'error');
}

function toSkippedPiece({ name, reasons }: SkippedView): Piece {
  const shown = reasons.slice(0, 5).map(toProse).join('; ');
  return toRowPiece(['**skipped**', toCode(name), shown], 'of what was skipped', 'warning');
}

function toAppliedPiece({ name, id, remark }: AppliedView): Piece {
  const what = [...(id === undefined ? [] : [toCode(id)]), ...(remark === undefined ? [] : [toProse(remark)])];
  return toRowPiece(['applied', toCode(name), what.join(': ')], 'of what was applied', 'create');
}
