import type { Field, NamedField } from '../kinds/field.ts';
import { type Kind, listSpecFields, onceForEachKind } from '../kinds/kind.ts';
import type { Difference } from '../model/change.ts';
import { type Mark, toFieldDigest, UNMANAGED } from '../model/mark.ts';
import type { LiveResource, Spec } from '../model/state.ts';

/** A resource that a manifest describes, as it is live. */
export interface Described {
  readonly kind: Kind;
  readonly live: Pick<LiveResource, 'spec' | 'mark'>;
  /** Fields that somebody else owns. */
  readonly ignored: readonly string[];
  /** How long a new one is valid, where its manifest says that instead of times. */
  readonly validForMs: number | undefined;
}

/**
 * Differences of fields that were stated at the last apply, according to the mark, and are now left to the service. If the field is immutable, a new resource
 * gets the service's choice; otherwise the field is cleared. `normal`: the desired spec in normal form.
 */
export function listUnstated(described: Described, normal: Spec): readonly (Difference & { readonly field: string })[] {
  const { live } = described;
  return listUnstatedFields(described, normal).map(([name, field]) => {
    const from = live.spec[name];
    const isDrifted = from !== undefined && toFieldDigest(from) !== live.mark?.fields[name];
    return {
      field: name,
      path: name,
      ...(from !== undefined && { from }),
      origin: isDrifted ? 'both' : 'manifest',
      forcesReplace: isReplacing(described, name, field),
    };
  });
}

/** Whether a new resource has to be made so that the service chooses again. */
export function isReplacedForChoice(described: Described, normal: Spec): boolean {
  return listUnstatedFields(described, normal).some(([name, field]) => isReplacing(described, name, field));
}

function listUnstatedFields({ kind, ignored, live }: Described, normal: Spec): readonly NamedField[] {
  const isOurs = (name: string) => isStated(live.mark, name) && !ignored.includes(name);
  return listChosenFields(kind).filter(([name]) => normal[name] === undefined && isOurs(name));
}

/** The fields that the service chooses when they are left out. */
const listChosenFields = onceForEachKind((kind): readonly NamedField[] =>
  listSpecFields(kind).filter(([, { serviceDefault }]) => serviceDefault),
);

function isStated(mark: Mark | undefined, name: string): boolean {
  return (mark?.fields[name] ?? UNMANAGED) !== UNMANAGED;
}

/** How long a certificate is valid may be stated in another way, which is then compared instead of its times. */
function isReplacing({ kind, validForMs }: Described, name: string, field: Field): boolean {
  const isTime = kind.validity?.after === name || kind.validity?.until === name;
  const isCovered = isTime && validForMs !== undefined;
  return field.lifecycle === 'immutable' && !field.staysWhenLeftOut && !isCovered;
}
