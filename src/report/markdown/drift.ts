import type { DriftedView, DriftGroup, DriftView } from '../view/drift-view.ts';
import { listDiffLines } from './fields.ts';
import { type Piece, toDiagnosticPiece } from './pieces.ts';
import { toCode, toDetails, toFence, toProse, toRow } from './text.ts';

/** A comparison, above the fold. */
export function listDriftHeadPieces(view: DriftView): readonly Piece[] {
  return [
    { text: `## ${toProse(view.title)}\n\n`, weight: 'always' },
    ...view.notes.slice(0, 2).map((note): Piece => ({ text: `${toProse(note)}\n\n`, weight: 'always' })),
    { text: `**${toProse(view.summary)}** ${toProse(view.coverage)}\n\n`, weight: 'always' },
  ];
}

/** What is not as it should be, state for state. */
export function listDriftPieces({ groups, diagnostics }: DriftView): readonly Piece[] {
  return [...groups.flatMap(listGroupPieces), ...diagnostics.map(toDiagnosticPiece)];
}

function listGroupPieces({ heading, resources }: DriftGroup): readonly Piece[] {
  return [
    { text: `### ${toProse(heading)}\n\n`, weight: 'always' },
    { text: `${toRow(['Resource', 'What'])}${toRow(['---', '---'])}`, weight: 'always' },
    ...resources.map(toRowPiece),
    { text: '\n', weight: 'always' },
    ...resources.flatMap(listDetailPieces),
  ];
}

function toRowPiece({ address, id, reason, moved, fields }: DriftedView): Piece {
  const name = id === undefined ? toCode(address) : `${toCode(address)} ${toCode(id)}`;
  const names = [...fields.map(({ path }) => path), ...moved].slice(0, 10).map(toCode).join(', ');
  const what = [...(reason === undefined ? [] : [toProse(reason)]), ...(names === '' ? [] : [names])].join('; ');
  return { text: toRow([name, what]), weight: 'update', names: ['row of a resource', 'rows of resources'] };
}

function listDetailPieces({ address, fields }: DriftedView): readonly Piece[] {
  if (fields.length === 0) return [];
  const text = `${toDetails({ code: address, rest: 'live and desired' }, toFence('diff', listDiffLines(fields)))}\n\n`;
  return [{ text, weight: 'update-fields', names: ['field list of a resource', 'field lists of resources'] }];
}
