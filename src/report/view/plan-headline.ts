import {
  CHANGE_ACTIONS,
  type ChangingAction,
  countActions,
  formatChangeAddress,
  type Totals,
} from '../../model/change.ts';
import { countInCondition } from '../../model/conditions.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import { formatDangerCountsOfChanges } from './danger-view.ts';
import { formatPlanSummary } from './plan-wording.ts';
import type { ResourceNames } from './value-text.ts';
import { formatCount, formatSeverityCounts } from './wording.ts';

export function isEmptyPlan({ writes, changes }: Pick<Plan, 'writes' | 'changes'>): boolean {
  return writes.length === 0 && changes.every(({ action }) => action === 'no-op');
}

export function collectPlanAddressesById({ changes, externals }: Pick<Plan, 'changes' | 'externals'>): ResourceNames {
  const known = changes.flatMap((change) =>
    change.live === undefined ? [] : [[change.live.id, formatChangeAddress(change)] as const],
  );
  const named = Object.entries(externals).map(([address, id]) => [id, address] as const);
  // If an id has several names, the last one is used. Sort the names, because a plan file sorts them too.
  return new Map([...named.sort(([, left], [, right]) => (left < right ? -1 : 1)), ...known]);
}

/** The fields for the headline of a plan, or of several plans together. */
type HeadlinePlan = Pick<Plan, 'changes' | 'diagnostics' | 'violations'> & Partial<Pick<Plan, 'externals'>>;

/** The whole plan on one line, dangers first, such as `⚠ 3 dangers (2 access, 1 secret) · 1 delete · 6 updates`. */
export function formatPlanHeadline(
  { changes, externals = {}, diagnostics, violations }: HeadlinePlan,
  isEmpty: boolean,
): string {
  const totals = countActions(changes);
  if (hasErrors(diagnostics)) return `✗ This plan cannot be applied: ${formatSeverityCounts(diagnostics)}`;
  const names = collectPlanAddressesById({ changes, externals });
  const dangers = formatDangerCountsOfChanges(changes);
  if (isEmpty) {
    const summary = formatPlanSummary({ changes, names, totals, diagnostics, isEmpty }).replace(/[.]$/, '');
    return dangers === '' ? `✓ ${summary}` : `⚠ ${dangers} · ${summary}`;
  }
  const losses = listCounts(totals, (action) => LOSSES.has(action)).join(', ');
  const heeded = [dangers, losses].filter((text) => text !== '');
  const rest = listCounts(totals, (action) => !LOSSES.has(action));
  const refused = violations.length === 0 ? [] : [`⛔ refused by ${formatCount(violations.length, 'safety rule')}`];
  const blocked = countInCondition({ diagnostics }, 'blocked') > 0 ? ['⛔ not applied'] : [];
  const unchanged = totals['no-op'] === 0 ? [] : [`${totals['no-op']} unchanged`];
  const said = [...heeded, ...rest, ...unchanged];
  return [...refused, ...blocked, `${heeded.length === 0 ? '' : '⚠ '}${said.join(' · ')}`].join(' · ');
}

const NOUNS: Readonly<Record<ChangingAction, string>> = {
  delete: 'delete',
  replace: 'replace',
  withhold: 'withheld replace',
  update: 'update',
  release: 'release',
  'take-over': 'take-over',
  adopt: 'adoption',
  create: 'create',
};

/** Actions that delete a resource. */
const LOSSES: ReadonlySet<ChangingAction> = new Set(['delete', 'replace']);

function listCounts(totals: Totals, isCounted: (action: ChangingAction) => boolean): readonly string[] {
  return CHANGE_ACTIONS.filter((action) => isCounted(action) && totals[action] > 0).map((action) =>
    formatCount(totals[action], NOUNS[action]),
  );
}
