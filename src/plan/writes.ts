import type { Field } from '../kinds/field.ts';
import { isModule, type Kind, listOneTimeFields, listSpecFields } from '../kinds/kind.ts';
import { ID_PLACEHOLDER, toModulePath, toResourcePath } from '../kinds/paths.ts';
import { toClearValue } from '../kinds/request-body.ts';
import { assertDefined, assertNever, InvariantError } from '../model/errors.ts';
import { isJsonObject, isSameJson, type Json, type JsonObject } from '../model/json.ts';
import { type Mark, renderUserMetadata } from '../model/mark.ts';
import type { MarkDraft, Write } from '../model/plan.ts';
import type { Spec } from '../model/state.ts';
import { toDigests } from './attribute.ts';
import { toValidForMs } from './certificates.ts';
import type { Decision } from './decide.ts';
import type { DesiredForm } from './desired-form.ts';

/** A write before its place in the order is known: `needs` holds only the writes of the same change. */
export type WriteDraft = Omit<Write, 'last'>;

/** The calls that carry out a decision, the fewest that do it. Attached modules are replaced one by one. */
export function listWrites(decision: Decision, stack: string): readonly WriteDraft[] {
  switch (decision.action) {
    case 'no-op':
      return [];
    case 'create':
      return createWrites(decision, stack);
    case 'release':
      return [releaseWrite(decision)];
    case 'delete':
      return [deleteWrite(decision, [])];
    case 'replace': {
      const created = createWrites(decision, stack);
      return [
        ...created,
        deleteWrite(
          decision,
          created.map(({ id }) => id),
        ),
      ];
    }
    case 'update':
    case 'adopt':
      return decision.pair.by === 'attachment' ? attachmentWrites(decision) : updateWrites(decision, stack);
    default:
      return assertNever(decision.action);
  }
}

function createWrites(decision: Decision, stack: string): readonly WriteDraft[] {
  const { address, kind } = decision.pair;
  const mark = toMarkDraft(decision, stack);
  const validForMs = toValidForMs(decision);
  const base = { address, kind: kind.name };
  const create: WriteDraft = {
    ...base,
    id: `create ${address}`,
    method: 'POST',
    path: kind.path,
    body: toCreateBody(kind, formOf(decision)),
    mark,
    ...(validForMs !== undefined && { validForMs }),
    needs: [],
    reason: decision.action === 'replace' ? `makes the new ${kind.title}` : `makes the ${kind.title}`,
  };
  if (listOneTimeFields(kind).length === 0) return [create];
  const deliver: WriteDraft = {
    ...base,
    id: `deliver ${address}`,
    method: 'PATCH',
    path: toResourcePath(kind, { id: ID_PLACEHOLDER }),
    body: {},
    mark: { ...mark, delivered: true },
    needs: [create.id],
    reason: 'records that the token was delivered',
  };
  return [create, deliver];
}

function deleteWrite(decision: Decision, needs: readonly string[]): WriteDraft {
  const { address, kind } = decision.pair;
  const { id } = liveOf(decision);
  const reason = decision.action === 'replace' ? `removes the old ${kind.title}` : (decision.reason ?? 'removes it');
  return {
    id: `delete ${address}`,
    method: 'DELETE',
    path: toResourcePath(kind, { id }),
    address,
    kind: kind.name,
    resourceId: id,
    needs,
    reason,
  };
}

/** The metadata as the user wrote them, as far as the mark knows. */
function releaseWrite(decision: Decision): WriteDraft {
  const { address, kind } = decision.pair;
  const { id, spec } = liveOf(decision);
  const user = spec['metadata'] ?? '';
  return {
    id: `release ${address}`,
    method: 'PATCH',
    path: toResourcePath(kind, { id }),
    address,
    kind: kind.name,
    resourceId: id,
    body: {
      ...toAlwaysSent(kind, {}, spec),
      metadata: renderUserMetadata(typeof user === 'string' ? user : assertObject(user)),
    },
    needs: [],
    reason: 'takes the mark off',
  };
}

function updateWrites(decision: Decision, stack: string): readonly WriteDraft[] {
  const { address, kind } = decision.pair;
  const { id, mark: liveMark, spec } = liveOf(decision);
  const changed = listChangedFields(decision);
  const removed = changed.filter((name) => isRemoval(decision, name));
  const base = { address, kind: kind.name, resourceId: id };
  const removals = removed.map((module) =>
    removeWrite(decision, { ...base, module, path: toModulePath(kind, { id }, module) }),
  );
  const mark = toMarkDraft(decision, stack);
  const marks = changed.includes('metadata') || !isSameMark(mark, liveMark);
  const patched = changed.filter((name) => name !== 'metadata' && !removed.includes(name));
  if (patched.length === 0 && !marks) return removals;
  const patch: WriteDraft = {
    ...base,
    id: `${decision.action} ${address}`,
    method: 'PATCH',
    path: toResourcePath(kind, { id }),
    body: {
      ...toAlwaysSent(kind, formOf(decision).written, spec),
      ...toPatchBody(kind, formOf(decision), patched),
    },
    ...(marks && { mark }),
    needs: removals.map((removal) => removal.id),
    reason: toPatchReason(decision, patched),
  };
  return [...removals, patch];
}

