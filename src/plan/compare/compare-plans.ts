import { diffSpecs } from '../../kinds/diff.ts';
import { normalizeField } from '../../kinds/normalize.ts';
import { listPathIdNamesOfKind } from '../../kinds/paths.ts';
import { fillOmittedFields } from '../../kinds/read-response.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import {
  type Change,
  type Difference,
  formatChangeAddress,
  isAdoptOrTakeOverAction,
  sendsNothing,
} from '../../model/change.ts';
import type { Danger } from '../../model/danger.ts';
import type { Json } from '../../model/json.ts';
import { isOwnedBy } from '../../model/ownership.ts';
import type {
  ChangedSide,
  ExtraChange,
  ExtraField,
  HiddenDigests,
  MemberDifference,
  Plan,
  PlanComparison,
} from '../../model/plan.ts';
import { HIDDEN_VALUES_PATH, isHiddenAsApproved, toChangedSide } from '../../model/plan.ts';
import type { Spec } from '../../model/state.ts';
import { restoreCreationsOfAbandonedResources } from './abandoned.ts';
import {
  collectIdNames,
  fillLiveSpec,
  findValueAt,
  type IdNames,
  isCreateOrReplace,
  isSame,
  toComparableDifference,
  toComparableIgnored,
  toComparableSpec,
} from './comparable.ts';
import { listConsentDifferences } from './consents.ts';
import { createApprovalState, divideMissing, isRestOfRetirement, type PlanEvidence } from './done.ts';
import { CHANGE_MEMBERS, listMemberDifferences, PLAN_MEMBERS } from './plan-members.ts';

/**
 * The one definition of "as approved". Compares a plan with an earlier one: each field with its values before and
 * after, dangers, and the members in `plan-members.ts`. With `evidence`, the live resources from which `after`
 * was made, what `before` contains and is live already counts as done, not as missing.
 * @example
 * const { more, less, members } = comparePlans(approved, plan);
 */
export function comparePlans(before: Plan, after: Plan, evidence?: PlanEvidence): PlanComparison {
  const state = evidence && createApprovalState(before, after, evidence);
  const shown = evidence === undefined ? after : restoreCreationsOfAbandonedResources(after, before);
  const earlier = createSide(before, { names: collectIdNames(before, after), isLater: false });
  const later = createSide(shown, { names: state?.names ?? collectIdNames(after, before), isLater: true });
  const context = {
    approved: before,
    isGone: (id: string) => state?.live.has(id) === false,
    hiddenDigests: state?.hiddenDigests,
  };
  const more = listExtraChanges(later, earlier, context);
  const missing = withoutMirrored(listExtraChanges(earlier, later, context), more);
  const { less, done } = state === undefined ? { less: missing, done: [] } : divideMissing(missing, state);
  const doneAddresses = new Set(done.map(({ address }) => address));
  return {
    before,
    after,
    members: [
      ...listMemberDifferences(PLAN_MEMBERS, before, after),
      ...listTakeOverDifferences(before, after, doneAddresses),
      ...listAwaitedDifferences(before, after),
      ...listConsentDifferences(before, shown, (address) => hasBegun(address, before, after)),
    ],
    more,
    less,
    done,
  };
}

/** A plan, with the names by which the other plan refers to its resources. */
interface Side {
  readonly plan: Plan;
  readonly names: IdNames;
  readonly isLater: boolean;
  /** The changes by address, as reports show it. */
  readonly byAddress: ReadonlyMap<string, Change>;
  /** The changes that delete or release a resource, by its id. */
  readonly removals: ReadonlyMap<string, Change>;
}

interface SideChange {
  readonly side: Side;
  readonly change: Change;
}

interface Context {
  readonly approved: Plan;
  /** Whether a resource is known to be deleted. */
  readonly isGone: (id: string) => boolean;
  /** Digests for the later plan, with the salt of the earlier one. Absent: each plan has only its own. */
  readonly hiddenDigests: HiddenDigests | undefined;
}

