import type { Change } from '../model/change.ts';
import type { Write } from '../model/write.ts';

/** What a reader must know of a replace that cannot create first: for a while there is neither. */
export function explainDeletedFirst(changes: readonly Change[], writes: readonly Write[]): readonly Change[] {
  const deleted = new Set<string>();
  const early = new Set<string>();
  for (const write of writes) {
    if (write.act === 'delete' && write.duplicateOf === undefined) deleted.add(write.address);
    if (write.act === 'create' && deleted.has(write.address)) early.add(write.address);
  }
  const isDeletedFirst = ({ action, address, reason }: Change) =>
    action === 'replace' && reason === undefined && early.has(address);
  return changes.map((change) => (isDeletedFirst(change) ? { ...change, reason: DELETED_FIRST } : change));
}

const DELETED_FIRST = 'the old one is deleted before the new one is created, because another resource takes its place';
