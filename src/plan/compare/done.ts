import { diffSpecs } from '../../kinds/diff.ts';
import { omitIgnoredParts } from '../../kinds/ignored-parts.ts';
import { isTokenUndelivered } from '../../kinds/precedence.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { getAddressName } from '../../model/address.ts';
import { type Change, type ChangingAction, type Difference, formatChangeAddress } from '../../model/change.ts';
import { parsePath, pathsOverlap } from '../../model/field-path.ts';
import type { Json } from '../../model/json.ts';
import { isResourceOf } from '../../model/ownership.ts';
import {
  type ChangedSide,
  type DoneChange,
  type ExtraChange,
  type ExtraField,
  type HiddenDigests,
  isHiddenAsApproved,
  listKnownIds,
  type Plan,
  toChangedSide,
} from '../../model/plan.ts';
import type { LiveResource, LiveState } from '../../model/state.ts';
import { createChange } from '../create-change.ts';
import { findCrossStackReference } from '../cross-stack-references.ts';
import type { ChangeDecision } from '../decide.ts';
import {
  collectIdNames,
  findValueAt,
  type IdNames,
  isSame,
  toComparableDifference,
  toComparableSpec,
} from './comparable.ts';

/** What a plan was made from. It shows which changes of an earlier plan are live already. */
export interface PlanEvidence {
  readonly decisions: readonly ChangeDecision[];
  readonly live: LiveState;
  /** Digests of what the manifests have, with the salt of the earlier plan. Absent: no manifest has hidden values. */
  readonly hiddenDigests?: HiddenDigests | undefined;
}

/** An approved plan beside what is live now. */
interface ApprovalState {
  readonly approved: Plan;
  readonly after: Plan;
  /** All resources and modules that were read, by id. */
  readonly live: ReadonlyMap<string, LiveResource>;
  /** The decisions on the resources that are kept, by address. */
  readonly decisions: ReadonlyMap<string, ChangeDecision>;
  /** Maps ids of now to the addresses by which the approved plan refers to the same resources. */
  readonly names: IdNames;
  readonly hiddenDigests: HiddenDigests;
}

export function createApprovalState(approved: Plan, after: Plan, evidence: PlanEvidence): ApprovalState {
  const { resources, attachments } = evidence.live;
  const kept = evidence.decisions.filter(({ pair }) => pair.by !== 'duplicate' && pair.by !== 'retirement');
  return {
    approved,
    after,
    live: new Map([...[...resources.values()].flat(), ...attachments.values()].map((one) => [one.id, one])),
    decisions: new Map(kept.map((decision) => [decision.pair.address, decision])),
    names: new Map([...collectIdNames(after, approved), ...listAwaitedIds(approved, evidence.live)]),
    hiddenDigests: evidence.hiddenDigests ?? new Map(),
  };
}

/** The ids of resources of other stacks that did not exist when the plan was approved, with their addresses in it. */
function listAwaitedIds({ crossStackReferences = {} }: Plan, live: LiveState): readonly (readonly [string, string])[] {
  return Object.entries(crossStackReferences).flatMap(([address, reference]) => {
    const id = findCrossStackReference(reference, live)?.id;
    return id === undefined ? [] : [[id, address] as const];
  });
}

/**
 * The addresses of `--rotate` whose rotation in the approved plan is done, whoever did it: the resource was replaced by
 * one that the plan did not know, or the plan itself has the address in `--rotate` and does not replace it any more.
 * Otherwise each apply of the plan would rotate them again.
 */
export function listFinishedRotations(
  approved: Plan,
  { resources }: LiveState,
  rotate: readonly string[],
): readonly string[] {
  const { changes, stack, options } = approved;
  const known = listKnownIds(approved);
  const isFinished = (one: LiveResource, { kind, address }: Change): boolean =>
    isResourceOf(one, { stack, name: getAddressName(address) }) &&
    !known.has(one.id) &&
    !isTokenUndelivered(getKind(kind), one);
  return rotate.filter((address) => {
    const replaced = changes.find((change) => change.address === address && change.action === 'replace');
    if (replaced === undefined) return options.rotate.includes(address);
    return resources.get(replaced.kind)?.some((one) => isFinished(one, replaced)) === true;
  });
}

/** The ids of the resources that a plan deletes. */
export function listDeletedIds({ changes }: Pick<Plan, 'changes'>): ReadonlySet<string> {
  return new Set(changes.flatMap(({ action, live }) => (action === 'delete' && live !== undefined ? [live.id] : [])));
}

