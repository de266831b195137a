import { toColumns } from '../view/columns.ts';
import { toPadded } from './layout.ts';

/** A column of a table: its heading, and what it shows of a row. */
export type Column<Row> = readonly [heading: string, toCell: (row: Row) => string];

/** The headings, and a line for each row, aligned. */
export function toTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): readonly string[] {
  const table = [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, toCell]) => toCell(row)))];
  const widths = columns.map((_, column) => Math.max(...table.map((line) => toColumns(line[column] ?? ''))));
  return table.map((line) =>
    line
      .map((cell, column) => toPadded(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
