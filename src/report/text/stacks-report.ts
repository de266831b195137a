import type { FormOptions } from '../report.ts';
import type { StackPart, StacksReport } from '../stacks-report.ts';
import { type StackRow, toStacksView, toStackTitle } from '../view/stacks-view.ts';
import { renderApplyResultText } from './apply.ts';
import { renderTextForm } from './form.ts';
import { toPaint } from './layout.ts';
import { type Column, toTable } from './table.ts';

const COLUMNS: readonly Column<StackRow>[] = [
  ['STACK', ({ name }) => name],
  ['FOLDER', ({ folder }) => folder],
  ['RESULT', ({ said }) => said],
];

const TIME: Column<StackRow> = ['LEAST TIME', ({ time }) => time];

/** Each stack that has something to say, then a line for each of all. */
export function renderStacksReportText(run: StacksReport, options: FormOptions): string {
  return `${renderStackTexts(run, options)}${renderStacksTable(run, options)}`;
}

/** Each stack that has something to say, under its name. */
export function renderStackTexts(run: StacksReport, options: FormOptions): string {
  const paint = toPaint(options.color);
  const { rows } = toStacksView(run);
  const shown = rows.map((row, index) => ({ row, part: run.parts[index] })).filter(({ row }) => !row.isQuiet);
  return shown.map(({ row, part }) => `${paint('strong', `── ${row.title}`)}\n${renderPart(part, options)}\n`).join('');
}

/** What became of stacks whose plans were shown already. */
export function renderStackEnds(parts: readonly StackPart[], options: FormOptions): string {
  const paint = toPaint(options.color);
  const ends = parts.map((part) => {
    const end = renderEnd(part, { ...options, ...part.options });
    return end === '' ? '' : `${paint('strong', `── ${toStackTitle(part)}`)}\n${end}\n`;
  });
  return ends.join('');
}

function renderEnd({ report }: StackPart, options: FormOptions): string {
  if (report.about === 'failure') return renderTextForm(report, options);
  if (report.about !== 'apply') return '';
  const { plan, result } = report;
  const isNothing = result.outcomes.length + result.files.length + result.diagnostics.length === 0;
  return isNothing ? '' : renderApplyResultText(plan, result, options);
}

function renderPart(part: StackPart | undefined, options: FormOptions): string {
  return part === undefined ? '' : renderTextForm(part.report, { ...options, ...part.options, isPart: true });
}

/** A line for each stack, and what they come to. */
export function renderStacksTable(run: StacksReport, { color }: FormOptions): string {
  const paint = toPaint(color);
  const { rows, summary } = toStacksView(run);
  if (rows.length === 0) return `${summary}\n`;
  const columns = rows.some(({ time }) => time !== '') ? [...COLUMNS, TIME] : COLUMNS;
  const [heading = '', ...lines] = toTable(rows, columns);
  const painted = lines.map((line, index) => (rows[index]?.isBad === true ? paint('error', line) : line));
  return [paint('strong', heading), ...painted, '', summary, ''].join('\n');
}
