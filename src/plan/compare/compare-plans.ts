import { normalizeField } from '../../kinds/canonical.ts';
import { mapReferencesInIgnoredPath, omitIgnoredParts } from '../../kinds/ignored-parts.ts';
import type { Kind } from '../../kinds/kind.ts';
import { listPathIdNamesOfKind } from '../../kinds/paths.ts';
import { isTokenUndelivered } from '../../kinds/precedence.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { type Address, getAddressName } from '../../model/address.ts';
import {
  type Change,
  type ChangingAction,
  type Difference,
  formatChangeAddress,
  isAdoptOrTakeOverAction,
  isCreation,
  isRemoval,
  sendsNothing,
} from '../../model/change.ts';
import { listLeftOutAddresses } from '../../model/conditions.ts';
import type { Danger } from '../../model/danger.ts';
import { assertNever } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import { hasMarkOf } from '../../model/ownership.ts';
import {
  type ChangedSide,
  type DoneChange,
  type ExtraChange,
  type ExtraField,
  HIDDEN_VALUES_PATH,
  type HiddenDigests,
  isHiddenAsApproved,
  listKnownIds,
  type MemberDifference,
  type Plan,
  type PlanComparison,
  type SafetyViolation,
  toChangedSide,
} from '../../model/plan.ts';
import { CHANGE_MEMBERS } from '../../model/plan-members.ts';
import { withoutHiddenNumbers } from '../../model/secret-value.ts';
import type { LiveResource, LiveState } from '../../model/state.ts';
import { type CreateWrite, isCreate } from '../../model/write.ts';
import { createChange } from '../create-change.ts';
import { findCrossStackReference } from '../cross-stack-references.ts';
import { computeChangesWithDangers } from '../dangers.ts';
import type { ChangeDecision } from '../decide.ts';
import {
  collectNames,
  diffWhole,
  type Fact,
  type Facts,
  findValueAt,
  type IdNames,
  isSame,
  isSamePart,
  NO_NAMES,
  toFacts,
} from './facts.ts';
import { listMemberDifferences, listPlanDifferences } from './member-differences.ts';

/** What the later plan was made from. It shows which changes of an earlier plan are live already. */
export interface PlanEvidence {
  readonly decisions: readonly ChangeDecision[];
  readonly live: LiveState;
  /** Digests of what the manifests have, with the salt of the earlier plan. Absent: no manifest has hidden values. */
  readonly hiddenDigests?: HiddenDigests | undefined;
}

/**
 * The one definition of "as approved": two changes of a resource are the same if they have the same facts. A fact is a
 * path with the value before and the value after. A plan also needs the same dangers, and equal members in
 * `model/plan-members.ts`. With `evidence`, the live resources from which `after` was made, a fact of `before` that is live
 * already is done, not missing.
 * @example
 * const { more, less, members } = comparePlans(approved, plan);
 */
export function comparePlans(before: Plan, after: Plan, evidence?: PlanEvidence): PlanComparison {
  const shown = evidence === undefined ? after : restoreAbandonedCreations(after, before);
  const run: Comparison = {
    before,
    after,
    known: listKnownIds(before),
    names: new Map([...collectNames(after, before), ...listAwaitedIds(before, evidence)]),
    earlierNames: collectNames(before, after),
    replaces: new Map(before.changes.flatMap((one) => (one.action === 'replace' ? [[one.address, one]] : []))),
    leftOut: { before: listLeftOutAddresses(before), after: listLeftOutAddresses(after) },
    evidence: evidence && indexEvidence(evidence, after),
  };
  const counterparts = matchChanges(before.changes, shown.changes);
  const compared = shown.changes.map((later) => {
    const earlier = counterparts.get(later);
    return { earlier, ...compareChanges({ earlier, later }, run) };
  });
  const lessByChange = new Map(compared.map(({ earlier, less }) => [earlier, less]));
  const divided = before.changes.map((earlier): DividedChange => {
    const less = lessByChange.has(earlier) ? lessByChange.get(earlier) : compareChanges({ earlier }, run).less;
    return less === undefined || run.evidence === undefined ? { less } : divideMissing(less, run, run.evidence);
  });
  const done = divided.flatMap((one) => one.done ?? []);
  return {
    before,
    after,
    members: listPlanDifferences(before, { after, shown, done }),
    more: compared.flatMap(({ more }) => more ?? []),
    less: divided.flatMap(({ less }) => less ?? []),
    done,
  };
}