function createSide(plan: Plan, more: Pick<Side, 'names' | 'isLater'>): Side {
  const removals = plan.changes.filter(({ action }) => isRemovingAction(action));
  return {
    plan,
    ...more,
    byAddress: new Map(plan.changes.map((change) => [formatChangeAddress(change), change])),
    removals: new Map(removals.map((change) => [change.live?.id ?? '', change])),
  };
}

function isRemovingAction(action: Change['action']): boolean {
  return action === 'delete' || action === 'release';
}

function listExtraChanges(side: Side, other: Side, context: Context): readonly ExtraChange[] {
  return side.plan.changes.flatMap((change): readonly ExtraChange[] => {
    const counterpart = findCounterpart(change, other);
    const extra = findExtraChange({ side, change }, { side: other, change: counterpart }, context);
    return extra === undefined ? [] : [extra];
  });
}

/** A delete is known by the id of what it deletes, because a resource may stop being a duplicate of another. */
function findCounterpart(change: Change, other: Side): Change | undefined {
  const removal = isRemovingAction(change.action) ? other.removals.get(change.live?.id ?? '') : undefined;
  return removal ?? other.byAddress.get(formatChangeAddress(change));
}

/** Returns the effects that a change has and its counterpart in the other plan lacks; `undefined` if there are none. */
function findExtraChange(
  own: SideChange,
  { side, change: counterpart }: { readonly side: Side; readonly change: Change | undefined },
  context: Context,
): ExtraChange | undefined {
  const { change } = own;
  if (sendsNothing(change.action) || isRestOfReplace(own, side)) return undefined;
  if (counterpart === undefined || !isComparable(change, counterpart, context))
    return {
      change,
      other: counterpart === undefined || sendsNothing(counterpart.action) ? undefined : counterpart,
      isWhole: true,
      fields: [],
      dangers: change.dangers ?? [],
      changed: findSideOfWholeChange(own, counterpart),
    };
  const other = { side, change: counterpart };
  const fields = [
    ...listComparedFields(own, other, context),
    ...listTraits(own, other),
    ...listHiddenTraits(own, other, context),
  ];
  const dangers = listExtraDangers(own, other, context);
  return fields.length + dangers.length === 0
    ? undefined
    : { change, other: counterpart, isWhole: false, fields, dangers };
}

/**
 * Whether two changes can be compared field by field. They can if they have the same action, or if one is what is left
 * of the other: a create of a replace whose old resource is deleted, an update of an adoption.
 */
function isComparable(left: Change, right: Change, { isGone }: Context): boolean {
  if (left.action === right.action) return true;
  const [first, second] = left.action === 'update' || left.action === 'create' ? [left, right] : [right, left];
  if (first.action === 'create') return second.action === 'replace' && isGone(second.live?.id ?? '');
  return first.action === 'update' && isAdoptOrTakeOverAction(second.action);
}

/**
 * Whether a change only completes an interrupted replace of the approved plan: it deletes the old resource, which has
 * become a duplicate of the new one, or records that the old one retires.
 */
function isRestOfReplace({ change, side }: SideChange, other: Side): boolean {
  const replace = side.isLater ? other.byAddress.get(change.address) : undefined;
  if (replace?.action === 'replace' && isRestOfRetirement(change, replace)) return true;
  if (change.action !== 'delete' || replace?.action !== 'replace' || replace.live?.id !== change.live?.id) return false;
  return compareSpecs({ side, change }, { side: other, change: replace }, fillLiveSpec).length === 0;
}

/**
 * Lists the fields in which a change differs from its counterpart. Compares creates and deletes by their specs, updates
 * by their differences, and replaces by both.
 */
function listComparedFields(own: SideChange, other: SideChange, context: Context): readonly ExtraField[] {
  const { action } = own.change;
  if (isRemovingAction(action)) return compareSpecs(own, other, fillLiveSpec).map(toDeletedField);
  const created = isCreateOrReplace(own.change)
    ? compareSpecs(own, other, ({ desired }) => desired).map(toCreatedField)
    : [];
  if (action === 'create' || other.change.action === 'create') return created;
  return mergeByPath(listOwnDifferences(own, other, context), created);
}

