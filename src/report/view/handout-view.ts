import { findKind } from '../../kinds/tables/registry.ts';
import type { Change } from '../../model/change.ts';
import type { Plan } from '../../model/plan.ts';
import { describeTokenSink } from '../../model/token-sink.ts';
import { formatShortList } from './danger-view.ts';
import { quoteIfNeeded } from './escape.ts';
import { formatCount } from './wording.ts';

/**
 * What a plan that creates a whole stack makes, and users have to take elsewhere: the tokens with where they go, the
 * certificates, and the values that the service computes. A plan of few creations shows this at each of them.
 */
export function listHandouts({ mode, changes }: Pick<Plan, 'mode' | 'changes'>): readonly string[] {
  const owned = changes.filter(({ kind }) => findKind(kind)?.role === 'owned');
  if (mode !== 'apply' || owned.length <= FEW || owned.some(({ action }) => action !== 'create')) return [];
  return [...listTokens(owned), ...listIssued(owned), ...listTasks(owned)];
}

/** More creations are not read one by one. */
const FEW = 5;

function listTokens(created: readonly Change[]): readonly string[] {
  const delivered = created.flatMap(({ token, ...change }) => (token === undefined ? [] : [{ change, token }]));
  const bySink = Map.groupBy(delivered, ({ token }) => describeTokenSink(token));
  return Array.from(bySink, ([sink, members]) =>
    formatItem(
      `${formatCount(members.length, 'token')} to ${sink}`,
      members.map(({ change }) => change),
    ),
  );
}

/** What the service issues for others to use, such as certificates. */
function listIssued(created: readonly Change[]): readonly string[] {
  return [...Map.groupBy(created, ({ kind }) => kind)].flatMap(([name, members]) => {
    const field = findKind(name)?.issued?.field;
    return field === undefined
      ? []
      : [formatItem(`${formatCount(members.length, field)} (${formatGet(name, field)})`, members)];
  });
}

/** What users have to set elsewhere to values that the service computes, such as NS records. */
function listTasks(created: readonly Change[]): readonly string[] {
  return [...Map.groupBy(created, ({ kind }) => kind)].flatMap(([name, members]) =>
    Object.entries(findKind(name)?.fields ?? {}).flatMap(([field, { createdTask }]) =>
      createdTask === undefined ? [] : [formatItem(`${createdTask} its ${field} (${formatGet(name, field)})`, members)],
    ),
  );
}

function formatGet(kind: string, field: string): string {
  return `edgewise get ${kind} --format value=${field}`;
}

function formatItem(what: string, changes: readonly Change[]): string {
  return `${what}: ${formatShortList(changes.map(({ address }) => quoteIfNeeded(address)))}`;
}