interface Comparison {
  readonly before: Plan;
  readonly after: Plan;
  /** The ids of all live resources of the earlier plan. */
  readonly known: ReadonlySet<string>;
  /** The names for the ids of the later plan. */
  readonly names: IdNames;
  /** The names for the ids of the earlier plan. */
  readonly earlierNames: IdNames;
  /** The replaces of the earlier plan. */
  readonly replaces: ReadonlyMap<string, Change>;
  /** The addresses of what each plan leaves out. */
  readonly leftOut: Readonly<Record<'before' | 'after', ReadonlySet<string>>>;
  /** Absent: only the two plans are known. */
  readonly evidence: IndexedEvidence | undefined;
}

/** The evidence for the later plan, as it is looked up. */
interface IndexedEvidence {
  /** All resources and modules that were read, by id. */
  readonly resources: ReadonlyMap<string, LiveResource>;
  /** The decisions on the resources that are kept, by address. */
  readonly decisions: ReadonlyMap<string, ChangeDecision>;
  readonly hiddenDigests: HiddenDigests;
  /** The changes of the later plan, by the id of their resource. */
  readonly changes: ReadonlyMap<string | undefined, Change>;
  /** The addresses that the service refused before, so that nothing more is sent. The later plan says so. */
  readonly withheld: ReadonlySet<string>;
}

function indexEvidence({ decisions, live, hiddenDigests }: PlanEvidence, { changes }: Plan): IndexedEvidence {
  const kept = decisions.filter(({ pair }) => pair.by !== 'duplicate' && pair.by !== 'retirement');
  return {
    resources: new Map(
      [...[...live.resources.values()].flat(), ...live.attachments.values()].map((one) => [one.id, one]),
    ),
    decisions: new Map(kept.map((decision) => [decision.pair.address, decision])),
    hiddenDigests: hiddenDigests ?? new Map(),
    changes: new Map(changes.map((change) => [change.live?.id, change])),
    withheld: new Set(changes.flatMap(({ action, address }) => (action === 'withhold' ? [address] : []))),
  };
}

/** The ids of resources of other stacks that did not exist when the plan was approved, with their addresses in it. */
function listAwaitedIds(
  { crossStackReferences = {} }: Plan,
  evidence: PlanEvidence | undefined,
): readonly (readonly [string, string])[] {
  return Object.entries(crossStackReferences).flatMap(([address, reference]) => {
    const id = evidence && findCrossStackReference(reference, evidence.live)?.id;
    return id === undefined ? [] : [[id, address] as const];
  });
}

/**
 * Maps each later change to the earlier one of the same resource. A delete is known by the id of what it deletes,
 * because a resource may stop being a duplicate of another.
 */
function matchChanges(earlier: readonly Change[], later: readonly Change[]): ReadonlyMap<Change, Change> {
  const matches = new Map<Change, Change>();
  const match = (toKey: (change: Change) => string | undefined): void => {
    const matched = new Set(matches.values());
    const open = new Map(earlier.filter((change) => !matched.has(change)).map((change) => [toKey(change), change]));
    for (const change of later) {
      const key = matches.has(change) ? undefined : toKey(change);
      const counterpart = key === undefined ? undefined : open.get(key);
      if (counterpart === undefined) continue;
      matches.set(change, counterpart);
      open.delete(key);
    }
  };
  match((change) => (isRemoval(change) ? change.live?.id : undefined));
  match(formatChangeAddress);
  return matches;
}

/** The changes of one resource in both plans. Absent: the plan does not know the resource. */
interface ComparedChanges {
  readonly earlier?: Change | undefined;
  readonly later?: Change | undefined;
}

