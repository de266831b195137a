import type { Address } from '../model/address.ts';
import type { Drift } from '../model/drift.ts';
import type { DesiredState } from '../model/state.ts';
import type { ReferenceNames } from './written-fields.ts';

/** The names of a stack for its live resources and for those that its Externals name. */
export function createReferenceNames(
  { changes }: Pick<Drift, 'changes'>,
  { externals, resources }: Pick<DesiredState, 'externals' | 'resources'>,
): ReferenceNames {
  const own = changes.flatMap(({ address, live, duplicateOf, retiresAt }): [Address, string][] =>
    live === undefined || duplicateOf !== undefined || retiresAt !== undefined || !resources.has(address)
      ? []
      : [[address, live.id]],
  );
  const ids = new Map<string, string>([...externals, ...own]);
  // Of several names for one id, a resource comes before an External, and then the first.
  const sorted = [...externals].sort(([left], [right]) => (left < right ? 1 : -1));
  const names = new Map<string, string>([...sorted, ...own].map(([address, id]) => [id, address]));
  return { toId: (written) => ids.get(written) ?? written, toName: (id) => names.get(id) ?? id };
}
