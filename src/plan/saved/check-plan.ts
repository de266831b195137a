import type { Kind } from '../../kinds/kind.ts';
import { selectModulesOfAttachedResource } from '../../kinds/paths.ts';
import { alignLiveSpec, fillAllOmittedFields } from '../../kinds/read-response.ts';
import { listReferences } from '../../kinds/references.ts';
import type { CreatedIds } from '../../kinds/request-body.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { getAddressName, parseAddress } from '../../model/address.ts';
import { type Change, formatChangeAddress } from '../../model/change.ts';
import { assertNever } from '../../model/errors.ts';
import { isSameJson, type Json } from '../../model/json.ts';
import { isEqualMark } from '../../model/mark.ts';
import type { Plan } from '../../model/plan.ts';
import { alignSecrets, withoutHiddenNumbers } from '../../model/secret-value.ts';
import type { LiveResource, LiveState } from '../../model/state.ts';
import type { WriteId, WriteType } from '../../model/write.ts';
import { listUnresolvedAddresses } from '../desired-form.ts';
import { alignStoredForms } from '../differences.ts';
import { formatTextAsFileContent } from '../plan-input.ts';
import type { ReadRequest } from '../select-targets.ts';
import { completeMarkDraft } from '../writes.ts';
import { createLiveResourceLookUp, type LiveResourceLookUp, resolveAndNormalizeSpec } from './live-resource-look-up.ts';
import {
  listChangesWithWrites,
  listCheckedFieldNames,
  listModulesOfWrite,
  listSentValuesOfField,
  type SavedChange,
} from './saved-change.ts';