/** What only one of two changes does. `more` contains both values of a field, so `less` omits that field. */
interface Extras {
  readonly more?: ExtraChange | undefined;
  readonly less?: ExtraChange | undefined;
}

function compareChanges({ earlier, later }: ComparedChanges, run: Comparison): Extras {
  const approved = pickSent(earlier);
  const now = later !== undefined && isRestOfReplace(later, run) ? undefined : pickSent(later);
  if (approved !== undefined && now !== undefined && isComparable(approved, now, run))
    return compareFacts(approved, now, run);
  if (now !== undefined) return { more: toWholeExtra(now, earlier, run.leftOut.before) };
  return approved === undefined ? {} : { less: toWholeExtra(approved, later, run.leftOut.after) };
}

function pickSent(change: Change | undefined): Change | undefined {
  return change === undefined || sendsNothing(change.action) ? undefined : change;
}

function toWholeExtra(change: Change, other: Change | undefined, leftOut: ReadonlySet<string>): ExtraChange {
  const { dangers = [] } = change;
  const changed = leftOut.has(formatChangeAddress(change)) ? 'run' : findSideOfWholeChange(change, other);
  return { change, other: pickSent(other), isWhole: true, fields: [], dangers, changed };
}

/**
 * Whether two changes can be compared by their facts. They can if they have the same action, or if one is what is left
 * of the other: a create of a replace whose old resource is deleted, an update of an adoption.
 */
function isComparable(left: Change, right: Change, { evidence }: Comparison): boolean {
  if (left.action === right.action) return true;
  const [first, second] = left.action === 'update' || left.action === 'create' ? [left, right] : [right, left];
  if (first.action !== 'create') return first.action === 'update' && isAdoptOrTakeOverAction(second.action);
  return second.action === 'replace' && evidence?.resources.has(second.live?.id ?? '') === false;
}

/**
 * Whether a change only completes an interrupted replace of the approved plan: it deletes the old resource, which has
 * become a duplicate of the new one, or records that the old one retires.
 */
function isRestOfReplace(change: Change, { replaces, names, earlierNames }: Comparison): boolean {
  const replace = replaces.get(change.address);
  if (replace === undefined) return false;
  if (isRestOfRetirement(change, replace)) return true;
  if (change.action !== 'delete' || replace.live?.id !== change.live?.id) return false;
  return diffWhole(toFacts(replace, earlierNames), toFacts(change, names)).length === 0;
}

/** Whether the later plan only has to record that the old resource of an approved replace retires. */
function isRestOfRetirement(old: Change | undefined, replace: Change): boolean {
  return isKeptByReplace(old, replace) && old?.action === 'update';
}

/** Whether an approved replace keeps its old resource, and the new resource retires it. */
function isKeptByReplace(old: Change | undefined, { keepOldForMs, live }: Change): boolean {
  return keepOldForMs !== undefined && old?.retiresAt !== undefined && old.live?.id === live?.id;
}

/**
 * Lists the facts that only one change has. An update consists of differences, a delete or a create of a spec, and a
 * replace of both.
 */
function compareFacts(earlier: Change, later: Change, run: Comparison): Extras {
  const [approved, now] = [toFacts(earlier, run.earlierNames), toFacts(later, run.names)];
  const isCreate = earlier.action === 'create' || later.action === 'create';
  const { more, less } = isCreate ? NO_FIELDS : compareDifferences(approved, now, run.before);
  const paths = new Set(more.map(({ difference }) => difference.path));
  const fields = [
    ...more,
    ...diffWhole(approved, now).filter(({ difference }) => !paths.has(difference.path)),
    ...compareOutsideOfSpec(approved, now, run),
    ...compareHiddenValues(earlier, later, run),
  ];
  const dangers = listExtraDangers(later, earlier);
  const isMore = fields.length + dangers.length > 0;
  const gone = isMore ? [] : listExtraDangers(earlier, later).filter((danger) => !mayBeGone(danger, now, run.before));
  return {
    more: isMore ? { change: later, other: earlier, isWhole: false, fields, dangers } : undefined,
    less:
      less.length + gone.length === 0
        ? undefined
        : { change: earlier, other: later, isWhole: false, fields: less, dangers: gone },
  };
}

