import { AS_WRITTEN, canonical } from '../kinds/canonical.ts';
import { takeIgnoredParts } from '../kinds/ignored-parts.ts';
import type { Kind } from '../kinds/kind.ts';
import { mapReferences } from '../kinds/references.ts';
import { toRequestSpec } from '../kinds/written-form.ts';
import { type Address, isAddress } from '../model/address.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/state.ts';

/**
 * The ids that are known while planning, by address. A resource whose address is absent gets its id during the apply.
 */
export type KnownIds = ReadonlyMap<string, string>;

export interface DesiredSpecForms {
  /** For request bodies: as written, in the form of requests, with known ids in place of addresses. */
  readonly written: Spec;
  /** For comparison: in normal form. Resources without an id yet are still referred to by address. */
  readonly normal: Spec;
}

/** Computes the desired forms of a resource. What it ignores keeps its live values, so that no write changes them. */
export function computeDesiredSpecForms(
  kind: Kind,
  desired: DesiredResource,
  live: LiveResource | undefined,
  ids: KnownIds,
): DesiredSpecForms {
  const resolved = toRequestSpec(
    kind,
    mapReferences(kind, desired.spec, ({ value }) => ids.get(value) ?? value),
  );
  const written = live === undefined ? resolved : takeIgnoredParts(desired.lifecycle.ignore, resolved, live.spec);
  return { written, normal: canonical(kind, written, AS_WRITTEN) };
}

/** Whether a spec, or a part of a spec, contains a reference whose id is not known yet. */
export function containsUnknownId(kind: Kind, part: Spec): boolean {
  let isWaiting = false;
  mapReferences(kind, part, ({ value }) => {
    isWaiting ||= isAddress(value);
    return value;
  });
  return isWaiting;
}

/** The addresses in a spec, or in a part of a spec, whose ids are not known yet. */
export function listUnresolvedAddresses(kind: Kind, part: Spec): readonly Address[] {
  const found = new Set<Address>();
  mapReferences(kind, part, ({ value }) => {
    if (isAddress(value)) found.add(value);
    return value;
  });
  return [...found];
}
