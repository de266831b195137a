import { type Kind, listOneTimeFields, listSpecFields } from '../kinds/kind.ts';
import { toPathIds } from '../kinds/paths.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { toName } from '../model/address.ts';
import type { Change } from '../model/change.ts';
import { assertDefined, assertNever, InvariantError } from '../model/errors.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';
import { renderUserMetadata } from '../model/mark.ts';
import {
  type AdoptWrite,
  type CreateWrite,
  type DeleteWrite,
  type DeliverWrite,
  type ReleaseWrite,
  type RemoveModuleWrite,
  type SetModuleWrite,
  toWriteId,
  type UpdateWrite,
  type Write,
  type WriteId,
} from '../model/write.ts';
import { toAlwaysSent, toCreateBody, toPatchBody, toSentValue } from './bodies.ts';
import { isSameMark, toMarkDraft } from './mark-draft.ts';

/** A write before its place in the order is known: `needs` holds only writes of the same change. */
export type Draft<W extends Write = Write> = W extends Write ? Omit<W, 'last'> : never;

/** The calls that carry out a change, the fewest that do it. Attached modules are set one by one. */
export function listWrites(change: Change, stack: string): readonly Draft[] {
  const kind = getKind(change.kind);
  switch (change.action) {
    case 'no-op':
      return [];
    case 'create':
      return createWrites(kind, change, stack);
    case 'release':
      return [releaseWrite(kind, change)];
    case 'delete':
      return [deleteWrite(change, { needs: [], reason: change.reason ?? 'removes it' })];
    case 'replace': {
      const created = createWrites(kind, change, stack);
      const needs = created.map(({ id }) => id);
      return [...created, deleteWrite(change, { needs, reason: `removes the old ${kind.title}` })];
    }
    case 'update':
    case 'adopt':
      return kind.role === 'attached' ? attachmentWrites(kind, change) : updateWrites(kind, change, stack);
    default:
      return assertNever(change.action);
  }
}

function createWrites(kind: Kind, change: Change, stack: string): readonly Draft[] {
  const { address, action, validForMs } = change;
  const mark = toMarkDraft(change, stack);
  const base = { address, kind: kind.name };
  const create: Draft<CreateWrite> = {
    act: 'create',
    ...base,
    id: toWriteId({ act: 'create', address }),
    body: toCreateBody(kind, change),
    mark,
    ...(validForMs !== undefined && { validForMs }),
    needs: [],
    reason: action === 'replace' ? `creates the new ${kind.title}` : `creates the ${kind.title}`,
  };
  if (listOneTimeFields(kind).length === 0) return [create];
  const deliver: Draft<DeliverWrite> = {
    act: 'deliver',
    ...base,
    id: toWriteId({ act: 'deliver', address }),
    mark: { ...mark, delivered: true },
    needs: [create.id],
    reason: 'records that the token was delivered',
  };
  return [create, deliver];
}

/** Which resource a write is about, if several have the same mark. */
function toSubject(change: Change) {
  const { address, duplicateOf } = change;
  return { address, resourceId: liveOf(change).id, ...(duplicateOf !== undefined && { duplicateOf }) };
}

function deleteWrite(
  change: Change,
  { needs, reason }: { readonly needs: readonly WriteId[]; readonly reason: string },
): Draft<DeleteWrite> {
  const subject = toSubject(change);
  return { act: 'delete', ...subject, kind: change.kind, id: toWriteId({ act: 'delete', ...subject }), needs, reason };
}

/** The user's part of the metadata, as far as the mark tells. */
function releaseWrite(kind: Kind, change: Change): Draft<ReleaseWrite> {
  const subject = toSubject(change);
  const spec = liveOf(change).spec ?? {};
  const user = spec['metadata'];
  const metadata = renderUserMetadata(typeof user === 'string' || isJsonObject(user) ? user : '');
  return {
    act: 'release',
    ...subject,
    kind: kind.name,
    id: toWriteId({ act: 'release', ...subject }),
    body: { ...toAlwaysSent(kind, {}, spec), metadata },
    needs: [],
    reason: 'removes the mark',
  };
}

