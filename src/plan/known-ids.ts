import type { Plan } from '../model/plan.ts';

/** Ids of everything that a plan knew of its stack. */
export function listKnownIds({ changes, withheld = [] }: Plan): ReadonlySet<string> {
  const started = changes.flatMap(({ live }) => (live === undefined ? [] : [live.id]));
  return new Set([...started, ...withheld.map(({ id }) => id)]);
}
