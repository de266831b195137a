import type { TextOptions } from '../report.ts';
import { toColumns } from '../view/columns.ts';
import type { InventoryRow, InventoryView } from '../view/inventory-view.ts';
import { isTooWide, toPadded, toPaint, wrapBehind } from './layout.ts';

const HEADINGS = ['ADDRESS', 'ID', 'CREATED', 'STATE'] as const;

/** What a stack owns as a table: a row for each resource, and below it what the service computed. Ends with a line break. */
export function renderInventoryText({ rows, summary }: InventoryView, options: TextOptions): string {
  const paint = toPaint(options.color);
  if (rows.length === 0) return `${summary}.\n`;
  const cells = rows.map((row) => [row.address, row.id, row.createdAt, row.state.join(', ')]);
  const widths = HEADINGS.map((_, column) =>
    Math.max(...[HEADINGS, ...cells].map((line) => toColumns(line[column] ?? ''))),
  );
  const toLine = (line: readonly string[]): string =>
    line
      .map((cell, column) => toPadded(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const body = rows.flatMap((row, index) => [toLine(cells[index] ?? []), ...renderDetails(row, options)]);
  return [paint('strong', toLine(HEADINGS)), ...body, '', paint('muted', `${summary}.`), ''].join('\n');
}

function renderDetails({ fields, troubles }: InventoryRow, { width, color }: TextOptions): readonly string[] {
  const column = Math.max(0, ...fields.map(({ path }) => toColumns(path)));
  const lines = fields.flatMap(({ path, text }) => {
    const line = `  ${toPadded(path, column)}  ${text}`;
    return isTooWide(line, width) ? wrapBehind(`  ${path}  `, text, { width, rest: 6 }) : [line];
  });
  const help = troubles.flatMap((trouble) => wrapBehind('  ! ', trouble, { width, rest: 4 }));
  return [...lines, ...help.map((line) => toPaint(color)('warning', line))];
}
