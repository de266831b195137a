import type { TextOptions } from '../report.ts';
import { toColumns } from '../view/columns.ts';
import type { InventoryRow, InventoryView } from '../view/inventory-view.ts';
import { isTooWide, toPadded, toPaint, wrapBehind } from './layout.ts';

const COLUMNS: readonly (readonly [heading: string, toCell: (row: InventoryRow) => string])[] = [
  ['ADDRESS', ({ address }) => address],
  ['ID', ({ id }) => id],
  ['CREATED', ({ createdAt }) => createdAt],
  ['STATE', ({ state }) => state.join(', ')],
];

/** Left out where the table would be wider than the terminal: it says the least. */
const LEAST = 'CREATED';

/** What a stack owns as a table: a row for each resource, and below it what the service computed. Ends with a line break. */
export function renderInventoryText({ rows, summary }: InventoryView, options: TextOptions): string {
  const paint = toPaint(options.color);
  if (rows.length === 0) return `${summary}.\n`;
  const whole = toLines(rows, COLUMNS);
  const isWide = whole.some((line) => isTooWide(line, options.width));
  const [heading = '', ...lines] = isWide
    ? toLines(
        rows,
        COLUMNS.filter(([name]) => name !== LEAST),
      )
    : whole;
  const body = rows.flatMap((row, index) => [lines[index] ?? '', ...renderDetails(row, options)]);
  return [paint('strong', heading), ...body, '', paint('muted', `${summary}.`), ''].join('\n');
}

/** The headings, and a line for each row, aligned. */
function toLines(rows: readonly InventoryRow[], columns: typeof COLUMNS): readonly string[] {
  const table = [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, toCell]) => toCell(row)))];
  const widths = columns.map((_, column) => Math.max(...table.map((line) => toColumns(line[column] ?? ''))));
  return table.map((line) =>
    line
      .map((cell, column) => toPadded(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function renderDetails({ fields, troubles }: InventoryRow, { width, color }: TextOptions): readonly string[] {
  const column = Math.max(0, ...fields.map(({ path }) => toColumns(path)));
  const lines = fields.flatMap(({ path, text }) => {
    const line = `  ${toPadded(path, column)}  ${text}`;
    return isTooWide(line, width) ? [`  ${path}`, ...wrapBehind('      ', text, { width, rest: 6 })] : [line];
  });
  const help = troubles.flatMap((trouble) => wrapBehind('  ! ', trouble, { width, rest: 4 }));
  return [...lines, ...help.map((line) => toPaint(color)('warning', line))];
}
