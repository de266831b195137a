import { type Field, type FieldType, type ObjectType, objectOf } from '../../kinds/field.ts';
import { type Kind, toSpecType } from '../../kinds/kind.ts';
import { getDefaultValue } from '../../kinds/normalize.ts';
import { findInnerType } from '../../kinds/walk.ts';
import { isAddress } from '../../model/address.ts';
import type { Difference, Origin } from '../../model/change.ts';
import type { DriftedField } from '../../model/drift.ts';
import { formatPath, parsePath } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject } from '../../model/json.ts';
import { toPrintable } from '../../model/printable.ts';
import type { FieldPath, Spec } from '../../model/state.ts';
import { listCutWords, type TokenPlace } from '../../model/token-place.ts';
import { quoteIfNeeded, quoteText, toPrintableLines } from './escape.ts';
import { UNSET_WORDING } from './wording.ts';

/** One field of a change, either on one line (`inline`) or as a block of lines below its path. */
export interface FieldView {
  readonly path: string;
  /** The path as its manifest states it; absent: it does not state it. */
  readonly stated?: string;
  /** Short remarks, such as `forces replacement` and `drifted`. */
  readonly notes: readonly string[];
  readonly forcesReplace: boolean;
  /** Absent for the fields of an added or removed resource. */
  readonly origin?: Origin;
  /** The values before and after; one of them alone for an added or removed resource. `is`: the live value, where the former one is unknown. */
  readonly inline?: { readonly from?: string; readonly to?: string; readonly is?: string };
  readonly lines: readonly FieldLine[];
}

/** One line of a field that takes several. */
export type FieldLine = FoldedLine;

/** What a kind and a plan know that helps to read a value. `kind` is absent for a kind that this version doesn't know. */
export interface FieldContext {
  readonly kind: Kind | undefined;
  readonly names: Names;
  /** Notes on the origin of a difference, where its position does not show it. */
  readonly origins?: OriginWords;
}

/** A remark for each origin that needs one. */
export type OriginWords = Readonly<Partial<Record<Origin, string>>>;

/** Columns that a path with its old and new value may take on one line: with the indent, a terminal's 80. */
const INLINE_COLUMNS = 72;

/** Unchanged lines shown around changed ones, for orientation in long texts and objects. */
const CONTEXT_LINES = 2;

/** The view of one difference. */
export function createDifferenceView(difference: Difference, { kind, names, origins = {} }: FieldContext): FieldView {
  const { path, from, to, origin, forcesReplace } = difference;
  const type = kind === undefined ? undefined : findFieldType(kind, path);
  const label = `${toPathLabel(path)}${toKeyName(parsePath(path) ?? [], { kind, names })}`;
  const stated = formatFieldPath(path, { kind, names });
  const base = { path: label, stated, notes: listNotes(difference, type, origins), forcesReplace, origin };
  const isLeft = to === undefined && kind?.fields[path]?.serviceDefault === true;
  const inline = {
    from: renderScalar(type, from, names),
    to: isLeft ? UNSET_WORDING : renderScalar(type, to, names),
  };
  if (isInline(difference, `${base.path}: ${inline.from} → ${inline.to}`)) return { ...base, inline, lines: [] };
  return { ...base, lines: compareValues(difference, type, names) };
}

/** The view of a field's change at the service: from expected to live, and in words. */
export function createDriftedFieldView(drifted: DriftedField, { kind, names }: FieldContext): FieldView {
  const { path, expected, live, origin } = drifted;
  const type = kind === undefined ? undefined : findFieldType(kind, path);
  const label = `${toPathLabel(path)}${toKeyName(parsePath(path) ?? [], { kind, names })}`;
  const stated = formatFieldPath(path, { kind, names });
  const base = { path: label, stated, notes: [toWhatHappened(drifted, type)], forcesReplace: false, origin };
  const sides = { from: expected, to: live };
  const isAlone = origin === 'both';
  if (isAlone && isOnePiece(live)) return { ...base, inline: { is: renderScalar(type, live, names) }, lines: [] };
  const lines = () => compareValues(isAlone ? { to: live } : sides, type, names);
  if (isAlone) return { ...base, lines: lines().map(({ text }) => ({ role: 'same', text })) };
  const inline = { from: renderScalar(type, expected, names), to: renderScalar(type, live, names) };
  if (isInline(sides, `${base.path}: ${inline.from} → ${inline.to}`)) return { ...base, inline, lines: [] };
  return { ...base, lines: lines() };
}