function toPatchReason(decision: Decision, patched: readonly string[]): string {
  if (decision.action === 'adopt')
    return patched.length === 0 ? 'marks it as ours' : `marks it as ours and sets ${patched.join(', ')}`;
  const { formerName } = decision.pair;
  if (formerName !== undefined && patched.length === 0) return `marks it with its new name, instead of ${formerName}`;
  return patched.length === 0 ? 'records what was applied' : `sets ${patched.join(', ')}`;
}

function attachmentWrites(decision: Decision): readonly WriteDraft[] {
  const { address, kind } = decision.pair;
  const form = formOf(decision);
  return listChangedFields(decision).map((module) => {
    const base = {
      address,
      kind: kind.name,
      resourceId: liveOf(decision).id,
      module,
      path: toModulePath(kind, form.normal, module),
    };
    if (isRemoval(decision, module)) return removeWrite(decision, base);
    const body = assertObject(form.written[module]);
    return { ...base, id: `set ${module} of ${address}`, method: 'PUT', body, needs: [], reason: `sets ${module}` };
  });
}

function removeWrite(
  decision: Decision,
  base: Pick<WriteDraft, 'address' | 'kind' | 'path'> & { readonly resourceId: string; readonly module: string },
): WriteDraft {
  return {
    ...base,
    id: `remove ${base.module} of ${decision.pair.address}`,
    method: 'DELETE',
    needs: [],
    reason: `removes ${base.module}`,
  };
}

/** Top-level fields with a difference, each once, in the order of the kind's table. */
function listChangedFields(decision: Decision): readonly string[] {
  const changed = new Set(decision.differences.map(({ path }) => path.split(/[.[]/, 1)[0]));
  return listSpecFields(decision.pair.kind)
    .map(([name]) => name)
    .filter((name) => changed.has(name));
}

function isRemoval(decision: Decision, name: string): boolean {
  return decision.pair.kind.fields[name]?.clear === 'delete' && formOf(decision).normal[name] === null;
}

function toCreateBody(kind: Kind, form: DesiredForm): JsonObject {
  const stated = listSpecFields(kind).flatMap(([name, field]): [string, Json][] => {
    const value = toSent(name, field, form);
    return value === undefined || value === null || name === 'metadata' ? [] : [[name, value]];
  });
  return Object.fromEntries(stated);
}

function toPatchBody(kind: Kind, form: DesiredForm, names: readonly string[]): JsonObject {
  const entries = names.map((name): [string, Json] => {
    const field = assertDefined(kind.fields[name], `${kind.name}.${name}`);
    return [name, toSent(name, field, form) ?? toClearValue(field) ?? null];
  });
  return Object.fromEntries(entries);
}

/** As written, except that an object that is no module is sent with its defaults: not every service fills them in. */
function toSent(name: string, field: Field, { written, normal }: DesiredForm): Json | undefined {
  return isJsonObject(written[name]) && field.type.type === 'object' && !isModule(field) ? normal[name] : written[name];
}

/** Fields that some services clear when a PATCH leaves them out. */
function toAlwaysSent(kind: Kind, written: Spec, live: Spec): JsonObject {
  const entries = listSpecFields(kind).flatMap(([name, field]): [string, Json][] =>
    field.alwaysSent ? [[name, written[name] ?? live[name] ?? null]] : [],
  );
  return Object.fromEntries(entries);
}

function toMarkDraft(decision: Decision, stack: string): MarkDraft {
  const desired = assertDefined(decision.pair.desired, `manifest of ${decision.pair.address}`);
  const { normal } = formOf(decision);
  const user = normal['metadata'] ?? '';
  const { live, kind, by, was } = decision.pair;
  return {
    stack,
    name: desired.name,
    protect: desired.lifecycle.protect,
    ...(was !== undefined && { was }),
    delivered:
      decision.action !== 'create' &&
      decision.action !== 'replace' &&
      (by === 'adopt' && live?.mark === undefined
        ? listOneTimeFields(kind).length > 0
        : live?.mark?.delivered === true),
    user: typeof user === 'string' ? user : assertObject(user),
    ...toDigests(
      kind,
      { desired, kept: new Map(decision.kept.map((field) => [field, live?.mark?.fields[field]])) },
      normal,
    ),
  };
}

function isSameMark(draft: MarkDraft, live: Mark | undefined): boolean {
  return (
    live !== undefined &&
    Object.keys(draft.pending).length === 0 &&
    draft.stack === live.stack &&
    draft.name === live.name &&
    draft.protect === live.protect &&
    isSameJson(draft.fields, live.fields)
  );
}

function formOf(decision: Decision) {
  return assertDefined(decision.form, `desired form of ${decision.pair.address}`);
}

function liveOf(decision: Decision) {
  return assertDefined(decision.pair.live, `live ${decision.pair.address}`);
}

function assertObject(value: Json | undefined): JsonObject {
  if (isJsonObject(value)) return value;
  throw new InvariantError('Expected an object');
}
