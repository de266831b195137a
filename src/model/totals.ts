import type { Action, Change } from './change.ts';

/** Number of resources by what happens to them. */
export type Totals = Readonly<Record<Action, number>>;

/** The same as programs read it. */
export type ShownTotals = Readonly<Record<Exclude<Action, 'no-op'> | 'unchanged', number>>;

/** Number of changes of each action. */
export function countActions(changes: readonly Change[]): Totals {
  const totals = { delete: 0, replace: 0, update: 0, release: 0, adopt: 0, create: 0, 'no-op': 0 };
  for (const { action } of changes) totals[action] += 1;
  return totals;
}

/** Number of changes of each action, for programs. */
export function toShownTotals(changes: readonly Change[]): ShownTotals {
  const { 'no-op': unchanged, ...totals } = countActions(changes);
  return { ...totals, unchanged };
}
