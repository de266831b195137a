import { listClaims } from '../kinds/claims.ts';
import { getKind } from '../kinds/registry.ts';
import type { Write } from '../model/plan.ts';

/** Whether a write makes something that the service would let another apply make too: nothing about it is unique there. */
export function canBeMadeTwice({ method, kind, body = {} }: Pick<Write, 'method' | 'kind' | 'body'>): boolean {
  return method === 'POST' && listClaims(getKind(kind), body).length === 0;
}

/** The lists that an apply asks for at least, to see whether somebody else made the same: one for each kind that it could be of. */
export function countLookUps(writes: readonly Write[]): number {
  return new Set(writes.filter(canBeMadeTwice).map(({ kind }) => kind)).size;
}
