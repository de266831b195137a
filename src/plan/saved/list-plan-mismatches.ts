import { mapReferences } from '../../kinds/references.ts';
import type { CreatedIds } from '../../kinds/request-body.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import type { Address } from '../../model/address.ts';
import { type Change, formatAction, formatChangeAddress } from '../../model/change.ts';
import { isSameJson, type Json, type JsonObject, toCanonicalJson } from '../../model/json.ts';
import type { ExtraChange, ExtraField, Plan, PlannedFile } from '../../model/plan.ts';
import { comparePlans, replaceIdsInDifference } from '../compare/compare-plans.ts';
import type { PlanCheck } from './check-plan.ts';
import { resolveAndNormalizeSpec, restoreCreationsOfAbandonedResources } from './live-resource-look-up.ts';
import { indexSavedChanges, listSentValuesOfField, type SavedChange } from './saved-change.ts';

/** Results of earlier checks of the plan file. */
interface FileCheck extends Pick<PlanCheck, 'done' | 'met' | 'ids'> {
  /**
   * The plan made again from the live state before any write of this file or of the run's other plan files. Absent if
   * no apply has begun.
   */
  readonly before?: Plan | undefined;
}

/**
 * Compares a plan file (`saved`) with the plan that is made again from the manifests and the live state (`made`).
 * Returns a sentence for each difference. If the file is partly applied, changes that are done may be in the file only,
 * and its rehearsal, diagnostics and violations are compared with those of `check.before`. The rest of the file needs
 * no check, because the apply uses `made`.
 */
export function listPlanMismatches(saved: Plan, made: Plan, check: FileCheck): readonly string[] {
  const { plan: again, renewed } = restoreCreationsOfAbandonedResources(made, saved);
  const file = withAwaitedIds(saved, check.ids);
  const { mismatch, more, less } = comparePlans(file, again);
  if (mismatch !== undefined) return [`${mismatch}`];
  const [shown, deleted] = [indexSavedChanges(file), { file: mapDeletes(file), again: mapDeletes(again) }];
  const both = { shown, again, deleted: deleted.again, check, renewed };
  const left = less.changes.filter((extra) => !isDone(extra, both));
  const appeared = less.files.filter((one) => !isWritten(one, again));
  // True also if awaited ids were inserted (`file !== saved`): the rehearsal can now try writes that waited for another
  // stack, so its result may differ.
  const isStarted = renewed.size > 0 || check.done.size > 0 || left.length < less.changes.length || file !== saved;
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
  const whole = describeDifferentFacts(collectFindings(saved), collectFindings(before));
  if (!isStarted) return [...describeDifferentFacts(collectFacts(saved), collectFacts(again)), ...whole];
  const open = new Set(
    [...shown.values()]
      .filter((one) => !renewed.has(one.change.address) && isUntouched(one, check))
      .map(formatSavedAddress),
  );
  const listOpen = ({ changes }: Plan, others: Deletes): readonly string[] =>
    changes
      .filter((change) => open.has(formatChangeAddress(change)) && !isDeletedIn(others, change))
      .flatMap(listChangeFacts)
      .sort();
  const scope = { ...saved, takeOver: listOpenTakeOvers(file, again, open) };
  return [
    ...describeDifferentFacts(
      { ...collectScope(scope), 'the notes on changes': listOpen(file, deleted.again) },
      { ...collectScope(again), 'the notes on changes': listOpen(again, deleted.file) },
    ),
    ...whole,
  ];
}

/**
 * Lists the stacks from which the file still takes over resources. Omits stacks that have handed over all of them,
 * because the new plan does not name such a stack.
 */
function listOpenTakeOvers(file: Plan, again: Plan, open: ReadonlySet<string>): readonly string[] {
  const taken = file.changes
    .filter((change) => !open.has(formatChangeAddress(change)))
    .map(({ live }) => live?.mark?.stack);
  return file.takeOver.filter((stack) => again.takeOver.includes(stack) || !taken.includes(stack));
}

/** Whether no earlier apply of the file has done a write of the change. */
function isUntouched({ change, writes }: SavedChange, { done, met }: Pick<PlanCheck, 'done' | 'met'>): boolean {
  if (met.has(formatChangeAddress(change))) return false;
  return (change.action === 'no-op') === (writes.length === 0) && writes.every(({ id }) => !done.has(id));
}

