import { listClaims } from '../kinds/claims.ts';
import { listOneTimeFields } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Change, toBaseAddress } from '../model/change.ts';
import type { Plan, Write } from '../model/plan.ts';
import type { LiveState } from '../model/state.ts';

/** Whether a write makes something that the service would let another apply make too: nothing about it is unique there. */
export function canBeMadeTwice({ method, kind, body = {} }: Pick<Write, 'method' | 'kind' | 'body'>): boolean {
  return method === 'POST' && listClaims(getKind(kind), body).length === 0;
}

/** The writes that delete credentials whose token, for all that the plan knew, nobody had delivered: the replaced one, or a duplicate of it. */
export function listAbandoned({ changes, writes }: Pick<Plan, 'changes' | 'writes'>): ReadonlySet<Write> {
  const abandoned = new Set(changes.filter(isUndelivered).map(({ address }) => address));
  return new Set(writes.filter(({ method, address }) => method === 'DELETE' && abandoned.has(address)));
}

function isUndelivered({ kind, live }: Change): boolean {
  return live !== undefined && live.mark?.delivered !== true && listOneTimeFields(getKind(kind)).length > 0;
}

/** What the service holds, and how it is listed. */
export interface Held {
  readonly live: LiveState;
  readonly pageSize: number;
}

/** The requests that an apply makes at least beside its writes: lists, and a second record of each delivery that another apply may have met. */
export function countExtras(plan: Pick<Plan, 'changes' | 'writes'>, held: Held): number {
  const made = new Set(plan.writes.filter(({ method }) => method === 'POST').map(({ address }) => address));
  const again = [...listAbandoned(plan)].filter(({ address }) => made.has(toBaseAddress(address)));
  return countLookUps(plan.writes, held) + again.length;
}

/** The pages of lists that an apply asks for at least, to see whether somebody else made the same: a list of each kind that it could be of. */
function countLookUps(writes: readonly Write[], { live, pageSize }: Held): number {
  const kinds = new Set(writes.filter(canBeMadeTwice).map(({ kind }) => kind));
  const pages = [...kinds].map((kind) => {
    const made = writes.filter((write) => write.method === 'POST' && write.kind === kind).length;
    return Math.ceil(((live.resources.get(kind)?.length ?? 0) + made) / pageSize);
  });
  return pages.reduce((sum, count) => sum + count, 0);
}
