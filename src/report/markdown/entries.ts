import { assertNever } from '../../model/errors.ts';
import type { EntriesBlock, Entry, EntryDetails, Field, NextApply } from '../document.ts';
import { type FieldView, formatShortField, removeIdsBeforeNames } from '../view/field-view.ts';
import { formatUnchangedFieldCount, SEE_ABOVE_NOTE } from '../view/plan-wording.ts';
import { formatCount } from '../view/wording.ts';
import { type Section, type Weight, wrapInFold } from './sections.ts';
import {
  joinMarkdownCells,
  MAX_FENCE,
  type MarkdownOptions,
  renderCodeSpan,
  renderFence,
  renderMarkdownPlace,
  renderMarkdownText,
  renderUnescapedLink,
  toShortProse,
} from './text.ts';

/** The limits of a table row: the number of fields, and the number of characters of each value. */
interface Room {
  readonly fields: number;
  readonly value: number;
}

/** The usual limits. More would make the table unreadable. The diff has the whole values. */
const SHORT: Room = { fields: 6, value: 60 };

/** Larger limits, for few rows whose diff is folded. Most readers then need not open the diff. */
const WHOLE: Room = { fields: 12, value: 240 };

/** With more rows, the tables would be longer than the usual screen. */
const MAX_WHOLE_ROWS = 10;

/** With more entries, all diffs are folded, so that the tables stay in view. */
const MAX_OPEN_DIFFS = 3;

/** With more lines, a diff is folded: these fill about one screen. */
const MAX_OPEN_LINES = 40;

/** Further rows of a table are folded: a comment must not hide the discussion below it. */
const MAX_OPEN_ROWS = 50;

/** `total`: the number of entries of all blocks of the document. */
interface EntriesOptions extends MarkdownOptions {
  readonly total: number;
}

/** A table of the entries, then their diff. Folds the end of a long table, and a long diff. */
export function* listEntriesSections(block: EntriesBlock, { total, level }: EntriesOptions): Generator<Section> {
  const { heading, entries } = block;
  if (heading !== undefined) yield { text: `${'#'.repeat(level + 1)} ${toShortProse(heading)}\n\n`, weight: 'always' };
  const few = total <= MAX_OPEN_DIFFS ? measureDiff(entries) : Number.POSITIVE_INFINITY;
  const isFolded = few > MAX_OPEN_LINES;
  const diff = createDiff();
  const table = { block, room: isFolded && total <= MAX_WHOLE_ROWS ? WHOLE : SHORT, diff };
  yield* listTableSections(entries.slice(0, MAX_OPEN_ROWS), { ...table, hasLinks: true });
  const more = entries.slice(MAX_OPEN_ROWS);
  if (more.length > 0)
    yield* wrapInFold(
      { code: `${more.length} more`, rest: countLabels(more) },
      listTableSections(more, { ...table, hasLinks: false }),
    );
  const fence = diff.toSection();
  if (fence === undefined) return;
  if (!isFolded) yield fence;
  else yield* wrapInFold({ code: 'Diff', rest: diff.describe() }, [fence]);
}

function measureDiff(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + listDiffLines(entry, entry.describe()).length, 0);
}

function countLabels(entries: readonly Entry[]): string {
  const counts = Map.groupBy(entries, ({ label }) => label);
  return [...counts].map(([label, { length }]) => `${length} ${label}`).join(', ');
}

interface TableContext {
  readonly block: EntriesBlock;
  readonly room: Room;
  readonly diff: Diff;
  /** Whether places are links. In a fold of many rows they are not, to save room. */
  readonly hasLinks: boolean;
}

function* listTableSections(entries: readonly Entry[], { diff, ...context }: TableContext): Generator<Section> {
  const { hasLabels, hasNext, hasTeams } = context.block;
  const heads = [
    ...(hasLabels ? [''] : []),
    'Resource',
    hasNext ? 'What happened' : 'What',
    ...(hasNext ? ['Next apply'] : []),
    ...(hasTeams ? ['Team'] : []),
  ];
  yield { text: `${joinMarkdownCells(heads)}${joinMarkdownCells(heads.map(() => '---'))}`, weight: 'always' };
  for (const entry of entries) {
    const details = entry.describe();
    diff.add(entry, details);
    yield createRowSection(entry, details, context);
  }
  yield { text: '\n', weight: 'always' };
}

function createRowSection(entry: Entry, details: EntryDetails, context: Omit<TableContext, 'diff'>): Section {
  const { block, room, hasLinks } = context;
  const { glyph, address, id, isDuplicate, group, label, team } = entry;
  const { place, next } = details;
  const hasDiff = details.fields.length + details.lost.length + (next?.fields.length ?? 0) > 0;
  const name = [
    renderCodeSpan(address),
    ...(id !== undefined && (isDuplicate || !hasDiff) ? [renderCodeSpan(id)] : []),
    ...(place === undefined ? [] : [renderMarkdownPlace(hasLinks ? place : { label: place.label })]),
  ];
  const then = next === undefined ? [] : listNext(next, { isDescribed: details.traits.length > 0, room });
  const cells = [
    ...(block.hasLabels ? [[`${renderCodeSpan(glyph)}&nbsp;${label}`]] : []),
    name,
    listWhat(entry, details, room),
    ...(block.hasNext ? [then] : []),
    ...(block.hasTeams ? [[team === undefined ? '' : toShortProse(team)]] : []),
  ];
  const text = joinMarkdownCells(cells.map((lines) => lines.join('<br>')));
  return { text, weight: chooseWeight(group), names: [`row of resources: ${label}`, `rows of resources: ${label}`] };
}

