import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';

/**
 * A part of a spec that `lifecycle.ignore` leaves to another owner: a field, or one member of it (a key of a map, a
 * field of a module, a member of metadata). Written `field` or `field.member`; a member may contain dots.
 */
interface IgnoredPart {
  readonly field: string;
  /** `undefined`: the whole field. */
  readonly member: string | undefined;
}

export function parseIgnoredPart(path: string): IgnoredPart {
  const dot = path.indexOf('.');
  return dot < 0 ? { field: path, member: undefined } : { field: path.slice(0, dot), member: path.slice(dot + 1) };
}

/** Whether a field is ignored, as a whole or in part. */
export function isIgnoredInPart(ignored: readonly string[], field: string): boolean {
  return ignored.some((path) => parseIgnoredPart(path).field === field);
}

/** Returns a spec in which the ignored parts have their live values. Both specs are in normal form. */
export function takeIgnoredParts(ignored: readonly string[], wanted: Spec, live: Spec): Spec {
  return mapIgnored(ignored, wanted, (value, { field, member }) => {
    const shown = live[field] ?? null;
    return member === undefined ? shown : setMember(value, member, isJsonObject(shown) ? shown[member] : undefined);
  });
}

/**
 * Returns a spec without its ignored parts: whole fields are absent, and ignored members are removed from their fields.
 * Two specs that differ only in ignored parts become equal.
 */
export function omitIgnoredParts(ignored: readonly string[], spec: Spec): Spec {
  return mapIgnored(ignored, spec, (value, { member }) =>
    member === undefined || value === undefined ? undefined : setMember(value, member, undefined),
  );
}

function mapIgnored(
  ignored: readonly string[],
  spec: Spec,
  change: (value: Json | undefined, part: IgnoredPart) => Json | undefined,
): Spec {
  if (ignored.length === 0) return spec;
  const fields = new Map<string, Json>(Object.entries(spec));
  for (const part of ignored.map(parseIgnoredPart)) {
    const value = change(fields.get(part.field), part);
    if (value === undefined) fields.delete(part.field);
    else fields.set(part.field, value);
  }
  return Object.fromEntries(fields);
}

/** Sets or removes one member of a value. A value that is not an object has no members, and gets one only if it is set. */
function setMember(value: Json | undefined, member: string, to: Json | undefined): Json | undefined {
  if (to === undefined) return isJsonObject(value) ? withoutMember(value, member) : value;
  return Object.fromEntries([...Object.entries(isJsonObject(value) ? withoutMember(value, member) : {}), [member, to]]);
}

function withoutMember(value: JsonObject, member: string): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== member));
}
