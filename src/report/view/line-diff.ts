/** A comparison of texts, line by line. */

export interface DiffLine {
  readonly role: 'added' | 'removed' | 'same';
  readonly text: string;
}

/** A line of a comparison, or the number of unchanged lines that are omitted. */
export interface FoldedLine {
  readonly role: DiffLine['role'] | 'folded';
  readonly text: string;
}

/**
 * The maximum number of cells of the alignment table, at 4 bytes each: 16 MB, enough for two texts of 2,000 lines. If
 * two texts need more cells, all their removed lines are shown before all added lines.
 */
const MAX_CELLS = 4_000_000;

/**
 * Returns the fewest removals and additions that turn `from` into `to`. If that takes more than MAX_CELLS cells, the
 * differing lines are not aligned.
 */
export function diffLines(from: readonly string[], to: readonly string[]): readonly DiffLine[] {
  const start = countSame(from, to);
  const end = countSame(from.slice(start).reverse(), to.slice(start).reverse());
  const middleFrom = from.slice(start, from.length - end);
  const middleTo = to.slice(start, to.length - end);
  return [
    ...from.slice(0, start).map(toLine('same')),
    ...alignLines(middleFrom, middleTo),
    ...from.slice(from.length - end).map(toLine('same')),
  ];
}

/** Folds runs of unchanged lines, except `context` lines around each change. */
export function foldUnchanged(lines: readonly DiffLine[], context: number): readonly FoldedLine[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ role }) => role !== 'same'),
  );
  const folded: FoldedLine[] = [];
  let run: DiffLine[] = [];
  for (const [index, line] of lines.entries()) {
    if (!isNear[index]) run.push(line);
    else {
      folded.push(...foldRun(run), line);
      run = [];
    }
  }
  return [...folded, ...foldRun(run)];
}

/** Does not fold a single line, because the fold would take a line too. */
function foldRun(run: readonly DiffLine[]): readonly FoldedLine[] {
  return run.length < 2 ? run : [{ role: 'folded', text: `${run.length} unchanged` }];
}

function alignLines(from: readonly string[], to: readonly string[]): readonly DiffLine[] {
  if (from.length * to.length > MAX_CELLS) return [...from.map(toLine('removed')), ...to.map(toLine('added'))];
  const common = countCommon(from, to);
  const lines: DiffLine[] = [];
  let [left, right] = [0, 0];
  while (left < from.length || right < to.length) {
    const [old, young] = [from[left], to[right]];
    const isRemovalBest = (common[left + 1]?.[right] ?? 0) >= (common[left]?.[right + 1] ?? 0);
    if (old !== undefined && old === young) {
      lines.push({ role: 'same', text: old });
      left += 1;
      right += 1;
    } else if (old !== undefined && (young === undefined || isRemovalBest)) {
      lines.push({ role: 'removed', text: old });
      left += 1;
    } else if (young !== undefined) {
      lines.push({ role: 'added', text: young });
      right += 1;
    }
  }
  return lines;
}

/** `common[i][j]`: length of the longest common subsequence of `from.slice(i)` and `to.slice(j)`. */
function countCommon(from: readonly string[], to: readonly string[]): readonly Uint32Array[] {
  const rows = Array.from({ length: from.length + 1 }, () => new Uint32Array(to.length + 1));
  for (let left = from.length - 1; left >= 0; left -= 1) {
    const [row, below] = [rows[left], rows[left + 1]];
    for (let right = to.length - 1; row !== undefined && below !== undefined && right >= 0; right -= 1) {
      const isSame = from[left] === to[right];
      row[right] = isSame ? 1 + (below[right + 1] ?? 0) : Math.max(below[right] ?? 0, row[right + 1] ?? 0);
    }
  }
  return rows;
}

function countSame(left: readonly string[], right: readonly string[]): number {
  const different = left.findIndex((line, index) => line !== right[index]);
  return different < 0 ? left.length : different;
}

function toLine(role: DiffLine['role']): (text: string) => DiffLine {
  return (text) => ({ role, text });
}
