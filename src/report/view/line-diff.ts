/** One line of the comparison of two texts. */
export interface DiffLine {
  readonly role: 'added' | 'removed' | 'same';
  readonly text: string;
}

/** A line of a comparison, or one that says how many unchanged lines are left out. */
export interface FoldedLine {
  readonly role: DiffLine['role'] | 'folded';
  readonly text: string;
}

/** Cells of the table that alignment may fill; beyond, the texts are shown one after the other. */
const MAX_CELLS = 4_000_000;

/** The fewest lines to remove and add that turn one list of lines into another. Of two sorted sets: what left and what came. */
export function diffLines(from: readonly string[], to: readonly string[]): readonly DiffLine[] {
  const start = countSame(from, to);
  const end = countSame(from.slice(start).reverse(), to.slice(start).reverse());
  const middleFrom = from.slice(start, from.length - end);
  const middleTo = to.slice(start, to.length - end);
  return [
    ...from.slice(0, start).map(toSame),
    ...alignLines(middleFrom, middleTo),
    ...from.slice(from.length - end).map(toSame),
  ];
}

/** The comparison with runs of unchanged lines folded, but for some around what changed. */
export function foldSame(lines: readonly DiffLine[], context: number): readonly FoldedLine[] {
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

/** A single line takes no more room than what would stand for it. */
function foldRun(run: readonly DiffLine[]): readonly FoldedLine[] {
  return run.length < 2 ? run : [{ role: 'folded', text: `${run.length} unchanged` }];
}

function alignLines(from: readonly string[], to: readonly string[]): readonly DiffLine[] {
  if (from.length * to.length > MAX_CELLS) return [...from.map(toRemoved), ...to.map(toAdded)];
  const common = countCommon(from, to);
  const lines: DiffLine[] = [];
  let [left, right] = [0, 0];
  while (left < from.length || right < to.length) {
    const [old, young] = [from[left], to[right]];
    const isRemovalBest = (common[left + 1]?.[right] ?? 0) >= (common[left]?.[right + 1] ?? 0);
    if (old !== undefined && old === young) {
      lines.push(toSame(old));
      left += 1;
      right += 1;
    } else if (old !== undefined && (young === undefined || isRemovalBest)) {
      lines.push(toRemoved(old));
      left += 1;
    } else if (young !== undefined) {
      lines.push(toAdded(young));
      right += 1;
    }
  }
  return lines;
}

/** `common[i][j]`: how many lines the ends from `i` and from `j` have in common, in order. */
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

function toSame(text: string): DiffLine {
  return { role: 'same', text };
}

function toRemoved(text: string): DiffLine {
  return { role: 'removed', text };
}

function toAdded(text: string): DiffLine {
  return { role: 'added', text };
}