interface Happened extends Pick<DriftedField, 'origin'> {
  readonly expected?: Json | undefined;
  readonly live?: Json | undefined;
}

/** What happened to a field, in words, as far as it is known. What it was before is not, where its manifest changed too. */
function toWhatHappened({ expected, live, origin }: Happened, type: KnownType): string {
  const isGone = isNothing(live);
  if (origin === 'both') return `${isGone ? 'removed' : 'changed'} at the service, and in its manifest`;
  if (origin === 'unknown') return isGone ? 'not at the service' : UNKNOWN[isNothing(expected) ? 'added' : 'changed'];
  if (isGone) return 'removed at the service';
  if (isNothing(expected)) return 'added at the service';
  const isShort = typeof live === 'number' || typeof live === 'boolean' || type?.type === 'enum';
  return isShort ? `set to ${renderScalar(type, live, new Map())} at the service` : 'changed at the service';
}

const UNKNOWN = { added: 'only at the service', changed: 'other at the service' } as const;

function isNothing(value: Json | undefined): boolean {
  return isEmpty(value) || value === '';
}

/** The fields of an added or removed resource, without those at their defaults. */
export function listFieldViews(
  spec: Spec,
  role: 'added' | 'removed',
  { kind, names }: FieldContext,
): readonly FieldView[] {
  if (kind === undefined) return [];
  return listLeaves(kind, spec).map(({ type, path, value }) => {
    const label = `${toPrintable(formatPath(path))}${toKeyName(path, { kind, names })}`;
    const base = { path: label, notes: [], forcesReplace: false };
    if (isOnePiece(value)) {
      const text = renderScalar(type, value, names);
      return { ...base, inline: role === 'added' ? { to: text } : { from: text }, lines: [] };
    }
    return { ...base, lines: toLines(value, { type, names }).map((text) => ({ role, text })) };
  });
}

/** All words of a command that gets a token, where the note on it has no room for them; beside those of another plan, what differs. */
export function listTokenFields(token: TokenPlace | undefined, other?: TokenPlace): readonly FieldView[] {
  const [before, after] = [listCutWords(other), listCutWords(token)];
  if (before.length + after.length === 0) return [];
  return [{ path: 'token', notes: [], forcesReplace: false, lines: foldSame(diffLines(before, after), CONTEXT_LINES) }];
}

function isInline({ from, to }: Sides, line: string): boolean {
  return isOnePiece(from) && isOnePiece(to) && (line.length <= INLINE_COLUMNS || isEmpty(from) || isEmpty(to));
}

/** Two values of a field, the earlier one first. */
interface Sides {
  readonly from?: Json | undefined;
  readonly to?: Json | undefined;
}

