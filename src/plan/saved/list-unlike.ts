import { mapReferences } from '../../kinds/references.ts';
import type { CreatedIds } from '../../kinds/request-body.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import type { Address } from '../../model/address.ts';
import { type Change, formatChangeAddress } from '../../model/change.ts';
import { isSameJson, type Json, type JsonObject, toCanonicalJson } from '../../model/json.ts';
import type { Plan, PlannedFile } from '../../model/plan.ts';
import type { ExtraChange, ExtraField } from '../../model/plan-comparison.ts';
import { comparePlans, toComparableDifference } from '../compare/compare-plans.ts';
import type { PlanCheck } from './check-plan.ts';
import { countAsCreated, resolveSpec } from './finder.ts';
import { listSent, mapSavedChanges, type SavedChange } from './saved-change.ts';

/** What is known of a plan file before it is compared. */
interface FileCheck extends Pick<PlanCheck, 'done' | 'met' | 'ids'> {
  /** The plan as it was before anything of the file, and of those that are applied with it, was done. Absent: nothing was. */
  readonly before?: Plan | undefined;
}

/**
 * What a plan file says otherwise than the plan that was made again from the manifests and from what is live, a sentence each; nothing: both are the same.
 * The file may be half applied: then what is done already is in the file only, and what it says of the whole (its rehearsal, its diagnostics, its violations) is
 * held against the plan from before that. Nothing depends on it: the plan that was made again is applied.
 */
export function listUnlike(saved: Plan, made: Plan, check: FileCheck): readonly string[] {
  const { plan: again, renewed } = countAsCreated(made, saved);
  const file = withAwaitedIds(saved, check.ids);
  const { mismatch, more, less } = comparePlans(file, again);
  if (mismatch !== undefined) return [`${mismatch}`];
  const [shown, deleted] = [mapSavedChanges(file), { file: toDeletes(file), again: toDeletes(again) }];
  const both = { shown, again, deleted: deleted.again, check, renewed };
  const left = less.changes.filter((extra) => !isDone(extra, both));
  const appeared = less.files.filter((one) => !isWritten(one, again));
  // What waited for another stack could not be tried; now it can.
  const isBegun = renewed.size > 0 || check.done.size > 0 || left.length < less.changes.length || file !== saved;
  const lines = [
    ...more.changes
      .filter(({ change }) => !isDeletedIn(deleted.file, change))
      .flatMap((extra) => describeExtraChange(extra, FROM_MANIFESTS)),
    ...left.flatMap((extra) => describeExtraChange(extra, FROM_FILE)),
    ...more.files.map(({ path }) => `${path}: the manifests write it, and the plan file does not`),
    ...appeared.map(({ path }) => `${path}: the plan file writes it, and the manifests do not`),
  ];
  if (lines.length > 0) return lines;
  const before = check.before ?? again;
  const whole = describeClaims(listFindings(saved), listFindings(before));
  if (!isBegun) return [...describeClaims(listClaims(saved), listClaims(again)), ...whole];
  const open = new Set(
    [...shown.values()].filter((one) => !renewed.has(one.change.address) && isUntouched(one, check)).map(toShown),
  );
  const listOpen = ({ changes }: Plan, others: Deletes): readonly string[] =>
    changes
      .filter((change) => open.has(formatChangeAddress(change)) && !isDeletedIn(others, change))
      .flatMap(describeClaim)
      .sort();
  const scope = { ...saved, takeOver: listOpenTakeOvers(file, again, open) };
  return [
    ...describeClaims(
      { ...listScope(scope), 'the notes on changes': listOpen(file, deleted.again) },
      { ...listScope(again), 'the notes on changes': listOpen(again, deleted.file) },
    ),
    ...whole,
  ];
}

/** The stacks to take over from, less those that have handed over what the file takes: nothing of that is in the manifests' plan any more. */
function listOpenTakeOvers(file: Plan, again: Plan, open: ReadonlySet<string>): readonly string[] {
  const taken = file.changes
    .filter((change) => !open.has(formatChangeAddress(change)))
    .map(({ live }) => live?.mark?.stack);
  return file.takeOver.filter((stack) => again.takeOver.includes(stack) || !taken.includes(stack));
}

