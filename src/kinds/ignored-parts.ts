import { findMember, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { IGNORED_FIELD_DIGEST, type Mark, toFieldDigest } from '../model/mark.ts';
import type { DesiredResource, Spec } from '../model/state.ts';
import { normalizeField } from './canonical.ts';
import type { Kind } from './kind.ts';
import { mapReferences, type Reference } from './references.ts';

/**
 * A part of a spec that `lifecycle.ignore` leaves to others: a field, or one member of it (a key of a map, a
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

/**
 * Returns a spec in which the ignored parts have their live values. `live` is in normal form. An ignored field of a
 * module that is not set has no live value: there, the wanted one stays.
 */
export function takeIgnoredParts(ignored: readonly string[], wanted: Spec, live: Spec): Spec {
  return mapIgnored(ignored, wanted, (value, { field, member }) => {
    const shown = live[field] ?? null;
    if (member === undefined) return shown;
    return shown === null ? value : setMember(value, member, findMember(shown, member));
  });
}

/** The paths that a mark records as managed by others when it was written. */
export function listIgnoredInMark(mark: Pick<Mark, 'fields'> | undefined): readonly string[] {
  return Object.entries(mark?.fields ?? {}).flatMap(([path, digest]) =>
    digest === IGNORED_FIELD_DIGEST ? [path] : [],
  );
}

/** The digest of the part of a field that is not ignored. `value` is in normal form. */
export function computeManagedDigest(kind: Kind, { name, value }: NamedValue, ignored: readonly string[]): string {
  const field = kind.fields[name];
  if (field === undefined || !isIgnoredInPart(ignored, name)) return toFieldDigest(value);
  return toFieldDigest(normalizeField(field, omitIgnoredParts(ignored, { [name]: value })[name]));
}

interface NamedValue {
  readonly name: string;
  readonly value: Json;
}

/** Replaces each reference of a resource: those in its spec, and the keys of maps that it ignores. */
export function mapReferencesOfResource<Resource extends Pick<DesiredResource, 'spec' | 'lifecycle'>>(
  kind: Kind,
  resource: Resource,
  replace: (reference: Reference) => string,
): Resource {
  const { spec, lifecycle } = resource;
  const ignore = lifecycle.ignore.map((path) => mapReferencesInIgnoredPath(kind, path, replace));
  return { ...resource, spec: mapReferences(kind, spec, replace), lifecycle: { ...lifecycle, ignore } };
}

/** Replaces the key of a map at the end of a path of `lifecycle.ignore`, if it is a reference. */
export function mapReferencesInIgnoredPath(
  kind: Kind,
  path: string,
  replace: (reference: Reference) => string,
): string {
  const { field, member } = parseIgnoredPart(path);
  if (member === undefined) return path;
  const replaced = mapReferences(kind, { [field]: { [member]: null } }, replace)[field];
  const [key = member] = isJsonObject(replaced) ? Object.keys(replaced) : [];
  return `${field}.${key}`;
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
