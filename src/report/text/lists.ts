import { KEY_VARIABLE } from '../../model/api-key.ts';
import type { PolicyCaseResult, PolicyTestResults } from '../../model/policy.ts';
import { toPrintable } from '../../model/printable.ts';
import type { StackFolder, StackListing } from '../../model/stack-tree.ts';
import type {
  FormatOptions,
  LintRuleRow,
  SettingRow,
  StackReportPart,
  StacksRunReport,
  TextStyleOptions,
} from '../report.ts';
import { toPrintablePlace } from '../view/diagnostic-view.ts';
import { countColumns } from '../view/escape.ts';
import type { InventoryRow, InventoryView } from '../view/inventory-view.ts';
import { formatOwnerNote } from '../view/plan-wording.ts';
import {
  createStacksView,
  formatStackSelectionSummary,
  formatStackTitle,
  isShownWithEarlierStack,
  listFilesWithoutStackLines,
  type StackRow,
  withErrorsOnce,
} from '../view/stacks-view.ts';
import { formatCount } from '../view/wording.ts';
import { renderApplyResultText } from './apply.ts';
import { createPainter, isTooWide, padToWidth, renderTable, type TableColumn, wrapWithPrefix } from './layout.ts';
import { formatApplyCommandWithLead } from './plan.ts';
import { renderTextReport } from './report.ts';

const COLUMNS: readonly TableColumn<InventoryRow>[] = [
  ['ADDRESS', ({ address }) => address],
  ['ID', ({ id }) => id],
  ['CREATED', ({ createdAt }) => createdAt],
  ['STATE', ({ state }) => state.join(', ')],
];

/** Columns to omit, in this order, until the table fits the terminal. An omitted STATE is shown below the row. */
const OPTIONAL_COLUMNS = ['CREATED', 'STATE'];

/** The resources of a stack as a table, each row followed by its fields and findings. Ends with a line break. */
export function renderInventoryText({ rows, summary }: InventoryView, options: TextStyleOptions): string {
  const paint = createPainter(options.color);
  if (rows.length === 0) return `${summary}.\n`;
  const choices = [0, 1, 2].map((left) => COLUMNS.filter(([name]) => !OPTIONAL_COLUMNS.slice(0, left).includes(name)));
  const fitting = choices.find((columns) => !renderTable(rows, columns).some((line) => isTooWide(line, options.width)));
  const columns = fitting ?? choices.at(-1) ?? [];
  const [heading = '', ...lines] = renderTable(rows, columns);
  const hasState = columns.some(([name]) => name === 'STATE');
  const body = rows.flatMap((row, index) => {
    const state = hasState || row.state.length === 0 ? [] : [{ path: 'state', text: row.state.join(', ') }];
    return [lines[index] ?? '', ...renderDetails({ ...row, fields: [...state, ...row.fields] }, options)];
  });
  return [paint('strong', heading), ...body, '', paint('muted', `${summary}.`), ''].join('\n');
}

/**
 * The maximum width of the column of paths, so that more than half of 80 columns is left for values. Not used if lines
 * are not wrapped.
 */
const MAX_PATH_COLUMNS = 32;

function renderDetails({ fields, findings }: InventoryRow, { width, color }: TextStyleOptions): readonly string[] {
  const widths = fields
    .map(({ path }) => countColumns(path))
    .filter((columns) => width === 0 || columns <= MAX_PATH_COLUMNS);
  const column = Math.max(0, ...widths);
  const lines = fields.flatMap(({ path, text }) => {
    const line = `  ${padToWidth(path, column)}  ${text}`;
    return isTooWide(line, width) ? [`  ${path}`, ...wrapWithPrefix('      ', text, { width, rest: 6 })] : [line];
  });
  const help = findings.flatMap((finding) => wrapWithPrefix('  ! ', finding, { width, rest: 4 }));
  return [...lines, ...help.map((line) => createPainter(color)('warning', line))];
}

