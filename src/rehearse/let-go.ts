import { listReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { toAddress } from '../model/address.ts';
import type { LiveResource, LiveState } from '../model/state.ts';
import type { PlanInput } from '../plan/plan-input.ts';

/**
 * Says of what a plan cannot delete yet, by its id, that nothing of others refers to it but what stacks of the same run may change behind it: the
 * next apply can delete it.
 */
export function createLetGo({
  desired: { stack },
  live,
  comesLater = () => false,
  isHandedOver = () => false,
}: PlanInput): (id: string) => boolean {
  const isOurs = ({ kind, mark }: LiveResource): boolean =>
    mark?.stack === stack.name && !isHandedOver(toAddress(kind, mark.name));
  const isLater = ({ mark }: LiveResource): boolean =>
    mark !== undefined && (mark.stack === stack.name || comesLater(mark.stack));
  let users: ReadonlyMap<string, readonly LiveResource[]> | undefined;
  return (id) => {
    users ??= groupUsers(live);
    const others = users.get(id)?.filter((one) => !isOurs(one)) ?? [];
    return others.length > 0 && others.every(isLater);
  };
}

/** What refers to each id. */
function groupUsers({ resources }: LiveState): ReadonlyMap<string, readonly LiveResource[]> {
  const users = new Map<string, LiveResource[]>();
  for (const resource of [...resources.values()].flat())
    for (const id of new Set(listReferences(getKind(resource.kind), resource.spec).map(({ value }) => value))) {
      const known = users.get(id);
      if (known === undefined) users.set(id, [resource]);
      else known.push(resource);
    }
  return users;
}