const NO_FIELDS = { more: [], less: [] };

/** Compares the differences of two changes by path. `more` has both values of a path. */
function compareDifferences(approved: Facts, now: Facts, plan: Plan): Record<'more' | 'less', readonly ExtraField[]> {
  const [earlier, later] = [approved, now].map(({ differences }) => new Map(differences.map((one) => [one.path, one])));
  const findSide = (before: Fact, after: Fact): ChangedSide | undefined => {
    const isSameStart = isSame(before.start, after.start) || isSetInBetween(after, now, plan);
    return toChangedSide(!isSame(before.to, after.to), !isSameStart);
  };
  const more = now.differences.flatMap((fact): readonly ExtraField[] => {
    const other = earlier?.get(fact.path);
    if (other === undefined) return [{ difference: fact.difference, changed: findSideOfFact(fact, approved) }];
    const changed = findSide(other, fact);
    const { from, to } = other;
    return changed === undefined ? [] : [{ difference: fact.difference, other: { from, to }, changed }];
  });
  const less = approved.differences.flatMap((fact): readonly ExtraField[] => {
    const other = later?.get(fact.path);
    if (other === undefined) return [{ difference: fact.difference, changed: findSideOfFact(fact, now) }];
    // An edited plan may have a path twice.
    const changed = earlier?.get(fact.path) === fact ? undefined : findSide(fact, other);
    const { from, to } = other;
    return changed === undefined ? [] : [{ difference: fact.difference, other: { from, to }, changed }];
  });
  return { more, less };
}

/** Whether the approved plan sets the old value temporarily: an interrupted apply of it may have left that value. */
function isSetInBetween(
  { path, from }: Pick<Fact, 'path' | 'from'>,
  { change, kind }: Facts,
  { writes }: Plan,
): boolean {
  const field = Object.hasOwn(kind.fields, path) ? kind.fields[path] : undefined;
  if (field === undefined) return false;
  return writes.some(
    ({ purpose, address, body }) =>
      purpose === 'vacate' &&
      address === change.address &&
      isSame(withoutHiddenNumbers(normalizeField(field, body?.[path])), normalizeField(field, from)),
  );
}

/** Compares what is outside of the spec: the ids in the path of the requests, and the members with the rule `equal`. */
function compareOutsideOfSpec(approved: Facts, now: Facts, run: Comparison): readonly ExtraField[] {
  const [earlier, later] = [withComparableIgnored(approved, run.earlierNames), withComparableIgnored(now, run.names)];
  const isDesired = earlier.desired !== undefined || later.desired !== undefined;
  const memberDifferences = isDesired ? listMemberDifferences(CHANGE_MEMBERS, earlier, later) : [];
  const isCreate = earlier.action === 'create' || later.action === 'create';
  const ids = isCreate ? [] : listIdDifferences(earlier, later, now.kind);
  // The manifest names an attached or adopted resource by its id. Any other resource is found by its mark.
  const isNamed = now.kind.role === 'attached' || later.action === 'adopt';
  const shown = new Set([...earlier.differences, ...later.differences].map(({ path }) => path));
  const toField = (changed: ChangedSide) => {
    return ({ name: path, before, after }: MemberDifference): ExtraField => ({
      difference: { path, to: after, origin: 'manifest', forcesReplace: false },
      other: before === undefined ? {} : { to: before },
      changed,
    });
  };
  const fields = [...ids.map(toField(isNamed ? 'manifests' : 'live')), ...memberDifferences.map(toField('manifests'))];
  return fields.filter(({ difference }) => !shown.has(difference.path));
}

/** The change, with the paths that are left to others as the other plan writes them. */
function withComparableIgnored({ change, kind }: Facts, names: IdNames): Change {
  if (change.ignored === undefined) return change;
  const toName = ({ value: id }: { readonly value: string }): string => names.get(id) ?? id;
  return { ...change, ignored: change.ignored.map((path) => mapReferencesInIgnoredPath(kind, path, toName)) };
}

