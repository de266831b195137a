import { hasDeliveredToken, isCopiedMark, isOwnIdInMark, isRefusalRecord, isRetiring } from '../model/mark.ts';
import { isOfSameName, isOfSameStack } from '../model/ownership.ts';
import { compareByAge, type LiveResource } from '../model/state.ts';
import { hasToken, type Kind } from './kind.ts';
import { getKind } from './tables/registry.ts';

/**
 * Which of several live resources with one mark is the real one, and what is known about the others. A stranger can copy
 * a mark, but not give two resources one id: so a mark that names another id never wins.
 */

export function isTokenUndelivered(kind: Kind, { mark }: Pick<LiveResource, 'mark'>): boolean {
  return hasToken(kind) && mark?.delivered !== true;
}

/**
 * Sorts live resources with one mark; the one to keep comes first. Criteria, in this order: its mark names no other
 * resource; it is not the record of a refused creation; its token was delivered; it does not retire; it need not be replaced (an interrupted replace leaves both); for a kind with a
 * token, its mark names the resource itself, which the record of the delivery does, and of several such resources it is
 * the youngest, to which the token was delivered last; it is the oldest.
 */
export function sortByPrecedence(
  kind: Kind,
  marked: readonly LiveResource[],
  isOutdated: (live: LiveResource) => boolean = () => false,
): readonly LiveResource[] {
  const showsToken = hasToken(kind);
  const rank = (live: LiveResource): readonly boolean[] => [
    isCopiedMark(live),
    isRefusalRecord(live),
    isTokenUndelivered(kind, live),
    isRetiring(live),
    isOutdated(live),
    showsToken && !isOwnIdInMark(live),
  ];
  return marked.toSorted((left, right) => {
    const [mine, theirs] = [rank(left), rank(right)];
    const at = mine.findIndex((one, index) => one !== theirs[index]);
    if (at >= 0) return mine[at] === true ? 1 : -1;
    return showsToken && isOwnIdInMark(left) ? compareByAge(right, left) : compareByAge(left, right);
  });
}

/**
 * Whether it is unknown which token reached the sink last: that of `kept`, or that of one of its duplicates. Known if
 * the mark of `kept` names the duplicate as the credential that it replaces, or if the duplicate retires or records a
 * refused creation.
 */
export function isDeliveryInDoubt(kind: Kind, kept: LiveResource, duplicates: readonly LiveResource[]): boolean {
  if (!hasToken(kind)) return false;
  return duplicates.some(
    (live) =>
      !isCopiedMark(live) &&
      !isRetiring(live) &&
      !isRefusalRecord(live) &&
      (isTokenUndelivered(kind, live) || (isOwnIdInMark(live) && kept.mark?.replaces !== live.id)),
  );
}

/**
 * Whether a duplicate may be the protected original: its mark is no copy, and its mark names it or it is not younger
 * than the resource that is kept. A credential is in use only if its token was delivered, which its mark records
 * together with its id. `isProtected`: its mark or its manifest protects it, because a mark can be changed.
 */
export function isProtectedOriginal(
  kind: Kind,
  {
    duplicate,
    kept,
    isProtected,
  }: { readonly duplicate: LiveResource; readonly kept: LiveResource; readonly isProtected: boolean },
): boolean {
  if (!isProtected || isCopiedMark(duplicate)) return false;
  if (isOwnIdInMark(duplicate)) return true;
  const isUnused = hasToken(kind) && (isTokenUndelivered(kind, duplicate) || isOwnIdInMark(kept));
  return !isUnused && duplicate.createdAt <= kept.createdAt;
}

/**
 * Finds the old resources that retire: the mark of the resource that replaced it names each. Maps each old one to the
 * resources that name it; usually that is one. A mark that names another stack's resource, or one of another name, does
 * nothing, so that a forged mark reaches no further than a copied one. An old one that is recorded as retiring may still
 * have the former name of the other one, because an interrupted rename wrote one of the two marks.
 */
export function findRetirements(listed: readonly LiveResource[]): ReadonlyMap<LiveResource, readonly LiveResource[]> {
  const byId = new Map(listed.map((one) => [formatKindAndId(one.kind, one.id), one]));
  const claims = listed.flatMap((by) => {
    const old = byId.get(formatKindAndId(by.kind, by.mark?.retires?.id ?? ''));
    return old !== undefined && canRetire(by, old) ? [{ by, old }] : [];
  });
  const named = new Set(claims.map(({ old }) => old));
  // What retires itself retires nothing: two marks that name each other say nothing.
  const valid = Map.groupBy(
    claims.filter(({ by }) => !named.has(by)),
    ({ old }) => old,
  );
  return new Map(
    Array.from(valid, ([old, all]) => [old, preferSameName(old, all.map(({ by }) => by).sort(compareByAge))]),
  );
}

function formatKindAndId(kind: string, id: string): string {
  return `${kind} ${id}`;
}

/** Whether the mark of `by` may say that `old` retires. The record of a delivery, and nothing before it, says so. */
function canRetire(by: LiveResource, old: LiveResource): boolean {
  if (by === old || !isOfSameStack(by, old) || isCopiedMark(by) || isCopiedMark(old)) return false;
  if (isRefusalRecord(by) || isRefusalRecord(old)) return false;
  if (hasToken(getKind(by.kind)) && !(hasDeliveredToken(by) && isOwnIdInMark(by))) return false;
  return isOfSameName(by, old) || isRetiring(old);
}

function preferSameName(old: LiveResource, all: readonly LiveResource[]): readonly LiveResource[] {
  const same = all.filter((by) => isOfSameName(by, old));
  return same.length > 0 ? same : all;
}
