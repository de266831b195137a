import { listOneTimeFields } from '../kinds/kind.ts';
import { type DeliverAgainWrite, toWriteId } from '../model/write.ts';
import type { Planned } from './needs.ts';
import type { Draft } from './writes.ts';

/**
 * Adds a second delivery to a replace of a credential whose token, for all that is known, nobody has delivered. It may belong to another apply
 * of the same stack that is about to deliver it: once it is deleted, the new token is delivered again, so that it is the last.
 */
export function addSecondDeliveries(planned: readonly Planned[]): readonly Planned[] {
  const undelivered = Map.groupBy(planned.filter(isUndelivered), ({ change }) => change.address);
  return planned.map((one) => {
    const again = toSecondDelivery(one, undelivered.get(one.change.address) ?? []);
    return again === undefined ? one : { ...one, writes: [...one.writes, again] };
  });
}

function toSecondDelivery(
  { change, writes }: Planned,
  abandoned: readonly Planned[],
): Draft<DeliverAgainWrite> | undefined {
  const { address } = change;
  const first = writes.find((write) => write.act === 'deliver');
  const deletes = abandoned.flatMap((other) => other.writes.filter(({ act }) => act === 'delete').map(({ id }) => id));
  if (first === undefined || deletes.length === 0) return undefined;
  return {
    ...first,
    act: 'deliver-again',
    id: toWriteId({ act: 'deliver-again', address }),
    needs: [first.id, ...deletes],
    reason: 'delivers the token again and records it, in case another apply was delivering the deleted one',
  };
}

function isUndelivered({ change: { live }, kind }: Planned): boolean {
  return live !== undefined && live.mark?.delivered !== true && listOneTimeFields(kind).length > 0;
}