function listIdDifferences(earlier: Change, later: Change, kind: Kind): readonly MemberDifference[] {
  const names = kind.role === 'attached' ? listPathIdNamesOfKind(kind) : [];
  const find = (name: string, { live }: Change): Json | undefined => (name === 'id' ? live?.id : live?.spec?.[name]);
  return ['id', ...names]
    .map((name) => ({ name, before: find(name, earlier), after: find(name, later) }))
    .filter(({ before, after }) => !isSame(before, after));
}

/** Compares the hidden values that the manifests have in clear. Digests with different salts cannot be compared. */
function compareHiddenValues(
  earlier: Change,
  later: Change,
  { before, after, evidence }: Comparison,
): readonly ExtraField[] {
  const [from, to] = [earlier.hiddenDigest, later.hiddenDigest];
  const difference = { path: HIDDEN_VALUES_PATH, origin: 'manifest', forcesReplace: false } as const;
  const hasOneSalt = evidence !== undefined || before.hiddenSalt === after.hiddenSalt;
  if (from !== undefined && to !== undefined && !hasOneSalt) return [{ difference, other: {}, isUncompared: true }];
  const isSameValue =
    evidence !== undefined && later.desired !== undefined
      ? isHiddenAsApproved(earlier, evidence.hiddenDigests)
      : from === to;
  return isSameValue ? [] : [{ difference, other: {}, changed: 'manifests' }];
}

/**
 * The dangers that the other change does not show for the same path. Values are not compared: they come from
 * differences, which are compared, or from the number of other writes. A create that is left of a replace has dangers
 * of its own, which follow from the same fields.
 */
function listExtraDangers(change: Change, other: Change): readonly Danger[] {
  if (change.action !== other.action && isCreation(change)) return [];
  const knownDangers = other.dangers ?? [];
  return (change.dangers ?? []).filter(
    ({ danger, path }) => !knownDangers.some((one) => one.danger === danger && one.path === path),
  );
}

/**
 * Whether a danger of the approved plan may be gone in the later one although the rest of the change is the same: there
 * is no gap any more, or the apply has begun to change the field.
 */
function mayBeGone({ danger, path }: Danger, later: Facts, plan: Plan): boolean {
  return (
    danger === 'gap' || later.change.differences.some((one) => one.path === path && isSetInBetween(one, later, plan))
  );
}

/** Which side differs if only one plan has a fact of a resource that both change. */
function findSideOfFact(
  { path, start, to, difference: { field, origin } }: Fact,
  other: Facts,
): ChangedSide | undefined {
  if (field === undefined || other.change.live?.spec === undefined) return toSideOfOrigin(origin);
  const value = findValueAt(other.live, path);
  return toChangedSide(!isSame(value, to), !isSame(value, start)) ?? toSideOfOrigin(origin);
}

function toSideOfOrigin(origin: Difference['origin']): ChangedSide | undefined {
  if (origin === 'both') return 'both';
  return toChangedSide(origin === 'manifest', origin === 'drift');
}

/**
 * Which side differs if only one plan changes a resource in this way: whether it has a manifest, or which resource is
 * live. If both plans agree on that, the origins of the differences tell.
 */
function findSideOfWholeChange(change: Change, other: Change | undefined): ChangedSide | undefined {
  const hasManifest = (one: Change | undefined): boolean => one !== undefined && !isRemoval(one);
  const isOther = other === undefined ? isRemoval(change) : change.live?.id !== other.live?.id;
  const side = toChangedSide(hasManifest(change) !== hasManifest(other), isOther);
  if (side !== undefined) return side;
  const origins = change.differences.map(({ origin }) => toSideOfOrigin(origin));
  const has = (one: ChangedSide) => origins.some((origin) => origin === one || origin === 'both');
  // A replace without differences is due because of what is live, such as its age.
  return toChangedSide(has('manifests'), has('live') || (change.action === 'replace' && origins.length === 0));
}

/** A part of a plan that the other plan lacks. Neither: the later plan does the rest of it. */
interface DividedChange {
  readonly done?: DoneChange | undefined;
  readonly less?: ExtraChange | undefined;
}

