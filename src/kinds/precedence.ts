import { isCopiedMark, isOwnIdInMark } from '../model/mark.ts';
import { compareByAge, type LiveResource } from '../model/state.ts';
import { hasToken, type Kind } from './kind.ts';

/**
 * Which of several live resources with one mark is the real one, and what is known about the others. A stranger can copy
 * a mark, but not give two resources one id: so a mark that names another id never wins.
 */

export function isTokenUndelivered(kind: Kind, { mark }: Pick<LiveResource, 'mark'>): boolean {
  return hasToken(kind) && mark?.delivered !== true;
}

/**
 * Sorts live resources with one mark; the one to keep comes first. Criteria, in this order: its mark names no other
 * resource; its token was delivered; it need not be replaced (an interrupted replace leaves both); for a kind with a
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
    isTokenUndelivered(kind, live),
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
 * the mark of `kept` names the duplicate as the credential that it replaces.
 */
export function isDeliveryInDoubt(kind: Kind, kept: LiveResource, duplicates: readonly LiveResource[]): boolean {
  if (!hasToken(kind)) return false;
  return duplicates.some(
    (live) =>
      !isCopiedMark(live) &&
      (isTokenUndelivered(kind, live) || (isOwnIdInMark(live) && kept.mark?.replaces !== live.id)),
  );
}

/**
 * Whether a duplicate may be the protected original: it is protected, its mark is no copy, and its mark names it or it
 * is not younger than the resource that is kept. A credential is in use only if its token was delivered, which its mark
 * records together with its id.
 */
export function isProtectedOriginal(kind: Kind, duplicate: LiveResource, kept: LiveResource): boolean {
  if (duplicate.mark?.protect !== true || isCopiedMark(duplicate)) return false;
  if (isOwnIdInMark(duplicate)) return true;
  const isUnused = hasToken(kind) && (isTokenUndelivered(kind, duplicate) || isOwnIdInMark(kept));
  return !isUnused && duplicate.createdAt <= kept.createdAt;
}
