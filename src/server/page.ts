import { describeIds, isIdOf } from '../kinds/ids.ts';
import type { Kind } from '../kinds/kind.ts';
import { Failure } from './failure.ts';

/** Which part of a list is asked for. */
export interface Page {
  readonly limit: number;
  /** Only what was created before this; `undefined`: from the newest. */
  readonly before: string | undefined;
}

/** The query parameters of a list. */
export const PAGE_PARAMETERS = ['limit', 'before_id'] as const;

const MAX_LIMIT = 100;

/** The page that a query asks for. Refuses a limit out of range and an id that the list of the kind never had. */
export function parsePage(query: URLSearchParams, kind: Kind, knows: (id: string) => boolean): Page {
  const limit = query.get('limit') ?? String(MAX_LIMIT);
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > MAX_LIMIT)
    throw refuse('limit', `must be from 1 to ${MAX_LIMIT}`);
  const before = query.get('before_id') ?? undefined;
  if (before !== undefined && !knows(before)) throw refuseBefore(kind, before);
  return { limit: Number(limit), before };
}

/** Refuses query parameters that the operation does not have, and any that stands there twice. */
export function checkQuery(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (!known.includes(name)) throw refuse(name, 'is not a query parameter of this operation');
    if (query.getAll(name).length > 1) throw refuse(name, 'is given more than once');
  }
}

function refuseBefore(kind: Kind, id: string): Failure {
  const prefixes = [kind.idPrefix];
  if (!isIdOf({ prefixes }, id)) return refuse('before_id', `must be an id ${describeIds({ prefixes })}`);
  return new Failure(`before_id ${id} is not an id of this list`, {
    code: 'not_found',
    details: { field: 'before_id', id },
  });
}

function refuse(name: string, message: string): Failure {
  return new Failure(`${name} ${message}`, { code: 'bad_query', details: { field: name } });
}
