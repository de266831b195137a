import { isDefault } from '../kinds/canonical.ts';
import type { Field } from '../kinds/field.ts';
import { hasToken, isModule, type Kind } from '../kinds/kind.ts';
import { getPathIdsOfResource } from '../kinds/paths.ts';
import { findPatchClearValue, keepServiceChoices } from '../kinds/request-body.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { getAddressName } from '../model/address.ts';
import { type Change, isAdoptOrTakeOverAction, isRecordInChange, type LiveBeforeChange } from '../model/change.ts';
import { assertDefined, assertNever } from '../model/errors.ts';
import { assertJsonObject, isJsonObject, isSameJson, type Json, type JsonObject } from '../model/json.ts';
import { findRefusedCreation, isEqualMark, type MarkDraft, omitMarkKey, renderUserMetadata } from '../model/mark.ts';
import type { Spec } from '../model/state.ts';
import { toWriteId, type Write } from '../model/write.ts';
import type { DesiredSpecForms } from './desired-form.ts';
import { listChangedFields } from './differences.ts';
import { createMarkDraft } from './mark-draft.ts';

/** A write before its position in the order is known. `dependsOn` contains only writes of the same change. */
export type DraftWrite = Omit<Write, 'last'>;

/** Returns the writes of a change, as few as possible. Each attached module has its own write. */
export function listWritesOfChange(change: Change, stack: string): readonly DraftWrite[] {
  const kind = getKind(change.kind);
  switch (change.action) {
    case 'no-op':
    case 'withhold':
      return [];
    case 'create':
      return listCreateWrites(kind, change, stack);
    case 'release':
      return [createReleaseWrite(kind, change)];
    case 'delete':
      return [createDeleteWrite(change, { dependsOn: [], reason: change.reason ?? 'removes it' })];
    case 'replace': {
      if (isRecordInChange(getLive(change))) return listRetryWrites(kind, change, stack);
      const created = listCreateWrites(kind, change, stack);
      const dependsOn = created.map(({ id }) => id);
      const old =
        change.keepOldForMs === undefined
          ? createDeleteWrite(change, { dependsOn, reason: `removes the old ${kind.title}` })
          : createRetireWrite(kind, change, { dependsOn, stack, protect: false });
      return [...created, old];
    }
    case 'update':
    case 'adopt':
    case 'take-over':
      if (change.retiresAt !== undefined)
        return [createRetireWrite(kind, change, { dependsOn: [], stack, protect: change.protect === true })];
      return kind.role === 'attached' ? listAttachmentWrites(kind, change) : listUpdateWrites(kind, change, stack);
    default:
      return assertNever(change.action);
  }
}

/** Adds to the request of a write which change it is part of, and the id that follows from both. */
export function createDraftWrite(
  { address, kind, duplicateOf }: Pick<Change, 'address' | 'kind' | 'duplicateOf'>,
  request: Omit<DraftWrite, 'id' | 'address' | 'kind' | 'duplicateOf'>,
): DraftWrite {
  const draft = { address, kind, duplicateOf, ...request };
  return { id: toWriteId(draft), ...draft };
}

/** A creation that is tried again. The record of the last try is deleted first, so that there is one of them at most. */
function listRetryWrites(kind: Kind, change: Change, stack: string): readonly DraftWrite[] {
  const reason = 'removes the record of a refused creation';
  const removal = createDeleteWrite(change, { dependsOn: [], reason });
  const [create, ...more] = listCreateWrites(kind, change, stack);
  return create === undefined ? [removal] : [removal, { ...create, dependsOn: [removal.id] }, ...more];
}

function listCreateWrites(kind: Kind, change: Change, stack: string): readonly DraftWrite[] {
  const { action, ignored = [], validForMs } = change;
  const mark = createMarkDraft(change, stack);
  const hasDelivery = kind.oneTimeFields.length > 0;
  const create = createDraftWrite(change, {
    purpose: 'create',
    method: 'POST',
    body: createPostBody(kind, change),
    // Until its token is delivered, a new credential retires nothing.
    mark: hasDelivery ? mark : { ...mark, ...pickOldOfReplace(kind, change) },
    validForMs,
    omitsStart: validForMs !== undefined && ignored.includes(kind.validity?.after ?? '') ? true : undefined,
    dependsOn: [],
    reason: action === 'replace' ? `creates the new ${kind.title}` : `creates the ${kind.title}`,
  });
  if (!hasDelivery) return [create];
  const deliver = createDraftWrite(change, {
    purpose: 'deliver',
    method: 'PATCH',
    mark: { ...mark, delivered: true, ...pickOldOfReplace(kind, change) },
    dependsOn: [create.id],
    reason: 'records that the token was delivered',
  });
  return [create, deliver];
}

