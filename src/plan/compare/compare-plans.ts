import type { FieldType } from '../../kinds/field.ts';
import { type Kind, toSpecType } from '../../kinds/kind.ts';
import { sortSetsIn } from '../../kinds/normalize.ts';
import { listPathFields } from '../../kinds/paths.ts';
import { fillAllLeftOut } from '../../kinds/read-response.ts';
import { mapReferencesIn } from '../../kinds/references.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { findInnerType } from '../../kinds/walk.ts';
import { type Change, type Difference, formatChangeAddress } from '../../model/change.ts';
import type { Danger } from '../../model/danger.ts';
import { assertNever } from '../../model/errors.ts';
import { formatPath, parsePath } from '../../model/field-path.ts';
import { isSameJson, type Json } from '../../model/json.ts';
import type { Plan, PlannedFile } from '../../model/plan.ts';
import type { ExtraChange, ExtraChanges, ExtraField, PlanComparison } from '../../model/plan-comparison.ts';
import type { FieldPath, Spec } from '../../model/state.ts';
import { formatTokenNote, isSameTokenPlace } from '../../model/token-place.ts';
import { diffSpecs } from '../diff.ts';
import { listSent, mapSavedChanges, type SavedChange } from '../saved/saved-change.ts';

/**
 * Compares two plans by their effects. Pure. Does not count: ids that the service chooses, the order of entries, and
 * when and from where a plan was made. Counts: each field, value before and after, danger, file and token sink.
 */
export function comparePlans(before: Plan, after: Plan): PlanComparison {
  const [earlier, later] = [createSide(before, after), createSide(after, before)];
  const more = listExtraChanges(later, earlier);
  const less = listExtraChanges(earlier, later);
  const mismatch = findMismatch(before, after);
  return { before, after, ...(mismatch !== undefined && { mismatch }), more, less: withoutMirrored(less, more) };
}

function findMismatch(before: Plan, after: Plan): string | undefined {
  const [earlier, later] = [before, after].map(({ stack, baseUrl }) => `the stack ${stack} on ${baseUrl}`);
  if (earlier !== later) return `one is for ${earlier}, the other for ${later}`;
  return before.mode === after.mode ? undefined : `one is to ${before.mode}, the other to ${after.mode}`;
}

function createSide(plan: Plan, other: Plan): Side {
  let shown: ReturnType<Side['shown']> | undefined;
  return {
    plan,
    names: new Map([...listNames(other), ...listNames(plan)]),
    // Lazy: rarely needed, but then for many changes.
    shown: () => (shown ??= mapSavedChanges(plan)),
  };
}

function listExtraChanges(side: Side, other: Side): ExtraChanges {
  const counterparts = new Map(other.plan.changes.map((change) => [formatChangeAddress(change), change]));
  const changes = side.plan.changes.flatMap((change): readonly ExtraChange[] => {
    if (change.action === 'no-op') return [];
    const found = counterparts.get(formatChangeAddress(change));
    const counterpart = found?.action === 'no-op' ? undefined : found;
    const extra = findExtraChange({ side, change }, { side: other, change: counterpart });
    return extra === undefined ? [] : [extra];
  });
  return { changes, files: side.plan.files.filter((file) => !other.plan.files.some((one) => covers(one, file))) };
}

/** Whether an approved file covers another. A content that was unknown at approval covers every content. */
function covers(approved: PlannedFile, { address, path, text, replaces }: PlannedFile): boolean {
  const isSameText = approved.text === undefined || approved.text === text;
  const isSamePlace = approved.address === address && approved.path === path;
  return isSamePlace && isSameText && (replaces !== true || approved.replaces === true);
}

/** If both plans change a field, but differently, it is kept in `more` only, as the later plan shows it. */
function withoutMirrored(less: ExtraChanges, more: ExtraChanges): ExtraChanges {
  const mirrors = new Map(more.changes.map((extra) => [formatChangeAddress(extra.change), extra]));
  const changes = less.changes.flatMap((extra): readonly ExtraChange[] => {
    const mirrored = mirrors.get(formatChangeAddress(extra.change));
    if (mirrored === undefined) return [extra];
    const paths = new Set(mirrored.fields.map(({ difference }) => difference.path));
    const fields = extra.fields.filter(({ difference }) => !paths.has(difference.path));
    return fields.length === 0 ? [] : [{ ...extra, fields, dangers: [], notes: [] }];
  });
  return { changes, files: less.files };
}

/** Addresses by the ids of their resources: in each plan a resource may have another id. */
type IdNames = ReadonlyMap<string, string>;

/**
 * The ids of the resources that the stack owns. Ids that users write (of attached resources, of externals) are compared
 * unchanged.
 */
function listNames({ changes }: Plan): IdNames {
  return new Map(
    changes.flatMap(({ kind, live, address, duplicateOf }) =>
      live === undefined || duplicateOf !== undefined || getKind(kind).role !== 'owned' ? [] : [[live.id, address]],
    ),
  );
}

