import type { Change } from '../../model/change.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatShortList } from './danger-view.ts';
import { quoteIfNeeded } from './escape.ts';
import { formatCount } from './wording.ts';

/** What many resources to adopt have in common, such as after an import: a report says it once. By the note. */
export type RepeatedNotes = ReadonlyMap<string, readonly Change[]>;

/** More changes with one note are not read one by one. */
const FEW = 5;

export function findRepeatedNotes(changes: readonly Change[]): RepeatedNotes {
  const adopted = changes.filter(({ action }) => action === 'adopt');
  const noted = adopted.flatMap((change) => (change.notes ?? []).map((note) => ({ note, change })));
  const groups = Map.groupBy(noted, ({ note }) => note);
  return new Map(
    [...groups].flatMap(([note, all]) => (all.length > FEW ? [[note, all.map(({ change }) => change)] as const] : [])),
  );
}

export function formatRepeatedNotes(notes: RepeatedNotes): readonly string[] {
  return Array.from(notes, ([note, changes]) => {
    const named = formatShortList(changes.map(({ address }) => quoteIfNeeded(address)));
    return `${formatCount(changes.length, 'resource')}: ${toPrintable(note)}: ${named}`;
  });
}
