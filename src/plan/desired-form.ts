import type { Kind } from '../kinds/kind.ts';
import { normalizeSpec, sortSets } from '../kinds/normalize.ts';
import { mapReferences } from '../kinds/references.ts';
import { type Address, isAddress } from '../model/address.ts';
import type { Json } from '../model/json.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/state.ts';

/** The ids that are known while planning, by address. An address that is not in it gets its id when the plan is applied. */
export type KnownIds = ReadonlyMap<string, string>;

/** What a manifest asks for, in the two forms that planning needs. */
export interface DesiredForm {
  /** As written but for the order of sets, for request bodies, with known ids for addresses. */
  readonly written: Spec;
  /** In normal form, for comparison. Addresses replace ids known after apply. */
  readonly normal: Spec;
}

/** The desired forms of a resource. Ignored fields keep their live values, so that no write changes them. */
export function computeDesiredForm(
  kind: Kind,
  desired: DesiredResource,
  live: LiveResource | undefined,
  ids: KnownIds,
): DesiredForm {
  const resolved = sortSets(
    kind,
    mapReferences(kind, desired.spec, ({ value }) => ids.get(value) ?? value),
  );
  const isKept = live === undefined || desired.lifecycle.ignore.length === 0;
  const written = isKept ? resolved : { ...resolved, ...pickIgnored(kind, desired, live) };
  return { written, normal: normalizeSpec(kind, written) };
}

/** The same form with some fields as they are live, so that no write changes them. */
export function withLive(kind: Kind, form: DesiredForm, live: LiveResource, names: readonly string[]): DesiredForm {
  const written = { ...form.written, ...pickLive(live, names) };
  return { written, normal: normalizeSpec(kind, written) };
}

function pickIgnored(kind: Kind, desired: DesiredResource, live: LiveResource): Spec {
  const { ignore } = desired.lifecycle;
  const names = kind.specFields.map(([name]) => name).filter((name) => ignore.includes(name));
  return pickLive(live, names);
}

function pickLive(live: LiveResource, names: readonly string[]): Spec {
  return Object.fromEntries(names.map((name): [string, Json] => [name, live.spec[name] ?? null]));
}

/** Whether a reference field of a value still contains an address, and so waits for an id. */
export function waitsForId(kind: Kind, part: Spec): boolean {
  let isWaiting = false;
  mapReferences(kind, part, ({ value }) => {
    isWaiting ||= isAddress(value);
    return value;
  });
  return isWaiting;
}

/** The addresses in a spec, or in a part of one, whose ids are known after apply. */
export function listAwaited(kind: Kind, part: Spec): readonly Address[] {
  const found = new Set<Address>();
  mapReferences(kind, part, ({ value }) => {
    if (isAddress(value)) found.add(value);
    return value;
  });
  return [...found];
}