const formatSavedAddress = ({ change }: SavedChange): string => formatChangeAddress(change);

/** Inserts the ids of resources that other stacks have created since the plan was made. */
function withAwaitedIds(plan: Plan, ids: CreatedIds): Plan {
  const awaited = new Set<string>(Object.keys(plan.crossStackReferences ?? {}));
  const known = new Map([...ids].filter(([address]) => awaited.has(address)));
  if (known.size === 0) return plan;
  const changes = plan.changes.map((change): Change => {
    const kind = getKind(change.kind);
    const { desired, differences } = change;
    return {
      ...change,
      ...(desired !== undefined && { desired: mapReferences(kind, desired, ({ value }) => known.get(value) ?? value) }),
      differences: differences.map((difference) => replaceIdsInDifference(kind, difference, known)),
    };
  });
  return { ...plan, changes };
}

interface DoneContext {
  /** Maps each change of the file to the change with its writes. */
  readonly shown: ReadonlyMap<Change, SavedChange>;
  readonly again: Plan;
  /** The deletes of `again`, by resource id. */
  readonly deleted: Deletes;
  readonly check: FileCheck;
  readonly renewed: ReadonlySet<Address>;
}

/** Whether a change of the plan file is missing from the new plan because an earlier apply has done it. */
function isDone(
  { change, other, fields }: ExtraChange,
  { shown, again, deleted, check, renewed }: DoneContext,
): boolean {
  const saved = shown.get(change);
  const open = saved?.writes.filter(({ id }) => !check.done.has(id)) ?? [];
  if (saved === undefined || open.length === 0) return saved !== undefined && saved.writes.length > 0;
  if (other !== undefined && fields.length > 0) {
    const desired = resolveAndNormalizeSpec(change.kind, change.desired ?? {}, check.ids);
    return fields.every(({ difference: { path, field = path } }) =>
      // The live value may also be temporary: a write set it to free a unique value, and then the apply was
      // interrupted.
      [desired[field], ...listSentValuesOfField(saved, field)].some((value) =>
        isSameJson(other.live?.spec?.[field] ?? null, value ?? null),
      ),
    );
  }
  if (isDeletedIn(deleted, change)) return true;
  // All fields have the desired value, and the new plan leaves the mark unchanged.
  if (other === undefined && check.met.has(formatChangeAddress(change))) return true;
  // After an interrupted replace, the open writes must be in the new plan too.
  const isStarted = open.length < saved.writes.length || renewed.has(change.address);
  if (change.action !== 'replace' || !isStarted) return false;
  return open.every(({ type, address }) =>
    again.writes.some((write) => write.type === type && write.address === address),
  );
}

/** The deletes of a plan, by resource id. */
type Deletes = ReadonlyMap<string, Change>;

function mapDeletes({ changes }: Plan): Deletes {
  return new Map(
    changes.flatMap((one) => (one.action === 'delete' && one.live !== undefined ? [[one.live.id, one]] : [])),
  );
}

/**
 * Whether both plans delete the same resource, but only one of them deletes it as a duplicate. It stops being a
 * duplicate when the other resources with its mark no longer exist.
 */
function isDeletedIn(deletes: Deletes, change: Change): boolean {
  const other = change.action === 'delete' ? deletes.get(change.live?.id ?? '') : undefined;
  return other?.address === change.address && formatChangeAddress(other) !== formatChangeAddress(change);
}

/** Whether an earlier apply has written a file: its resource is unchanged in the new plan. */
function isWritten({ address }: PlannedFile, { changes }: Plan): boolean {
  return changes.some((change) => change.address === address && change.action === 'no-op');
}

/** Words for the plan that has a difference (`own`), and for the other plan. */
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
    return [
      `${address}: ${formatAction(change.action)} by ${own}, ${other === undefined ? 'nothing' : formatAction(other.action)} by ${theirs}`,
    ];
  return [
    ...fields.map((field) => `${address}: ${describeField(field, direction)}`),
    ...dangers.map(({ danger }) => `${address}: the danger "${danger}" is shown by ${own} only`),
    ...notes.map((note) => `${address}: "${note}" is in ${own} only`),
  ];
}

