import { listClaims } from '../kinds/claims.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { LiveState } from '../model/state.ts';
import type { CreateWrite, Write } from '../model/write.ts';

/** Whether a write makes something that the service would let another apply make too: nothing about it is unique there. */
export function canBeMadeTwice(write: Write): write is CreateWrite {
  return write.act === 'create' && listClaims(getKind(write.kind), write.body).length === 0;
}

/** What the service holds, and how it is listed. */
export interface Held {
  readonly live: LiveState;
  readonly pageSize: number;
}

/** The pages of lists that an apply asks for at least, to see whether somebody else made the same: a list of each kind that it could be of. */
export function countLookUps(writes: readonly Write[], { live, pageSize }: Held): number {
  const kinds = new Set(writes.filter(canBeMadeTwice).map(({ kind }) => kind));
  const pages = [...kinds].map((kind) => {
    const made = writes.filter((write) => write.act === 'create' && write.kind === kind).length;
    return Math.ceil(((live.resources.get(kind)?.length ?? 0) + made) / pageSize);
  });
  return pages.reduce((sum, count) => sum + count, 0);
}