export function renderLintRulesText(rows: readonly LintRuleRow[], { width }: TextStyleOptions): string {
  const ids = Math.max(...rows.map(({ id }) => id.length));
  const severities = Math.max(...rows.map(({ severity }) => severity.length));
  const lines = rows.flatMap(({ id, severity, sentence }) => {
    const label = `${id.padEnd(ids)}  ${severity.padEnd(severities)}  `;
    return wrapWithPrefix(label, sentence, { width, rest: label.length });
  });
  return `${lines.join('\n')}\n`;
}

export function renderSettingsText(rows: readonly SettingRow[], { color }: Pick<TextStyleOptions, 'color'>): string {
  const [heading = '', ...lines] = renderTable(rows, [
    ['SETTING', ({ name }) => toPrintable(name)],
    ['VALUE', ({ value }) => toPrintable(value)],
    ['FROM', ({ from, place }) => toPrintable(place === undefined ? from : `${from} ${place}`)],
  ]);
  return `${[createPainter(color)('strong', heading), ...lines].join('\n')}\n`;
}

/** The results of policy tests: for each policy, a line for each case, with the reason why the case failed. */
export function renderPolicyTestsText({ cases, untested }: PolicyTestResults, options: TextStyleOptions): string {
  const failed = cases.filter(({ failure }) => failure !== undefined).length;
  const groups = [...Map.groupBy(cases, ({ policy }) => policy)];
  const paint = createPainter(options.color);
  const names = untested.map(toPrintable).join(', ');
  const blocks = [
    ...groups.map(([policy, members]) => [
      paint('strong', toPrintable(policy)),
      ...members.flatMap((one) => renderCase(one, options)),
    ]),
    ...(untested.length === 0
      ? []
      : [
          wrapWithPrefix('', `No case is about ${names}.`, { ...options, rest: 2 }).map((line) =>
            paint('warning', line),
          ),
        ]),
    [`${formatCount(cases.length, 'case')}: ${cases.length - failed} passed, ${failed} failed.`],
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function renderCase({ name, place, failure }: PolicyCaseResult, { color, width }: TextStyleOptions): readonly string[] {
  const paint = createPainter(color);
  if (failure === undefined) return [`  ${paint('added', 'pass')} ${toPrintable(name)}`];
  const { file, line, column } = toPrintablePlace(place);
  return [
    `  ${paint('error', 'FAIL')} ${toPrintable(name)}`,
    ...wrapWithPrefix('       ', toPrintable(failure), { width, rest: 7 }),
    `       --> ${file}:${line}:${column}`,
  ];
}

/** The stacks of a folder tree as a table, then their number. Ends with a line break. */
export function renderStacksText(listing: StackListing, { color }: Pick<TextStyleOptions, 'color'>): string {
  const paint = createPainter(color);
  const { stacks, changes } = listing;
  const columns: readonly TableColumn<StackFolder>[] = [
    ['STACK', ({ name }) => toPrintable(name === '' ? '(no name)' : name)],
    ['FOLDER', ({ folder }) => toPrintable(folder)],
    ['SERVICE', ({ baseUrl = '' }) => toPrintable(baseUrl)],
    ...(stacks.every(({ keyEnv }) => keyEnv === undefined) ? [] : [KEY]),
    ...(changes === undefined
      ? []
      : [['WHY', (stack: StackFolder) => toPrintable(formatWhy(stack, listing))] as const]),
  ];
  const [heading = '', ...lines] = stacks.length === 0 ? [] : renderTable(stacks, columns);
  const table = stacks.length === 0 ? [] : [paint('strong', heading), ...lines, ''];
  const words = [formatStackSelectionSummary(listing), ...listFilesWithoutStackLines(listing)].map(
    (line) => `${toPrintable(line)}\n`,
  );
  return `${table.map((line) => `${line}\n`).join('')}${words.join('')}`;
}

/** The environment variable with the API key of the account. */
const KEY: TableColumn<StackFolder> = ['KEY', ({ keyEnv = KEY_VARIABLE }) => toPrintable(keyEnv)];

/** The maximum number of changed files named in a row, so that the row fits on a line. */
const MAX_NAMED = 2;

function formatWhy(stack: StackFolder, { changes }: StackListing): string {
  const { files = [], through = [] } = changes?.changed.find((change) => change.stack.folder === stack.folder) ?? {};
  const more = files.length > MAX_NAMED ? [`${files.length - MAX_NAMED} more`] : [];
  const needs = through.length === 0 ? [] : [`depends on ${through.join(', ')}`];
  return [...files.slice(0, MAX_NAMED), ...more, ...needs].join(', ');
}

const STACK_COLUMNS: readonly TableColumn<StackRow>[] = [
  ['STACK', ({ name }) => name],
  ['FOLDER', ({ folder }) => folder],
  ['RESULT', ({ said }) => said],
];

const TIME: TableColumn<StackRow> = ['LEAST TIME', ({ time }) => time];

/**
 * The reports of stacks with something to act on, all dangers, a table of all stacks, and the command to apply them.
 */
export function renderStacksRunText(given: StacksRunReport, options: FormatOptions): string {
  const run = withErrorsOnce(given);
  const command = formatApplyCommandWithLead(run.applyCommand, options);
  const end = command === undefined ? '' : `${command}\n`;
  return `${renderStackTexts(run, options)}${renderStackDangers(run, options)}${renderStacksTable(run, options)}${end}`;
}

/** The dangers of all stacks. They are below the changes, because a terminal shows the end of the output. */
function renderStackDangers(run: StacksRunReport, { color, width }: FormatOptions): string {
  const { dangers, dangerCount } = createStacksView(run);
  if (dangers.length === 0) return '';
  const paint = createPainter(color);
  const lines = dangers.flatMap(({ title, owner, dangers: found }) =>
    found.flatMap(({ group, address, said }) => {
      const whose = owner === undefined ? '' : ` (${formatOwnerNote(owner)})`;
      return wrapWithPrefix('  ', `! ${title}${whose}: ${group}: ${address} ${said}`, { width, rest: 6 });
    }),
  );
  return `${[`${dangerCount}:`, ...lines].map((line) => paint('error', line)).join('\n')}\n\n`;
}

/** The report of each stack with something to act on, below the name of the stack. */
function renderStackTexts(run: StacksRunReport, options: FormatOptions): string {
  const paint = createPainter(options.color);
  const { rows } = createStacksView(run);
  const shown = run.parts
    .filter((_, index) => rows[index]?.isQuiet === false)
    .filter((part) => !isShownWithEarlierStack(part));
  return shown
    .map((part) => `${paint('strong', `── ${formatStackTitle(part)}`)}\n${renderPart(part, options)}\n`)
    .join('');
}

/** The results of applies whose plans were already shown. */
export function renderStackResults(parts: readonly StackReportPart[], options: FormatOptions): string {
  const paint = createPainter(options.color);
  const shown = withErrorsOnce({ parts }).parts.filter((part) => !isShownWithEarlierStack(part));
  const ends = shown.map((part) => {
    const end = renderEnd(part, { ...options, ...part.options });
    return end === '' ? '' : `${paint('strong', `── ${formatStackTitle(part)}`)}\n${end}\n`;
  });
  return ends.join('');
}

function renderEnd({ report }: StackReportPart, options: FormatOptions): string {
  if (report.about === 'failure') return renderTextReport(report, options);
  if (report.about !== 'apply') return '';
  const { plan, result } = report;
  const isNothing = result.outcomes.length + result.files.length + result.diagnostics.length === 0;
  return isNothing ? '' : renderApplyResultText(plan, result, options);
}

function renderPart(part: StackReportPart, options: FormatOptions): string {
  return renderTextReport(part.report, { ...options, ...part.options, isPart: true });
}

/** A table with a row for each stack, then the totals. */
export function renderStacksTable(run: StacksRunReport, { color }: FormatOptions): string {
  const paint = createPainter(color);
  const { rows, summary } = createStacksView(withErrorsOnce(run));
  if (rows.length === 0) return `${summary}\n`;
  const columns = rows.some(({ time }) => time !== '') ? [...STACK_COLUMNS, TIME] : STACK_COLUMNS;
  const [heading = '', ...lines] = renderTable(rows, columns);
  const painted = lines.map((line, index) => (rows[index]?.isBad === true ? paint('error', line) : line));
  return [paint('strong', heading), ...painted, '', summary, ''].join('\n');
}
