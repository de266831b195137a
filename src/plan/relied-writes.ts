import { isIgnoredInPart } from '../kinds/ignored-parts.ts';
import type { Change } from '../model/change.ts';
import { listSentFieldNames, type Write } from '../model/write.ts';

/** Finds the change that a write belongs to. That of a duplicate is found by the id of the resource. */
export function createChangeLookUp(changes: readonly Change[]): (write: Write) => Change | undefined {
  const byId = new Map(changes.flatMap((change) => (change.live === undefined ? [] : [[change.live.id, change]])));
  const kept = changes.filter(({ duplicateOf }) => duplicateOf === undefined);
  const byAddress = new Map<string, Change>(kept.map((change) => [change.address, change]));
  return ({ address, duplicateOf, ids }) =>
    duplicateOf === undefined ? byAddress.get(address) : byId.get(ids?.id ?? '');
}

/** Whether a write relies on the state of its resource: it deletes, or carries values that the plan leaves alone. */
export function isReliantWrite(write: Write, change: Change): boolean {
  if (write.method === 'DELETE' || change.action === 'release') return true;
  if (write.method === 'POST') return false;
  const { ignored: left = [] } = change;
  return listSentFieldNames(write).some((field) => isIgnoredInPart(left, field));
}