/** Replaces the ids of the stack's resources in a spec with addresses. */
function toComparableSpec(kind: Kind, spec: Spec, names: IdNames): Spec {
  const fields = Object.entries(spec).map(([name, value]) => [
    name,
    toComparableValue(kind.fields[name]?.type, value, names),
  ]);
  return Object.fromEntries(fields);
}

/** Replaces the ids of the stack's resources in a difference with addresses, in its path too. */
export function toComparableDifference(kind: Kind, difference: Difference, names: IdNames): Difference {
  const { path, from, to } = difference;
  const steps = parsePath(path) ?? [path];
  const type = findTypeAt(kind, steps);
  return {
    ...difference,
    path: formatPath(toComparablePath(kind, steps, names)),
    ...(from !== undefined && { from: toComparableValue(type, from, names) }),
    ...(to !== undefined && { to: toComparableValue(type, to, names) }),
  };
}

function toComparableValue(type: FieldType | undefined, value: Json, names: IdNames): Json {
  if (type === undefined) return value;
  return sortSetsIn(
    type,
    mapReferencesIn(type, value, ({ value: id }) => names.get(id) ?? id),
  );
}

function toComparablePath(kind: Kind, path: FieldPath, names: IdNames): FieldPath {
  return path.map((step, at) => {
    const holder = findTypeAt(kind, path.slice(0, at));
    const isReference = holder?.type === 'map' && holder.keys.type === 'reference';
    return isReference && typeof step === 'string' ? (names.get(step) ?? step) : step;
  });
}

function findTypeAt(kind: Kind, path: FieldPath): FieldType | undefined {
  return path.reduce<FieldType | undefined>(findInnerType, toSpecType(kind));
}

interface Side {
  readonly plan: Plan;
  readonly names: IdNames;
  /** The changes of the plan with their writes. */
  readonly shown: () => ReadonlyMap<Change, SavedChange>;
}

/** A change and the plan that has it. */
interface ChangeOfSide<Had extends Change | undefined = Change> {
  readonly side: Side;
  readonly change: Had;
}

/**
 * Returns the effects of this change that the other plan's change of the same resource does not have. Absent if there
 * are none.
 */
function findExtraChange(own: ChangeOfSide, other: ChangeOfSide<Change | undefined>): ExtraChange | undefined {
  const { change } = own;
  const counterpart = other.change;
  const whole = { change, fields: [], dangers: change.dangers ?? [], notes: [] };
  if (counterpart === undefined) return isRestOfReplace(own, other.side) ? undefined : whole;
  if (!isComparable(change, counterpart)) return { ...whole, other: counterpart };
  const matched = { side: other.side, change: counterpart };
  const fields = [...listFields(own, matched), ...listTraits(change, counterpart)];
  const dangers = (change.dangers ?? []).filter((danger) => !isKnownDanger(danger, counterpart.dangers ?? []));
  const notes = listNotes(change, counterpart);
  return fields.length + dangers.length + notes.length === 0
    ? undefined
    : { change, other: counterpart, fields, dangers, notes };
}

/**
 * Whether two changes can be compared field by field. After an interrupted replace that deletes first, only the
 * creation is left.
 */
function isComparable({ action }: Change, other: Change): boolean {
  return action === other.action || (action === 'create' && other.action === 'replace');
}

/**
 * Whether a delete completes an interrupted replace of the other plan: it deletes the old resource as a duplicate of
 * the new one.
 */
function isRestOfReplace({ change, side }: ChangeOfSide, other: Side): boolean {
  if (change.action !== 'delete' || change.duplicateOf === undefined) return false;
  const replace = other.plan.changes.find(({ action, live }) => action === 'replace' && live?.id === change.live?.id);
  if (replace?.address !== change.address) return false;
  return compareSpecs({ side, change }, { side: other, change: replace }, ({ live }) => live?.spec).length === 0;
}

/** Compares created and deleted resources as a whole, and updated resources by their differences. */
function listFields(own: ChangeOfSide, other: ChangeOfSide): readonly ExtraField[] {
  const { action } = own.change;
  switch (action) {
    case 'create':
      return compareSpecs(own, other, ({ desired }) => desired).map(toCreatedField);
    case 'delete':
    case 'release':
      return compareSpecs(own, other, fillLiveSpec).map(toDeletedField);
    case 'replace':
      return mergeByPath(
        listOwnDifferences(own, other),
        compareSpecs(own, other, ({ desired }) => desired).map(toCreatedField),
      );
    case 'update':
    case 'adopt':
      return listOwnDifferences(own, other);
    case 'no-op':
      return [];
    default:
      return assertNever(action);
  }
}

/**
 * The differences that the other change does not have. Two are the same if field, old value and new value are equal.
 */
function listOwnDifferences({ side, change }: ChangeOfSide, other: ChangeOfSide): readonly ExtraField[] {
  const kind = getKind(change.kind);
  const known = new Map(
    other.change.differences
      .map((one) => toComparableDifference(kind, one, other.side.names))
      .map((one) => [one.path, one]),
  );
  return change.differences.flatMap((difference): readonly ExtraField[] => {
    const own = toComparableDifference(kind, difference, side.names);
    const found = known.get(own.path);
    if (found === undefined) return [{ difference }];
    const isCovered = isSame(own.to, found.to) && (isSameStart(kind, own, found) || isSetInBetween(own, other));
    return isCovered ? [] : [{ difference, other: pickSides(found) }];
  });
}

