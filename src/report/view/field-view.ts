import type { Kind } from '../../kinds/kind.ts';
import { findMemberType } from '../../kinds/walk.ts';
import type { Difference, DifferenceCause } from '../../model/change.ts';
import { formatPath, parsePath } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json } from '../../model/json.ts';
import { showUnicodeForms, toPrintable } from '../../model/printable.ts';
import type { FieldPath, Spec } from '../../model/state.ts';
import { listFullWordsOfCutCommand, type PlannedTokenSink } from '../../model/token-sink.ts';
import { quoteIfNeeded, quoteText, toPrintableLines } from './escape.ts';
import { listNonDefaultLeaves, orderMembers, withoutDefaults } from './leaves.ts';
import { type DiffLine, diffLines, type FoldedLine, foldUnchanged } from './line-diff.ts';
import {
  findFieldType,
  isAbsentOrEmptyCollection,
  isMultilineText,
  isReferenceMap,
  isScalar,
  NO_VALUE,
  type OptionalFieldType,
  type ResourceNames,
  renderScalar,
  renderValueLines,
} from './value-text.ts';
import { NO_LONGER_SET_WORDING } from './wording.ts';

/** One field of a change, either on one line (`inline`) or as a block of lines below its path. */
export interface FieldView {
  readonly path: string;
  /** The path with names instead of ids. Absent for tokens, and for fields of added and removed resources. */
  readonly manifestPath?: string;
  /** Short notes, such as `forces replacement` and `drifted`. */
  readonly notes: readonly string[];
  readonly forcesReplace: boolean;
  /** Absent for the fields of an added or removed resource. */
  readonly origin?: DifferenceCause;
  /**
   * The values before and after. A field of an added or removed resource has only one of them. `is`: the live value, if
   * the previous value is unknown.
   */
  readonly inline?: { readonly from?: string; readonly to?: string; readonly is?: string } | undefined;
  readonly lines: readonly FoldedLine[];
}

/** The context for rendering values. `kind` is undefined if this version of Edgewise does not know the kind. */
export interface ValueRenderingContext {
  readonly kind: Kind | undefined;
  readonly names: ResourceNames;
  /** The notes on origins of differences. Absent if no notes are shown. */
  readonly origins?: DifferenceCauseNotes;
}

/** The note on each origin that needs one. */
export type DifferenceCauseNotes = Readonly<Partial<Record<DifferenceCause, string>>>;

/**
 * The maximum width, in columns, of a path and both values on one line. With the indent, the line has 80 columns, the
 * width of a terminal.
 */
const INLINE_COLUMNS = 72;

/** Unchanged lines shown around changed ones, for orientation in long texts and objects. */
const CONTEXT_LINES = 2;

export function createDifferenceView(difference: Difference, context: ValueRenderingContext): FieldView {
  const { path, from, to, origin, forcesReplace } = difference;
  const { kind, names, origins = {} } = context;
  const { type, ...paths } = describePath(path, context);
  const base = { ...paths, notes: listFieldNotes(difference, type, origins), forcesReplace, origin };
  const isLeft = to === undefined && kind?.fields[path]?.serviceDefault === true;
  const shown = isLeft ? NO_LONGER_SET_WORDING : renderScalar(type, to, names);
  const inline = createInlineSides(renderScalar(type, from, names), shown);
  if (difference.isHidden && isOnePiece(to)) return { ...base, inline: { to: inline.to }, lines: [] };
  if (isInline(difference, base.path, inline)) return { ...base, inline, lines: [] };
  return { ...base, lines: compareValues(difference, type, names) };
}

/**
 * What happened to a field at the service: a difference read in the other direction, from the expected to the live
 * value, with a note in words.
 */
export function createHappenedFieldView(difference: Difference, context: ValueRenderingContext): FieldView {
  const { path, from: live, to: expected, origin } = difference;
  const { names } = context;
  const { type, ...paths } = describePath(path, context);
  const base = { ...paths, notes: [formatServiceChange(difference, type)], forcesReplace: false, origin };
  if (origin === 'both') {
    if (isOnePiece(live)) return { ...base, inline: { is: renderScalar(type, live, names) }, lines: [] };
    const lines = compareValues({ to: live }, type, names);
    return { ...base, lines: lines.map(({ text }) => ({ role: 'same', text })) };
  }
  const sides = { from: expected, to: live };
  const inline = createInlineSides(renderScalar(type, expected, names), renderScalar(type, live, names));
  if (isInline(sides, base.path, inline)) return { ...base, inline, lines: [] };
  return { ...base, lines: compareValues(sides, type, names) };
}

/** The path of a difference as reports show it and as manifests write it, and the type of what is there. */
function describePath(path: string, context: ValueRenderingContext) {
  const { kind } = context;
  return {
    type: kind === undefined ? undefined : findFieldType(kind, path),
    path: `${formatPathLabel(path)}${formatKeyName(parsePath(path) ?? [], context)}`,
    manifestPath: formatPathWithTargetName(path, context),
  };
}

/**
 * Describes what happened to a field at the service. If the manifest changed too, the old value is unknown, so the text
 * says only that the field was changed or removed.
 */
