import type { Field } from '../kinds/field.ts';
import { fillUnknown, isUnknown } from '../kinds/fill-unknown.ts';
import { type Kind, listSpecFields, onceForEachKind } from '../kinds/kind.ts';
import { normalizeField } from '../kinds/normalize.ts';
import { isSameJson, type Json } from '../model/json.ts';
import { toFieldDigest, UNMANAGED } from '../model/mark.ts';
import { onceInARow } from '../model/once.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import { toDefaultDigest } from './attribute.ts';
import { waitsForId } from './desired-form.ts';

/** A live spec as a plan compares it. */
export interface Assumed {
  readonly spec: Spec;
  /** Fields that neither the service nor a mark shows. They are assumed to be as in the manifest. */
  readonly unproven: readonly string[];
}

/**
 * The live spec, and in the place of what the service does not show what was last applied, by the digests of the mark. A field that the manifest
 * has otherwise since is left out, whole: it is to be written, whatever it is.
 */
export function assumeApplied(subject: Subject, live: Live, normal: Spec): Assumed {
  const { kind } = subject;
  if (isShown(kind, live.spec)) return { spec: live.spec, unproven: [] };
  const filled = fillUnknown(kind, live.spec, normal);
  const hidden = listSpecFields(kind).filter(
    ([name, field]) => normal[name] !== undefined && isUnknown(field.type, live.spec[name]),
  );
  const states = hidden.map(([name, field]) => {
    const wanted = normal[name] ?? null;
    const isDefault = isSameJson(filled[name] ?? null, normalizeField(field, live.spec[name]));
    return [name, toHiddenState({ ...subject, live, name, field, wanted, isDefault })] as const;
  });
  const changed = new Set(states.flatMap(([name, state]) => (state === 'changed' ? [name] : [])));
  return {
    spec: Object.fromEntries(Object.entries(filled).filter(([name]) => !changed.has(name))),
    unproven: states.flatMap(([name, state]) => (state === 'unproven' ? [name] : [])),
  };
}

function isShown(kind: Kind, spec: Spec): boolean {
  return shownIn(kind)(spec);
}

/** The differences of a resource are asked for, and then what is unproven. */
const shownIn = onceForEachKind((kind) =>
  onceInARow((spec: Spec) => listSpecFields(kind).every(([name, { type }]) => !isUnknown(type, spec[name]))),
);

/** What the live spec is one of. */
export interface Subject {
  readonly kind: Kind;
  /** Fields that somebody else owns. */
  readonly ignored: readonly string[];
}

type Live = Pick<LiveResource, 'spec' | 'mark'>;

interface Hidden extends Subject {
  readonly live: Live;
  readonly name: string;
  readonly field: Field;
  readonly wanted: Json;
  /** A field that is not shown is assumed to have its default. */
  readonly isDefault: boolean;
}

/** A field is written only if the manifest is known to have changed or if no new resource is needed for it. */
function toHiddenState({
  kind,
  ignored,
  live,
  name,
  field,
  wanted,
  isDefault,
}: Hidden): 'applied' | 'changed' | 'unproven' {
  if (ignored.includes(name)) return 'applied';
  const applied = live.mark === undefined ? UNMANAGED : (live.mark.fields[name] ?? toDefaultDigest(kind, name));
  if (applied === UNMANAGED) {
    if (isDefault) return 'applied';
    return kind.role === 'attached' || field.lifecycle === 'immutable' ? 'unproven' : 'changed';
  }
  return !waitsForId(kind, { [name]: wanted }) && toFieldDigest(wanted) === applied ? 'applied' : 'changed';
}