/** Whether an earlier apply of the file did nothing for a change. */
function isUntouched({ change, writes }: SavedChange, { done, met }: Pick<PlanCheck, 'done' | 'met'>): boolean {
  if (met.has(formatChangeAddress(change))) return false;
  return (change.action === 'no-op') === (writes.length === 0) && writes.every(({ id }) => !done.has(id));
}

const toShown = ({ change }: SavedChange): string => formatChangeAddress(change);

/** The plan with the ids of what other stacks have created since it was made. */
function withAwaitedIds(plan: Plan, ids: CreatedIds): Plan {
  const awaited = new Set<string>(Object.keys(plan.awaitedReferences ?? {}));
  const known = new Map([...ids].filter(([address]) => awaited.has(address)));
  if (known.size === 0) return plan;
  const changes = plan.changes.map((change): Change => {
    const kind = getKind(change.kind);
    const { desired, differences } = change;
    return {
      ...change,
      ...(desired !== undefined && { desired: mapReferences(kind, desired, ({ value }) => known.get(value) ?? value) }),
      differences: differences.map((difference) => toComparableDifference(kind, difference, known)),
    };
  });
  return { ...plan, changes };
}

interface Both {
  /** What the file shows. */
  readonly shown: ReadonlyMap<Change, SavedChange>;
  readonly again: Plan;
  /** By that plan. */
  readonly deleted: Deletes;
  readonly check: FileCheck;
  readonly renewed: ReadonlySet<Address>;
}

/** Whether what only the file does was done by an earlier apply of it. */
function isDone({ change, other, fields }: ExtraChange, { shown, again, deleted, check, renewed }: Both): boolean {
  const saved = shown.get(change);
  const open = saved?.writes.filter(({ id }) => !check.done.has(id)) ?? [];
  if (saved === undefined || open.length === 0) return saved !== undefined && saved.writes.length > 0;
  if (other !== undefined && fields.length > 0) {
    const desired = resolveSpec(change.kind, change.desired ?? {}, check.ids);
    return fields.every(({ difference: { path, field = path } }) =>
      // A value may have been given up before another is taken.
      [desired[field], ...listSent(saved, field)].some((value) =>
        isSameJson(other.live?.spec?.[field] ?? null, value ?? null),
      ),
    );
  }
  if (isDeletedIn(deleted, change)) return true;
  // Only the mark may lack something then, and the manifests do not ask for it.
  if (other === undefined && check.met.has(formatChangeAddress(change))) return true;
  // Of a replace that broke off, the rest is what the manifests ask for too.
  const isBegun = open.length < saved.writes.length || renewed.has(change.address);
  if (change.action !== 'replace' || !isBegun) return false;
  return open.every(({ type, address }) =>
    again.writes.some((write) => write.type === type && write.address === address),
  );
}

/** What a plan deletes, by id. */
type Deletes = ReadonlyMap<string, Change>;

function toDeletes({ changes }: Plan): Deletes {
  return new Map(
    changes.flatMap((one) => (one.action === 'delete' && one.live !== undefined ? [[one.live.id, one]] : [])),
  );
}

/** Whether a change is a delete that another plan has under another name: of several with one mark, the last to go is no duplicate any more. */
function isDeletedIn(deletes: Deletes, change: Change): boolean {
  const other = change.action === 'delete' ? deletes.get(change.live?.id ?? '') : undefined;
  return other?.address === change.address && formatChangeAddress(other) !== formatChangeAddress(change);
}

/** A file that a plan made again need not write: it has the value of a resource that the plan leaves as it is. */
function isWritten({ address }: PlannedFile, { changes }: Plan): boolean {
  return changes.some((change) => change.address === address && change.action === 'no-op');
}

/** From which side a change is looked at. */
interface Direction {
  readonly own: string;
  readonly other: string;
}

const FROM_MANIFESTS: Direction = { own: 'the manifests', other: 'the file' };
const FROM_FILE: Direction = { own: 'the file', other: 'the manifests' };

function describeExtraChange(
  { change, other, fields, dangers, notes }: ExtraChange,
  direction: Direction,
): readonly string[] {
  const address = formatChangeAddress(change);
  const { own, other: theirs } = direction;
  if (other === undefined || (other.action !== change.action && fields.length === 0))
    return [`${address}: ${change.action} by ${own}, ${other?.action ?? 'nothing'} by ${theirs}`];
  return [
    ...fields.map((field) => `${address}: ${describeField(field, direction)}`),
    ...dangers.map(({ danger }) => `${address}: the danger "${danger}" is shown by ${own} only`),
    ...notes.map((note) => `${address}: "${note}" is in ${own} only`),
  ];
}