function formatServiceChange({ from: live, to: expected, origin }: Difference, type: OptionalFieldType): string {
  const isGone = isEmptyValue(live);
  if (origin === 'both') return `${isGone ? 'removed' : 'changed'} at the service, and in its manifest`;
  if (origin === 'unknown')
    return isGone ? 'not at the service' : UNKNOWN[isEmptyValue(expected) ? 'added' : 'changed'];
  if (isGone) return 'removed at the service';
  if (isEmptyValue(expected)) return 'added at the service';
  const isShort = typeof live === 'number' || typeof live === 'boolean' || type?.type === 'enum';
  return isShort ? `set to ${renderScalar(type, live, new Map())} at the service` : 'changed at the service';
}

const UNKNOWN = { added: 'only at the service', changed: 'different at the service' } as const;

function isEmptyValue(value: Json | undefined): boolean {
  return isAbsentOrEmptyCollection(value) || value === '';
}

/** The fields of an added or removed resource that are not at their defaults. */
export function listNonDefaultFieldViews(
  spec: Spec,
  role: 'added' | 'removed',
  context: ValueRenderingContext,
): readonly FieldView[] {
  const { kind, names } = context;
  if (kind === undefined) return [];
  return listNonDefaultLeaves(kind, spec).map(({ type, path, value }) => {
    const label = `${toPrintable(formatPath(path))}${formatKeyName(path, context)}`;
    const base = { path: label, notes: [], forcesReplace: false };
    if (isOnePiece(value)) {
      const text = renderScalar(type, value, names);
      return { ...base, inline: role === 'added' ? { to: text } : { from: text }, lines: [] };
    }
    return { ...base, lines: renderFieldLines(type, value, names).map((text) => ({ role, text })) };
  });
}

/**
 * All words of the command that receives a token. Empty if notes are long enough to show the whole command. `other`:
 * the command in another plan, to compare the two word by word.
 */
export function listTokenCommandFields(
  token: PlannedTokenSink | undefined,
  other?: PlannedTokenSink,
): readonly FieldView[] {
  const [before, after] = [listFullWordsOfCutCommand(other), listFullWordsOfCutCommand(token)];
  if (before.length + after.length === 0) return [];
  return [
    { path: 'token', notes: [], forcesReplace: false, lines: foldUnchanged(diffLines(before, after), CONTEXT_LINES) },
  ];
}

function createInlineSides(left: string, right: string): { readonly from: string; readonly to: string } {
  const [from, to] = showUnicodeForms(left, right);
  return { from, to };
}

/** Whether a difference fits on one line. `shown`: its values as text. */
function isInline(
  { from, to }: Pick<Difference, 'from' | 'to'>,
  path: string,
  shown: ReturnType<typeof createInlineSides>,
): boolean {
  const line = `${path}: ${shown.from} → ${shown.to}`;
  return (
    isOnePiece(from) &&
    isOnePiece(to) &&
    (line.length <= INLINE_COLUMNS || isAbsentOrEmptyCollection(from) || isAbsentOrEmptyCollection(to))
  );
}

function compareValues(
  { from, to }: Pick<Difference, 'from' | 'to'>,
  type: OptionalFieldType,
  names: ResourceNames,
): readonly FoldedLine[] {
  const isAlone = isAbsentOrEmptyCollection(from) || isAbsentOrEmptyCollection(to);
  const isText = isMultilineText(from) || isMultilineText(to);
  const [before = [], after = []] = [from, to].map((side) => {
    if (side === undefined || isAbsentOrEmptyCollection(side)) return [];
    if (isText && typeof side === 'string') return toPrintableLines(side);
    const ordered = orderMembers(type, side);
    return renderFieldLines(type, isAlone ? withoutDefaults(type, ordered) : ordered, names);
  });
  const isOfMembers = [from, to].every((side) => isAbsentOrEmptyCollection(side) || isPlainList(side));
  return foldUnchanged(showFormsOfLines(diffLines(before, after)), isOfMembers ? 0 : CONTEXT_LINES);
}

/** Shows what differs between a removed and an added line that look the same. */
function showFormsOfLines(lines: readonly DiffLine[]): readonly DiffLine[] {
  const byForm = Map.groupBy(lines, ({ text }) => text.normalize());
  return lines.map(({ role, text }) => {
    if (role === 'same') return { role, text };
    const alike = byForm.get(text.normalize())?.find((line) => line.role !== 'same' && line.role !== role);
    return { role, text: alike === undefined ? text : showUnicodeForms(text, alike.text)[0] };
  });
}

function listFieldNotes(
  difference: Difference,
  type: OptionalFieldType,
  origins: DifferenceCauseNotes,
): readonly string[] {
  const { from, to, origin, forcesReplace, isHidden } = difference;
  if (isHidden) return ['cannot be compared: the service does not show it'];
  if (origin === 'drift' && origins.drift !== undefined) return listRevertNotes(difference, type, origins.drift);
  const notes: string[] = [];
  if (isAbsentOrEmptyCollection(from) && isJsonObject(to)) notes.push('added');
  if (isAbsentOrEmptyCollection(to) && isJsonObject(from)) notes.push('removed');
  if (forcesReplace) notes.push('forces replacement');
  const word = origins[origin];
  return word === undefined ? notes : [...notes, word];
}

