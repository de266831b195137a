import { KEY_VARIABLE } from '../../model/api-key.ts';
import type { PolicyCaseResult, PolicyTestResults } from '../../model/policy.ts';
import { toPrintable } from '../../model/printable.ts';
import type { StackFolder, StackListing } from '../../model/stack-tree.ts';
import type { LintRuleRow, SettingRow, TextStyleOptions } from '../report.ts';
import { countColumns } from '../view/escape.ts';
import { toPrintablePlace } from '../view/finding-wording.ts';
import type { InventoryRow, InventoryView } from '../view/inventory-view.ts';
import { formatStackSelectionSummary, listFilesWithoutStackLines } from '../view/run-wording.ts';
import { formatCount } from '../view/wording.ts';
import { createPainter, isTooWide, padToWidth, renderTable, type TableColumn, wrapWithPrefix } from './layout.ts';

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
  const filled = COLUMNS.filter(([, toText]) => rows.some((row) => toText(row) !== ''));
  const choices = [0, 1, 2].map((left) => filled.filter(([name]) => !OPTIONAL_COLUMNS.slice(0, left).includes(name)));
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
      : [wrapWithPrefix('', `No case tests ${names}.`, { ...options, rest: 2 }).map((line) => paint('warning', line))]),
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
