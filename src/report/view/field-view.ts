import { getNormalUnsetFieldValue, isDefault } from '../../kinds/canonical.ts';
import { type Field, type FieldType, type ObjectType, objectOf } from '../../kinds/field.ts';
import type { Kind } from '../../kinds/kind.ts';
import { findMemberType } from '../../kinds/walk.ts';
import { isAddress } from '../../model/address.ts';
import type { Difference, DifferenceCause } from '../../model/change.ts';
import { isConcealed } from '../../model/concealed-value.ts';
import { formatPath, parsePath } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { showUnicodeForms, toPrintable } from '../../model/printable.ts';
import { formatConcealed } from '../../model/secret-value.ts';
import type { FieldPath, Spec } from '../../model/state.ts';
import { listFullWordsOfCutCommand, type PlannedTokenSink } from '../../model/token-sink.ts';
import { quoteIfNeeded, quoteText, toPrintableLines } from './escape.ts';
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
  readonly lines: readonly FieldValueLine[];
}

/** One line of a field whose value is shown on several lines. */
export type FieldValueLine = FoldedLine;

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

export function createDifferenceView(
  difference: Difference,
  { kind, names, origins = {} }: ValueRenderingContext,
): FieldView {
  const { path, from, to, origin, forcesReplace } = difference;
  const type = kind === undefined ? undefined : findFieldType(kind, path);
  const label = `${formatPathLabel(path)}${formatKeyName(parsePath(path) ?? [], { kind, names })}`;
  const manifestPath = formatPathWithTargetName(path, { kind, names });
  const base = { path: label, manifestPath, notes: listFieldNotes(difference, type, origins), forcesReplace, origin };
  const isLeft = to === undefined && kind?.fields[path]?.serviceDefault === true;
  const shown = isLeft ? NO_LONGER_SET_WORDING : renderScalar(type, to, names);
  const inline = createInlineSides(renderScalar(type, from, names), shown);
  if (difference.isHidden && isOnePiece(to)) return { ...base, inline: { to: inline.to }, lines: [] };
  if (isInline(difference, `${base.path}: ${inline.from} → ${inline.to}`)) return { ...base, inline, lines: [] };
  return { ...base, lines: compareValues(difference, type, names) };
}

/**
 * What happened to a field at the service: a difference read in the other direction, from the expected to the live
 * value, with a note in words.
 */