/**
 * The field shows its values in the direction of the apply. The note describes the opposite change, which happened at
 * the service.
 */
function listRevertNotes(difference: Difference, type: OptionalFieldType, word: string): readonly string[] {
  const { forcesReplace } = difference;
  return [...(forcesReplace ? ['forces replacement'] : []), `${word}: ${formatServiceChange(difference, type)}`];
}

/** Returns a path as manifests write it. If the path ends with an id, the name of the target replaces the id. */
export function formatPathWithTargetName(path: string, context: ValueRenderingContext): string {
  const steps = parsePath(path) ?? [];
  const last = steps.at(-1);
  const hasName = typeof last === 'string' && formatKeyName(steps, context) !== '';
  const name = hasName ? context.names.get(last) : undefined;
  return name === undefined ? path : formatPath([...steps.slice(0, -1), name]);
}

/** Quotes text that is not a path, because a plan file may contain any text. */
function formatPathLabel(path: string): string {
  return parsePath(path) === undefined ? quoteText(path) : toPrintable(path);
}

/** Returns ` (name)` if the path ends with a known id as a map key; otherwise an empty text. */
function formatKeyName(path: FieldPath, { kind, names }: ValueRenderingContext): string {
  const [last] = path.slice(-1);
  const name = typeof last === 'string' ? names.get(last) : undefined;
  if (name === undefined || kind === undefined) return '';
  return isReferenceMap(findFieldType(kind, formatPath(path.slice(0, -1)))) ? ` (${quoteIfNeeded(name)})` : '';
}

/** Renders long text line by line, and members of a plain list without bullets. */
function renderFieldLines(type: OptionalFieldType, value: Json, names: ResourceNames): readonly string[] {
  if (isMultilineText(value)) return toPrintableLines(value);
  if (isPlainList(value)) return value.map((member, index) => renderScalar(findMemberType(type, index), member, names));
  return renderValueLines(type, value, names);
}

function isOnePiece(value: Json | undefined): boolean {
  return isScalar(value) && !isMultilineText(value);
}

function isPlainList(value: Json | undefined): value is readonly Json[] {
  return isJsonArray(value) && value.every(isOnePiece);
}

/** A field on one line: `hostports: a → b`. Cuts values to `room` characters. The whole values are shown elsewhere. */
export function formatShortField(field: FieldView, room: number): string {
  return `${removeIdsBeforeNames(field.path)}: ${formatBriefValues(field, room)}`;
}

function formatBriefValues({ inline, lines }: FieldView, room: number): string {
  const listed = (role: 'added' | 'removed' | 'same'): string | undefined => {
    const texts = lines.filter((line) => line.role === role).map(({ text }) => text.trim().replace(/^(?:• )+/, ''));
    return texts.length === 0 ? undefined : joinLines(texts);
  };
  const { from, to, is } = inline ?? { from: listed('removed'), to: listed('added') };
  const there = from === undefined && to === undefined ? (is ?? listed('same')) : undefined;
  if (there !== undefined) return cutText(there, room);
  const sides = [from, to].map((side) => (side === undefined ? undefined : cutText(side, room)));
  return formatFieldSides(sides[0], sides[1]);
}

/** The values of a field without bullets, keys and ids, so that another text can be searched for them. */
export function listFieldValuesForSearch({ inline, lines }: FieldView): readonly string[] {
  const values =
    inline === undefined
      ? lines.filter(({ role }) => role === 'added' || role === 'removed').map(({ text }) => text)
      : [inline.from, inline.to];
  return values.flatMap((value) => {
    const bare = removeIdsBeforeNames(value ?? '')
      .replace(/^(?:\s|• )*/, '')
      .replace(/^[\w-]+:(?: (?=[^ ])|$)/, '');
    return bare === '' || bare === NO_VALUE ? [] : [bare];
  });
}

/** Joins lines with commas, but with a space after a line that ends with a colon. */
function joinLines(texts: readonly string[]): string {
  return texts
    .map((text, index) => `${index === 0 ? '' : texts[index - 1]?.endsWith(':') ? ' ' : ', '}${text}`)
    .join('');
}

function formatFieldSides(from: string | undefined, to: string | undefined): string {
  if (from === undefined) return to === undefined ? '…' : `+ ${to}`;
  return to === undefined ? `- ${from}` : `${from} → ${to}`;
}

function cutText(text: string, room: number): string {
  const named = removeIdsBeforeNames(text);
  return named.length <= room ? named : `${named.slice(0, room).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Replaces `id (name)` by the name. Does not change quoted text, because it may come from outside. */
export function removeIdsBeforeNames(text: string): string {
  return text.replace(NAMED_ID, (whole, name: string | undefined) => name ?? whole);
}

/** Matches quoted text, or an id with a name, such as `ipp_2k9… (External/office)`. */
const NAMED_ID = /"(?:[^"\\]|\\.)*"|\b[a-z]+_\w+ \(([A-Z]\w*\/[\w.-]+)\)/g;
