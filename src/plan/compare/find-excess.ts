import { type Kind, listOneTimeFields } from '../../kinds/kind.ts';
import { listPathFields } from '../../kinds/paths.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import type { Change, Difference } from '../../model/change.ts';
import type { Danger } from '../../model/danger.ts';
import { assertNever } from '../../model/errors.ts';
import { isSameJson, type Json } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import type { ChangeExcess, FieldExcess } from '../../model/plan-comparison.ts';
import type { Spec } from '../../model/state.ts';
import { diffSpecs } from '../diff.ts';
import { listSavedChanges, listSent } from '../saved/saved-change.ts';
import { type IdNames, toComparableDifference, toComparableSpec } from './comparable.ts';

/** A plan that is compared. */
export interface Side {
  readonly plan: Plan;
  readonly names: IdNames;
}

/** A change, as one of two plans has it. */
interface Sided<Had extends Change | undefined = Change> {
  readonly side: Side;
  readonly change: Had;
}

/** What a change does that the change of the same resource in the other plan does not; nothing when it does no more. */
export function findExcess(own: Sided, other: Sided<Change | undefined>): ChangeExcess | undefined {
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

/** What is made or goes is compared as a whole; of what is changed, what differs. */
function listFields(own: Sided, other: Sided): readonly FieldExcess[] {
  const { action } = own.change;
  switch (action) {
    case 'create':
      return compareSpecs(own, other, ({ desired }) => desired).map(toMade);
    case 'delete':
    case 'release':
      return compareSpecs(own, other, ({ live }) => live?.spec).map(toGone);
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
function listOwnDifferences({ side, change }: Sided, other: Sided): readonly FieldExcess[] {
  const kind = getKind(change.kind);
  const known = new Map(
    other.change.differences
      .map((one) => toComparableDifference(kind, one, other.side.names))
      .map((one) => [one.path, one]),
  );
  return change.differences.flatMap((difference): readonly FieldExcess[] => {
    const own = toComparableDifference(kind, difference, side.names);
    const found = known.get(own.path);
    if (found === undefined) return [{ difference }];
    const isCovered = isSame(own.to, found.to) && (isSame(own.from, found.from) || isInterim(own, other));
    return isCovered ? [] : [{ difference, other: toSides(found) }];
  });
}

/** A value that a write of the other plan sets on its way is one that it may have left when it broke off. */
function isInterim({ field, path, from }: Difference, { side, change }: Sided): boolean {
  if (field === undefined || field !== path) return false;
  const saved = listSavedChanges(side.plan).find((one) => one.change === change);
  return saved !== undefined && listSent(saved, field).some((value) => isSame(value, from));
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

function toMade({ from, to, ...rest }: Difference): FieldExcess {
  return { difference: { ...rest, ...(to !== undefined && { to }) }, other: from === undefined ? {} : { to: from } };
}

function toGone({ from, to, ...rest }: Difference): FieldExcess {
  return {
    difference: { ...rest, ...(to !== undefined && { from: to }) },
    other: from === undefined ? {} : { from },
  };
}

function mergeByPath(first: readonly FieldExcess[], second: readonly FieldExcess[]): readonly FieldExcess[] {
  const paths = new Set(first.map(({ difference }) => difference.path));
  return [...first, ...second.filter(({ difference }) => !paths.has(difference.path))];
}

/** What counts besides fields: which resource it is where its id is not the service's choice, and what its mark will say. */
function listTraits(change: Change, other: Change): readonly FieldExcess[] {
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
  return named(change).flatMap(([path, to]): readonly FieldExcess[] => {
    const from = theirs.get(path);
    if (isSame(to, from) || change.differences.some((one) => one.path === path)) return [];
    const difference = { path, ...(to !== undefined && { to }), origin: 'manifest', forcesReplace: false } as const;
    return [{ difference, other: from === undefined ? {} : { to: from } }];
  });
}

/** Somebody wrote the id of what is adopted or attached; of duplicates it is all that tells them apart. */
function isIdStated({ role }: Kind, { action }: Change): boolean {
  return role === 'attached' || action === 'adopt';
}

/** How many writes apart a delete and a creation are depends on what else is done; that they are apart does not. */
function isShown(danger: Danger, known: readonly Danger[]): boolean {
  return known.some((one) => {
    if (danger.danger !== 'replace' || one.danger !== 'replace') return isSameJson({ ...danger }, { ...one });
    return (danger.gap === 0 || one.gap > 0) && danger.loses.every((name) => one.loses.includes(name));
  });
}

/** Where a token goes is said in a sentence. Others tell of time, which goes on. */
function listNotes({ kind, action, notes = [] }: Change, other: Change): readonly string[] {
  const givesToken = (action === 'create' || action === 'replace') && listOneTimeFields(getKind(kind)).length > 0;
  return givesToken ? notes.filter((note) => other.notes?.includes(note) !== true) : [];
}

function toSides({ from, to }: Difference): Pick<Difference, 'from' | 'to'> {
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

function isSame(left: Json | undefined, right: Json | undefined): boolean {
  return left === undefined || right === undefined ? left === right : isSameJson(left, right);
}
