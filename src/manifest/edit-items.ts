import type { Correction, OffsetRange } from '../model/place.ts';
import { type EditedText, getIndent, getLineStart, type ItemRange, indentLines } from './edited-text.ts';

/**
 * Edits that add members to a collection and remove some, as text: whatever stays is not touched, with its comments and the
 * space around it.
 */

/** What a collection will have: the index of a member that stays, or the text of a new one. */
export type Entry = number | string;

/** What stands between two members that stay, or before the first or after the last. */
interface Stretch {
  /** The member before. `undefined`: the stretch is before the first. */
  readonly before: number | undefined;
  /** The member behind. `undefined`: the stretch is after the last. */
  readonly behind: number | undefined;
  readonly added: readonly string[];
}

function listStretches(entries: readonly Entry[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let [before, added]: [number | undefined, string[]] = [undefined, []];
  for (const entry of entries) {
    if (typeof entry === 'string') added.push(entry);
    else {
      stretches.push({ before, behind: entry, added });
      [before, added] = [entry, []];
    }
  }
  return [...stretches, { before, behind: undefined, added }];
}

/** Whether a stretch is as it is in the file. */
function isUnchanged({ before = -1, behind, added }: Stretch, count: number): boolean {
  return added.length === 0 && (behind ?? count) === before + 1;
}

/** Edits a collection whose members are on lines of their own. At least one member stays. */
export function editBlockItems(
  edited: EditedText,
  items: readonly ItemRange[],
  entries: readonly Entry[],
): readonly Correction[] {
  const first = items[0]?.start ?? 0;
  const indent = getIndent(edited, first);
  const isBesideDash = edited.text.slice(getLineStart(edited, first), first).trim() !== '';
  return listStretches(entries)
    .filter((stretch) => !isUnchanged(stretch, items.length))
    .flatMap(({ before, behind, added }): readonly Correction[] => {
      const start = before === undefined ? undefined : items[before]?.next;
      const removed = items.slice((before ?? -1) + 1, behind ?? items.length);
      const lines = added.map((text) => `${indentLines(edited, text, indent)}${edited.eol}`);
      if (start === undefined && isBesideDash) {
        // The first line begins with the dash of a list, which stays.
        const end = items[behind ?? 0]?.start ?? first;
        return [{ start: first, end, text: lines.map((line) => `${line}${indent}`).join('') }];
      }
      const at = start ?? getLineStart(edited, first);
      return [
        ...(lines.length === 0 ? [] : [{ start: at, end: at, text: lines.map((line) => `${indent}${line}`).join('') }]),
        ...removed.map((item) => ({ start: getLineStart(edited, item.start), end: item.next, text: '' })),
      ];
    });
}

/** Edits a collection in brackets or braces. `inside`: what is between these. At least one member stays. */
export function editFlowItems(
  { text, eol }: EditedText,
  { inside, items }: { readonly inside: OffsetRange; readonly items: readonly OffsetRange[] },
  entries: readonly Entry[],
): readonly Correction[] {
  const getEnd = (index: number): number => items[index]?.end ?? inside.start;
  // An anchor or a tag before a member is a part of it.
  const getStart = (index: number): number => {
    if (index >= items.length) return inside.end;
    BETWEEN.lastIndex = index === 0 ? inside.start : getEnd(index - 1);
    return BETWEEN.test(text) ? BETWEEN.lastIndex : inside.end;
  };
  const getGap = (index: number): string => text.slice(getEnd(index), getStart(index + 1));
  const prefix = text.slice(inside.start, getStart(0));
  const gaps = items.slice(1).map((_, index) => getGap(index));
  const separator = gaps.find((gap) => /^\s*,\s*$/.test(gap)) ?? toSeparator(prefix);
  const tail = text.slice(getEnd(items.length - 1), inside.end);
  return listStretches(entries)
    .filter((stretch) => !isUnchanged(stretch, items.length))
    .map(({ before, behind, added }): Correction => {
      const [start, end] = [before === undefined ? inside.start : getEnd(before), getStart(behind ?? items.length)];
      const lead = added.map((one) => `${one}${separator}`).join('');
      if (behind === undefined) {
        const own = before === undefined || before === items.length - 1 ? tail : getGap(before);
        return { start, end, text: renderFlowEnd({ own, tail, added, separator, eol }) };
      }
      const own = before === undefined ? prefix : getGap(before);
      const gap = behind === 0 ? own : joinGaps(own, getGap(behind - 1), eol);
      return { start, end, text: `${gap}${lead}` };
    });
}

/** Returns the space and the comments of two members between which others are removed: what is behind one and above the other. */
function joinGaps(first: string, last: string, eol: string): string {
  if (first === last || (!first.includes('#') && !last.includes('#'))) return first;
  const above = last.slice(LINE_END.exec(last)?.[0].length ?? 0);
  const kept = first.includes('#') ? first.trimEnd() : (/^\s*,?/.exec(first)?.[0].trimEnd() ?? '');
  // A comment ends with its line.
  return /#[^\n]*$/.test(kept) && !/^\r?\n/.test(above) ? `${kept}${eol}${above}` : `${kept}${above}`;
}

/** A comma, and the line end and the indentation before the first member if it is on a line of its own. */
function toSeparator(prefix: string): string {
  const [line] = LINE_START.exec(prefix) ?? [];
  return line === undefined ? ', ' : `,${line}`;
}

interface FlowEnd {
  /** What is behind the last member that stays. */
  readonly own: string;
  /** What is behind the last member in the file. */
  readonly tail: string;
  readonly added: readonly string[];
  readonly separator: string;
  readonly eol: string;
}

/** Returns what is behind the last member that stays: its comments, new members, and the space to the bracket. */
function renderFlowEnd({ own, tail, added, separator, eol }: FlowEnd): string {
  const [ended = '', comma = ''] = LINE_END.exec(tail) ?? [];
  const rest = tail.slice(ended.length);
  const comments = own === tail ? (LINE_END.exec(own)?.[2] ?? '') : own.replace(/^\s*,/, '').trimEnd();
  if (comments === '') return `${added.map((one) => `${separator}${one}`).join('')}${comma}${rest}`;
  const line = separator.includes('\n') ? separator.replace(/^\s*,[ \t]*/, '') : eol;
  const more = added.length === 0 ? '' : `${line}${added.join(separator)}${comma}`;
  return `,${comments}${more}${/^\r?\n/.test(rest) ? rest : `${eol}${rest}`}`;
}

/** Matches white space, commas and comments between two members. */
const BETWEEN = /(?:[\s,]|#[^\n]*\n)*/y;

/** Matches the last line end of a text, and the indentation behind it. */
const LINE_START = /\r?\n[ \t]*$/;

/** Matches a comma, and a comment in the same line. */
const LINE_END = /^(\s*,)?([ \t]*#[^\r\n]*)?/;
