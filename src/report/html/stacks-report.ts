import type { FormatOptions, StacksRunReport } from '../report.ts';
import {
  createStacksView,
  formatStackRowTitle,
  formatUnchangedStacksHeading,
  isShownWithEarlierStack,
  listRowIndexesInOrder,
  type StackRow,
  withErrorsOnce,
} from '../view/stacks-view.ts';
import { type FilterableList, type RenderedFilter, renderApplyCommand, renderFilter } from './change-list.ts';
import { type HtmlPage, renderHtmlDocument } from './document.ts';
import { type Html, html } from './node.ts';
import { createReportPage, renderDangerSection } from './report.ts';

/**
 * A run over many stacks as one page: the dangers of all stacks, then the report of each stack with something to act
 * on. Failed stacks come first, then stacks by their most severe danger. One filter covers the changes of all stacks.
 */
export function renderStacksHtml(given: StacksRunReport, options: FormatOptions): string {
  const run = withErrorsOnce(given);
  const view = createStacksView(run);
  const { title, headline, rows, summary, dangers, dangerCount } = view;
  const stacks = listRowIndexesInOrder(view).flatMap((index): readonly ShownStack[] => {
    const [row, part] = [rows[index], run.parts[index]];
    if (row === undefined || part === undefined || row.isQuiet) return [];
    return [
      {
        row,
        scope: `s${index + 1}-`,
        page: isShownWithEarlierStack(part)
          ? { heading: '', notes: [], conclusion: [], body: [] }
          : createReportPage(part.report, { ...options, ...part.options, isPart: true }),
      },
    ];
  });
  const places = dangers.map(({ index }) => rows[index]);
  const dangerous = [...new Set(places)].flatMap((row) => stacks.filter((stack) => stack.row === row));
  return renderHtmlDocument({
    heading: title,
    notes: [],
    conclusion: [html`<strong>${headline}</strong>`, html`${summary}`],
    body: [
      renderDangerSection(dangerCount, dangerous.flatMap(listDangers)),
      renderApplyCommand({ isApplicable: true }, run.applyCommand),
      joinFilters(stacks),
      ...stacks.map(renderStack),
      renderQuiet(
        rows.filter(({ isQuiet }) => isQuiet),
        run,
      ),
    ],
  });
}

interface ShownStack {
  readonly row: StackRow;
  /** A prefix for the element ids of the stack's page, because the pages of other stacks use the same ids. */
  readonly scope: string;
  readonly page: HtmlPage;
}

function listDangers({ row, scope, page: { dangers = [] } }: ShownStack): readonly Html[] {
  return dangers.map((danger) => html`<a href="#${scope}stack">${row.title}</a>: ${prefixIds(danger, scope)}`);
}

/** Joins the filters of all stacks into one filter, which can also filter by stack. */
function joinFilters(stacks: readonly ShownStack[]): Html | undefined {
  const filters = stacks.flatMap(({ row, page }) =>
    page.body.filter(isFilter).map(({ filter }): FilterableList => {
      return { ...filter, items: filter.items.map((item) => ({ ...item, stack: row.title })) };
    }),
  );
  const [first] = filters;
  if (first === undefined) return undefined;
  return renderFilter({
    ...first,
    groups: new Map(filters.flatMap(({ groups }) => [...groups])),
    items: filters.flatMap(({ items }) => items),
  });
}

function isFilter(piece: Html | undefined): piece is RenderedFilter {
  return piece !== undefined && 'filter' in piece;
}

function renderStack({ row, scope, page: { notes, conclusion, body } }: ShownStack): Html {
  const inside = html`${notes.map((note) => html`<p class="note">${note}</p>\n`)}${conclusion.map((one) => one && html`<p class="note">${one}</p>\n`)}${body.filter((piece) => !isFilter(piece))}`;
  const time = row.time === '' ? '' : ` · at least ${row.time}`;
  return html`<section class="stack" data-stack="${row.title}" aria-labelledby="${scope}stack"><h2 id="${scope}stack">${row.title}</h2>
<p class="said">${row.said}${time}</p>
${prefixIds(inside, scope)}</section>
`;
}

/**
 * Prefixes the ids in a piece, and the links to these ids, with the scope of the stack. Text from outside cannot match,
 * because its quotes are escaped.
 */
function prefixIds({ source }: Html, scope: string): Html {
  const named = source
    .replaceAll(' id="', ` id="${scope}`)
    .replaceAll(' aria-labelledby="', ` aria-labelledby="${scope}stack ${scope}`)
    .replaceAll(' href="#', ` href="#${scope}`);
  return { source: named };
}

function renderQuiet(rows: readonly StackRow[], run: StacksRunReport): Html | undefined {
  if (rows.length === 0) return undefined;
  const titles = rows.map(formatStackRowTitle).join(', ');
  return html`<p class="note">${formatUnchangedStacksHeading(run, rows)}: ${titles}</p>\n`;
}
