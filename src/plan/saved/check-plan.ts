import { toAttachment } from '../../kinds/attachment.ts';
import { fillUnknown } from '../../kinds/fill-unknown.ts';
import { type Kind, listOneTimeFields } from '../../kinds/kind.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import type { CreatedIds } from '../../kinds/write-request.ts';
import { parseAddress } from '../../model/address.ts';
import { type Change, toShownChange } from '../../model/change.ts';
import { assertNever } from '../../model/errors.ts';
import { isSameJson, type Json } from '../../model/json.ts';
import type { Mark } from '../../model/mark.ts';
import type { Plan } from '../../model/plan.ts';
import type { LiveResource, LiveState } from '../../model/state.ts';
import type { Act, WriteId } from '../../model/write.ts';
import { listAwaited } from '../desired-form.ts';
import { toFileText } from '../files.ts';
import { resolveMark } from '../mark-draft.ts';
import type { ReadRequest } from '../select-targets.ts';
import { createFinder, type Finder, resolveSpec } from './finder.ts';
import type { Moved } from './moved.ts';
import { listMisnamed, listReferenced } from './referenced.ts';
import { listModules, listSavedChanges, listSent, listTouchable, type SavedChange } from './saved-change.ts';

/** A saved plan held against what is live now. */
export interface PlanCheck {
  /** If not empty, the plan is stale and must not be applied. */
  readonly moved: readonly Moved[];
  /** Writes that were done already, with the id of their resource. */
  readonly done: ReadonlyMap<WriteId, string | undefined>;
  /** Ids of resources that the plan creates and that exist already. */
  readonly ids: CreatedIds;
  /** Texts for files, of those resources, by address. */
  readonly texts: ReadonlyMap<string, string>;
}

/** What has to be read to check a plan: the kinds and modules that it would touch, what those refer to, and the kinds whose values it writes to files. */
export function toCheckRequest(plan: Plan): ReadRequest {
  const touched = listSavedChanges(plan).filter(({ change }) => change.action !== 'no-op');
  const filed = new Set<string>(plan.files.map(({ address }) => address));
  const named = plan.changes.filter(({ address }) => filed.has(address));
  const read = [...touched.map(({ change }) => change), ...named, ...listReferenced(plan)];
  const foreign = Object.values(plan.awaited ?? {}).map(({ resource }) => parseAddress(resource)?.kind ?? '');
  const kinds = [...new Set([...read.map(({ kind }) => kind), ...foreign])].sort().map(getKind);
  return {
    kinds: kinds.filter(({ role }) => role === 'owned'),
    attachments: touched.filter(({ kind }) => kind.role === 'attached').map(toWritten),
  };
}

/** The modules that a change writes. */
function toWritten({ change, kind, writes }: SavedChange) {
  const modules = new Set(writes.flatMap(listModules));
  const { address, live } = change;
  return toAttachment(kind, { address, spec: live?.spec ?? {}, isRead: (module) => modules.has(module) });
}

/** Holds a saved plan against what is live now. */
export function checkPlan(plan: Plan, live: LiveState): PlanCheck {
  const found = createFinder(plan, live);
  const subjects = listSavedChanges(plan);
  const verdicts = subjects.map((subject) => checkChange(subject, { ...found, changes: plan.changes }));
  return {
    moved: [
      ...verdicts.flatMap(({ moved }) => moved),
      ...listMovedFiles(plan, found),
      ...listMisnamed(plan, found),
      ...listStillAwaited(plan, found),
    ],
    done: new Map(verdicts.flatMap(({ done }) => [...done])),
    ids: found.ids,
    texts: new Map([...found.created].flatMap(([address, one]) => toTextEntries(address, one))),
  };
}

function listStillAwaited({ awaited = {} }: Plan, { ids }: Finder): readonly Moved[] {
  return Object.entries(awaited).flatMap(([address, { stack, resource }]) =>
    ids.has(address)
      ? []
      : [{ address, message: `${resource} of the stack ${stack} does not exist; apply that stack first` }],
  );
}

function toTextEntries(address: string, live: LiveResource): readonly (readonly [string, string])[] {
  const text = readFileText(live);
  return text === undefined ? [] : [[address, text]];
}

