import { renderTimeSpan } from '../../kinds/duration.ts';
import type { Change } from '../../model/change.ts';
import { toPrintable } from '../../model/printable.ts';
import { listDangerNotes } from './danger-words.ts';

/**
 * What else who approves should know of a change. Behind what its plan says stands what follows from what the change does besides its
 * differences: whoever edits a plan file cannot leave that out.
 */
export function listChangeNotes(change: Change): readonly string[] {
  const { action, live, notes = [], validForMs, ignored = [], was } = change;
  const isMade = action === 'create' || action === 'replace';
  const isWasKnown = was === undefined || live?.mark?.name === was || live?.mark?.was === was;
  return [
    ...listDangerNotes(change),
    ...notes,
    ...(isMade && validForMs !== undefined ? [`valid for ${renderTimeSpan(validForMs)} from its creation`] : []),
    ...(ignored.length === 0 ? [] : [`left to others: ${ignored.join(', ')}`]),
    ...(isWasKnown ? [] : [`its mark remembers that its name was ${was}`]),
  ].map(toPrintable);
}