/** Divides what the approved plan contains and the later plan does not: what is done, and what is missing. */
export function divideMissing(
  missing: readonly ExtraChange[],
  state: ApprovalState,
): { readonly less: readonly ExtraChange[]; readonly done: readonly DoneChange[] } {
  const divided = missing.map((extra) => divideChange(extra, state));
  return { less: divided.flatMap(({ less }) => less ?? []), done: divided.flatMap(({ done }) => done ?? []) };
}

/** A change of the approved plan. Neither part: the later plan does the rest of it. */
interface DividedChange {
  readonly done?: DoneChange;
  readonly less?: ExtraChange;
}

function divideChange(extra: ExtraChange, state: ApprovalState): DividedChange {
  const { change } = extra;
  switch (change.action) {
    case 'no-op':
    case 'withhold':
      return {};
    case 'delete':
      return state.live.has(change.live?.id ?? '') ? toMissing(extra, state) : { done: toDone(change) };
    case 'release':
      return isReleased(change, state) ? { done: toDone(change) } : toMissing(extra, state);
    case 'create':
    case 'replace':
      return isWithheld(change, state) ? {} : divideCreation(extra, state);
    default:
      if (isRecordedRetirement(change, state)) return { done: toDone(change) };
      return divideFields(extra, state);
  }
}

/** Whether the service refused what an approved replace asks for, so that nothing more is sent. The later plan says so. */
function isWithheld({ address }: Change, { after }: ApprovalState): boolean {
  return after.changes.some((one) => one.address === address && one.action === 'withhold');
}

/** Whether a change of an old resource, which only changes its mark, is live. */
function isRecordedRetirement({ retiresAt, live }: Change, { after }: ApprovalState): boolean {
  if (retiresAt === undefined) return false;
  return after.changes.some(
    (one) => one.action === 'no-op' && one.retiresAt !== undefined && one.live?.id === live?.id,
  );
}

function toMissing(extra: ExtraChange, state: ApprovalState): DividedChange {
  return { less: extra.isWhole ? { ...extra, changed: findSideOfMissingChange(extra, state) } : extra };
}

function isReleased({ live }: Change, state: ApprovalState): boolean {
  const found = state.live.get(live?.id ?? '');
  return found !== undefined && found.mark === undefined;
}

/**
 * If the later plan only has to delete the old resource of a replace, the replace is neither done nor missing. Fields of
 * a replace that both plans have may be live already, because something else requires the replace.
 */
function divideCreation(extra: ExtraChange, state: ApprovalState): DividedChange {
  const { change, isWhole } = extra;
  if (!isWhole && change.action === 'replace') return divideFields(extra, state);
  // If the later plan creates it too, nothing is live yet.
  if (!isCreated(change, state)) return toMissing(extra, state);
  const id = change.live?.id;
  if (id === undefined || !state.live.has(id)) return { done: toDone(change) };
  const old = state.after.changes.find(({ live }) => live?.id === id);
  if (old?.action === 'delete' || isRestOfRetirement(old, change)) return {};
  return isKeptByReplace(old, change) ? { done: toDone(change) } : toMissing(extra, state);
}

/** Whether the later plan only has to record that the old resource of an approved replace retires. */
export function isRestOfRetirement(old: Change | undefined, replace: Change): boolean {
  return isKeptByReplace(old, replace) && old?.action === 'update';
}

/** Whether an approved replace keeps its old resource, and the new resource retires it. */
function isKeptByReplace(old: Change | undefined, { keepOldForMs, live }: Change): boolean {
  return keepOldForMs !== undefined && old?.retiresAt !== undefined && old.live?.id === live?.id;
}

/** Whether a resource that the approved plan creates is live, has the mark of the stack, and is as approved. */
function isCreated(change: Change, state: ApprovalState): boolean {
  const decision = state.decisions.get(change.address);
  const { live, by } = decision?.pair ?? {};
  const isKept = decision?.action === 'no-op' || decision?.action === 'update';
  if (!isKept || live === undefined || by !== 'mark' || listKnownIds(state.approved).has(live.id)) return false;
  const { protect = false, validForMs, ...now } = toCreation(decision);
  const isSameLifecycle = protect === (change.protect ?? false) && validForMs === change.validForMs;
  return isSameLifecycle && hasSameSpec(change, now, state);
}

/** The creation of what a decision is about. */
function toCreation(decision: ChangeDecision): Change {
  return createChange({ ...decision, action: 'create' }, []);
}

/** Compares everything but what is left to others. */
function hasSameSpec(
  approvedChange: Change,
  { desired: later = {} }: Pick<Change, 'desired'>,
  state: ApprovalState,
): boolean {
  const { kind: name, desired = {}, ignored = [] } = approvedChange;
  const { names } = state;
  const kind = getKind(name);
  const approved = omitIgnoredParts(ignored, toComparableSpec(kind, desired, NO_NAMES));
  const now = omitIgnoredParts(ignored, toComparableSpec(kind, later, names));
  const isSame = Object.keys(now).every((field) => field in approved) && diffSpecs(kind, now, approved).length === 0;
  return isSame && isHiddenAsApproved(approvedChange, state.hiddenDigests);
}