/** Whether both differences start from the same value. An empty value equals a value that the service did not show. */
function isSameStart(kind: Kind, own: Difference, other: Difference): boolean {
  const [name = ''] = parsePath(own.path) ?? [];
  const toStart = ({ path, from }: Difference): Json | undefined =>
    path === name ? fillAllLeftOut(kind, from === undefined ? {} : { [path]: from })[path] : from;
  return isSame(toStart(own), toStart(other));
}

/** Whether a write of the other plan sets the old value in between: an interrupted apply may have left it. */
function isSetInBetween({ field, path, from }: Difference, { side, change }: ChangeOfSide): boolean {
  if (field === undefined || field !== path) return false;
  const saved = side.shown().get(change);
  return saved !== undefined && listSent(saved, field).some((value) => isSame(value, from));
}

/**
 * The whole live spec. Empty fields are filled in, because a field that the service shows as empty equals a field that
 * it omits.
 */
function fillLiveSpec({ kind, live }: Change): Spec | undefined {
  return live?.spec && fillAllLeftOut(getKind(kind), live.spec);
}

type PickSpec = (change: Change) => Spec | undefined;

/** The differences between the two specs, from the other's value to the own value. */
function compareSpecs({ side, change }: ChangeOfSide, other: ChangeOfSide, pick: PickSpec): readonly Difference[] {
  const kind = getKind(change.kind);
  const own = toComparableSpec(kind, pick(change) ?? {}, side.names);
  const theirs = toComparableSpec(kind, pick(other.change) ?? {}, other.side.names);
  const missing = Object.keys(theirs).filter((name) => own[name] === undefined);
  const whole = { ...own, ...Object.fromEntries(missing.map((name) => [name, null])) };
  return diffSpecs(kind, theirs, whole).map((one) => ({ ...one, origin: 'manifest' }));
}

function toCreatedField({ from, to, ...rest }: Difference): ExtraField {
  return { difference: { ...rest, ...(to !== undefined && { to }) }, other: from === undefined ? {} : { to: from } };
}

function toDeletedField({ from, to, ...rest }: Difference): ExtraField {
  return {
    difference: { ...rest, ...(to !== undefined && { from: to }) },
    other: from === undefined ? {} : { from },
  };
}

function mergeByPath(first: readonly ExtraField[], second: readonly ExtraField[]): readonly ExtraField[] {
  const paths = new Set(first.map(({ difference }) => difference.path));
  return [...first, ...second.filter(({ difference }) => !paths.has(difference.path))];
}

/** Compares properties that are not fields: the id, if the service does not choose it, and the future mark. */
function listTraits(change: Change, other: Change): readonly ExtraField[] {
  const kind = getKind(change.kind);
  const named = (one: Change): readonly (readonly [string, Json | undefined])[] => [
    ['id', isIdStated(kind, one) ? one.live?.id : undefined],
    ...(kind.role === 'attached' ? listPathFields(kind) : []).map((name) => [name, one.live?.spec?.[name]] as const),
    ['mark.stack', one.action === 'adopt' ? one.live?.mark?.stack : undefined],
    ['mark.was', one.was],
    ['lifecycle.protect', one.protect],
    ['lifecycle.ignore', one.ignored?.toSorted()],
    ['lifecycle.valid_for', one.validForMs],
  ];
  const theirs = new Map(named(other));
  return named(change).flatMap(([path, to]): readonly ExtraField[] => {
    const from = theirs.get(path);
    if (isSame(to, from) || change.differences.some((one) => one.path === path)) return [];
    const difference = { path, ...(to !== undefined && { to }), origin: 'manifest', forcesReplace: false } as const;
    return [{ difference, other: from === undefined ? {} : { to: from } }];
  });
}

/** Whether a user wrote the id: that of an adopted or attached resource. */
function isIdStated({ role }: Kind, { action }: Change): boolean {
  return role === 'attached' || action === 'adopt';
}

/**
 * Whether the other plan shows the same danger. The values of a danger are those of differences, which are compared
 * already. The length of a gap depends on other writes.
 */
function isKnownDanger({ danger, path }: Danger, known: readonly Danger[]): boolean {
  return known.some((one) => one.danger === danger && one.path === path);
}

/**
 * A note on the token sink, if the other plan has another one. Other notes mention times, which differ between any two
 * plans.
 */
function listNotes({ token }: Change, other: Change): readonly string[] {
  return token === undefined || isSameTokenPlace(token, other.token) ? [] : [formatTokenNote(token)];
}

function pickSides({ from, to }: Difference): Pick<Difference, 'from' | 'to'> {
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

function isSame(left: Json | undefined, right: Json | undefined): boolean {
  return left === undefined || right === undefined ? left === right : isSameJson(left, right);
}