export function createHappenedFieldView(difference: Difference, { kind, names }: ValueRenderingContext): FieldView {
  const { path, from: live, to: expected, origin } = difference;
  const type = kind === undefined ? undefined : findFieldType(kind, path);
  const label = `${formatPathLabel(path)}${formatKeyName(parsePath(path) ?? [], { kind, names })}`;
  const manifestPath = formatPathWithTargetName(path, { kind, names });
  const base = {
    path: label,
    manifestPath,
    notes: [formatServiceChange(difference, type)],
    forcesReplace: false,
    origin,
  };
  const sides = { from: expected, to: live };
  const isAlone = origin === 'both';
  if (isAlone && isOnePiece(live)) return { ...base, inline: { is: renderScalar(type, live, names) }, lines: [] };
  const lines = () => compareValues(isAlone ? { to: live } : sides, type, names);
  if (isAlone) return { ...base, lines: lines().map(({ text }) => ({ role: 'same', text })) };
  const inline = createInlineSides(renderScalar(type, expected, names), renderScalar(type, live, names));
  if (isInline(sides, `${base.path}: ${inline.from} → ${inline.to}`)) return { ...base, inline, lines: [] };
  return { ...base, lines: lines() };
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
  { kind, names }: ValueRenderingContext,
): readonly FieldView[] {
  if (kind === undefined) return [];
  return listNonDefaultLeaves(kind, spec).map(({ type, path, value }) => {
    const label = `${toPrintable(formatPath(path))}${formatKeyName(path, { kind, names })}`;
    const base = { path: label, notes: [], forcesReplace: false };
    if (isOnePiece(value)) {
      const text = renderScalar(type, value, names);
      return { ...base, inline: role === 'added' ? { to: text } : { from: text }, lines: [] };
    }
    return { ...base, lines: renderFieldLines(value, { type, names }).map((text) => ({ role, text })) };
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

function isInline({ from, to }: Pick<Difference, 'from' | 'to'>, line: string): boolean {
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
    return renderFieldLines(isAlone ? withoutDefaults(type, ordered) : ordered, { type, names });
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
export function formatPathWithTargetName(path: string, { kind, names }: ValueRenderingContext): string {
  const steps = parsePath(path) ?? [];
  const last = steps.at(-1);
  const name = formatKeyName(steps, { kind, names }) === '' || typeof last !== 'string' ? undefined : names.get(last);
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
function renderFieldLines(
  value: Json,
  { type, names }: { type: OptionalFieldType; names: ResourceNames },
): readonly string[] {
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

export interface DiffLine {
  readonly role: 'added' | 'removed' | 'same';
  readonly text: string;
}

/** A line of a comparison, or the number of unchanged lines that are omitted. */
interface FoldedLine {
  readonly role: DiffLine['role'] | 'folded';
  readonly text: string;
}

/**
 * The maximum number of cells of the alignment table, at 4 bytes each: 16 MB, enough for two texts of 2,000 lines. If
 * two texts need more cells, all their removed lines are shown before all added lines.
 */
const MAX_CELLS = 4_000_000;

/**
 * Returns the fewest removals and additions that turn `from` into `to`. If that takes more than MAX_CELLS cells, the
 * differing lines are not aligned.
 */
export function diffLines(from: readonly string[], to: readonly string[]): readonly DiffLine[] {
  const start = countSame(from, to);
  const end = countSame(from.slice(start).reverse(), to.slice(start).reverse());
  const middleFrom = from.slice(start, from.length - end);
  const middleTo = to.slice(start, to.length - end);
  return [
    ...from.slice(0, start).map(toSame),
    ...alignLines(middleFrom, middleTo),
    ...from.slice(from.length - end).map(toSame),
  ];
}

/** Folds runs of unchanged lines, except `context` lines around each change. */
export function foldUnchanged(lines: readonly DiffLine[], context: number): readonly FoldedLine[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ role }) => role !== 'same'),
  );
  const folded: FoldedLine[] = [];
  let run: DiffLine[] = [];
  for (const [index, line] of lines.entries()) {
    if (!isNear[index]) run.push(line);
    else {
      folded.push(...foldRun(run), line);
      run = [];
    }
  }
  return [...folded, ...foldRun(run)];
}

/** Does not fold a single line, because the fold would take a line too. */
function foldRun(run: readonly DiffLine[]): readonly FoldedLine[] {
  return run.length < 2 ? run : [{ role: 'folded', text: `${run.length} unchanged` }];
}

function alignLines(from: readonly string[], to: readonly string[]): readonly DiffLine[] {
  if (from.length * to.length > MAX_CELLS) return [...from.map(toRemoved), ...to.map(toAdded)];
  const common = countCommon(from, to);
  const lines: DiffLine[] = [];
  let [left, right] = [0, 0];
  while (left < from.length || right < to.length) {
    const [old, young] = [from[left], to[right]];
    const isRemovalBest = (common[left + 1]?.[right] ?? 0) >= (common[left]?.[right + 1] ?? 0);
    if (old !== undefined && old === young) {
      lines.push(toSame(old));
      left += 1;
      right += 1;
    } else if (old !== undefined && (young === undefined || isRemovalBest)) {
      lines.push(toRemoved(old));
      left += 1;
    } else if (young !== undefined) {
      lines.push(toAdded(young));
      right += 1;
    }
  }
  return lines;
}

/** `common[i][j]`: length of the longest common subsequence of `from.slice(i)` and `to.slice(j)`. */
function countCommon(from: readonly string[], to: readonly string[]): readonly Uint32Array[] {
  const rows = Array.from({ length: from.length + 1 }, () => new Uint32Array(to.length + 1));
  for (let left = from.length - 1; left >= 0; left -= 1) {
    const [row, below] = [rows[left], rows[left + 1]];
    for (let right = to.length - 1; row !== undefined && below !== undefined && right >= 0; right -= 1) {
      const isSame = from[left] === to[right];
      row[right] = isSame ? 1 + (below[right + 1] ?? 0) : Math.max(below[right] ?? 0, row[right + 1] ?? 0);
    }
  }
  return rows;
}

function countSame(left: readonly string[], right: readonly string[]): number {
  const different = left.findIndex((line, index) => line !== right[index]);
  return different < 0 ? left.length : different;
}

function toSame(text: string): DiffLine {
  return { role: 'same', text };
}

function toRemoved(text: string): DiffLine {
  return { role: 'removed', text };
}

function toAdded(text: string): DiffLine {
  return { role: 'added', text };
}

/** A value and its path in a spec. */
interface Leaf {
  readonly type: OptionalFieldType;
  readonly path: FieldPath;
  readonly value: Json;
}

/** Lists the values of a spec that are not defaults. Splits objects and flat maps: each member has its own path. */
export function listNonDefaultLeaves(kind: Kind, spec: Spec): readonly Leaf[] {
  const type = kind.type;
  const value = withoutDefaults(type, orderMembers(type, spec));
  return hasOnlyDefaults(type, spec) ? [] : takeApart({ type, path: [], value });
}

/**
 * Sorts object members in the order of the kind's table, because a plan file sorts them by name. Unknown members come
 * last, sorted by name.
 */
function orderMembers(type: OptionalFieldType, value: Json): Json {
  if (isJsonArray(value)) return value.map((member, index) => orderMembers(findMemberType(type, index), member));
  if (!isJsonObject(value)) return value;
  const names = listLinesInOrder(type, value);
  const members = names.map((name): [string, Json] => {
    return [name, orderMembers(findMemberType(type, name), value[name] ?? null)];
  });
  return Object.fromEntries(members);
}

function listLinesInOrder(type: OptionalFieldType, value: JsonObject): readonly string[] {
  const known = Object.keys(type?.type === 'object' ? type.fields : {});
  const others = Object.keys(value).filter((name) => !known.includes(name));
  return [...known.filter((name) => Object.hasOwn(value, name)), ...others.sort()];
}

/** Removes object members at their defaults. If that removes all members, returns the object unchanged. */
function withoutDefaults(type: OptionalFieldType, value: Json): Json {
  if (type?.type === 'list' && isJsonArray(value)) return value.map((member) => withoutDefaults(type.of, member));
  if (type?.type !== 'object' || !isJsonObject(value)) return value;
  const kept: [string, Json][] = [];
  for (const name of Object.keys(value)) {
    const member = value[name] ?? null;
    if (!isAtDefault(type, name, member)) kept.push([name, withoutDefaults(findMemberType(type, name), member)]);
  }
  return kept.length === 0 ? value : Object.fromEntries(kept);
}

function hasOnlyDefaults(type: ObjectType, value: JsonObject): boolean {
  return Object.entries(value).every(([name, member]) => isAtDefault(type, name, member));
}

function isAtDefault(type: ObjectType, name: string, member: Json): boolean {
  const field = findField(type, name);
  return field !== undefined && !field.required && isDefault(field, member);
}

function takeApart({ type, path, value }: Leaf): readonly Leaf[] {
  const isTakenApart = isJsonObject(value) && (type?.type === 'object' || Object.values(value).every(isScalar));
  if (!isTakenApart || isAbsentOrEmptyCollection(value)) return [{ type, path, value }];
  return Object.entries(value)
    .filter(([name, member]) => !isAbsentOrEmptyCollection(member) || isTelling(type, name))
    .flatMap(([name, member]) => takeApart({ type: findMemberType(type, name), path: [...path, name], value: member }));
}

/**
 * Whether an empty member differs from an absent member. It does if the member's default is not empty, or if no table
 * describes the member.
 */
function isTelling(type: OptionalFieldType, name: string): boolean {
  const field = type?.type === 'object' ? findField(type, name) : undefined;
  if (field === undefined) return true;
  const byDefault = getNormalUnsetFieldValue(field);
  return byDefault !== '' && !isAbsentOrEmptyCollection(byDefault);
}

function findField(type: ObjectType, name: string): Field | undefined {
  return Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
}

/**
 * Values as text. Free text is quoted; ids, addresses, and enumerated or validated words are not. So unquoted text
 * comes from Edgewise itself or has a validated format.
 */

/** Maps live ids to addresses. Reports show both, because readers do not know ids by heart. */
export type ResourceNames = ReadonlyMap<string, string>;

const NO_VALUE = '(none)';

/** A value on one line: a scalar, or an empty list or object. */
export function renderScalar(type: OptionalFieldType, value: Json | undefined, names: ResourceNames): string {
  if (typeof value === 'string') return renderFieldText(type, value, names);
  if (isConcealed(value)) return toPrintable(formatConcealed(value));
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : NO_VALUE;
}

/** A value as lines: list members with bullets, object members as `key: value`, nested values indented. */
function renderValueLines(type: OptionalFieldType, value: Json, names: ResourceNames): readonly string[] {
  if (isConcealed(value)) return [renderScalar(type, value, names)];
  if (isAbsentOrEmptyCollection(value)) return [NO_VALUE];
  if (isJsonArray(value)) {
    const members = value.map((member, index) => renderValueLines(findMemberType(type, index), member, names));
    return members.flatMap(([first = '', ...rest]) => [`• ${first}`, ...indent(rest)]);
  }
  if (isJsonObject(value)) return renderMembers(type, value, names);
  return isMultilineText(value) ? ['|', ...indent(toPrintableLines(value))] : [renderScalar(type, value, names)];
}

function renderFieldText(type: OptionalFieldType, text: string, names: ResourceNames): string {
  if (type?.type === 'reference') return renderReference(text, names);
  const isWord = type?.type === 'enum' || type?.type === 'timestamp' || (type?.type === 'text' && type.format);
  return isWord ? quoteIfNeeded(text) : quoteText(text);
}

function renderReference(text: string, names: ResourceNames): string {
  return isAddress(text) ? `${quoteIfNeeded(text)} (known after apply)` : renderKey(text, names);
}

function renderMembers(type: OptionalFieldType, value: JsonObject, names: ResourceNames): readonly string[] {
  return Object.entries(value).flatMap(([key, member]) => {
    const name = isReferenceMap(type) ? renderKey(key, names) : quoteIfNeeded(key);
    const [first = '', ...rest] = renderValueLines(findMemberType(type, key), member, names);
    if (isScalar(member)) return [`${name}: ${first}`, ...rest];
    return [`${name}:`, ...indent([first, ...rest])];
  });
}

/** An id, followed by its name in parentheses if the name is known. */
function renderKey(key: string, names: ResourceNames): string {
  const name = names.get(key);
  return name === undefined ? quoteIfNeeded(key) : `${quoteIfNeeded(key)} (${quoteIfNeeded(name)})`;
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}

/** The type of a value from its kind's table; `undefined` for free JSON. */
export type OptionalFieldType = FieldType | undefined;

/** The type of the value at a path of a kind's spec, such as `policy.inbound[0].name`. */
export function findFieldType(kind: Kind, path: string): OptionalFieldType {
  const steps = parsePath(path);
  if (steps?.[0] !== 'lifecycle') return steps?.reduce<OptionalFieldType>(findMemberType, kind.type);
  return steps.slice(1).reduce<OptionalFieldType>(findMemberType, objectOf(kind.lifecycle));
}

function isReferenceMap(type: OptionalFieldType): boolean {
  return type?.type === 'map' && type.keys.type === 'reference';
}

export function isAbsentOrEmptyCollection(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined || value === null;
  return !isConcealed(value) && Object.keys(value).length === 0;
}

/** Also true for empty lists and objects, and for concealed values. */
function isScalar(value: Json | undefined): boolean {
  return typeof value !== 'object' || isConcealed(value) || isAbsentOrEmptyCollection(value);
}

function isMultilineText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.includes('\n');
}