/** Divides the fields of an update, an adoption, a take-over, or a replace that both plans have. */
function divideFields(extra: ExtraChange, state: ApprovalState): DividedChange {
  const { change, isWhole } = extra;
  const fields = isWhole ? change.differences.map((difference): ExtraField => ({ difference })) : extra.fields;
  const applied = fields.filter(({ difference }) => isApplied(change, difference, state));
  if (applied.length === 0) return toMissing(extra, state);
  const open = fields.filter((field) => !applied.includes(field));
  const paths = applied.map(({ difference }) => difference.path);
  const done = toDone(change, isWhole && open.length === 0 ? undefined : paths);
  if (open.length === 0) return { done };
  const shown = open.map(({ difference, ...field }) => ({
    ...field,
    difference,
    changed: findSideOfMissingField(change, difference, state),
  }));
  return { done, less: { ...extra, isWhole: false, fields: shown, dangers: [] } };
}

/** Whether the manifests still ask for the new value of a difference, and it is live. */
function isApplied(change: Change, difference: Difference, state: ApprovalState): boolean {
  const decision = findDecision(change, state);
  if (decision === undefined || !isHiddenAsApproved(change, state.hiddenDigests)) return false;
  const kind = getKind(change.kind);
  const { path, to } = toComparableDifference(kind, difference, NO_NAMES);
  const isOpen = decision.differences.some((one) =>
    isSamePart(toComparableDifference(kind, one, state.names).path, path),
  );
  return !isOpen && isSame(findDesiredValue(change, { decision, difference }, state), to);
}

/** The decision on the same live resource. `undefined` if the manifests do not describe it any more. */
function findDecision({ address, live }: Change, { decisions }: ApprovalState): ChangeDecision | undefined {
  const decision = decisions.get(address);
  return decision?.form !== undefined && decision.pair.live?.id === live?.id ? decision : undefined;
}

interface DecidedDifference {
  readonly decision: ChangeDecision;
  readonly difference: Difference;
}

/** The value that the manifests ask for now at the path of a difference. */
function findDesiredValue(
  change: Change,
  { decision: { pair, form }, difference }: DecidedDifference,
  { approved, names }: ApprovalState,
): Json | undefined {
  const kind = getKind(change.kind);
  const { field, path } = toComparableDifference(kind, difference, NO_NAMES);
  if (field !== undefined) return findValueAt(toComparableSpec(kind, form?.normal ?? {}, names), path);
  if (path === 'mark.stack') return approved.stack;
  if (path === 'mark.name') return getAddressName(change.address);
  return path === 'lifecycle.protect' ? pair.desired?.lifecycle.protect : undefined;
}

/** Which side keeps a field from being done. */
function findSideOfMissingField(change: Change, difference: Difference, state: ApprovalState): ChangedSide | undefined {
  const decision = findDecision(change, state);
  if (decision === undefined) return 'manifests';
  const kind = getKind(change.kind);
  const { from, to, path } = toComparableDifference(kind, difference, NO_NAMES);
  const live = findValueAt(toComparableSpec(kind, decision.pair.live?.spec ?? {}, state.names), path);
  const desired = findDesiredValue(change, { decision, difference }, state);
  return toChangedSide(!isSame(desired, to), !isSame(live, from));
}

/** Which side keeps a whole change from being done. */
function findSideOfMissingChange({ change, changed }: ExtraChange, state: ApprovalState): ChangedSide | undefined {
  const decision = state.decisions.get(change.address);
  const isDescribed = decision?.form !== undefined;
  if (change.duplicateOf !== undefined) return 'live';
  if (change.action === 'delete' || change.action === 'release') return isDescribed ? 'manifests' : 'live';
  const isAsked = isDescribed && hasSameSpec(change, toCreation(decision), state);
  const owned = decision?.pair.by === 'adopt' ? undefined : decision?.pair.live?.id;
  return toChangedSide(!isAsked, change.action !== 'adopt' && owned !== change.live?.id) ?? changed;
}

const NO_NAMES: IdNames = new Map();

function toDone(change: Change, paths?: readonly string[]): DoneChange {
  const action = change.action as ChangingAction; // a no-op is never missing
  return { address: formatChangeAddress(change), action, paths };
}

/** Whether two paths are the same, or one is a part of the other. */
function isSamePart(left: string, right: string): boolean {
  return pathsOverlap(parsePath(left) ?? [left], parsePath(right) ?? [right]);
}
