import { alignMembers } from '../model/secret-value.ts';
import type { Spec } from '../model/state.ts';
import { canonical, getNormalUnsetFieldValue } from './canonical.ts';
import { diff } from './diff.ts';
import { AS_IF_COMPLETE, like } from './evidence.ts';
import type { Kind } from './kind.ts';
import { isSpellingOf } from './spelling.ts';

/** Comparisons of a spec with what the service shows, by meaning. */

/** A live spec beside a spec (`like`), with the secrets of the spec in the place of the live values that equal them. */
export function alignLiveWithSecrets(kind: Kind, live: Spec, spec: Spec): Spec {
  return canonical(kind, alignMembers(live, spec), like(spec));
}

/** Whether a live spec shows every field of a spec except for metadata, as it is. Both are in normal form. */
export function isSameBesideMetadata(kind: Kind, live: Spec, spec: Spec): boolean {
  return diff(kind, live, spec).every(({ field }) => kind.fields[field]?.type.type === 'metadata');
}

/**
 * Whether a live spec has every field of a spec by meaning, except for metadata. Both are in normal form. A field that
 * the service does not show must not be set, and one that the spec leaves to the service may have any value.
 */
export function hasSameFields(kind: Kind, live: Spec, spec: Spec): boolean {
  const aligned = alignLiveWithSecrets(kind, live, spec);
  const hidden = kind.specFields.filter(([name]) => live[name] === undefined);
  const unset = hidden.map(([name, field]) => [name, getNormalUnsetFieldValue(field)] as const);
  return diff(kind, { ...aligned, ...Object.fromEntries(unset) }, spec).every(({ field: name, from, to }) => {
    const field = kind.fields[name];
    const isSpelling = from !== undefined && to !== undefined && field !== undefined && isSpellingOf(field, from, to);
    return field?.type.type === 'metadata' || (live[name] !== undefined && isSpelling);
  });
}

/** Names of the fields in which two reads of a resource differ by meaning. What only one of them shows is no difference. */
export function listDifferentFields(kind: Kind, before: Spec, now: Spec): readonly string[] {
  const from = canonical(kind, before, AS_IF_COMPLETE);
  const to = canonical(kind, alignLiveWithSecrets(kind, now, from), AS_IF_COMPLETE);
  return [...new Set(diff(kind, to, from).map(({ field }) => field))];
}
