import { listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { LiveState } from '../model/state.ts';
import type { CreateWrite, Write } from '../model/write.ts';

/** Whether a concurrent apply could create the same resource too, because the service requires nothing unique of it. */
export function allowsDuplicates(write: Write): write is CreateWrite {
  return write.act === 'create' && listClaims(getKind(write.kind), write.body).length === 0;
}

/** What the service holds, and how it is listed. */
export interface AccountSize {
  readonly live: LiveState;
  readonly pageSize: number;
}

/** How many requests something takes, at least. */
interface RequestCount {
  readonly least: number;
  /** It may take more: how many is only known when it is done. */
  readonly isOpen: boolean;
}

/** Counts the pages of lists that an apply requests to find duplicates of a concurrent apply: lists of each kind that can have some. */
export function countDuplicateChecks(writes: readonly Write[], held: AccountSize): RequestCount {
  const byKind = Map.groupBy(writes.filter(allowsDuplicates), ({ kind }) => kind);
  const counts = [...byKind].map(([kind, made]) => countPages(getKind(kind), { writes, held, looked: made.length }));
  return {
    least: counts.reduce((sum, { least }) => sum + least, 0),
    isOpen: counts.some(({ isOpen }) => isOpen),
  };
}

/**
 * A kind is listed once, after all writes. A kind with a token is listed before each delivery, while other writes are under way; concurrent callers share a
 * list.
 */
function countPages(
  kind: Kind,
  { writes, held, looked }: { readonly writes: readonly Write[]; readonly held: AccountSize; readonly looked: number },
): RequestCount {
  const count = (act: Write['act']): number =>
    writes.filter((write) => write.act === act && write.kind === kind.name).length;
  const toPages = (resources: number): number => Math.max(1, Math.ceil(resources / held.pageSize));
  const before = held.live.resources.get(kind.name)?.length ?? 0;
  const [created, deleted] = [count('create'), count('delete')];
  if (kind.oneTimeFields.length === 0) return { least: toPages(before + created - deleted), isOpen: false };
  const least = toPages(before + 1 - deleted);
  return { least, isOpen: looked > 1 || least !== toPages(before + created) };
}
