import type { Change } from '../../model/change.ts';
import type { Danger } from '../../model/danger.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { assertNever } from '../../model/errors.ts';
import type { Plan } from '../../model/plan.ts';
import { countActions, type Totals } from '../../model/totals.ts';
import { toPlanSummary } from './plan-wording.ts';
import { countSeverities, toCount } from './wording.ts';

/** The whole plan on one line: what is dangerous first, then how much is done: `⚠ 1 delete, 1 protection removed · 6 updates · 53 unchanged`. */
export function toHeadline({ changes, diagnostics, violations, withheld = [] }: Plan, isEmpty: boolean): string {
  const totals = countActions(changes);
  if (hasErrors(diagnostics)) return `✗ This plan cannot be applied: ${countSeverities(diagnostics)}`;
  if (isEmpty) return `✓ ${toPlanSummary({ totals, withheld, diagnostics, isEmpty }).replace(/[.]$/, '')}`;
  const dangers = [...listLosses(totals), ...listDangerCounts(changes)];
  const rest = REST.filter(([action]) => totals[action] > 0).map(([action, noun]) => toCount(totals[action], noun));
  const refused = violations.length === 0 ? [] : [`⛔ refused by ${toCount(violations.length, 'safety rule')}`];
  const counts = [dangers.join(', '), ...rest, ...(totals['no-op'] === 0 ? [] : [`${totals['no-op']} unchanged`])];
  const said = counts.filter((text) => text !== '');
  // A plan may do no more than write files.
  return [...refused, `${dangers.length === 0 ? '' : '⚠ '}${said.join(' · ') || 'files only'}`].join(' · ');
}

const REST = [
  ['update', 'update'],
  ['release', 'release'],
  ['adopt', 'adoption'],
  ['create', 'create'],
] as const;

function listLosses(totals: Totals): readonly string[] {
  return (['delete', 'replace'] as const).flatMap((action) =>
    totals[action] === 0 ? [] : [toCount(totals[action], action)],
  );
}

/** How often there is each danger that no action says by itself, the gravest first. */
function listDangerCounts(changes: readonly Change[]): readonly string[] {
  const nouns = changes.flatMap(({ dangers = [] }) => dangers.flatMap((danger) => toNoun(danger) ?? []));
  const counts = Map.groupBy(nouns, ([one]) => one);
  return [...counts.values()].flatMap((group) => group.slice(0, 1).map((noun) => toCount(group.length, ...noun)));
}

/** One of a danger, and several. */
function toNoun(danger: Danger): readonly [readonly [string, string]] | undefined {
  switch (danger.danger) {
    case 'delete':
    case 'replace':
      return undefined;
    case 'opens':
      return [[`protection ${danger.how}`, `protections ${danger.how}`]];
    case 'unprotects':
      return [['resource no longer protected', 'resources no longer protected']];
    case 'token':
      return [['new token', 'new tokens']];
    case 'lockout':
      return [['possible lock-out', 'possible lock-outs']];
    case 'validity':
      return [['longer validity', 'longer validities']];
    default:
      return assertNever(danger);
  }
}
