import { normalizeField } from '../kinds/normalize.ts';
import { ID_PLACEHOLDER } from '../kinds/paths.ts';
import { mapReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { isAddress } from '../model/address.ts';
import { toBaseAddress } from '../model/change.ts';
import { assertDefined } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import { type Mark, renderMetadata, toFieldDigest } from '../model/mark.ts';
import type { MarkDraft, Write } from '../model/plan.ts';
import type { Spec } from '../model/state.ts';

/** A write with every id in it known: what is sent. */
export interface ResolvedWrite {
  readonly method: Write['method'];
  readonly path: string;
  readonly body: JsonObject | undefined;
}

/**
 * Puts the ids that earlier writes returned where the plan has addresses, and times where it has a duration. Every id that the
 * write waits for must be known.
 */
export function resolveWrite(write: Write, ids: ReadonlyMap<string, string>, now: Date): ResolvedWrite {
  const path = write.path.includes(ID_PLACEHOLDER)
    ? write.path.replace(ID_PLACEHOLDER, () => encodeURIComponent(idOf(ids, toBaseAddress(write.address))))
    : write.path;
  if (write.body === undefined) return { method: write.method, path, body: undefined };
  const body =
    write.module === undefined ? resolvePart(write, write.body, ids) : resolveModule(write, write.module, ids);
  const metadata = write.mark && { metadata: renderMetadata(write.mark.user, resolveMark(write, write.mark, ids)) };
  return { method: write.method, path, body: { ...body, ...toTimes(write, now), ...metadata } };
}

/** The time of validity of what is made now, in whole seconds, as services keep it. */
function toTimes({ kind, validForMs }: Write, now: Date): JsonObject {
  const { validity } = getKind(kind);
  if (validForMs === undefined || validity === undefined) return {};
  const startMs = Math.floor(now.getTime() / 1000) * 1000;
  const toText = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');
  return { [validity.after]: toText(startMs), [validity.until]: toText(startMs + validForMs) };
}

function resolvePart(write: Write, part: Spec, ids: ReadonlyMap<string, string>): Spec {
  return mapReferences(getKind(write.kind), part, ({ value }) => (isAddress(value) ? idOf(ids, value) : value));
}

function resolveModule(write: Write, module: string, ids: ReadonlyMap<string, string>): JsonObject {
  const resolved = resolvePart(write, { [module]: write.body ?? {} }, ids)[module];
  return resolved as JsonObject; // replacing references keeps an object an object
}

/** The mark that a write leaves. Every id that it waits for must be known. */
export function resolveMark(write: Write, mark: MarkDraft, ids: ReadonlyMap<string, string>): Mark {
  const { fields } = getKind(write.kind);
  const pending = Object.entries(resolvePart(write, mark.pending, ids)).map(([name, value]): [string, string] => {
    const field = assertDefined(fields[name], `${write.kind}.${name}`);
    return [name, toFieldDigest(normalizeField(field, value))];
  });
  const { stack, name, protect, delivered, was } = mark;
  const known = { stack, name, protect, delivered, ...(was !== undefined && { was }) };
  return { ...known, fields: { ...mark.fields, ...Object.fromEntries(pending) } };
}

function idOf(ids: ReadonlyMap<string, string>, address: string): string {
  return assertDefined(ids.get(address), `id of ${address}`);
}
