import type { Field } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import { listMarkedFields } from '../kinds/mark-fields.ts';
import { toDefault } from '../kinds/normalize.ts';
import type { Origin } from '../model/change.ts';
import type { Json } from '../model/json.ts';
import { type Mark, type MarkDraft, toFieldDigest, UNMANAGED } from '../model/mark.ts';
import { onceForEach } from '../model/once.ts';
import type { Spec } from '../model/state.ts';
import { waitsForId } from './desired-form.ts';

/** What decides the origin of a difference. */
interface Sides {
  readonly desired: Spec;
  readonly live: Spec;
  readonly mark: Mark | undefined;
}

/**
 * The origin of a field's difference. The mark holds the digest of what was last applied: if desired differs from it, the manifest
 * changed; if live differs from it, live drifted. Unknown values count as not drifted. A value that waits for an id has no digest yet.
 */
export function toOrigin(kind: Kind, name: string, { desired, live, mark }: Sides): Origin {
  if (mark === undefined) return 'unknown';
  const applied = mark.fields[name] ?? toDefaultDigest(kind, name);
  if (applied === undefined) return 'manifest';
  if (applied === UNMANAGED) return 'unknown';
  const isDrifted = live[name] !== undefined && toFieldDigest(live[name]) !== applied;
  const value = desired[name] ?? null;
  const isChanged = toFieldDigest(value) !== applied && !(isDrifted && waitsForId(kind, { [name]: value }));
  if (isChanged && isDrifted) return 'both';
  return isChanged ? 'manifest' : 'drift';
}

/** Fields whose digest is not that of what is applied. */
export interface SparedFields {
  /** Ignored fields, which somebody else owns. */
  readonly ignored: readonly string[];
  /** Those whose digest stays what it was; `undefined`: there was none. */
  readonly kept: ReadonlyMap<string, string | undefined>;
}

/** The digests that a mark holds once a spec in normal form is applied, and the fields whose digest waits for an id. */
export function toDigests(
  kind: Kind,
  normal: Spec,
  { ignored, kept }: SparedFields,
): Pick<MarkDraft, 'fields' | 'pending'> {
  const fields: Record<string, string> = {};
  const pending: Record<string, Json> = {};
  for (const name of listMarkedFields(kind, normal)) {
    if (ignored.includes(name)) continue;
    const value = normal[name] ?? null;
    if (waitsForId(kind, { [name]: value })) pending[name] = value;
    else if (!kept.has(name)) fields[name] = toFieldDigest(value);
  }
  for (const name of ignored) if (!kept.has(name)) fields[name] = UNMANAGED;
  for (const [name, digest] of kept) if (digest !== undefined) fields[name] = digest;
  return { fields, pending };
}

/** The digest of a field that the mark does not name; `undefined`: the service chose its value. */
export function toDefaultDigest(kind: Kind, name: string): string | undefined {
  const field = kind.fields[name];
  return field === undefined || field.serviceDefault ? undefined : digestDefault(field);
}

const digestDefault = onceForEach((field: Field) => toFieldDigest(toDefault(field)));
