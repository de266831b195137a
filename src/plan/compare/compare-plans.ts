import type { FieldType } from '../../kinds/field.ts';
import { type Kind, toObjectTypeOfKind } from '../../kinds/kind.ts';
import { toRequestValue } from '../../kinds/normalize.ts';
import { listPathIdNamesOfKind } from '../../kinds/paths.ts';
import { fillAllOmittedFields } from '../../kinds/read-response.ts';
import { mapReferencesIn } from '../../kinds/references.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { findMemberType } from '../../kinds/walk.ts';
import { type Change, type Difference, formatChangeAddress, isAdoptOrTakeOverAction } from '../../model/change.ts';
import type { Danger } from '../../model/danger.ts';
import { assertNever } from '../../model/errors.ts';
import { formatPath, parsePath } from '../../model/field-path.ts';
import { isSameJson, type Json } from '../../model/json.ts';
import type { ExtraChange, ExtraChanges, ExtraField, Plan, PlanComparison, PlannedFile } from '../../model/plan.ts';
import { containsConcealed, withoutHiddenNumbers, withoutHiddenNumbersInObject } from '../../model/secret-value.ts';
import type { FieldPath, Spec } from '../../model/state.ts';
import { formatTokenNote, isSameTokenSink } from '../../model/token-sink.ts';
import { diffSpecs } from '../diff.ts';
import { indexSavedChanges, listSentValuesOfField, type SavedChange } from '../saved/saved-change.ts';

/**
 * Compares the effects of two plans: each field with its values before and after, dangers, files and token sinks.
 * Ignores ids that the service chooses, the order of entries, and when and from where a plan was made.
 */
export function comparePlans(before: Plan, after: Plan): PlanComparison {
  const [first, second] = [withoutNumbers(before), withoutNumbers(after)];
  const [earlier, later] = [createSide(first, second), createSide(second, first)];
  const more = diffPlans(later, earlier);
  const less = diffPlans(earlier, later);
  const mismatch = findMismatch(before, after);
  return { before, after, ...(mismatch !== undefined && { mismatch }), more, less: withoutMirrored(less, more) };
}

/** Hidden values have other numbers in each run, so that only their places can be compared. */
function withoutNumbers(plan: Plan): Plan {
  const strip = <T extends { readonly from?: Json; readonly to?: Json }>(sides: T): T => ({
    ...sides,
    ...(sides.from !== undefined && { from: withoutHiddenNumbers(sides.from) }),
    ...(sides.to !== undefined && { to: withoutHiddenNumbers(sides.to) }),
  });
  const stripSpec = (spec: Spec): Spec => withoutHiddenNumbersInObject(spec);
  const changes = plan.changes.map((change) => {
    const sides = [...change.differences, ...(change.dangers ?? [])].flatMap(({ from = null, to = null }) => [
      from,
      to,
    ]);
    const { live, desired = {}, sent = {} } = change;
    // Callers find a change by its object, so one without hidden values stays the same object.
    if (![...sides, live?.spec ?? {}, desired, sent].some(containsConcealed)) return change;
    return {
      ...change,
      differences: change.differences.map(strip),
      ...(change.dangers !== undefined && { dangers: change.dangers.map(strip) }),
      ...(change.live?.spec !== undefined && { live: { ...change.live, spec: stripSpec(change.live.spec) } }),
      ...(change.desired !== undefined && { desired: stripSpec(change.desired) }),
      ...(change.sent !== undefined && { sent: stripSpec(change.sent) }),
    };
  });
  return { ...plan, changes };
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
    names: new Map([...collectIdNames(other), ...collectIdNames(plan)]),
    // Computed on first use: most comparisons do not need it.
    shown: () => (shown ??= indexSavedChanges(plan)),
  };
}

function diffPlans(side: Side, other: Side): ExtraChanges {
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

/** Whether the approval of the first file covers the second. An approval of unknown content covers any content. */
function covers(approved: PlannedFile, { address, path, text, replaces }: PlannedFile): boolean {
  const isSameText = approved.text === undefined || approved.text === text;
  const isSamePlace = approved.address === address && approved.path === path;
  return isSamePlace && isSameText && (replaces !== true || approved.replaces === true);
}

/** Removes from `less` each field that both plans change, because its entry in `more` contains both values. */
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

/** Maps resource ids to addresses, because a resource may have different ids in the two plans. */
type IdNames = ReadonlyMap<string, string>;

/**
 * Maps ids to addresses, for resources that the stack owns. Omits attached kinds and externals: users write their ids,
 * so these ids are compared unchanged.
 */
function collectIdNames({ changes }: Plan): IdNames {
  return new Map(
    changes.flatMap(({ kind, live, address, duplicateOf }) =>
      live === undefined || duplicateOf !== undefined || getKind(kind).role !== 'owned' ? [] : [[live.id, address]],
    ),
  );
}

/** Replaces the ids of the stack's resources in a spec by their addresses. */
function toComparableSpec(kind: Kind, spec: Spec, names: IdNames): Spec {
  const fields = Object.entries(spec).map(([name, value]) => [
    name,
    toComparableValue(kind.fields[name]?.type, value, names),
  ]);
  return Object.fromEntries(fields);
}

/** Replaces the ids of the stack's resources by their addresses, in the path and the values of a difference. */
export function replaceIdsInDifference(kind: Kind, difference: Difference, names: IdNames): Difference {
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
  return toRequestValue(
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
  return path.reduce<FieldType | undefined>(findMemberType, toObjectTypeOfKind(kind));
}

interface Side {
  readonly plan: Plan;
  readonly names: IdNames;
  /** The changes of the plan, each with its writes. */
  readonly shown: () => ReadonlyMap<Change, SavedChange>;
}

interface ChangeOfSide<Had extends Change | undefined = Change> {
  readonly side: Side;
  readonly change: Had;
}

/** Returns the effects that a change has and its counterpart in the other plan lacks; `undefined` if there are none. */
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
 * Whether two changes can be compared field by field: they have the same action, or this change creates what the other
 * replaces, because an apply was interrupted after the delete.
 */
function isComparable({ action }: Change, other: Change): boolean {
  return action === other.action || (action === 'create' && other.action === 'replace');
}

/**
 * Whether a change only completes an interrupted replace of the other plan: it deletes the old resource, which has
 * become a duplicate of the new one.
 */
function isRestOfReplace({ change, side }: ChangeOfSide, other: Side): boolean {
  if (change.action !== 'delete' || change.duplicateOf === undefined) return false;
  const replace = other.plan.changes.find(({ action, live }) => action === 'replace' && live?.id === change.live?.id);
  if (replace?.address !== change.address) return false;
  return compareSpecs({ side, change }, { side: other, change: replace }, ({ live }) => live?.spec).length === 0;
}

/**
 * Lists the fields in which a change differs from its counterpart. Compares creates and deletes by their specs, updates
 * by their differences, and replaces by both.
 */
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
    case 'take-over':
      return listOwnDifferences(own, other);
    case 'no-op':
      return [];
    default:
      return assertNever(action);
  }
}