function readFileText({ kind, computed }: LiveResource): string | undefined {
  return toFileText(computed[getKind(kind).fileField ?? '']);
}

/** The text for a file must be the one that the service holds; any other text in a plan file was not issued by it. */
function listMovedFiles({ files, changes }: Plan, found: Finder): readonly Moved[] {
  return files.flatMap(({ address, path, text }): readonly Moved[] => {
    const change = changes.find((one) => one.address === address && one.duplicateOf === undefined);
    const live = change && found.start(change);
    if (text === undefined || (live !== undefined && readFileText(live) === text)) return [];
    return [{ address, message: `the plan would write another value to ${path} than the service has` }];
  });
}

interface Verdict {
  readonly moved: readonly Moved[];
  readonly done: ReadonlyMap<WriteId, string | undefined>;
}

const UNMOVED: Verdict = { moved: [], done: new Map() };

/** Where to look, and what else the plan changes. */
interface Context extends Finder {
  readonly changes: readonly Change[];
}

function checkChange(subject: SavedChange, context: Context): Verdict {
  const { action } = subject.change;
  switch (action) {
    case 'no-op':
      return UNMOVED;
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
      return checkUpdate(subject, context);
    default:
      return assertNever(action);
  }
}

/** A resource has the mark of one that is to be created: the plan was applied before, or by somebody else. */
function checkCreate(subject: SavedChange, context: Context): Verdict {
  const { change, kind } = subject;
  const exists = context.bearer(change);
  if (exists === undefined) return UNMOVED;
  const whole = (message: string): Verdict => toWhole(change, `exists already as ${exists.id}, and ${message}`);
  const fields = listMovedFields(subject, exists, context).filter(({ field }) => field !== undefined);
  if (fields.length > 0) return merge(whole('differs from what the plan would create'), { ...UNMOVED, moved: fields });
  if (listOneTimeFields(kind).length > 0 && exists.mark?.delivered !== true)
    return whole('its token was not delivered');
  if (!hasMarkOf(subject, exists, context)) return whole('its mark differs from the planned one');
  return toDone(subject, ['create', 'deliver', 'deliver-again'], exists.id);
}

function checkDelete(subject: SavedChange, context: Context): Verdict {
  const { change } = subject;
  const live = context.start(change);
  if (live === undefined) return toDone(subject, ['delete'], change.live?.id);
  if (isLast(change, live, context))
    return toWhole(change, `${live.id} is no longer a duplicate: the other one is gone`);
  return { moved: listMovedFields(withoutDesired(subject), live, context), done: new Map() };
}

/** Whether a duplicate is to be pruned, and nothing that bears its name would stay. */
function isLast({ address, duplicateOf }: Change, { id }: LiveResource, { changes, ...found }: Context): boolean {
  const kept = changes.find((change) => change.address === address && change.duplicateOf === undefined);
  if (duplicateOf === undefined || kept?.action === 'delete' || kept?.action === 'replace') return false;
  if (kept !== undefined && found.start(kept) !== undefined) return false;
  const deletes = changes.filter(({ action }) => action === 'delete');
  const deleted = new Set(deletes.map(({ live }) => live?.id));
  return found.bearing(address).every((other) => other.id === id || deleted.has(other.id));
}

function checkRelease(subject: SavedChange, context: Context): Verdict {
  const live = context.start(subject.change);
  if (live === undefined) return toGone(subject.change);
  if (live.mark === undefined) return toDone(subject, ['release'], live.id);
  return { moved: listMovedFields(withoutDesired(subject), live, context), done: new Map() };
}

/** If the plan deletes first, a missing resource without its successor is an interrupted replace. */
function checkReplace(subject: SavedChange, context: Context): Verdict {
  const { change } = subject;
  const isGone = context.start(change) === undefined && context.bearer(change) === undefined;
  if (isGone && !isDeletedFirst(subject)) return toGone(change);
  return merge(checkCreate(subject, context), checkDelete(subject, context));
}