function compareValues({ from, to }: Sides, type: KnownType, names: Names): readonly FoldedLine[] {
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
function listNotes(difference: Difference, type: KnownType, origins: OriginWords): readonly string[] {
  const { from, to, origin, forcesReplace } = difference;
  if (origin === 'drift' && origins.drift !== undefined) return listRevertNotes(difference, type, origins.drift);
  const notes: string[] = [];
  if (isEmpty(from) && isJsonObject(to)) notes.push('added');
  if (isEmpty(to) && isJsonObject(from)) notes.push('removed');
  if (forcesReplace) notes.push('forces replacement');
  const word = origins[origin];
  return word === undefined ? notes : [...notes, word];
}

/** The values have the direction of the apply, so the change at the service is described in words. */
function listRevertNotes({ from, to, origin, forcesReplace }: Difference, type: KnownType, word: string) {
  const happened = toWhatHappened({ expected: to, live: from, origin }, type);
  return [...(forcesReplace ? ['forces replacement'] : []), `${word}: ${happened}`];
}

/** A path as its manifest states it: by the name of what it refers to. */
export function formatFieldPath(path: string, { kind, names }: FieldContext): string {
  const steps = parsePath(path) ?? [];
  const last = steps.at(-1);
  const name = toKeyName(steps, { kind, names }) === '' || typeof last !== 'string' ? undefined : names.get(last);
  return name === undefined ? path : formatPath([...steps.slice(0, -1), name]);
}

/** Text that is not a path is quoted, since a plan file may contain anything. */
function toPathLabel(path: string): string {
  return parsePath(path) === undefined ? quoteText(path) : toPrintable(path);
}

/** What an id that is a key of a map is called, for behind its path. */
function toKeyName(path: FieldPath, { kind, names }: FieldContext): string {
  const [last] = path.slice(-1);
  const name = typeof last === 'string' ? names.get(last) : undefined;
  if (name === undefined || kind === undefined) return '';
  return isReferenceMap(findFieldType(kind, formatPath(path.slice(0, -1)))) ? ` (${quoteIfNeeded(name)})` : '';
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

/** A field on one line: `hostports: a → b`. Each value is cut to `room` characters: the whole is shown elsewhere. */
export function formatBrief(field: FieldView, room: number): string {
  return `${shortenNames(field.path)}: ${toBriefValues(field, room)}`;
}

function toBriefValues({ inline, lines }: FieldView, room: number): string {
  const listed = (role: 'added' | 'removed' | 'same'): string | undefined => {
    const texts = lines.filter((line) => line.role === role).map(({ text }) => text.trim().replace(/^(?:• )+/, ''));
    return texts.length === 0 ? undefined : toList(texts);
  };
  const { from, to, is } = inline ?? { from: listed('removed'), to: listed('added') };
  const there = from === undefined && to === undefined ? (is ?? listed('same')) : undefined;
  if (there !== undefined) return toCut(there, room);
  const sides = [from, to].map((side) => (side === undefined ? undefined : toCut(side, room)));
  return toSides(sides[0], sides[1]);
}

/** The values of a field, in pieces that another text may have word for word. */
export function listBriefValues({ inline, lines }: FieldView): readonly string[] {
  const values = inline === undefined ? lines.filter(isChanged).map(({ text }) => text) : [inline.from, inline.to];
  return values.flatMap((value) => {
    const bare = shortenNames(value ?? '')
      .replace(/^(?:\s|• )*/, '')
      .replace(/^[\w-]+:(?: (?=[^ ])|$)/, '');
    return bare === '' || bare === NO_VALUE ? [] : [bare];
  });
}

function isChanged({ role }: FieldLine): boolean {
  return role === 'added' || role === 'removed';
}

/** What a line introduces follows it. */
function toList(texts: readonly string[]): string {
  return texts
    .map((text, index) => `${index === 0 ? '' : texts[index - 1]?.endsWith(':') ? ' ' : ', '}${text}`)
    .join('');
}

function toSides(from: string | undefined, to: string | undefined): string {
  if (from === undefined) return to === undefined ? '…' : `+ ${to}`;
  return to === undefined ? `- ${from}` : `${from} → ${to}`;
}

function toCut(text: string, room: number): string {
  const named = shortenNames(text);
  return named.length <= room ? named : `${named.slice(0, room).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Replaces an id by the name beside it. Quoted text comes from outside and is not changed. */
export function shortenNames(text: string): string {
  return text.replace(NAMED_ID, (whole, name: string | undefined) => name ?? whole);
}

/** A text in quotes, or `ipp_2k9… (External/office)`. */
const NAMED_ID = /"(?:[^"\\]|\\.)*"|\b[a-z]+_\w+ \(([A-Z]\w*\/[\w.-]+)\)/g;

/** One line of the comparison of two texts. */
export interface DiffLine {
  readonly role: 'added' | 'removed' | 'same';
  readonly text: string;
}

/** A line of a comparison, or one that says how many unchanged lines are left out. */
interface FoldedLine {
  readonly role: DiffLine['role'] | 'folded';
  readonly text: string;
}

/** Cells of the table that alignment may fill; beyond, the texts are shown one after the other. */
const MAX_CELLS = 4_000_000;

/** The fewest lines to remove and add that turn one list of lines into another. Of two sorted sets: what left and what came. */
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

/** The comparison with runs of unchanged lines folded, but for some around what changed. */
export function foldSame(lines: readonly DiffLine[], context: number): readonly FoldedLine[] {
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

/** A single line takes no more room than what would stand for it. */
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

/** `common[i][j]`: how many lines the ends from `i` and from `j` have in common, in order. */
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

/** A value with its place in a spec. */
interface Leaf {
  readonly type: KnownType;
  readonly path: FieldPath;
  readonly value: Json;
}

/** What a spec says beyond defaults, with modules and flat maps taken apart, so that each member has a path of its own. */
export function listLeaves(kind: Kind, spec: Spec): readonly Leaf[] {
  const type = toSpecType(kind);
  const value = withoutDefaults(type, toReadingOrder(type, spec));
  return hasOnlyDefaults(type, spec) ? [] : takeApart({ type, path: [], value });
}

/** The value with the members of its objects in the order of the table, and by name where there is none: a plan file has them by name. */
function toReadingOrder(type: KnownType, value: Json): Json {
  if (isJsonArray(value)) return value.map((member, index) => toReadingOrder(findInnerType(type, index), member));
  if (!isJsonObject(value)) return value;
  const names = listInOrder(type, value);
  const members = names.map((name): [string, Json] => {
    return [name, toReadingOrder(findInnerType(type, name), value[name] ?? null)];
  });
  return Object.fromEntries(members);
}

function listInOrder(type: KnownType, value: JsonObject): readonly string[] {
  const known = Object.keys(type?.type === 'object' ? type.fields : {});
  const others = Object.keys(value).filter((name) => !known.includes(name));
  return [...known.filter((name) => Object.hasOwn(value, name)), ...others.sort()];
}

/** The value without object members that are at their defaults; as it is when all of them are. */
function withoutDefaults(type: KnownType, value: Json): Json {
  if (type?.type === 'list' && isJsonArray(value)) return value.map((member) => withoutDefaults(type.of, member));
  if (type?.type !== 'object' || !isJsonObject(value)) return value;
  const kept: [string, Json][] = [];
  for (const name of Object.keys(value)) {
    const member = value[name] ?? null;
    if (!isAtDefault(type, name, member)) kept.push([name, withoutDefaults(findInnerType(type, name), member)]);
  }
  return kept.length === 0 ? value : Object.fromEntries(kept);
}

function hasOnlyDefaults(type: ObjectType, value: JsonObject): boolean {
  return Object.entries(value).every(([name, member]) => isAtDefault(type, name, member));
}

function isAtDefault(type: ObjectType, name: string, member: Json): boolean {
  const field = findField(type, name);
  return field !== undefined && !field.required && isSameJson(member, getDefaultValue(field));
}

function takeApart({ type, path, value }: Leaf): readonly Leaf[] {
  const isTakenApart = isJsonObject(value) && (type?.type === 'object' || Object.values(value).every(isScalar));
  if (!isTakenApart || isEmpty(value)) return [{ type, path, value }];
  return Object.entries(value)
    .filter(([name, member]) => !isEmpty(member) || isTelling(type, name))
    .flatMap(([name, member]) => takeApart({ type: findInnerType(type, name), path: [...path, name], value: member }));
}

/** Whether it says something that there is nothing: not where leaving the member out says it too. */
function isTelling(type: KnownType, name: string): boolean {
  const field = type?.type === 'object' ? findField(type, name) : undefined;
  if (field === undefined) return true;
  const byDefault = getDefaultValue(field);
  return byDefault !== '' && !isEmpty(byDefault);
}

function findField(type: ObjectType, name: string): Field | undefined {
  return Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
}

/**
 * Values as text. Free text is in quotes; ids, addresses, enumerated and validated words are not. So unquoted text comes from edgewise itself, or has a format
 * without a meaning of its own.
 */

/** Addresses by the ids that they have now, for readers who don't know ids by heart. */
export type Names = ReadonlyMap<string, string>;

/** The text for an absent value. */
const NO_VALUE = '(none)';

/** A value on one line. For values that are neither lists nor objects, unless they are empty. */
export function renderScalar(type: KnownType, value: Json | undefined, names: Names): string {
  if (typeof value === 'string') return renderText(type, value, names);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : NO_VALUE;
}

/** A value as lines: members of a list behind bullets, members of an object as `key: value`, nested ones indented. */
function renderValueLines(type: KnownType, value: Json, names: Names): readonly string[] {
  if (isEmpty(value)) return [NO_VALUE];
  if (isJsonArray(value)) {
    const members = value.map((member, index) => renderValueLines(findInnerType(type, index), member, names));
    return members.flatMap(([first = '', ...rest]) => [`• ${first}`, ...indent(rest)]);
  }
  if (isJsonObject(value)) return renderMembers(type, value, names);
  return isLongText(value) ? ['|', ...indent(toPrintableLines(value))] : [renderScalar(type, value, names)];
}

function renderText(type: KnownType, text: string, names: Names): string {
  if (type?.type === 'reference') return renderReference(text, names);
  const isWord = type?.type === 'enum' || type?.type === 'timestamp' || (type?.type === 'text' && type.format);
  return isWord ? quoteIfNeeded(text) : quoteText(text);
}

function renderReference(text: string, names: Names): string {
  return isAddress(text) ? `${quoteIfNeeded(text)} (known after apply)` : renderKey(text, names);
}

function renderMembers(type: KnownType, value: JsonObject, names: Names): readonly string[] {
  return Object.entries(value).flatMap(([key, member]) => {
    const name = isReferenceMap(type) ? renderKey(key, names) : quoteIfNeeded(key);
    const [first = '', ...rest] = renderValueLines(findInnerType(type, key), member, names);
    if (isScalar(member)) return [`${name}: ${first}`, ...rest];
    return [`${name}:`, ...indent([first, ...rest])];
  });
}

/** The key of a map whose keys are ids: with its name, if it has one. */
function renderKey(key: string, names: Names): string {
  const name = names.get(key);
  return name === undefined ? quoteIfNeeded(key) : `${quoteIfNeeded(key)} (${quoteIfNeeded(name)})`;
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}

/** The type of a value from its kind's table; `undefined` for free JSON. */
export type KnownType = FieldType | undefined;

/** The type of the value at a path of a kind's spec, such as `policy.inbound[0].name`. */
export function findFieldType(kind: Kind, path: string): KnownType {
  const steps = parsePath(path);
  if (steps?.[0] !== 'lifecycle') return steps?.reduce<KnownType>(findInnerType, toSpecType(kind));
  return steps.slice(1).reduce<KnownType>(findInnerType, objectOf(kind.lifecycle));
}

/** Whether the keys of a value are ids of something. */
function isReferenceMap(type: KnownType): boolean {
  return type?.type === 'map' && type.keys.type === 'reference';
}

/** Whether there is nothing: no value, or an empty list or object. */
export function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** Whether a value is of one piece: no list or object with something in it. */
function isScalar(value: Json | undefined): boolean {
  return typeof value !== 'object' || isEmpty(value);
}

/** Whether a value is text of several lines. */
function isLongText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.includes('\n');
}