/**
 * What the mark of a new resource says about the one that it replaces. A certificate that ends before its retirement
 * retires at its end.
 */
function pickOldOfReplace(kind: Kind, change: Change): Pick<MarkDraft, 'replaces' | 'retires'> {
  const { action, keepOldForMs, live } = change;
  if (action !== 'replace' || isRecordInChange(getLive(change))) return {};
  const { id } = getLive(change);
  if (keepOldForMs === undefined) return hasToken(kind) ? { replaces: id } : {};
  const until = live?.spec?.[kind.validity?.until ?? ''];
  return { retires: { id, afterMs: keepOldForMs, ...(typeof until === 'string' && { until }) } };
}

/** Creates a write that records in the mark of an old resource that it retires, with the present stack and name. */
function createRetireWrite(
  kind: Kind,
  change: Change,
  { dependsOn, stack, protect }: Pick<DraftWrite, 'dependsOn'> & { readonly stack: string; readonly protect: boolean },
): DraftWrite {
  const { id, spec = {}, mark } = getLive(change);
  const user = spec['metadata'];
  const { delivered, team, fields } = assertDefined(mark, `mark of ${change.address}`);
  return createDraftWrite(change, {
    purpose: change.action === 'take-over' ? 'take-over' : 'retire',
    method: 'PATCH',
    ids: { id },
    body: pickAlwaysSent(kind, {}, spec),
    mark: {
      stack,
      name: getAddressName(change.address),
      protect,
      delivered,
      retiring: true,
      team,
      user: typeof user === 'string' || isJsonObject(user) ? user : '',
      fields,
      pending: {},
      refused: findRefusedCreation({ id, mark }),
    },
    dependsOn,
    reason: `records that the old ${kind.title} retires`,
  });
}

function createDeleteWrite(change: Change, order: Pick<DraftWrite, 'dependsOn' | 'reason'>): DraftWrite {
  return createDraftWrite(change, { purpose: 'delete', method: 'DELETE', ids: { id: getLive(change).id }, ...order });
}

/** Creates a write that removes the mark: it sends only the user's part of the metadata. */
function createReleaseWrite(kind: Kind, change: Change): DraftWrite {
  const { id, spec = {} } = getLive(change);
  const user = spec['metadata'];
  const metadata = renderUserMetadata(omitMarkKey(typeof user === 'string' || isJsonObject(user) ? user : ''));
  return createDraftWrite(change, {
    purpose: 'release',
    method: 'PATCH',
    ids: { id },
    body: { ...pickAlwaysSent(kind, {}, spec), metadata },
    dependsOn: [],
    reason: 'removes the mark',
  });
}

function listUpdateWrites(kind: Kind, change: Change, stack: string): readonly DraftWrite[] {
  const { id, mark: liveMark } = getLive(change);
  const { action } = change;
  const changed = listChangedFields(kind, change);
  const removed = changed.filter((name) => isModuleRemoval(kind, change, name));
  const removals = removed.map((module) => createRemoveWrite(kind, change, module));
  const mark = createMarkDraft(change, stack);
  const isCopy = change.differences.some(({ path }) => path === 'mark.id');
  const isPending = Object.keys(mark.pending).length > 0;
  const isMarked =
    changed.includes('metadata') || isCopy || isPending || !isEqualMark(mark, liveMark, 'needs no write');
  const patched = changed.filter((name) => name !== 'metadata' && !removed.includes(name) && !isImmutable(kind, name));
  if (patched.length === 0 && !isMarked) return removals;
  const purpose = isAdoptOrTakeOverAction(action) ? action : 'update';
  const patch = createDraftWrite(change, {
    purpose,
    method: 'PATCH',
    ids: { id },
    body: createPatchBody(kind, change, patched),
    mark: isMarked || !isSameJson(mark.switches ?? [], liveMark?.switches ?? []) ? mark : undefined,
    dependsOn: purpose === 'update' ? removals.map((removal) => removal.id) : [],
    reason: describePatch(change, patched),
  });
  if (purpose === 'update') return [...removals, patch];
  // Modules are removed only after the resource has the mark of this stack.
  return [patch, ...removals.map((removal) => ({ ...removal, dependsOn: [patch.id] }))];
}

function describePatch(change: Change, patched: readonly string[]): string {
  if (isAdoptOrTakeOverAction(change.action))
    return ['sets its mark', patched.join(', ')].filter(Boolean).join(' and ');
  if (patched.length > 0) return `sets ${patched.join(', ')}`;
  if (change.differences.some(({ path }) => path === 'mark.id')) return 'marks it with its own id';
  const { name } = assertDefined(getLive(change).mark, `mark of ${change.address}`);
  return name === getAddressName(change.address)
    ? 'records what was applied'
    : `marks it with its new name, instead of ${name}`;
}