function isDeletedFirst({ writes }: SavedChange): boolean {
  const creation = writes.find(({ act }) => act === 'create');
  const removal = writes.find(({ act }) => act === 'delete');
  return creation !== undefined && removal !== undefined && !removal.needs.includes(creation.id);
}

function checkUpdate(subject: SavedChange, context: Context): Verdict {
  const live = context.start(subject.change);
  if (live === undefined) return toGone(subject.change);
  const moved = listMovedFields(subject, live, context);
  const isDone = moved.length === 0 && isAsDesired(subject, live, context) && hasMarkOf(subject, live, context);
  return { moved, done: new Map(isDone ? subject.writes.map(({ id }) => [id, live.id]) : []) };
}

function toDone({ writes }: SavedChange, acts: readonly Act[], id: string | undefined): Verdict {
  return { moved: [], done: new Map(writes.filter(({ act }) => acts.includes(act)).map((write) => [write.id, id])) };
}

function toGone(change: Change): Verdict {
  return toWhole(change, `${change.live?.id} is gone`);
}

function toWhole(change: Change, message: string): Verdict {
  return { moved: [{ address: toShownChange(change), message }], done: new Map() };
}

function withoutDesired(subject: SavedChange): SavedChange {
  return { ...subject, change: { ...subject.change, desired: {} } };
}

function merge(left: Verdict, right: Verdict): Verdict {
  return { moved: [...left.moved, ...right.moved], done: new Map([...left.done, ...right.done]) };
}

/** Fields with a value that is neither the old one, nor the desired one, nor one that a write of the plan sets in between. */
function listMovedFields(subject: SavedChange, live: LiveResource, { ids }: Finder): readonly Moved[] {
  const { change, kind } = subject;
  const address = toShownChange(change);
  const desired = resolveSpec(change.kind, change.desired ?? {}, ids);
  const start = change.live?.id === live.id ? change.live : undefined;
  const fields = listTouchable(subject).flatMap((field): Moved[] => {
    const now = live.spec[field];
    const planned = start?.spec?.[field];
    const known = [planned, desired[field], ...listSent(subject, field)];
    const isKnown = known.some(
      (value) => value !== undefined && isSameJson(value, toSeen(kind, field, { now, value })),
    );
    if (now === undefined || isKnown || (planned === undefined && desired[field] === undefined)) return [];
    return [{ address, field, ...(planned !== undefined && { planned }), live: now }];
  });
  const isMarkKnown = start === undefined || isSameMark(live.mark, start.mark) || hasMarkOf(subject, live, { ids });
  return isMarkKnown ? fields : [...fields, { address, message: 'its mark was changed' }];
}

/** A live value; parts that the service does not show are taken from another value. */
function toSeen(
  kind: Kind,
  field: string,
  { now, value }: { readonly now: Json | undefined; readonly value: Json },
): Json {
  const live = now === undefined ? {} : { [field]: now };
  return fillUnknown(kind, live, { [field]: value })[field] ?? null;
}

function isAsDesired(subject: SavedChange, live: LiveResource, { ids }: Finder): boolean {
  const desired = resolveSpec(subject.change.kind, subject.change.desired ?? {}, ids);
  const known = fillUnknown(subject.kind, live.spec, desired);
  return listTouchable(subject).every(
    (name) => desired[name] === undefined || isSameJson(known[name] ?? null, desired[name]),
  );
}

/** Whether the resource has the planned mark; a plan without one keeps the mark that is there. */
function hasMarkOf(
  { change, kind, writes }: SavedChange,
  { mark }: LiveResource,
  { ids }: Pick<Finder, 'ids'>,
): boolean {
  const [draft] = writes.flatMap((write) => ('mark' in write && write.mark !== undefined ? [write.mark] : []));
  if (draft === undefined) return isSameMark(mark, change.live?.mark);
  const isKnown = listAwaited(kind, draft.pending).every((address) => ids.has(address));
  if (mark === undefined || !isKnown) return false;
  return isSameMark(mark, { ...resolveMark(kind, draft, ids), delivered: mark.delivered });
}

function isSameMark(left: Mark | undefined, right: Mark | undefined): boolean {
  return isSameJson(left === undefined ? null : { ...left }, right === undefined ? null : { ...right });
}