function describeField({ difference, other }: ExtraField, { own, other: theirs }: Direction): string {
  const { path } = difference;
  if (other === undefined) return `${path} is changed by ${own} only, to ${toShort(difference.to)}`;
  const isOfStart = isSameJson(difference.to ?? null, other.to ?? null);
  const [ours, others] = isOfStart ? [difference.from, other.from] : [difference.to, other.to];
  return `${path} is ${isOfStart ? 'changed from ' : ''}${toShort(ours)} by ${own}, ${toShort(others)} by ${theirs}`;
}

/** Enough of a value to recognise it. */
const MAX_SHOWN = 200;

function toShort(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const text = toCanonicalJson(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}

type Claims = Readonly<Record<string, Json>>;

/** What a plan says of its scope, which is the same however far it is applied. */
function listScope({ targets, takeOver, settings: { guard, kinds }, ownerLabel }: Plan): Claims {
  return {
    'the targets': [...targets].sort(),
    'the stacks to take over from': [...takeOver].sort(),
    'the guard': { ...guard },
    'the kinds in use': kinds === undefined ? null : [...kinds].sort(),
    'the owner label': ownerLabel ?? null,
  };
}

/** What others refer to meanwhile is checked by that, and nothing that is sent depends on it. */
function toComparable({ unchecked: _, ...rehearsal }: NonNullable<Plan['rehearsal']>): JsonObject {
  return rehearsal;
}

/** What a plan says besides what it does and what was found: a person approved it for that, too. */
function listClaims(plan: Plan): Claims {
  const { changes, externals, awaitedReferences = {}, suppressedDeletes = [] } = plan;
  const named = Object.entries(externals).filter(([address]) => !Object.keys(awaitedReferences).includes(address));
  const notes = changes.flatMap((change) => describeClaim(change));
  return {
    ...listScope(plan),
    'the names of ids': Object.fromEntries(named),
    'the cross-stack references': Object.entries(awaitedReferences)
      .map(([address, { stack, resource }]) => `${address} is ${resource} of the stack ${stack}`)
      .sort(),
    'the kept resources': suppressedDeletes.map(({ address, id }) => `${address} ${id}`).sort(),
    'the notes on changes': notes.sort(),
  };
}

/** What was found of a plan as a whole, when it was made. */
function listFindings({ diagnostics, violations, rehearsal }: Plan): Claims {
  return {
    'the diagnostics': diagnostics
      .map(({ code, severity, message }) => toTimeless(`${severity} ${code}: ${message}`))
      .sort(),
    'the violated safety rules': violations.map(({ rule, message }) => `${rule}: ${message}`).sort(),
    'the rehearsal': rehearsal === undefined ? null : toComparable(rehearsal),
  };
}

function describeClaim(change: Change): readonly string[] {
  const { action, reason, notes = [], kept = [], labels = {}, annotations = {}, owner, live } = change;
  const address = formatChangeAddress(change);
  return [
    `${address}: ${action} ${live?.id ?? ''}${reason === undefined ? '' : ` because ${toTimeless(reason)}`}`,
    ...notes.map((note) => `${address}: ${toTimeless(note)}`),
    ...kept.map((field) => `${address}: ${field} is kept`),
    ...Object.entries({ ...labels, ...annotations }).map(([name, value]) => `${address}: ${name}=${value}`),
    ...(owner === undefined ? [] : [`${address}: owner ${owner}`]),
  ];
}

/** Without lengths of time: they go on while a plan is approved. */
function toTimeless(text: string): string {
  return text.replace(/\b\d+ (?:second|minute|hour|day)s?\b/g, '…');
}

function describeClaims(file: Claims, manifests: Claims): readonly string[] {
  return Object.keys(file).flatMap((name) => {
    const [own, other] = [file[name] ?? null, manifests[name] ?? null];
    if (isSameJson(own, other)) return [];
    return [
      `${name}: ${toShort(withoutCommon(own, other))} by the file, ${toShort(withoutCommon(other, own))} by the manifests`,
    ];
  });
}

/** Of two lists, what is in one of them only. */
function withoutCommon(own: Json, other: Json): Json {
  if (!Array.isArray(own) || !Array.isArray(other)) return own;
  return own.filter((member) => !other.includes(member));
}
