import { listClaims } from '../kinds/claims.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Spec } from '../model/state.ts';
import type { Decision } from './decide.ts';
import { toLifecycleLine } from './lifecycle-line.ts';

/**
 * Warnings on a delete and a create that look like a rename: the new resource claims the same unique values as
 * a deleted one of its kind.
 */
export function listRenameHints(decisions: readonly Decision[]): readonly Diagnostic[] {
  const leaving = new Map(decisions.flatMap(({ action, pair }) => (action === 'delete' ? listLeaving(pair) : [])));
  return decisions.flatMap(({ action, pair, form }): readonly Diagnostic[] => {
    const { address, kind, desired } = pair;
    if (action !== 'create' || form === undefined || desired === undefined) return [];
    const before = leaving.get(toKey(pair, form.normal));
    if (before === undefined || desired.lifecycle.renamedFrom !== undefined) return [];
    const line = toLifecycleLine(desired, { name: 'renamed_from', value: before.name });
    return [
      {
        code: 'renamed-maybe',
        severity: 'warning',
        message: `${address} claims all unique values of ${kind.name}/${before.name} (${before.id}), which is deleted`,
        remedy: `If it was only renamed, keep the resource: ${line}`,
        address,
        place: desired.locate(['metadata', 'name']),
      },
    ];
  });
}

interface Leaving {
  readonly name: string;
  readonly id: string;
}

/** A duplicate does not leave: its name is still in use. */
function listLeaving(pair: Decision['pair']): readonly (readonly [string, Leaving])[] {
  const { live, by } = pair;
  if (live?.mark === undefined || by !== 'mark') return [];
  const key = toKey(pair, live.spec);
  return key === '' ? [] : [[key, { name: live.mark.name, id: live.id }]];
}

/** The same for the same claims of one kind; `''` where there are none. */
function toKey({ kind }: Decision['pair'], spec: Spec): string {
  return listClaims(kind, spec)
    .map(({ key }) => key)
    .sort()
    .join('\n');
}