function updateWrites(kind: Kind, change: Change, stack: string): readonly Draft[] {
  const { mark: liveMark } = liveOf(change);
  const changed = listChangedFields(kind, change);
  const removed = changed.filter((name) => isRemoval(kind, change, name));
  const removals = removed.map((module) => removeWrite(kind, change, module));
  const mark = toMarkDraft(change, stack);
  const isMarked = changed.includes('metadata') || !isSameMark(mark, liveMark);
  const patched = changed.filter((name) => name !== 'metadata' && !removed.includes(name) && !isFixed(kind, name));
  if (patched.length === 0 && !isMarked) return removals;
  const body = toPatchBody(kind, change, patched);
  const needs = removals.map(({ id }) => id);
  return [...removals, patchWrite(change, { body, needs, mark: isMarked ? mark : undefined, patched })];
}

interface Patch extends Pick<Draft<AdoptWrite>, 'body' | 'needs'> {
  readonly mark: AdoptWrite['mark'] | undefined;
  /** The fields that it sets. */
  readonly patched: readonly string[];
}

function patchWrite(change: Change, { mark, patched, ...parts }: Patch): Draft<UpdateWrite | AdoptWrite> {
  const { address, kind } = change;
  const base = { address, kind, resourceId: liveOf(change).id, ...parts };
  if (change.action === 'adopt') {
    const id = toWriteId({ act: 'adopt', address });
    const reason = patched.length === 0 ? 'marks it as ours' : `marks it as ours and sets ${patched.join(', ')}`;
    return { act: 'adopt', id, ...base, mark: assertDefined(mark, `mark of ${address}`), reason };
  }
  const id = toWriteId({ act: 'update', address });
  return { act: 'update', id, ...base, ...(mark !== undefined && { mark }), reason: toPatchReason(change, patched) };
}

function toPatchReason(change: Change, patched: readonly string[]): string {
  if (patched.length > 0) return `sets ${patched.join(', ')}`;
  const { name } = assertDefined(liveOf(change).mark, `mark of ${change.address}`);
  return name === toName(change.address)
    ? 'records what was applied'
    : `marks it with its new name, instead of ${name}`;
}

function attachmentWrites(kind: Kind, change: Change): readonly Draft[] {
  return listChangedFields(kind, change).map((module): Draft => {
    if (isRemoval(kind, change, module)) return removeWrite(kind, change, module);
    const { address } = change;
    const field = assertDefined(kind.fields[module], `${kind.name}.${module}`);
    const set: Draft<SetModuleWrite> = {
      act: 'set-module',
      id: toWriteId({ act: 'set-module', address, module }),
      address,
      kind: kind.name,
      ids: toPathIds(kind, liveOf(change)),
      module,
      body: assertObject(toSentValue(module, field, change)),
      needs: [],
      reason: `sets ${module}`,
    };
    return set;
  });
}

function removeWrite(kind: Kind, change: Change, module: string): Draft<RemoveModuleWrite> {
  const { address } = change;
  return {
    act: 'remove-module',
    id: toWriteId({ act: 'remove-module', address, module }),
    address,
    kind: kind.name,
    ids: toPathIds(kind, liveOf(change)),
    module,
    needs: [],
    reason: `removes ${module}`,
  };
}

/** Top-level fields with a difference, each once, in the order of the kind's table. */
export function listChangedFields(kind: Kind, { differences }: Pick<Change, 'differences'>): readonly string[] {
  const changed = new Set(differences.map(({ field }) => field));
  return listSpecFields(kind)
    .map(([name]) => name)
    .filter((name) => changed.has(name));
}

/** Immutable fields are never sent: that one is no longer stated only changes the mark. */
function isFixed(kind: Kind, name: string): boolean {
  return kind.fields[name]?.lifecycle === 'immutable';
}

function isRemoval(kind: Kind, { desired }: Change, name: string): boolean {
  return kind.fields[name]?.clear === 'delete' && desired?.[name] === null;
}

function liveOf({ live, address }: Change) {
  return assertDefined(live, `live ${address}`);
}

function assertObject(value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  throw new InvariantError('Expected an object');
}
