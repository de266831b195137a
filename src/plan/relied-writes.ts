import { isIgnoredInPart } from '../kinds/ignored-parts.ts';
import type { Change } from '../model/change.ts';
import { assertNever } from '../model/errors.ts';
import type { Write } from '../model/write.ts';

/**
 * Finds the change that a write belongs to. A delete or a release may belong to a duplicate, so its change is found by
 * the id of the resource.
 */
export function createChangeLookUp(changes: readonly Change[]): (write: Write) => Change | undefined {
  const byId = new Map(changes.flatMap((change) => (change.live === undefined ? [] : [[change.live.id, change]])));
  const kept = changes.filter(({ duplicateOf }) => duplicateOf === undefined);
  const byAddress = new Map<string, Change>(kept.map((change) => [change.address, change]));
  return (write) =>
    write.type === 'delete' || write.type === 'release' ? byId.get(write.resourceId) : byAddress.get(write.address);
}

/** Counts the writes of a plan before which an apply reads the resource again, unless it has just read it. */
export function countReliantWrites(writes: readonly Write[], changes: readonly Change[]): number {
  const findChange = createChangeLookUp(changes);
  return writes.filter((write) => {
    const change = findChange(write);
    return change !== undefined && isReliantWrite(write, change);
  }).length;
}

/** Whether a write relies on the state of its resource: it deletes, or carries values that the plan leaves alone. */
export function isReliantWrite(write: Write, change: Change): boolean {
  const left = listLeftAlone(change);
  switch (write.type) {
    case 'delete':
    case 'remove-module':
    case 'release':
      return true;
    case 'update':
    case 'adopt':
    case 'take-over':
    case 'deliver':
    case 'redeliver':
      return listCarriedFields(write).some((field) => isIgnoredInPart(left, field));
    case 'set-module':
      return isIgnoredInPart(left, write.module);
    case 'create':
    case 'vacate':
      return false;
    default:
      return assertNever(write);
  }
}

/** The parts of the spec that keep their live values: ignored ones, and drift that is not reverted. */
export function listLeftAlone({ ignored = [], kept = [] }: Change): readonly string[] {
  return [...ignored, ...kept];
}

/** The fields of the spec in the body of a write. A mark is sent together with the user's metadata. */
export function listCarriedFields(write: Write): readonly string[] {
  const body = 'body' in write ? Object.keys(write.body) : [];
  return 'mark' in write && write.mark !== undefined ? [...body, 'metadata'] : body;
}