function listAttachmentWrites(kind: Kind, change: Change): readonly DraftWrite[] {
  return listChangedFields(kind, change).map((module) => {
    if (isModuleRemoval(kind, change, module)) return createRemoveWrite(kind, change, module);
    const live = getLive(change);
    const field = assertDefined(kind.fields[module], `${kind.name}.${module}`);
    return createDraftWrite(change, {
      purpose: 'update',
      method: 'PUT',
      ids: getPathIdsOfResource(kind, live),
      module,
      body: assertJsonObject(
        keepServiceChoices(field, findSentValue(module, field, change) ?? null, live.spec?.[module]),
      ),
      dependsOn: [],
      reason: `sets ${module}`,
    });
  });
}

function createRemoveWrite(kind: Kind, change: Change, module: string): DraftWrite {
  return createDraftWrite(change, {
    purpose: 'update',
    method: 'DELETE',
    ids: getPathIdsOfResource(kind, getLive(change)),
    module,
    dependsOn: [],
    reason: `removes ${module}`,
  });
}

/** Immutable fields are never sent in a PATCH. If the manifest no longer sets one, only the mark changes. */
function isImmutable(kind: Kind, name: string): boolean {
  return kind.fields[name]?.lifecycle === 'immutable';
}

function isModuleRemoval(kind: Kind, { desired }: Change, name: string): boolean {
  return kind.fields[name]?.clear === 'delete' && desired?.[name] === null;
}

/** The live resource of a change whose action implies that there is one. */
function getLive({ live, address }: Change): LiveBeforeChange {
  return assertDefined(live, `live ${address}`);
}

/** The parts of a change from which sent values are computed. */
type Sent = Pick<Change, 'desired' | 'sent'>;

/** The body of a POST, without metadata: every field that the manifest sets. */
function createPostBody(kind: Kind, change: Sent): JsonObject {
  const fields = kind.specFields.flatMap(([name, field]): [string, Json][] => {
    const value = name === 'metadata' ? undefined : findSentValue(name, field, change);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(fields);
}

/** The body of a PATCH that sets the named fields. Adds the fields that some services clear if a PATCH omits them. */
function createPatchBody(kind: Kind, { live, ...change }: Change, names: readonly string[]): JsonObject {
  const entries = names.map((name): [string, Json] => {
    const field = assertDefined(kind.fields[name], `${kind.name}.${name}`);
    return [name, findSentValue(name, field, change) ?? findPatchClearValue(field) ?? null];
  });
  return { ...pickAlwaysSent(kind, change, live?.spec ?? {}), ...Object.fromEntries(entries) };
}

/**
 * Fields that some services clear if a PATCH omits them. Value: the desired value or, if there is none, the live value.
 */
function pickAlwaysSent(kind: Kind, change: Sent, live: Spec): JsonObject {
  const entries = kind.specFields.flatMap(([name, field]): [string, Json][] =>
    field.alwaysSent ? [[name, findSentValue(name, field, change) ?? live[name] ?? null]] : [],
  );
  return Object.fromEntries(entries);
}

/** The value of a field in a request. `undefined`: the field is omitted, so the service uses its default. */
function findSentValue(name: string, field: Field, { desired = {}, sent = {} }: Sent): Json | undefined {
  return Object.hasOwn(sent, name) ? sent[name] : omitDefault(field, desired[name]);
}

/**
 * For the named fields, the values whose written form differs from the normal form. A request sends the written form.
 */
export function pickNonNormalWrittenValues(kind: Kind, form: DesiredSpecForms, names: ReadonlySet<string>): Spec {
  const entries = kind.specFields.flatMap(([name, field]): [string, Json][] => {
    const value = findWrittenValue(name, field, form);
    const plain = omitDefault(field, form.normal[name]);
    const isPlain = value === undefined || (plain !== undefined && isSameJson(value, plain));
    return isPlain || name === 'metadata' || !names.has(name) ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

/** Returns the value to send for a value in normal form; `undefined` for a default, which is not sent. */
function omitDefault(field: Field, normal: Json | undefined): Json | undefined {
  if (normal === undefined || normal === null) return undefined;
  return !field.serviceDefault && isDefault(field, normal) ? undefined : normal;
}

/**
 * The value of a field as written in the manifest. Objects other than modules are completed with defaults, because not
 * every service fills these in.
 */
function findWrittenValue(name: string, field: Field, { written, normal }: DesiredSpecForms): Json | undefined {
  const isFilledIn = isJsonObject(written[name]) && field.type.type === 'object' && !isModule(field);
  return (isFilledIn ? normal[name] : written[name]) ?? undefined;
}
