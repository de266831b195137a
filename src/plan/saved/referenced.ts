import { listReferences } from '../../kinds/references.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { toName } from '../../model/address.ts';
import { type Change, toShownChange } from '../../model/change.ts';
import type { Plan } from '../../model/plan.ts';
import type { Finder } from './finder.ts';
import type { Moved } from './moved.ts';

/** Unchanged resources that changes of a plan refer to. Nothing is sent to them, but people see what is referred to by their names. */
export function listReferenced({ changes }: Plan): readonly Change[] {
  const ids = new Set(
    changes.flatMap(({ kind, desired = {} }) => listReferences(getKind(kind), desired).map(({ value }) => value)),
  );
  const isReferenced = ({ action, kind, live }: Change): boolean =>
    action === 'no-op' && getKind(kind).role === 'owned' && live !== undefined && ids.has(live.id);
  return changes.filter(isReferenced);
}

/** Those whose mark has another name than in the plan. The service reports those that are gone. */
export function listMisnamed(plan: Plan, found: Pick<Finder, 'start'>): readonly Moved[] {
  return listReferenced(plan).flatMap((change): readonly Moved[] => {
    const live = found.start(change);
    if (live === undefined) return [];
    const { kind, mark } = live;
    const isNamed = kind === change.kind && mark?.stack === plan.stack && mark.name === toName(change.address);
    const message = `${live.id}, which the plan refers to, has another name`;
    return isNamed ? [] : [{ address: toShownChange(change), message }];
  });
}