function describeField({ difference, other }: ExtraField, { own, other: theirs }: Direction): string {
  const { path } = difference;
  if (other === undefined) return `${path} is changed by ${own} only, to ${formatShort(difference.to)}`;
  const isOfStart = isSameJson(difference.to ?? null, other.to ?? null);
  const [ours, others] = isOfStart ? [difference.from, other.from] : [difference.to, other.to];
  return `${path} is ${isOfStart ? 'changed from ' : ''}${formatShort(ours)} by ${own}, ${formatShort(others)} by ${theirs}`;
}

/** The maximum number of characters of a value in a message: enough to recognize the value. */
const MAX_SHOWN = 200;

function formatShort(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const text = toCanonicalJson(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}

type PlanFacts = Readonly<Record<string, Json>>;

/** The settings that limit a plan. A partial apply does not change them. */
function collectScope({ targets, exclusions = [], takeOver, settings: { guard, kinds }, ownerLabel }: Plan): PlanFacts {
  return {
    'the targets': [...targets].sort(),
    'the exclusions': [...exclusions].sort(),
    'the stacks to take over from': [...takeOver].sort(),
    'the guard': { ...guard },
    'the kinds in use': kinds === undefined ? null : [...kinds].sort(),
    'the owner label': ownerLabel ?? null,
  };
}

/** Removes `unchecked`: no write depends on it, and it changes with the references of other stacks. */
function omitUnchecked({ unchecked: _, ...rehearsal }: NonNullable<Plan['rehearsal']>): JsonObject {
  return rehearsal;
}

/** The parts of a plan that a user approves in addition to its effects and findings. */
function collectFacts(plan: Plan): PlanFacts {
  const { changes, externals, crossStackReferences = {}, suppressedDeletes = [] } = plan;
  const named = Object.entries(externals).filter(([address]) => !Object.keys(crossStackReferences).includes(address));
  const notes = changes.flatMap((change) => listChangeFacts(change));
  return {
    ...collectScope(plan),
    'the names of ids': Object.fromEntries(named),
    'the cross-stack references': Object.entries(crossStackReferences)
      .map(([address, { stack, resource }]) => `${address} is ${resource} of the stack ${stack}`)
      .sort(),
    'the kept resources': suppressedDeletes.map(({ address, id }) => `${address} ${id}`).sort(),
    'the notes on changes': notes.sort(),
  };
}

/** The diagnostics, violations and rehearsal of a plan, in a form that can be compared. */
function collectFindings({ diagnostics, violations, rehearsal }: Plan): PlanFacts {
  return {
    'the diagnostics': diagnostics
      .map(({ code, severity, message }) => removeDurations(`${severity} ${code}: ${message}`))
      .sort(),
    'the violated safety rules': violations.map(({ rule, message }) => `${rule}: ${message}`).sort(),
    'the rehearsal': rehearsal === undefined ? null : omitUnchecked(rehearsal),
  };
}

function listChangeFacts(change: Change): readonly string[] {
  const { action, reason, notes = [], kept = [], labels = {}, annotations = {}, owner, live } = change;
  const address = formatChangeAddress(change);
  return [
    `${address}: ${formatAction(action)} ${live?.id ?? ''}${reason === undefined ? '' : ` because ${removeDurations(reason)}`}`,
    ...notes.map((note) => `${address}: ${removeDurations(note)}`),
    ...kept.map((field) => `${address}: ${field} is kept`),
    ...Object.entries({ ...labels, ...annotations }).map(([name, value]) => `${address}: ${name}=${value}`),
    ...(owner === undefined ? [] : [`${address}: owner ${owner}`]),
  ];
}

/** Replaces durations by `…`, because they change between planning and approval. */
function removeDurations(text: string): string {
  return text.replace(/\b\d+ (?:second|minute|hour|day)s?\b/g, '…');
}

function describeDifferentFacts(file: PlanFacts, manifests: PlanFacts): readonly string[] {
  return Object.keys(file).flatMap((name) => {
    const [own, other] = [file[name] ?? null, manifests[name] ?? null];
    if (isSameJson(own, other)) return [];
    return [
      `${name}: ${formatShort(withoutCommon(own, other))} by the file, ${formatShort(withoutCommon(other, own))} by the manifests`,
    ];
  });
}

/** Returns the entries that only the first of two lists has. A value that is not a list is returned unchanged. */
function withoutCommon(own: Json, other: Json): Json {
  if (!Array.isArray(own) || !Array.isArray(other)) return own;
  return own.filter((member) => !other.includes(member));
}