/** Divides what the approved plan contains and the later plan does not: what is done, and what is missing. */
function divideMissing(extra: ExtraChange, run: Comparison, evidence: IndexedEvidence): DividedChange {
  const { change, isWhole } = extra;
  const { action, live, address } = change;
  const stillLive = live && evidence.resources.get(live.id);
  const later = live && evidence.changes.get(live.id);
  const done = { done: toDone(change) };
  const missing = () => ({
    less: isWhole ? { ...extra, changed: findSideOfMissingChange(extra, run, evidence) } : extra,
  });
  switch (action) {
    case 'no-op':
    case 'withhold':
      return {};
    case 'delete':
      return stillLive === undefined ? done : missing();
    case 'release':
      return stillLive !== undefined && stillLive.mark === undefined ? done : missing();
    case 'create':
    case 'replace':
      if (evidence.withheld.has(address)) return {};
      // Fields of a replace that both plans have may be live already, because something else requires the replace.
      if (action === 'replace' && !isWhole) return divideFields(extra, run, evidence) ?? missing();
      if (!isCreated(change, run, evidence)) return missing();
      if (stillLive === undefined) return done;
      if (later?.action === 'delete' || isRestOfRetirement(later, change)) return {};
      return isKeptByReplace(later, change) ? done : missing();
    case 'update':
    case 'adopt':
    case 'take-over':
      // An old resource only gets another mark.
      if (change.retiresAt !== undefined && later?.action === 'no-op' && later.retiresAt !== undefined) return done;
      return divideFields(extra, run, evidence) ?? missing();
    default:
      return assertNever(action);
  }
}

function toDone(change: Change, paths?: readonly string[]): DoneChange {
  const action = change.action as ChangingAction; // a no-op is never missing
  return { address: formatChangeAddress(change), action, paths };
}

/** Whether a resource that the approved plan creates is live, has the mark of the stack, and is as approved. */
function isCreated(change: Change, { known, names }: Comparison, evidence: IndexedEvidence): boolean {
  const decision = evidence.decisions.get(change.address);
  const { live, by } = decision?.pair ?? {};
  const isKept = decision?.action === 'no-op' || decision?.action === 'update';
  if (!isKept || live === undefined || by !== 'mark' || known.has(live.id)) return false;
  const created = toFacts(toCreation(decision), names);
  const { protect = false, validForMs } = created.change;
  const isSameLifecycle = protect === (change.protect ?? false) && validForMs === change.validForMs;
  return isSameLifecycle && hasSameSpec(change, created, evidence);
}

/** The creation of what a decision is about. */
function toCreation(decision: ChangeDecision): Change {
  return createChange({ ...decision, action: 'create' });
}

/** Whether the manifest asks for what was approved. Compares everything but what is left to others. */
function hasSameSpec(change: Change, { desired }: Facts, { hiddenDigests }: IndexedEvidence): boolean {
  const approved = omitIgnoredParts(change.ignored ?? [], toFacts(change, NO_NAMES).desired);
  const asked = omitIgnoredParts(change.ignored ?? [], desired);
  return isSame(asked, approved) && isHiddenAsApproved(change, hiddenDigests);
}

/**
 * Divides the facts of an update, an adoption, a take-over, or a replace that both plans have. A fact is done if the
 * manifests still ask for its new value, and nothing differs from it any more. `undefined`: nothing is done.
 */