/**
 * Lists the differences that a change has and its counterpart lacks. Two differences are the same if path, old value
 * and new value are equal.
 */
function listOwnDifferences({ side, change }: ChangeOfSide, other: ChangeOfSide): readonly ExtraField[] {
  const kind = getKind(change.kind);
  const known = new Map(
    other.change.differences
      .map((one) => replaceIdsInDifference(kind, one, other.side.names))
      .map((one) => [one.path, one]),
  );
  return change.differences.flatMap((difference): readonly ExtraField[] => {
    const own = replaceIdsInDifference(kind, difference, side.names);
    const found = known.get(own.path);
    if (found === undefined) return [{ difference }];
    const isCovered = isSame(own.to, found.to) && (isSameStart(kind, own, found) || isSetInBetween(own, other));
    return isCovered ? [] : [{ difference, other: pickSides(found) }];
  });
}

/** Whether both differences have the same old value. An empty value equals a value that the service did not show. */
function isSameStart(kind: Kind, own: Difference, other: Difference): boolean {
  const [name = ''] = parsePath(own.path) ?? [];
  const findStart = ({ path, from }: Difference): Json | undefined =>
    path === name ? fillAllOmittedFields(kind, from === undefined ? {} : { [path]: from })[path] : from;
  return isSame(findStart(own), findStart(other));
}

/**
 * Whether a write of the other plan sets the old value temporarily: an interrupted apply of that plan may have left it.
 */
function isSetInBetween({ field, path, from }: Difference, { side, change }: ChangeOfSide): boolean {
  if (field === undefined || field !== path) return false;
  const saved = side.shown().get(change);
  return saved !== undefined && listSentValuesOfField(saved, field).some((value) => isSame(value, from));
}

/** The live spec. Omitted fields are set to empty, because an omitted field equals an empty one. */
function fillLiveSpec({ kind, live }: Change): Spec | undefined {
  return live?.spec && fillAllOmittedFields(getKind(kind), live.spec);
}

type PickSpec = (change: Change) => Spec | undefined;

/** Compares the specs that `pick` returns. `from` is the value of the other change, `to` that of this change. */
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

/** Compares properties outside the spec: an id that a user wrote, and parts of the mark that an apply writes. */
function listTraits(change: Change, other: Change): readonly ExtraField[] {
  const kind = getKind(change.kind);
  const named = (one: Change): readonly (readonly [string, Json | undefined])[] => [
    ['id', isIdStated(kind, one) ? one.live?.id : undefined],
    ...(kind.role === 'attached' ? listPathIdNamesOfKind(kind) : []).map(
      (name) => [name, one.live?.spec?.[name]] as const,
    ),
    ['mark.stack', isAdoptOrTakeOverAction(one.action) ? one.live?.mark?.stack : undefined],
    ['mark.previousName', one.previousName],
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

/** Whether a user wrote the id of the live resource, as in an adoption or a take-over, or for an attached kind. */
function isIdStated({ role }: Kind, { action }: Change): boolean {
  return role === 'attached' || isAdoptOrTakeOverAction(action);
}

/**
 * Whether the other plan shows the same danger for the same path. Values are not compared: usually they come from
 * differences, which are compared already. For a gap, they depend on other writes.
 */
function isKnownDanger({ danger, path }: Danger, known: readonly Danger[]): boolean {
  return known.some((one) => one.danger === danger && one.path === path);
}

/**
 * Returns a note on the token sink if the other plan has a different sink. Other notes are not compared: they mention
 * times, which differ between any two plans.
 */
function listNotes({ token }: Change, other: Change): readonly string[] {
  return token === undefined || isSameTokenSink(token, other.token) ? [] : [formatTokenNote(token)];
}

function pickSides({ from, to }: Difference): Pick<Difference, 'from' | 'to'> {
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

function isSame(left: Json | undefined, right: Json | undefined): boolean {
  return left === undefined || right === undefined ? left === right : isSameJson(left, right);
}
