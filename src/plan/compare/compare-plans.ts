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
 * Compares two plans by what they do. Pure. What the service makes up (ids), the order of things, and when and from where a plan was made mean
 * nothing; each field, value before and after, danger, file and place of a token counts.
 */
export function comparePlans(before: Plan, after: Plan): PlanComparison {
  const [earlier, later] = [toSide(before, after), toSide(after, before)];
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

function toSide(plan: Plan, other: Plan): Side {
  let shown: ReturnType<Side['shown']> | undefined;
  return {
    plan,
    names: new Map([...listNames(other), ...listNames(plan)]),
    // Seldom asked for, and then of each change.
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

/** A text that was not known may turn out to be any. */
function covers(approved: PlannedFile, { address, path, text, replaces }: PlannedFile): boolean {
  const isSameText = approved.text === undefined || approved.text === text;
  const isSamePlace = approved.address === address && approved.path === path;
  return isSamePlace && isSameText && (replaces !== true || approved.replaces === true);
}

/** What both plans do to a resource, but not alike, is told once: as the later one does it. */
function withoutMirrored(less: ExtraChanges, more: ExtraChanges): ExtraChanges {
  const told = new Map(more.changes.map((extra) => [formatChangeAddress(extra.change), extra]));
  const changes = less.changes.flatMap((extra): readonly ExtraChange[] => {
    const mirrored = told.get(formatChangeAddress(extra.change));
    if (mirrored === undefined) return [extra];
    const paths = new Set(mirrored.fields.map(({ difference }) => difference.path));
    const fields = extra.fields.filter(({ difference }) => !paths.has(difference.path));
    return fields.length === 0 ? [] : [{ ...extra, fields, dangers: [], notes: [] }];
  });
  return { changes, files: less.files };
}

/** Addresses by the ids that their resources have: the id of a resource of the stack may be another one in each plan. */
type IdNames = ReadonlyMap<string, string>;

/** The ids of resources that the stack owns. Ids that users write (of attached resources, of externals) are compared unchanged. */
function listNames({ changes }: Plan): IdNames {
  return new Map(
    changes.flatMap(({ kind, live, address, duplicateOf }) =>
      live === undefined || duplicateOf !== undefined || getKind(kind).role !== 'owned' ? [] : [[live.id, address]],
    ),
  );
}

/** A spec with addresses for the ids of what the stack owns. */
function toComparableSpec(kind: Kind, spec: Spec, names: IdNames): Spec {
  const fields = Object.entries(spec).map(([name, value]) => [
    name,
    toComparableValue(kind.fields[name]?.type, value, names),
  ]);
  return Object.fromEntries(fields);
}

/** A difference with addresses for the ids of what the stack owns, in its path too. */
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

/** A plan that is compared. */
interface Side {
  readonly plan: Plan;
  readonly names: IdNames;
  /** The changes of the plan, each with its writes. */
  readonly shown: () => ReadonlyMap<Change, SavedChange>;
}

/** A change, as one of two plans has it. */
interface Sided<Had extends Change | undefined = Change> {
  readonly side: Side;
  readonly change: Had;
}

/** What a change does that the change of the same resource in the other plan does not; nothing when it does no more. */
function findExtraChange(own: Sided, other: Sided<Change | undefined>): ExtraChange | undefined {
  const { change } = own;
  const counterpart = other.change;
  const whole = { change, fields: [], dangers: change.dangers ?? [], notes: [] };
  if (counterpart === undefined) return isRestOfReplace(own, other.side) ? undefined : whole;
  if (!isOfOneSort(change, counterpart)) return { ...whole, other: counterpart };
  const matched = { side: other.side, change: counterpart };
  const fields = [...listFields(own, matched), ...listTraits(change, counterpart)];
  const dangers = (change.dangers ?? []).filter((danger) => !isShown(danger, counterpart.dangers ?? []));
  const notes = listNotes(change, counterpart);
  return fields.length + dangers.length + notes.length === 0
    ? undefined
    : { change, other: counterpart, fields, dangers, notes };
}

/** Where a replace that deletes first broke off, the new resource is left to be created. */
function isOfOneSort({ action }: Change, other: Change): boolean {
  return action === other.action || (action === 'create' && other.action === 'replace');
}

/** Where a replace broke off, the old resource is deleted as a duplicate of the new one. */
function isRestOfReplace({ change, side }: Sided, other: Side): boolean {
  if (change.action !== 'delete' || change.duplicateOf === undefined) return false;
  const replace = other.plan.changes.find(({ action, live }) => action === 'replace' && live?.id === change.live?.id);
  if (replace?.address !== change.address) return false;
  return compareSpecs({ side, change }, { side: other, change: replace }, ({ live }) => live?.spec).length === 0;
}

/** Created and deleted resources are compared as a whole; of updated ones, the differences. */
function listFields(own: Sided, other: Sided): readonly ExtraField[] {
  const { action } = own.change;
  switch (action) {
    case 'create':
      return compareSpecs(own, other, ({ desired }) => desired).map(toMade);
    case 'delete':
    case 'release':
      return compareSpecs(own, other, toWholeLive).map(toGone);
    case 'replace':
      return mergeByPath(
        listOwnDifferences(own, other),
        compareSpecs(own, other, ({ desired }) => desired).map(toMade),
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

/** The differences that the other change has not: the same field, from the same value to the same value. */
function listOwnDifferences({ side, change }: Sided, other: Sided): readonly ExtraField[] {
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
    const isCovered = isSame(own.to, found.to) && (isSameStart(kind, own, found) || isInterim(own, other));
    return isCovered ? [] : [{ difference, other: toSides(found) }];
  });
}

/** The same value, or one that is empty and one that was not shown. */
function isSameStart(kind: Kind, own: Difference, other: Difference): boolean {
  const [name = ''] = parsePath(own.path) ?? [];
  const toStart = ({ path, from }: Difference): Json | undefined =>
    path === name ? fillAllLeftOut(kind, from === undefined ? {} : { [path]: from })[path] : from;
  return isSame(toStart(own), toStart(other));
}

/** A value that a write of the other plan sets on its way is one that it may have left when it broke off. */
function isInterim({ field, path, from }: Difference, { side, change }: Sided): boolean {
  if (field === undefined || field !== path) return false;
  const saved = side.shown().get(change);
  return saved !== undefined && listSent(saved, field).some((value) => isSame(value, from));
}

/** Whether the service shows that a field is empty or leaves it out means nothing. */
function toWholeLive({ kind, live }: Change): Spec | undefined {
  return live?.spec && fillAllLeftOut(getKind(kind), live.spec);
}

type PickSpec = (change: Change) => Spec | undefined;

/** The fields that two specs do not have alike, from the other's value to one's own. */
function compareSpecs({ side, change }: Sided, other: Sided, pick: PickSpec): readonly Difference[] {
  const kind = getKind(change.kind);
  const own = toComparableSpec(kind, pick(change) ?? {}, side.names);
  const theirs = toComparableSpec(kind, pick(other.change) ?? {}, other.side.names);
  const missing = Object.keys(theirs).filter((name) => own[name] === undefined);
  const whole = { ...own, ...Object.fromEntries(missing.map((name) => [name, null])) };
  return diffSpecs(kind, theirs, whole).map((one) => ({ ...one, origin: 'manifest' }));
}

function toMade({ from, to, ...rest }: Difference): ExtraField {
  return { difference: { ...rest, ...(to !== undefined && { to }) }, other: from === undefined ? {} : { to: from } };
}

function toGone({ from, to, ...rest }: Difference): ExtraField {
  return {
    difference: { ...rest, ...(to !== undefined && { from: to }) },
    other: from === undefined ? {} : { from },
  };
}

function mergeByPath(first: readonly ExtraField[], second: readonly ExtraField[]): readonly ExtraField[] {
  const paths = new Set(first.map(({ difference }) => difference.path));
  return [...first, ...second.filter(({ difference }) => !paths.has(difference.path))];
}

/** Compared properties that are not fields: which resource it is if the service does not choose its id, and the future content of its mark. */
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

/** A user wrote the id of an adopted or attached resource. */
function isIdStated({ role }: Kind, { action }: Change): boolean {
  return role === 'attached' || action === 'adopt';
}

/** Its sides are those of differences, which are compared; how many writes apart a delete and a creation are depends on what else is done. */
function isShown({ danger, path }: Danger, known: readonly Danger[]): boolean {
  return known.some((one) => one.danger === danger && one.path === path);
}

/** The sink of a token, if the other plan has another one. Other notes mention times, which differ between any two plans. */
function listNotes({ token }: Change, other: Change): readonly string[] {
  return token === undefined || isSameTokenPlace(token, other.token) ? [] : [formatTokenNote(token)];
}

function toSides({ from, to }: Difference): Pick<Difference, 'from' | 'to'> {
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

function isSame(left: Json | undefined, right: Json | undefined): boolean {
  return left === undefined || right === undefined ? left === right : isSameJson(left, right);
}
