import { type Address, toName } from '../model/address.ts';
import type { Difference } from '../model/change.ts';
import type { Json } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import { assumeApplied } from './assume-applied.ts';
import { toOrigin } from './attribute.ts';
import { diffSpecs } from './diff.ts';
import { type Described, listUnstated } from './unstated.ts';
import { listLengthDifference } from './validity.ts';

/** An existing resource and its desired form: everything from which its differences follow, in a plan and in the check of a plan file. */
export interface Compared extends Described {
  readonly address: Address;
  /** The stack whose it will be. */
  readonly stack: string;
  /** What will be there, in normal form. */
  readonly normal: Spec;
  /** Fields that only drifted, and are left so. */
  readonly kept: readonly string[];
  readonly protect: boolean;
}

/** Everything that differs: fields of the spec in the order of the kind's table, then how long it is valid, then what its mark says. */
export function listDifferences(compared: Compared): readonly Difference[] {
  const { kind, kept } = compared;
  return [
    ...listSpecDifferences(compared).filter(({ field }) => !kept.includes(field)),
    ...listLengthDifference(compared),
    ...(kind.role === 'owned' ? listMarkDifferences(compared) : []),
  ];
}

/** A difference of a field. All of one field have one origin. */
export type FieldDifference = Difference & { readonly field: string };

/** The differences of the fields of a spec. What the service does not show is taken to be as it was last applied. */
export function listSpecDifferences(compared: Compared): readonly FieldDifference[] {
  const { kind, live, normal, ignored } = compared;
  const { spec } = assumeApplied({ kind, ignored }, live, normal);
  const stated = diffSpecs(kind, spec, normal).map((difference) => {
    const sides = { desired: normal, live: spec, mark: live.mark };
    return { ...difference, origin: toOrigin(kind, difference.field, sides) };
  });
  return [...stated, ...listUnstated(compared, normal)];
}

/** Differences of ownership, name and protection. Getting a mark at all is what adopting means. */
function listMarkDifferences({ address, stack, live: { mark }, protect }: Compared): readonly Difference[] {
  const moved =
    mark === undefined
      ? []
      : [...differ('mark.stack', mark.stack, stack), ...differ('mark.name', mark.name, toName(address))];
  return [...moved, ...differ('lifecycle.protect', mark?.protect ?? false, protect)];
}

function differ(path: string, from: Json, to: Json): readonly Difference[] {
  return from === to ? [] : [{ path, from, to, origin: 'manifest', forcesReplace: false }];
}
