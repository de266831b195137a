import { AS_WRITTEN, canonical } from '../kinds/canonical.ts';
import { diff } from '../kinds/diff.ts';
import { like } from '../kinds/evidence.ts';
import type { Field, NamedField } from '../kinds/field.ts';
import { takeIgnoredParts } from '../kinds/ignored-parts.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Difference } from '../model/change.ts';
import { IGNORED_FIELD_DIGEST, type Mark, toFieldDigest } from '../model/mark.ts';
import type { LiveResource, Spec } from '../model/state.ts';

/** A live resource, and the settings of its manifest that affect the comparison. */
export interface LiveResourceToCompare {
  readonly kind: Kind;
  readonly live: Pick<LiveResource, 'spec' | 'mark'>;
  /** Paths in `lifecycle.ignore`: fields, and parts of fields. */
  readonly ignored: readonly string[];
  /** `lifecycle.valid_for` in milliseconds. `undefined` if the manifest does not set it. */
  readonly validForMs: number | undefined;
}

/**
 * Returns a difference for each field that the manifest no longer sets although the mark shows that the last apply set
 * it. Includes only fields whose default the service chooses. A difference forces a replace if the service chooses the
 * default only for a new resource. `normal`: the desired spec in normal form.
 */
export function diffNoLongerSetFields(
  described: LiveResourceToCompare,
  normal: Spec,
): readonly (Difference & { readonly field: string })[] {
  const { live } = described;
  return listUnsetFields(described, normal).map(([name, field]) => {
    const from = live.spec[name];
    const isDrifted = from !== undefined && field.earlierByMs === 0 && toFieldDigest(from) !== live.mark?.fields[name];
    return {
      field: name,
      path: name,
      from,
      origin: isDrifted ? 'both' : 'manifest',
      forcesReplace: needsReplace(described, name, field),
    };
  });
}

/** Whether the manifest no longer sets a field whose value the service chooses only for a new resource. */
export function needsReplaceForServiceDefault(described: LiveResourceToCompare, normal: Spec): boolean {
  return listUnsetFields(described, normal).some(([name, field]) => needsReplace(described, name, field));
}

function listUnsetFields({ kind, ignored, live }: LiveResourceToCompare, normal: Spec): readonly NamedField[] {
  const isOurs = (name: string) => isSetInMark(live.mark, name) && !ignored.includes(name);
  return listChosenFields(kind).filter(([name]) => normal[name] === undefined && isOurs(name));
}

/** The fields whose value the service chooses if a request omits them. */
function listChosenFields(kind: Kind): readonly NamedField[] {
  return kind.specFields.filter(([, { serviceDefault }]) => serviceDefault);
}

function isSetInMark(mark: Mark | undefined, name: string): boolean {
  return (mark?.fields[name] ?? IGNORED_FIELD_DIGEST) !== IGNORED_FIELD_DIGEST;
}

/**
 * Whether a change of the field requires a new resource. False for the times of a certificate if the manifest sets
 * `lifecycle.valid_for`, because then the length of the validity is compared instead.
 */
function needsReplace({ kind, validForMs }: LiveResourceToCompare, name: string, field: Field): boolean {
  const isTime = kind.validity?.after === name || kind.validity?.until === name;
  const isCovered = isTime && validForMs !== undefined;
  return field.lifecycle === 'immutable' && !field.keepsLiveValue && !isCovered;
}

/**
 * Whether the resource must be replaced, because an immutable field differs or is no longer set. Skips ignored fields
 * and fields that the service does not show.
 */
export function mustReplaceResource(described: LiveResourceToCompare, desired: Spec): boolean {
  const { kind, live, ignored } = described;
  const normal = canonical(kind, takeIgnoredParts(ignored, desired, live.spec), AS_WRITTEN);
  if (needsReplaceForServiceDefault(described, normal)) return true;
  const differences = diff(kind, canonical(kind, live.spec, like(normal)), normal);
  return differences.some(({ field, forcesReplace }) => forcesReplace && !ignored.includes(field));
}