/**
 * Lists the differences that a change has and its counterpart lacks. Two differences are the same if path, old value
 * and new value are equal. The old value may also be one that the approved plan sets in between.
 */
function listOwnDifferences(own: SideChange, other: SideChange, { approved }: Context): readonly ExtraField[] {
  const kind = getKind(own.change.kind);
  const knownDifferences = new Map(
    other.change.differences
      .map((one) => toComparableDifference(kind, one, other.side.names))
      .map((one) => [one.path, one]),
  );
  return own.change.differences.flatMap((difference): readonly ExtraField[] => {
    const compared = toComparableDifference(kind, difference, own.side.names);
    const found = knownDifferences.get(compared.path);
    if (found === undefined) return [{ difference, changed: findSideOfField(difference, other.change) }];
    const [earlier, later] = own.side.isLater ? [found, compared] : [compared, found];
    const isSameStart =
      isSame(findStart(own.change, compared), findStart(other.change, found)) ||
      isSetInBetween(later, { change: own.change, approved });
    const isSameEnd = isSame(earlier.to, later.to);
    if (isSameStart && isSameEnd) return [];
    const { from, to } = found;
    return [{ difference, other: { from, to }, changed: toChangedSide(!isSameEnd, !isSameStart) }];
  });
}

/** The old value of a difference. A value, or a part of it, that a response omitted equals an empty one. */
function findStart(change: Change, { path, from }: Difference): Json | undefined {
  if (from === undefined) return findValueAt(fillLiveSpec(change) ?? {}, path);
  return path in getKind(change.kind).fields
    ? findValueAt(fillOmittedFields(getKind(change.kind), { [path]: from }), path)
    : from;
}

/** Whether the approved plan sets the old value temporarily: an interrupted apply of it may have left that value. */
function isSetInBetween(
  { path, from }: Difference,
  { change: { kind, address }, approved }: { readonly change: Change; readonly approved: Plan },
): boolean {
  const field = getKind(kind).fields[path];
  if (field === undefined) return false;
  return approved.writes.some(
    (write) =>
      write.purpose === 'vacate' &&
      write.address === address &&
      isSame(normalizeField(field, write.body?.[path]), normalizeField(field, from)),
  );
}

type PickSpec = (change: Change) => Spec | undefined;

/** Compares the specs that `pick` returns. `from` is the value of the other change, `to` that of this change. */
function compareSpecs(own: SideChange, other: SideChange, pick: PickSpec): readonly Difference[] {
  const kind = getKind(own.change.kind);
  const ours = toComparableSpec(kind, pick(own.change) ?? {}, own.side.names);
  const theirs = toComparableSpec(kind, pick(other.change) ?? {}, other.side.names);
  const missing = Object.keys(theirs).filter((name) => ours[name] === undefined);
  const whole = { ...ours, ...Object.fromEntries(missing.map((name) => [name, null])) };
  return diffSpecs(kind, theirs, whole).map((one) => ({ ...one, origin: 'manifest' }));
}

function toCreatedField({ from, to, ...rest }: Difference): ExtraField {
  return {
    difference: { ...rest, to },
    other: from === undefined ? {} : { to: from },
    changed: 'manifests',
  };
}

function toDeletedField({ from, to, ...rest }: Difference): ExtraField {
  return {
    difference: { ...rest, from: to },
    other: from === undefined ? {} : { from },
    changed: 'live',
  };
}

function mergeByPath(first: readonly ExtraField[], second: readonly ExtraField[]): readonly ExtraField[] {
  const paths = new Set(first.map(({ difference }) => difference.path));
  return [...first, ...second.filter(({ difference }) => !paths.has(difference.path))];
}

