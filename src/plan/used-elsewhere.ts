import { isReferable, listReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { LiveResource, LiveState } from '../model/state.ts';
import type { Decision } from './decide.ts';

/** Warnings on what would be gone while a resource of another stack still refers to it: each names who does. */
export function listUsedElsewhere(
  decisions: readonly Decision[],
  { resources }: LiveState,
  stack: string,
): readonly Diagnostic[] {
  const going = decisions.filter(
    ({ action, pair }) => (action === 'delete' || action === 'replace') && isReferable(pair.kind),
  );
  if (going.length === 0) return [];
  const users = Map.groupBy(
    [...resources.values()].flat().flatMap((one) => (one.mark?.stack === stack ? [] : listUses(one))),
    ({ id }) => id,
  );
  return going.flatMap(({ action, pair: { address, live } }): readonly Diagnostic[] => {
    const names = [...new Set((users.get(live?.id ?? '') ?? []).map(({ user }) => user))].sort();
    if (names.length === 0) return [];
    return [
      {
        code: 'used-elsewhere',
        severity: 'warning',
        message: `${address} would be ${action === 'delete' ? 'deleted' : 'replaced'}, and ${names.join(', ')} ${names.length === 1 ? 'refers' : 'refer'} to it`,
        remedy: 'Change who refers to it first: the service refuses to delete what is in use.',
        address,
      },
    ];
  });
}

function listUses({ kind, spec, mark }: LiveResource): readonly { readonly id: string; readonly user: string }[] {
  if (mark === undefined) return [];
  const user = `${toAddress(kind, mark.name)} of the stack ${mark.stack}`;
  return listReferences(getKind(kind), spec).map(({ value }) => ({ id: value, user }));
}
