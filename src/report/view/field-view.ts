import type { Kind } from '../../kinds/kind.ts';
import type { Difference, Origin } from '../../model/change.ts';
import { parsePath, toPathText } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json } from '../../model/json.ts';
import { toPrintable } from '../../model/printable.ts';
import type { FieldPath, Spec } from '../../model/state.ts';
import { toPrintableLines, toQuoted, toWord } from './escape.ts';
import { listLeaves, toReadingOrder, withoutDefaults } from './leaves.ts';
import { diffLines, type FoldedLine, foldSame } from './line-diff.ts';
import { type Names, renderScalar, renderValueLines } from './value-lines.ts';
import { findFieldType, isEmpty, isLongText, isReferenceMap, isScalar, type KnownType } from './value-type.ts';
import { STATED_NO_LONGER } from './wording.ts';

/** One field of a change, either on one line (`inline`) or as a block of lines below its path. */
export interface FieldView {
  readonly path: string;
  /** Short remarks, such as `forces replacement` and `drifted`. */
  readonly notes: readonly string[];
  readonly forcesReplace: boolean;
  /** Absent for the fields of what comes or goes as a whole. */
  readonly origin?: Origin;
  /** What was and what will be; one of them alone for a resource that comes or goes. */
  readonly inline?: { readonly from?: string; readonly to?: string };
  readonly lines: readonly FieldLine[];
}

/** One line of a field that takes several. */
export type FieldLine = FoldedLine;

/** What a kind and a plan know that helps to read a value. `kind` is absent for a kind that this version doesn't know. */
export interface FieldContext {
  readonly kind: Kind | undefined;
  readonly names: Names;
  /** Remarks on whose a difference is, where the reader cannot know it from where the difference stands. */
  readonly origins?: OriginWords;
}

/** A remark for each origin that needs one. */
export type OriginWords = Readonly<Partial<Record<Origin, string>>>;

/** Columns that a path with its old and new value may take on one line: with the indent, a terminal's 80. */
const INLINE_COLUMNS = 72;

/** Unchanged lines shown around changed ones, for orientation in long texts and objects. */
const CONTEXT_LINES = 2;

/** The view of one difference. */
export function toDifferenceView(difference: Difference, { kind, names, origins = {} }: FieldContext): FieldView {
  const { path, from, to, origin, forcesReplace } = difference;
  const type = kind === undefined ? undefined : findFieldType(kind, path);
  const label = `${toPathLabel(path)}${toKeyName(parsePath(path) ?? [], { kind, names })}`;
  const base = { path: label, notes: listNotes(difference, origins), forcesReplace, origin };
  const isLeft = to === undefined && kind?.fields[path]?.serviceDefault === true;
  const inline = {
    from: renderScalar(type, from, names),
    to: isLeft ? STATED_NO_LONGER : renderScalar(type, to, names),
  };
  if (isInline(difference, `${base.path}: ${inline.from} → ${inline.to}`)) return { ...base, inline, lines: [] };
  return { ...base, lines: compareValues(difference, type, names) };
}

/** The fields of a resource that comes (`added`) or goes (`removed`), without those that are at their defaults. */
export function listFieldViews(
  spec: Spec,
  role: 'added' | 'removed',
  { kind, names }: FieldContext,
): readonly FieldView[] {
  if (kind === undefined) return [];
  return listLeaves(kind, spec).map(({ type, path, value }) => {
    const label = `${toPrintable(toPathText(path))}${toKeyName(path, { kind, names })}`;
    const base = { path: label, notes: [], forcesReplace: false };
    if (isOnePiece(value)) {
      const text = renderScalar(type, value, names);
      return { ...base, inline: role === 'added' ? { to: text } : { from: text }, lines: [] };
    }
    return { ...base, lines: toLines(value, { type, names }).map((text) => ({ role, text })) };
  });
}

function isInline({ from, to }: Difference, line: string): boolean {
  return isOnePiece(from) && isOnePiece(to) && (line.length <= INLINE_COLUMNS || isEmpty(from) || isEmpty(to));
}

function compareValues({ from, to }: Difference, type: KnownType, names: Names): readonly FoldedLine[] {
  const isAlone = isEmpty(from) || isEmpty(to);
  const isText = isLongText(from) || isLongText(to);
  const [before = [], after = []] = [from, to].map((side) => {
    if (side === undefined || isEmpty(side)) return [];
    if (isText && typeof side === 'string') return toPrintableLines(side);
    const ordered = toReadingOrder(type, side);
    return toLines(isAlone ? withoutDefaults(type, ordered) : ordered, { type, names });
  });
  const isOfMembers = [from, to].every((side) => isEmpty(side) || isPlainList(side));
  return foldSame(diffLines(before, after), isOfMembers ? 0 : CONTEXT_LINES);
}

/** Remarks on a difference. */
function listNotes({ from, to, origin, forcesReplace }: Difference, origins: OriginWords): readonly string[] {
  const notes: string[] = [];
  if (isEmpty(from) && isJsonObject(to)) notes.push('added');
  if (isEmpty(to) && isJsonObject(from)) notes.push('removed');
  if (forcesReplace) notes.push('forces replacement');
  const word = origins[origin];
  return word === undefined ? notes : [...notes, word];
}

/** What is not of the form of a path is quoted, since a plan file may hold anything. */
function toPathLabel(path: string): string {
  return parsePath(path) === undefined ? toQuoted(path) : toPrintable(path);
}

/** What an id that is a key of a map is called, for behind its path. */
function toKeyName(path: FieldPath, { kind, names }: FieldContext): string {
  const [last] = path.slice(-1);
  const name = typeof last === 'string' ? names.get(last) : undefined;
  if (name === undefined || kind === undefined) return '';
  return isReferenceMap(findFieldType(kind, toPathText(path.slice(0, -1)))) ? ` (${toWord(name)})` : '';
}

/** The lines of a value. Long text has its own, the members of a plain list stand without bullets. */
function toLines(value: Json, { type, names }: { type: KnownType; names: Names }): readonly string[] {
  if (isLongText(value)) return toPrintableLines(value);
  const lines = renderValueLines(type, value, names);
  return isPlainList(value) ? lines.map((line) => line.slice('• '.length)) : lines;
}

function isOnePiece(value: Json | undefined): boolean {
  return isScalar(value) && !isLongText(value);
}

function isPlainList(value: Json | undefined): boolean {
  return isJsonArray(value) && value.every(isOnePiece);
}
