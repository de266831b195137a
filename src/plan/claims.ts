import { type Claim, listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonArray } from '../model/json.ts';
import type { FieldPath, LiveResource, LiveState, Spec } from '../model/state.ts';
import type { Decision } from './decide.ts';

/** Claims on what a resource holds that this plan does not change: the service would refuse them. */
export function listConflicts(decisions: readonly Decision[], live: LiveState): readonly Diagnostic[] {
  const changed = new Set(decisions.filter(({ action }) => action !== 'no-op').map(({ pair }) => pair.live?.id));
  const holders = new Map<string, LiveResource>();
  for (const { kind } of new Map(decisions.map(({ pair }) => [pair.kind.name, pair])).values()) {
    for (const holder of live.resources.get(kind.name) ?? []) {
      if (changed.has(holder.id)) continue;
      for (const { key } of listClaims(kind, holder.spec)) holders.set(key, holder);
    }
  }
  return decisions.flatMap((decision) => listConflictsOf(decision, holders));
}

function listConflictsOf(
  { action, pair, form }: Decision,
  holders: ReadonlyMap<string, LiveResource>,
): readonly Diagnostic[] {
  const { desired, kind, address } = pair;
  if (action === 'no-op' || form === undefined || desired === undefined) return [];
  return listClaims(kind, form.normal).flatMap(({ field, value, key }): Diagnostic[] => {
    const holder = holders.get(key);
    if (holder === undefined) return [];
    const { whose, remedy } = describeHolder(holder, desired.name, pair.live !== undefined);
    const message = `${address}: ${field} ${value} is held by ${holder.kind} ${holder.id}, ${whose}`;
    return [
      {
        code: 'claimed-elsewhere',
        severity: 'error',
        message,
        remedy,
        address,
        place: desired.locate(toClaimPath(pair.kind, desired.spec, { field, key })),
      },
    ];
  });
}

/** Where a manifest makes a claim: the member of a list, or the field. */
function toClaimPath(kind: Kind, spec: Spec, { field, key }: Pick<Claim, 'field' | 'key'>): FieldPath {
  const value = spec[field];
  if (!isJsonArray(value)) return ['spec', field];
  const index = value.findIndex((member) => listClaims(kind, { [field]: [member] }).some((claim) => claim.key === key));
  return ['spec', field, index];
}

function describeHolder(
  holder: LiveResource,
  name: string,
  isLive: boolean,
): { readonly whose: string; readonly remedy: string } {
  if (holder.mark !== undefined) {
    const whose = `which is ${holder.kind}/${holder.mark.name} of the stack ${holder.mark.stack}`;
    return { whose, remedy: 'Take it away there first, or choose another value.' };
  }
  const whose = 'which is not managed by any stack';
  if (isLive) return { whose, remedy: 'Take it away there first, or choose another value.' };
  return {
    whose,
    remedy: `To take that resource over as ${holder.kind}/${name}, add to the manifest:\nlifecycle:\n  adopt: ${holder.id}`,
  };
}