/** Compares what is outside of the spec: the ids in the path of the requests, and the members with the rule `equal`. */
function listTraits(own: SideChange, counterpart: SideChange): readonly ExtraField[] {
  const { side, change } = own;
  const { change: other } = counterpart;
  const [ours, theirs] = [withComparableIgnored(own), withComparableIgnored(counterpart)];
  const [earlier, later] = side.isLater ? [theirs, ours] : [ours, theirs];
  const memberDifferences = change.desired === undefined ? [] : listMemberDifferences(CHANGE_MEMBERS, earlier, later);
  const ids = change.action === 'create' || other.action === 'create' ? [] : listIdDifferences(earlier, later);
  const shown = new Set([...change.differences, ...other.differences].map(({ path }) => path));
  const traits = [
    ...ids.map((one) => ({ ...one, changed: findSideOfId(change) })),
    ...memberDifferences.map((one) => ({ ...one, changed: 'manifests' as const })),
  ];
  return traits
    .filter(({ name }) => !shown.has(name))
    .map(({ name: path, changed, ...sides }) => {
      const [from, to] = side.isLater ? [sides.before, sides.after] : [sides.after, sides.before];
      const difference = { path, to, origin: 'manifest', forcesReplace: false } as const;
      return { difference, other: from === undefined ? {} : { to: from }, changed };
    });
}

/** Compares the hidden values that the manifests have in clear. Digests with different salts cannot be compared. */
function listHiddenTraits(own: SideChange, other: SideChange, { hiddenDigests }: Context): readonly ExtraField[] {
  const [earlier, later] = own.side.isLater ? [other, own] : [own, other];
  const [from, to] = [earlier.change.hiddenDigest, later.change.hiddenDigest];
  const difference = { path: HIDDEN_VALUES_PATH, origin: 'manifest', forcesReplace: false } as const;
  const hasOneSalt = hiddenDigests !== undefined || earlier.side.plan.hiddenSalt === later.side.plan.hiddenSalt;
  if (from !== undefined && to !== undefined && !hasOneSalt) return [{ difference, other: {}, isUncompared: true }];
  const isSameValue =
    hiddenDigests !== undefined && later.change.desired !== undefined
      ? isHiddenAsApproved(earlier.change, hiddenDigests)
      : from === to;
  return isSameValue ? [] : [{ difference, other: {}, changed: 'manifests' }];
}

/** The change with the paths that are left to others as the other plan writes them. */
function withComparableIgnored({ side, change }: SideChange): Change {
  if (change.ignored === undefined) return change;
  return { ...change, ignored: toComparableIgnored(getKind(change.kind), change, side.names) };
}

/** The manifest names an attached or adopted resource by its id. Any other resource is found by its mark. */
function findSideOfId({ kind, action }: Change): ChangedSide {
  return getKind(kind).role === 'attached' || action === 'adopt' ? 'manifests' : 'live';
}

function listIdDifferences(before: Change, after: Change): readonly MemberDifference[] {
  const kind = getKind(before.kind);
  const names = kind.role === 'attached' ? listPathIdNamesOfKind(kind) : [];
  const list = ({ live }: Change): readonly (readonly [string, Json | undefined])[] => [
    ['id', live?.id],
    ...names.map((name) => [name, live?.spec?.[name]] as const),
  ];
  const own = new Map(list(after));
  return list(before).flatMap(([name, id]) =>
    isSame(id, own.get(name)) ? [] : [{ name, before: id, after: own.get(name) }],
  );
}

/**
 * The dangers that the other change does not show for the same path. Values are not compared: they come from
 * differences, which are compared, or from the number of other writes. A create that is left of a replace has dangers
 * of its own, which follow from the same fields.
 */
function listExtraDangers({ side, change }: SideChange, other: SideChange, context: Context): readonly Danger[] {
  if (change.action !== other.change.action && isCreateOrReplace(change)) return [];
  const knownDangers = other.change.dangers ?? [];
  const extra = (change.dangers ?? []).filter(
    ({ danger, path }) => !knownDangers.some((one) => one.danger === danger && one.path === path),
  );
  return side.isLater ? extra : extra.filter((danger) => !isPassed(danger, other.change, context));
}

/**
 * Whether a danger of the approved plan may be gone in the later one although the rest of the change is the same: there
 * is no gap any more, or the apply has begun to change the field.
 */
function isPassed({ danger, path }: Danger, later: Change, { approved }: Context): boolean {
  const begun = later.differences.find((one) => one.path === path && isSetInBetween(one, { change: later, approved }));
  return danger === 'gap' || begun !== undefined;
}

