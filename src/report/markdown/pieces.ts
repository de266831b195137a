import type { Diagnostic } from '../../model/diagnostic.ts';
import { listDiagnosticLines } from '../view/diagnostic-view.ts';
import { toCount } from '../view/wording.ts';
import { toFence } from './text.ts';

/** A comment is a row of pieces, each of which can be left out without harm to the others. */
export interface Piece {
  readonly text: string;
  /** What is less important is left out first. */
  readonly weight: Weight;
  /** What it is called when it is left out: one, and several. Absent: nobody misses it. */
  readonly names?: readonly [one: string, several: string];
}

/** From what is left out first to what always stays. */
export const WEIGHTS = [
  'unchanged',
  'calls',
  'graph',
  'create-fields',
  'adopt-fields',
  'release-fields',
  'update-fields',
  'create',
  'adopt',
  'release',
  'replace-fields',
  'delete-fields',
  'update',
  'replace',
  'warning',
  'error',
  'delete',
  'refusal',
  'always',
] as const;

/** How important a piece is. */
export type Weight = (typeof WEIGHTS)[number];

/** Characters that a comment may have at GitHub. Counted in UTF-16 units, of which there are never fewer than characters. */
export const MAX_COMMENT = 65_536;

/** Room for the sentence that says what was left out. */
const RESERVE = 1500;

/** The text of the pieces, with what has no room left out: the least important first, and the last of those that are alike. */
export function joinPieces(head: readonly Piece[], body: readonly Piece[]): string {
  const whole = [...head, ...body];
  const kept = new Set(whole);
  let length = whole.reduce((sum, { text }) => sum + text.length, 0);
  const limit = length <= MAX_COMMENT ? MAX_COMMENT : MAX_COMMENT - RESERVE;
  for (const piece of listByWeight(whole)) {
    if (length <= limit) break;
    kept.delete(piece);
    length -= piece.text.length;
  }
  const isKept = (piece: Piece): boolean => kept.has(piece);
  const note = renderLeftOut(whole.filter((piece) => !isKept(piece)));
  return [...head.filter(isKept), note, ...body.filter(isKept)].map(({ text }) => text).join('');
}

/** A diagnostic as a terminal shows it: the caret of an excerpt has to stand where it points. */
export function toDiagnosticPiece(diagnostic: Diagnostic): Piece {
  const { severity } = diagnostic;
  const lines = listDiagnosticLines(diagnostic).map(({ label, text }) => `${label} ${text}`.trimEnd());
  return { text: `${toFence('text', lines)}\n\n`, weight: severity, names: [severity, `${severity}s`] };
}

function listByWeight(pieces: readonly Piece[]): readonly Piece[] {
  const groups = Map.groupBy(pieces, ({ weight }) => weight);
  return WEIGHTS.filter((weight) => weight !== 'always').flatMap((weight) => (groups.get(weight) ?? []).toReversed());
}

function renderLeftOut(pieces: readonly Piece[]): Piece {
  const counts = Map.groupBy(
    pieces.flatMap(({ names }) => (names === undefined ? [] : [names])),
    ([one]) => one,
  );
  const parts = [...counts.values()].flatMap((names) =>
    names.slice(0, 1).map((name) => toCount(names.length, ...name)),
  );
  const text = parts.length === 0 ? '' : `> [!NOTE]\n> Too long for a comment. Left out: ${parts.join(', ')}.\n\n`;
  return { text, weight: 'always' };
}
