import type { TextOptions } from '../report.ts';
import { toColumns } from '../view/columns.ts';
import type { InventoryRow, InventoryView } from '../view/inventory-view.ts';
import { isTooWide, toPadded, toPaint, wrapBehind } from './layout.ts';
import { type Column, toTable } from './table.ts';

const COLUMNS: readonly Column<InventoryRow>[] = [
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
  const whole = toTable(rows, COLUMNS);
  const isWide = whole.some((line) => isTooWide(line, options.width));
  const [heading = '', ...lines] = isWide
    ? toTable(
        rows,
        COLUMNS.filter(([name]) => name !== LEAST),
      )
    : whole;
  const body = rows.flatMap((row, index) => [lines[index] ?? '', ...renderDetails(row, options)]);
  return [paint('strong', heading), ...body, '', paint('muted', `${summary}.`), ''].join('\n');
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