/** Which side differs if only one plan changes a field of a resource that both change. */
function findSideOfField({ path, from, to, field, origin }: Difference, other: Change): ChangedSide | undefined {
  const live = other.live?.spec;
  if (field === undefined || live === undefined) return toSideOfOrigin(origin);
  const value = findValueAt(live, path);
  return toChangedSide(!isSame(value, to), !isSame(value, from)) ?? toSideOfOrigin(origin);
}

function toSideOfOrigin(origin: Difference['origin']): ChangedSide | undefined {
  if (origin === 'both') return 'both';
  return toChangedSide(origin === 'manifest', origin === 'drift');
}

/**
 * Which side differs if only one plan changes a resource in this way: whether it has a manifest, or which resource is
 * live. If both plans agree on that, the origins of the differences tell.
 */
function findSideOfWholeChange({ change }: SideChange, other: Change | undefined): ChangedSide | undefined {
  const isOther = other === undefined ? isRemovingAction(change.action) : change.live?.id !== other.live?.id;
  const side = toChangedSide(hasManifest(change) !== hasManifest(other), isOther);
  if (side !== undefined) return side;
  const origins = change.differences.map(({ origin }) => toSideOfOrigin(origin));
  const has = (one: ChangedSide) => origins.some((origin) => origin === one || origin === 'both');
  // A replace without differences is due because of what is live, such as its age.
  return toChangedSide(has('manifests'), has('live') || (change.action === 'replace' && origins.length === 0));
}

function hasManifest(change: Change | undefined): boolean {
  return change !== undefined && !isRemovingAction(change.action);
}

/** Removes from `less` each field that both plans change, because its entry in `more` contains both values. */
function withoutMirrored(less: readonly ExtraChange[], more: readonly ExtraChange[]): readonly ExtraChange[] {
  const mirrors = new Map(more.map((extra) => [formatChangeAddress(extra.change), extra]));
  return less.flatMap((extra): readonly ExtraChange[] => {
    const mirrored = mirrors.get(formatChangeAddress(extra.change));
    if (mirrored?.other === undefined) return [extra];
    const paths = new Set(mirrored.fields.map(({ difference }) => difference.path));
    const fields = extra.fields.filter(({ difference }) => !paths.has(difference.path));
    return fields.length === 0 ? [] : [{ ...extra, fields, dangers: [] }];
  });
}

/** Whether an apply of the approved plan has done something for a change: the later plan does not do it as a whole. */
function hasBegun(address: string, approved: Plan, later: Plan): boolean {
  const find = ({ changes }: Plan) => changes.find((change) => formatChangeAddress(change) === address)?.action;
  return find(approved) !== find(later);
}

/** A stack from which the earlier plan takes over is not named any more once all of that is done. */
function listTakeOverDifferences(before: Plan, after: Plan, done: ReadonlySet<string>): readonly MemberDifference[] {
  const isDone = (stack: string): boolean => {
    const taken = before.changes.filter(
      ({ action, live }) => action !== 'no-op' && isOwnedBy({ mark: live?.mark }, stack),
    );
    return taken.length > 0 && taken.every((change) => done.has(formatChangeAddress(change)));
  };
  const earlier = before.takeOver.filter((stack) => after.takeOver.includes(stack) || !isDone(stack));
  return isSame([...earlier].sort(), [...after.takeOver].sort())
    ? []
    : [{ name: 'the stacks to take over from', before: earlier, after: after.takeOver }];
}

/** References to other stacks that are still to be resolved. One that is resolved is compared by its id. */
function listAwaitedDifferences(
  { crossStackReferences: before = {} }: Plan,
  { crossStackReferences: after = {} }: Plan,
): readonly MemberDifference[] {
  const approvedReferences = new Map(Object.entries(before));
  return Object.entries(after).flatMap(([address, { stack, resource }]) => {
    const approved = approvedReferences.get(address);
    const text = `${resource} of the stack ${stack}`;
    const earlier = approved && `${approved.resource} of the stack ${approved.stack}`;
    return earlier === undefined || earlier === text ? [] : [{ name: address, before: earlier, after: text }];
  });
}
