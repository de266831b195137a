/** A member of a list before and after, by their indexes. Without `from` it is new, without `to` it is gone. */
export interface PairedMember {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/**
 * With more differences, what is left is paired by its position: the time of an exact comparison grows with the square of
 * their number. Lists and files that people change have far fewer.
 */
const MAX_DIFFERENCES = 1_000;

/**
 * Pairs the members of two lists, in order: equal members of the longest common subsequence, and between two of these
 * what is first, second and so on of both lists.
 */
export function pairMembers<From, To>(
  from: readonly From[],
  to: readonly To[],
  isEqual: (from: From, to: To) => boolean,
): readonly PairedMember[] {
  let start = 0;
  const isSame = (left: number, right: number): boolean => {
    const [one, other] = [from[left], to[right]];
    return left < from.length && right < to.length && isEqual(one as From, other as To); // both indexes are in range
  };
  while (isSame(start, start)) start += 1;
  let end = 0;
  const rest = Math.min(from.length, to.length) - start;
  while (end < rest && isSame(from.length - 1 - end, to.length - 1 - end)) end += 1;
  const [fromEnd, toEnd] = [from.length - end, to.length - end];
  const anchors = [
    ...Array.from({ length: start }, (_, at) => [at, at] as const),
    ...listCommon({ start, fromEnd, toEnd }, isSame),
    ...Array.from({ length: end }, (_, at) => [fromEnd + at, toEnd + at] as const),
  ];
  const pairs: PairedMember[] = [];
  let [left, right] = [0, 0];
  for (const [nextLeft, nextRight] of [...anchors, [from.length, to.length] as const]) {
    while (left < nextLeft || right < nextRight)
      pairs.push({ from: left < nextLeft ? left++ : undefined, to: right < nextRight ? right++ : undefined });
    if (nextLeft < from.length || nextRight < to.length) pairs.push({ from: nextLeft, to: nextRight });
    [left, right] = [nextLeft + 1, nextRight + 1];
  }
  return pairs;
}

/**
 * The longest common subsequence between `start` and the two ends, as pairs of indexes. Source: E. Myers, "An O(ND)
 * Difference Algorithm and Its Variations", 1986. `reached`: by diagonal (left - right), how far `left` can get.
 */
function listCommon(
  { start, fromEnd, toEnd }: { readonly start: number; readonly fromEnd: number; readonly toEnd: number },
  isSame: (left: number, right: number) => boolean,
): readonly (readonly [number, number])[] {
  const [rows, columns] = [fromEnd - start, toEnd - start];
  const steps: ReadonlyMap<number, number>[] = [];
  let reached: ReadonlyMap<number, number> = new Map([[1, 0]]);
  for (let count = 0; count <= Math.min(rows + columns, MAX_DIFFERENCES); count += 1) {
    steps.push(reached);
    const next = new Map(reached);
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      let row = chooseStart(reached, diagonal, count);
      while (row < rows && row - diagonal < columns && isSame(start + row, start + row - diagonal)) row += 1;
      next.set(diagonal, row);
      if (row >= rows && row - diagonal >= columns) return trace(steps, [rows, columns], start);
    }
    reached = next;
  }
  return [];
}

/** Where a diagonal begins after one more difference: below the one above it, or beside the one below it. */
function chooseStart(reached: ReadonlyMap<number, number>, diagonal: number, count: number): number {
  const [lower, upper] = [reached.get(diagonal - 1) ?? -1, reached.get(diagonal + 1) ?? -1];
  return diagonal === -count || (diagonal !== count && lower < upper) ? upper : lower + 1;
}

/** Follows the steps back from the end. */
function trace(
  steps: readonly ReadonlyMap<number, number>[],
  end: readonly [number, number],
  start: number,
): readonly (readonly [number, number])[] {
  const found: (readonly [number, number])[] = [];
  let [row, column] = end;
  for (let count = steps.length - 1; count >= 0; count -= 1) {
    const reached = steps[count] ?? new Map<number, number>();
    const diagonal = row - column;
    const first = chooseStart(reached, diagonal, count);
    while (row > Math.max(first, 0) && column > 0) {
      row -= 1;
      column -= 1;
      found.push([start + row, start + column]);
    }
    const isDown =
      first === (reached.get(diagonal + 1) ?? -1) &&
      (diagonal === -count ||
        (diagonal !== count && (reached.get(diagonal - 1) ?? -1) < (reached.get(diagonal + 1) ?? -1)));
    if (isDown) column -= 1;
    else row -= 1;
  }
  return found.toReversed();
}
