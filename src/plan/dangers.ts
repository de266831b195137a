import { type Kind, listOneTimeFields } from '../kinds/kind.ts';
import { listOpenings } from '../kinds/protection.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { IDENTITY } from '../kinds/tables/standard-fields.ts';
import { type Change, toShownChange } from '../model/change.ts';
import { DANGER_NAMES, type Danger } from '../model/danger.ts';
import { toPathText } from '../model/field-path.ts';
import type { Spec } from '../model/state.ts';
import { toShownWriteAddress, type Write } from '../model/write.ts';
import { readTime } from './validity.ts';

/** The changes with their dangers added. These follow from the changes and the order of their writes. */
export function withDangers(changes: readonly Change[], writes: readonly Write[]): readonly Change[] {
  const gaps = findGaps(writes);
  return changes.map((change) => {
    const dangers = listDangers(change, gaps);
    if (dangers.length > 0) return { ...change, dangers };
    if (change.dangers === undefined) return change;
    const { dangers: _, ...rest } = change;
    return rest;
  });
}

function listDangers(change: Change, gaps: ReadonlyMap<string, number>): readonly Danger[] {
  if (change.action === 'no-op') return [];
  const gap = gaps.get(toShownChange(change)) ?? 0;
  const kind = getKind(change.kind);
  const dangers = [
    ...listLosses(kind, change, gap),
    ...listOpened(kind, change),
    ...listUnprotected(change),
    ...listLockouts(kind, change),
    ...listLonger(kind, change),
  ];
  return dangers.sort((left, right) => DANGER_NAMES.indexOf(left.danger) - DANGER_NAMES.indexOf(right.danger));
}

function listLosses(kind: Kind, { action }: Change, gap: number): readonly Danger[] {
  if (action === 'delete') return [{ danger: 'delete' }];
  if (action !== 'replace') return [];
  const token: readonly Danger[] = listOneTimeFields(kind).length > 0 ? [{ danger: 'token' }] : [];
  return [{ danger: 'replace', loses: listChosen(kind), gap }, ...token];
}

/** Values that the service chooses anew and that others may have written down. */
function listChosen({ fields }: Kind): readonly string[] {
  return Object.entries(fields).flatMap(([name, { lifecycle, type }]) => {
    const isShared = type.type === 'list' || (type.type === 'text' && !Object.hasOwn(IDENTITY, name));
    return lifecycle === 'computed' && isShared ? [name] : [];
  });
}

/** Deleting a duplicate opens nothing: the resource itself stays. */
function listOpened(kind: Kind, { live, desired, duplicateOf, action }: Change): readonly Danger[] {
  const from = live?.spec;
  if (from === undefined || duplicateOf !== undefined || action === 'release') return [];
  return listOpenings(kind, from, desired).map(({ path, how }) => ({ danger: 'opens', path: toPathText(path), how }));
}

function listUnprotected({ action, live, protect }: Change): readonly Danger[] {
  const isTaken = live?.mark?.protect === true && protect !== true;
  return isTaken && action !== 'delete' ? [{ danger: 'unprotects' }] : [];
}

function listLockouts(kind: Kind, { desired }: Change): readonly Danger[] {
  return desired !== undefined && kind.canLockOut(desired) ? [{ danger: 'lockout' }] : [];
}

/** A length is compared with a length where the manifest states one, and an end with an end otherwise. */
function listLonger(kind: Kind, { differences, live, desired, validForMs }: Change): readonly Danger[] {
  if (validForMs !== undefined) return listLongerLength(kind, differences, live?.spec, validForMs);
  const until = kind.validity?.until ?? '';
  const [from, to] = [live?.spec?.[until], desired?.[until]];
  const isLater =
    (readTime(desired ?? {}, until) ?? 0) > (readTime(live?.spec ?? {}, until) ?? Number.POSITIVE_INFINITY);
  return isLater ? [{ danger: 'validity', from: String(from), to: String(to) }] : [];
}

function listLongerLength(
  kind: Kind,
  differences: Change['differences'],
  live: Spec | undefined,
  validForMs: number,
): readonly Danger[] {
  const after = readTime(live ?? {}, kind.validity?.after);
  const until = readTime(live ?? {}, kind.validity?.until);
  const shown = differences.find(({ path }) => path === 'lifecycle.valid_for');
  if (after === undefined || until === undefined || shown === undefined || until - after >= validForMs) return [];
  return [{ danger: 'validity', from: String(shown.from), to: String(shown.to) }];
}

/** By resource: how many writes run from its delete to its creation. */
function findGaps(writes: readonly Write[]): ReadonlyMap<string, number> {
  const deleted = new Map<string, number>();
  const gaps = new Map<string, number>();
  for (const [index, write] of writes.entries()) {
    const address = toShownWriteAddress(write);
    if (write.act === 'delete') deleted.set(address, index);
    const start = write.act === 'create' ? deleted.get(address) : undefined;
    if (start !== undefined) gaps.set(address, index - start);
  }
  return gaps;
}
