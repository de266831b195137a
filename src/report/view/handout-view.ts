import { findKind } from '../../kinds/tables/registry.ts';
import type { Change } from '../../model/change.ts';
import type { GoneId, Plan } from '../../model/plan.ts';
import { describeTokenSink } from '../../model/token-sink.ts';
import { formatShortList } from './danger-view.ts';
import { quoteIfNeeded } from './escape.ts';
import { toPrintablePlace } from './finding-wording.ts';
import { formatCount } from './wording.ts';

/**
 * What a plan that creates a whole stack makes, and users have to take elsewhere: the tokens with where they go, the
 * certificates, the values that the service computes, and the ids that replace others. A plan of few creations shows this
 * at each of them, if no id is gone.
 */
export function listHandouts({
  mode,
  changes,
  goneIds = [],
}: Pick<Plan, 'mode' | 'changes' | 'goneIds'>): readonly string[] {
  const owned = changes.filter(({ kind }) => findKind(kind)?.role === 'owned');
  const isRestored = goneIds.length > 0 || owned.length > FEW;
  if (mode !== 'apply' || !isRestored || owned.some(({ action }) => action !== 'create')) return [];
  return [
    ...listTokens(owned),
    ...listIssued(owned),
    ...listTasks(owned),
    ...listNewIds(goneIds),
    ...listUses(goneIds),
  ];
}

/** More creations are not read one by one. */
const FEW = 5;

/** The ids that others may have, and what gets a new one in their place. */
function listNewIds(goneIds: readonly GoneId[]): readonly string[] {
  const replaced = goneIds.filter(({ address, stack }) => address !== undefined && stack === undefined);
  if (replaced.length === 0) return [];
  const pairs = formatShortList(replaced.map(formatReplaced));
  return [`the new ids, where others have the old ones (${formatGet('', 'id')}): ${pairs}`];
}

/** The lines of manifests that still have an old id. */
function listUses(goneIds: readonly GoneId[]): readonly string[] {
  return goneIds
    .flatMap((gone) => gone.places.map((place) => ({ gone, place: toPrintablePlace(place) })))
    .map(({ gone, place }) => `write the new id into ${place.file}:${place.line}: ${formatReplaced(gone)}`);
}

function formatReplaced({ id, address, stack }: GoneId): string {
  if (address === undefined) return `${quoteIfNeeded(id)}, which no manifest adopts`;
  const whose = stack === undefined ? '' : ` of the stack ${quoteIfNeeded(stack)}`;
  return `${quoteIfNeeded(id)} → ${quoteIfNeeded(address)}${whose}`;
}

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
  return ['edgewise get', kind, `--format value=${field}`].filter(Boolean).join(' ');
}

function formatItem(what: string, changes: readonly Change[]): string {
  return `${what}: ${formatShortList(changes.map(({ address }) => quoteIfNeeded(address)))}`;
}