/** `isDescribed`: the traits say what matters of the fields. */
function listNext(
  { said, dangers, notes, fields }: NextApply,
  { isDescribed, room }: { readonly isDescribed: boolean; readonly room: Room },
): readonly string[] {
  return [
    toShortProse(said),
    ...dangers.map((danger) => `**${danger.group}** ${renderMarkdownText(danger.said)}`),
    ...notes.map(toShortProse),
    ...(isDescribed ? [] : listShortFields(fields, room)),
  ];
}

function chooseWeight(group: string): Weight {
  if (group === 'delete' || group === 'replace') return 'loss';
  return group === 'create' ? 'gain' : 'change';
}

/** What the row says of the entry: protection, reason, traits, notes and fields. */
function listWhat(
  { reason, isProtected, isContinued }: Entry,
  { traits, notes, fields, lost }: EntryDetails,
  room: Room,
): readonly string[] {
  const clauses = [...(reason === undefined ? [] : [toShortProse(reason)]), ...traits.map(renderMarkdownText)];
  // The traits of a created or deleted resource say what matters of its fields.
  const isDescribed = traits.length > 0;
  return [
    ...(isContinued ? [SEE_ABOVE_NOTE] : []),
    ...(isProtected ? ['protected'] : []),
    ...(clauses.length === 0 ? [] : [clauses.join('; ')]),
    ...notes.map(toShortProse),
    ...(isDescribed ? [] : listShortFields([...fields, ...lost], room)),
  ];
}

/** A short text for each field, for a table cell. Fields beyond the limit of `room` are only counted. */
function listShortFields(fields: readonly Field[], room: Room): readonly string[] {
  const hidden = fields.length - room.fields;
  const briefs = fields.slice(0, room.fields).map((field) => {
    const { path, danger, place } = field;
    const notes = field.notes.length === 0 ? '' : ` (${toShortProse(field.notes.join(', '))})`;
    if (danger !== undefined)
      return `${renderCodeSpan(removeIdsBeforeNames(path))}: ${renderUnescapedLink(`${danger.group} danger above`, `#${danger.anchor}`)}${notes}`;
    const at = place === undefined ? '' : ` ${renderMarkdownPlace({ ...place, label: `:${place.line}` })}`;
    return `${renderCodeSpan(formatShortField(field, room.value))}${notes}${at}`;
  });
  return hidden > 0 ? [...briefs, `and ${formatCount(hidden, 'more field')}`] : briefs;
}

/** The diff of the entries of a block: a line for each entry, followed by its fields. Keeps no more than a fence holds. */
interface Diff {
  readonly add: (entry: Entry, details: EntryDetails) => void;
  readonly describe: () => string;
  /** Undefined if no entry has fields. */
  readonly toSection: () => Section | undefined;
}

function createDiff(): Diff {
  const kept: string[] = [];
  let [count, resources, length, hasLosses] = [0, 0, 0, false];
  return {
    add: (entry, details) => {
      const lines = listDiffLines(entry, details);
      if (lines.length === 0) return;
      count += lines.length;
      resources += 1;
      hasLosses ||= chooseWeight(entry.group) === 'loss';
      for (const line of lines) {
        if (length <= MAX_FENCE) kept.push(line);
        length += line.length + 1;
      }
    },
    describe: () => `${formatCount(count, 'line')} on ${formatCount(resources, 'resource')}`,
    toSection: () => {
      if (count === 0) return undefined;
      const text = `${renderFence('diff', kept, count)}\n\n`;
      return { text, weight: hasLosses ? 'fields-of-losses' : 'fields', names: ['diff', 'diffs'] };
    },
  };
}

function listDiffLines(
  { label, address, id }: Entry,
  { fields, lost, unchanged, next }: EntryDetails,
): readonly string[] {
  const name = `${label} ${address}${id === undefined ? '' : ` (${id})`}`;
  const own = [...fields, ...lost];
  const more = unchanged === 0 || own.length === 0 ? [] : [`  (${formatUnchangedFieldCount(unchanged)})`];
  return [
    ...(own.length === 0 ? [] : [`@@ ${name} @@`, ...own.flatMap(listFieldLines), ...more]),
    ...(next === undefined || next.fields.length === 0
      ? []
      : [`@@ ${name}: next apply @@`, ...next.fields.flatMap(listFieldLines)]),
  ];
}

/** A field as lines of a diff: `-` before the old value, `+` before the new value. */
function listFieldLines({ path, notes, inline, lines }: FieldView): readonly string[] {
  const note = notes.length === 0 ? '' : `  (${notes.join(', ')})`;
  if (inline === undefined) return [`  ${path}:${note}`, ...lines.map(formatDiffLine)];
  const { from, to, is } = inline;
  if (is !== undefined) return [`  ${path}: ${is}${note}`];
  const before = from === undefined ? [] : [`- ${path}: ${from}${to === undefined ? note : ''}`];
  return [...before, ...(to === undefined ? [] : [`+ ${path}: ${to}${note}`])];
}

function formatDiffLine({ role, text }: FieldView['lines'][number]): string {
  switch (role) {
    case 'added':
      return `+   ${text}`;
    case 'removed':
      return `-   ${text}`;
    case 'same':
      return `    ${text}`;
    case 'folded':
      return `    … ${text}`;
    default:
      return assertNever(role);
  }
}