function divideFields(
  extra: ExtraChange,
  { before, names }: Comparison,
  evidence: IndexedEvidence,
): DividedChange | undefined {
  const { change, isWhole } = extra;
  const decision = evidence.decisions.get(change.address);
  if (decision?.form === undefined || decision.pair.live?.id !== change.live?.id) return undefined;
  const decided = toFacts(toCreation(decision), names);
  const outsideOfSpec = new Map<string, Json | undefined>([
    ['mark.stack', before.stack],
    ['mark.name', getAddressName(change.address)],
    ['lifecycle.protect', decision.pair.desired?.lifecycle.protect],
  ]);
  const isAsked = ({ path, to, difference: { field } }: Fact): boolean =>
    isSame(field === undefined ? outsideOfSpec.get(path) : findValueAt(decided.desired, path), to);
  const isOpen = ({ path }: Fact): boolean => decided.differences.some((one) => isSamePart(one.path, path));
  const fields = new Map(extra.fields.map((field) => [field.difference, field]));
  const facts = toFacts(change, NO_NAMES).differences.filter(({ difference }) => isWhole || fields.has(difference));
  const isApproved = isHiddenAsApproved(change, evidence.hiddenDigests);
  const applied = facts.filter((fact) => isApproved && !isOpen(fact) && isAsked(fact));
  if (applied.length === 0) return undefined;
  const open = facts.filter((fact) => !applied.includes(fact));
  const paths = applied.map(({ difference }) => difference.path);
  const done = toDone(change, isWhole && open.length === 0 ? undefined : paths);
  if (open.length === 0) return { done };
  const missing = open.map((fact) => ({
    ...fields.get(fact.difference),
    difference: fact.difference,
    changed: toChangedSide(!isAsked(fact), !isSame(findValueAt(decided.live, fact.path), fact.start)),
  }));
  return { done, less: { ...extra, isWhole: false, fields: missing, dangers: [] } };
}

/** Which side keeps a whole change from being done. */
function findSideOfMissingChange(
  { change, changed }: ExtraChange,
  { names }: Comparison,
  evidence: IndexedEvidence,
): ChangedSide | undefined {
  if (changed === 'run') return changed;
  const decision = evidence.decisions.get(change.address);
  const described = decision?.form === undefined ? undefined : decision;
  if (change.duplicateOf !== undefined) return 'live';
  if (isRemoval(change)) return described === undefined ? 'live' : 'manifests';
  const isAsked = described !== undefined && hasSameSpec(change, toFacts(toCreation(described), names), evidence);
  const owned = decision?.pair.by === 'adopt' ? undefined : decision?.pair.live?.id;
  return toChangedSide(!isAsked, change.action !== 'adopt' && owned !== change.live?.id) ?? changed;
}

/**
 * Turns the replacement of an abandoned resource back into the creation that the approved plan shows. An interrupted
 * apply of that plan created the resource, and nothing shows that it delivered the token. If the resource is protected,
 * the replacement needs a consent that the creation did not need. That is no difference: the guard asks for it.
 */
function restoreAbandonedCreations(plan: Plan, approved: Plan): Plan {
  const known = listKnownIds(approved);
  const creations = new Map<Address, CreateWrite>(
    approved.writes.filter(isCreate).map((write) => [write.address, write]),
  );
  const isAbandoned = ({ address, kind, action, live, duplicateOf, differences }: Change): boolean => {
    const mark = live?.mark;
    const isRenewed =
      duplicateOf === undefined ? action === 'replace' && differences.length === 0 : action === 'delete';
    const isOurs = hasMarkOf({ mark }, { stack: plan.stack, name: getAddressName(address) });
    // Another credential may be in use: it has other values than the creation writes.
    const written = Object.entries(creations.get(address)?.mark.fields ?? {});
    const isAsCreated = creations.has(address) && written.every(([name, digest]) => mark?.fields[name] === digest);
    const isNew = !known.has(live?.id ?? '');
    return isRenewed && isNew && isAsCreated && isOurs && isTokenUndelivered(getKind(kind), { mark });
  };
  const abandoned = plan.changes.filter(isAbandoned);
  const addresses = new Set<string>(abandoned.map(({ address }) => address));
  const changes = plan.changes.flatMap((change): readonly Change[] => {
    if (!abandoned.includes(change)) return [change];
    const { live: _, reason: __, ...creation } = change;
    const created = { ...plan, changes: [{ ...creation, action: 'create' as const }] };
    return change.duplicateOf === undefined ? computeChangesWithDangers(created) : [];
  });
  const isOfAbandoned = ({ rule, addresses: of }: SafetyViolation): boolean =>
    rule === 'protect' && of.every((address) => addresses.has(address));
  return { ...plan, changes, violations: plan.violations.filter((one) => !isOfAbandoned(one)) };
}