/** The result of `checkPlanAgainstLive`: stale values, and the writes that an earlier apply has done. */
export interface PlanCheck {
  /** If not empty, the plan is stale and must not be applied. */
  readonly stale: readonly StaleItem[];
  /** Writes that an earlier apply has done. Value: the id of the resource, if known. */
  readonly done: ReadonlyMap<WriteId, string | undefined>;
  /** Addresses of updates whose fields all have the desired value. The mark may still be the old one. */
  readonly met: ReadonlySet<string>;
  /** By address: the ids of resources that the plan creates or awaits from other stacks, as far as these exist now. */
  readonly ids: CreatedIds;
  /** By address: the file contents of resources that the plan creates, as far as these exist now. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Returns the reads that `checkPlanAgainstLive` needs: the kinds and modules that the plan changes, the kinds of the resources to
 * which changes refer, and the kinds whose values the plan writes to files.
 */
export function createStaleCheckRequest(plan: Plan): ReadRequest {
  const touched = listChangesWithWrites(plan).filter(({ change }) => change.action !== 'no-op');
  const filed = new Set<string>(plan.files.map(({ address }) => address));
  const named = plan.changes.filter(({ address }) => filed.has(address));
  const read = [...touched.map(({ change }) => change), ...named, ...listReferenced(plan)];
  const foreign = Object.values(plan.crossStackReferences ?? {}).map(
    ({ resource }) => parseAddress(resource)?.kind ?? '',
  );
  const kinds = [...new Set([...read.map(({ kind }) => kind), ...foreign])].sort().map(getKind);
  return {
    kinds: kinds.filter(({ role }) => role === 'owned'),
    attachments: touched.filter(({ kind }) => kind.role === 'attached').map(createWrittenAttachment),
  };
}

/** Creates the read request for the modules that a change writes. */
function createWrittenAttachment({ change, kind, writes }: SavedChange) {
  const modules = new Set(writes.flatMap(listModulesOfWrite));
  const { address, live } = change;
  return selectModulesOfAttachedResource(kind, {
    address,
    spec: live?.spec ?? {},
    isRead: (module) => modules.has(module),
  });
}

/** Checks whether a saved plan still fits the live state, and which of its writes an earlier apply has done. */
export function checkPlanAgainstLive(plan: Plan, live: LiveState): PlanCheck {
  const found = createLiveResourceLookUp(plan, live);
  const subjects = listChangesWithWrites(plan);
  const checks = subjects.map((subject) => checkChange(subject, { ...found, changes: plan.changes }));
  return {
    stale: [
      ...checks.flatMap(({ stale }) => stale),
      ...listStaleFiles(plan, found),
      ...listNameMismatches(plan, found),
      ...listStillAwaited(plan, found),
    ],
    done: new Map(checks.flatMap(({ done }) => [...done])),
    met: new Set(
      checks
        .flatMap(({ isMet }, at) => (isMet === true ? plan.changes.slice(at, at + 1) : []))
        .map(formatChangeAddress),
    ),
    ids: found.ids,
    texts: new Map([...found.created].flatMap(([address, one]) => listTextEntries(address, one))),
  };
}

function listStillAwaited({ crossStackReferences = {} }: Plan, { ids }: LiveResourceLookUp): readonly StaleItem[] {
  return Object.entries(crossStackReferences).flatMap(([address, { stack, resource }]) =>
    ids.has(address)
      ? []
      : [{ address, message: `${resource} of the stack ${stack} does not exist; apply that stack first` }],
  );
}

function listTextEntries(address: string, live: LiveResource): readonly (readonly [string, string])[] {
  const text = readFileText(live);
  return text === undefined ? [] : [[address, text]];
}

function readFileText({ kind, computed }: LiveResource): string | undefined {
  return formatTextAsFileContent(computed[getKind(kind).fileField ?? '']);
}

/** Lists files whose planned content is not the live value: the plan file was edited, or the value changed. */
function listStaleFiles({ files, changes }: Plan, found: LiveResourceLookUp): readonly StaleItem[] {
  return files.flatMap(({ address, path, text }): readonly StaleItem[] => {
    const change = changes.find((one) => one.address === address && one.duplicateOf === undefined);
    const live = change && found.start(change);
    if (text === undefined || (live !== undefined && readFileText(live) === text)) return [];
    return [{ address, message: `the plan would write another value to ${path} than the service has` }];
  });
}

interface ChangeCheck {
  readonly stale: readonly StaleItem[];
  readonly done: ReadonlyMap<WriteId, string | undefined>;
  /** Whether every field has the value that the change sets. */
  readonly isMet?: boolean;
}

const UNCHANGED: ChangeCheck = { stale: [], done: new Map() };

interface Context extends LiveResourceLookUp {
  readonly changes: readonly Change[];
}

function checkChange(subject: SavedChange, context: Context): ChangeCheck {
  const { action } = subject.change;
  switch (action) {
    case 'no-op':
      return UNCHANGED;
    case 'create':
      return checkCreate(subject, context);
    case 'release':
      return checkRelease(subject, context);
    case 'delete':
      return checkDelete(subject, context);
    case 'replace':
      return checkReplace(subject, context);
    case 'update':
    case 'adopt':
    case 'take-over':
      return checkUpdate(subject, context);
    default:
      return assertNever(action);
  }
}

/**
 * Checks a create. A resource with its mark may exist already, from an earlier apply of this plan or from a concurrent
 * apply.
 */
function checkCreate(subject: SavedChange, context: Context): ChangeCheck {
  const exists = context.findCreated(subject.change);
  if (exists === undefined) return UNCHANGED;
  const abandoned = context.abandoned(subject.change);
  const checks = abandoned.map((live) => checkAbandoned(subject, live, context));
  if (abandoned.includes(exists)) return checks.reduce(merge);
  const done = createDoneCheck(subject, ['create', 'deliver', 'redeliver'], exists.id);
  return checks.reduce(merge, findDifferentCreation(subject, exists, context) ?? done);
}

/** Checks a resource that was created as planned, but whose token was not delivered. */
function checkAbandoned(subject: SavedChange, live: LiveResource, context: Context): ChangeCheck {
  const finding = findDifferentCreation(subject, live, context);
  if (finding !== undefined) return finding;
  const { stale } = createStaleCheck(subject.change, `exists already as ${live.id}, and its token was not delivered`);
  return { ...UNCHANGED, stale: stale.map((one) => ({ ...one, isAbandoned: true })) };
}

/** Returns how an existing resource differs from the one that the plan would create; `undefined` if it does not. */
function findDifferentCreation(subject: SavedChange, exists: LiveResource, context: Context): ChangeCheck | undefined {
  const whole = (message: string): ChangeCheck =>
    createStaleCheck(subject.change, `exists already as ${exists.id}, and ${message}`);
  const fields = listStaleFields(subject, exists, context).filter(({ field }) => field !== undefined);
  if (fields.length > 0)
    return merge(whole('differs from what the plan would create'), { ...UNCHANGED, stale: fields });
  return hasMarkOf(subject, exists, context) ? undefined : whole('its mark differs from the planned one');
}

function checkDelete(subject: SavedChange, context: Context): ChangeCheck {
  const { change } = subject;
  const live = context.start(change);
  if (live === undefined) return createDoneCheck(subject, ['delete'], change.live?.id);
  if (isLast(change, live, context))
    return createStaleCheck(change, `${live.id} is no longer a duplicate: the other one no longer exists`);
  return { stale: listStaleFields(withoutDesired(subject), live, context), done: new Map() };
}

/** Whether deleting a duplicate would leave no resource with its address. */
function isLast({ address, duplicateOf }: Change, { id }: LiveResource, { changes, ...found }: Context): boolean {
  const kept = changes.find((change) => change.address === address && change.duplicateOf === undefined);
  if (duplicateOf === undefined || kept?.action === 'delete' || kept?.action === 'replace') return false;
  if (kept !== undefined && found.start(kept) !== undefined) return false;
  const deletes = changes.filter(({ action }) => action === 'delete');
  const deleted = new Set(deletes.map(({ live }) => live?.id));
  return found.listMarked(address).every((other) => other.id === id || deleted.has(other.id));
}

function checkRelease(subject: SavedChange, context: Context): ChangeCheck {
  const live = context.start(subject.change);
  if (live === undefined) return createGoneCheck(subject.change);
  if (live.mark === undefined) return createDoneCheck(subject, ['release'], live.id);
  return { stale: listStaleFields(withoutDesired(subject), live, context), done: new Map() };
}

/**
 * If both the old and the new resource are missing, the plan is stale. Exception: if the plan deletes first, an earlier
 * apply was interrupted between the delete and the creation.
 */
function checkReplace(subject: SavedChange, context: Context): ChangeCheck {
  const { change } = subject;
  const isGone = context.start(change) === undefined && context.findCreated(change) === undefined;
  if (isGone && !isDeletedFirst(subject)) return createGoneCheck(change);
  return merge(checkCreate(subject, context), checkDelete(subject, context));
}

function isDeletedFirst({ writes }: SavedChange): boolean {
  const creation = writes.find(({ type }) => type === 'create');
  const removal = writes.find(({ type }) => type === 'delete');
  return creation !== undefined && removal !== undefined && !removal.dependsOn.includes(creation.id);
}

function checkUpdate(subject: SavedChange, context: Context): ChangeCheck {
  const live = context.start(subject.change);
  if (live === undefined) return createGoneCheck(subject.change);
  const stale = listStaleFields(subject, live, context);
  const isAsWanted = stale.length === 0 && isAsDesired(subject, live, context);
  const isOfFields = subject.change.differences.every(({ field }) => field !== undefined);
  const isMet = isAsWanted && isOfFields && subject.change.differences.length > 0;
  const isDone = isAsWanted && hasMarkOf(subject, live, context);
  return { stale, isMet, done: new Map(isDone ? subject.writes.map(({ id }) => [id, live.id]) : []) };
}

function createDoneCheck({ writes }: SavedChange, types: readonly WriteType[], id: string | undefined): ChangeCheck {
  return { stale: [], done: new Map(writes.filter(({ type }) => types.includes(type)).map((write) => [write.id, id])) };
}

function createGoneCheck(change: Change): ChangeCheck {
  return createStaleCheck(change, `${change.live?.id} no longer exists`);
}

function createStaleCheck(change: Change, message: string): ChangeCheck {
  return { stale: [{ address: formatChangeAddress(change), message }], done: new Map() };
}

function withoutDesired(subject: SavedChange): SavedChange {
  return { ...subject, change: { ...subject.change, desired: {} } };
}

function merge(left: ChangeCheck, right: ChangeCheck): ChangeCheck {
  return { stale: [...left.stale, ...right.stale], done: new Map([...left.done, ...right.done]) };
}

/**
 * Lists the fields whose live value is neither the old value, nor the desired value, nor a value that a write of the
 * plan sets temporarily. Also reports a changed mark.
 */
function listStaleFields(subject: SavedChange, live: LiveResource, { ids }: LiveResourceLookUp): readonly StaleItem[] {
  const { change, kind } = subject;
  const address = formatChangeAddress(change);
  const desired = resolveAndNormalizeSpec(change.kind, change.desired ?? {}, ids);
  const start = change.live?.id === live.id ? change.live : undefined;
  const spec = alignStoredForms(kind, live, desired);
  const fields = listCheckedFieldNames(subject).flatMap((field): StaleItem[] => {
    const now = spec[field];
    const planned = start?.spec?.[field];
    const known = [
      planned ?? fillLeftOut(kind, field, undefined),
      desired[field],
      ...listSentValuesOfField(subject, field),
    ];
    const isKnown = known.some((value) => value !== undefined && isSameAsKnown(kind, field, { now, value }));
    if (now === undefined || isKnown || (planned === undefined && desired[field] === undefined)) return [];
    return [{ address, field, ...(planned !== undefined && { planned }), live: now }];
  });
  const isMarkKnown = start === undefined || isEqualMark(live.mark, start.mark) || hasMarkOf(subject, live, { ids });
  return isMarkKnown ? fields : [...fields, { address, message: 'its mark was changed' }];
}

/**
 * Whether a live value equals a value from the plan. Parts that the service does not show now are assumed equal. Parts
 * that it did not show when the plan was made count as empty.
 */
function isSameAsKnown(
  kind: Kind,
  field: string,
  { now, value }: { readonly now: Json | undefined; readonly value: Json },
): boolean {
  const from = fillLeftOut(kind, field, value) ?? null;
  const seen = alignLiveSpec(kind, now === undefined ? {} : { [field]: now }, { [field]: from });
  return isSameJson(withoutHiddenNumbers(from), withoutHiddenNumbers(alignSecrets(seen[field] ?? null, from)));
}

/** Adds empty values for the parts of a value that the service did not show. */
function fillLeftOut(kind: Kind, field: string, value: Json | undefined): Json | undefined {
  return fillAllOmittedFields(kind, value === undefined ? {} : { [field]: value })[field];
}

function isAsDesired(subject: SavedChange, live: LiveResource, { ids }: LiveResourceLookUp): boolean {
  const desired = resolveAndNormalizeSpec(subject.change.kind, subject.change.desired ?? {}, ids);
  const known = alignLiveSpec(subject.kind, alignStoredForms(subject.kind, live, desired), desired);
  return listCheckedFieldNames(subject).every(
    (name) =>
      desired[name] === undefined ||
      isSameJson(
        withoutHiddenNumbers(alignSecrets(known[name] ?? null, desired[name])),
        withoutHiddenNumbers(desired[name]),
      ),
  );
}

/** Whether a live resource has the mark that a write sets or, if no write sets it, the mark at planning time. */
function hasMarkOf(
  { change, kind, writes }: SavedChange,
  { mark }: LiveResource,
  { ids }: Pick<LiveResourceLookUp, 'ids'>,
): boolean {
  const [draft] = writes.flatMap((write) => ('mark' in write && write.mark !== undefined ? [write.mark] : []));
  if (draft === undefined) return isEqualMark(mark, change.live?.mark);
  const isKnown = listUnresolvedAddresses(kind, draft.pending).every((address) => ids.has(address));
  if (mark === undefined || !isKnown) return false;
  return isEqualMark(mark, { ...completeMarkDraft(kind, draft, ids), delivered: mark.delivered });
}

/**
 * Lists the unchanged resources to which changes refer. They are checked too, because the user approved them by name.
 */
function listReferenced({ changes }: Plan): readonly Change[] {
  const ids = new Set(
    changes.flatMap(({ kind, desired = {} }) => listReferences(getKind(kind), desired).map(({ value }) => value)),
  );
  const isReferenced = ({ action, kind, live }: Change): boolean =>
    action === 'no-op' && getKind(kind).role === 'owned' && live !== undefined && ids.has(live.id);
  return changes.filter(isReferenced);
}

/**
 * Lists the referenced resources whose mark now has another address. Omits deleted resources, because the service
 * rejects references to them.
 */
function listNameMismatches(plan: Plan, found: Pick<LiveResourceLookUp, 'start'>): readonly StaleItem[] {
  return listReferenced(plan).flatMap((change): readonly StaleItem[] => {
    const live = found.start(change);
    if (live === undefined) return [];
    const { kind, mark } = live;
    const isNamed = kind === change.kind && mark?.stack === plan.stack && mark.name === getAddressName(change.address);
    const message = `${live.id}, which the plan refers to, has another name`;
    return isNamed ? [] : [{ address: formatChangeAddress(change), message }];
  });
}

/** A value that makes a plan stale: it is neither the value at planning time nor the value that the plan sets. */
export interface StaleItem {
  /** As shown in reports, with the id of a duplicate. */
  readonly address: string;
  /** The top-level field. Absent if the whole resource is stale. */
  readonly field?: string;
  /** The change of the whole resource, such as `… no longer exists`. Absent if only a field is stale. */
  readonly message?: string;
  readonly planned?: Json;
  readonly live?: Json;
  /** Set if an interrupted apply created the resource but did not deliver its token. A new plan replaces it. */
  readonly isAbandoned?: true;
}

interface KnownFiles {
  /** Contents of existing files, by path. */
  readonly present: ReadonlyMap<string, string>;
  /** Contents to write that were unknown when the plan was made, by address. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Lists the files that did not exist when the plan was made and that an apply would overwrite. Ignores empty files, and
 * files that already have the planned content.
 */
export function listOutputFilesCreatedSincePlan({ files }: Plan, { present, texts }: KnownFiles): readonly StaleItem[] {
  return files.flatMap(({ address, path, text = texts.get(address), replaces }): readonly StaleItem[] => {
    const found = present.get(path) ?? '';
    if (replaces === true || found === '' || found === text) return [];
    return [{ address, message: `${path} did not exist when the plan was made, and would be overwritten` }];
  });
}
