import { listReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { toAddress } from '../model/address.ts';
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
  return (id) => {
    const all = [...live.resources.values()].flat();
    const users = all.filter(({ kind, spec }) => listReferences(getKind(kind), spec).some(({ value }) => value === id));
    const isOurs = ({ kind, mark }: (typeof users)[number]): boolean =>
      mark?.stack === stack.name && !isHandedOver(toAddress(kind, mark.name));
    const others = users.filter((one) => !isOurs(one));
    const isLater = ({ mark }: (typeof users)[number]): boolean =>
      mark !== undefined && (mark.stack === stack.name || comesLater(mark.stack));
    return others.length > 0 && others.every(isLater);
  };
}
