import type { FormOptions } from '../report.ts';
import type { StackPart, StacksReport } from '../stacks-report.ts';
import { type StackRow, toStacksView } from '../view/stacks-view.ts';
import { renderDocument } from './document.ts';
import { renderHtmlForm } from './form.ts';
import { type Html, html } from './node.ts';

/** A run over many stacks as one file: a table of all, and the page of each stack that has something to say, which opens on a click. */
export function renderStacksHtml(run: StacksReport, options: FormOptions): string {
  const { title, rows, summary } = toStacksView(run);
  const pages = run.parts.map((part, index) => renderPart({ part, row: rows[index], index }, options));
  return renderDocument({
    heading: title,
    notes: [],
    verdict: [html`<strong>${summary}</strong>`],
    body: [renderTable(rows), ...pages],
  });
}

function renderTable(rows: readonly StackRow[]): Html | undefined {
  if (rows.length === 0) return undefined;
  const hasTime = rows.some(({ time }) => time !== '');
  return html`<section aria-labelledby="stacks"><h2 id="stacks">Stacks</h2>
<div class="scroll"><table><thead><tr><th scope="col">Stack</th><th scope="col">Folder</th><th scope="col">Result</th>${hasTime ? html`<th scope="col">Least time</th>` : undefined}</tr></thead>
<tbody>${rows.map((row, index) => renderRow(row, index, hasTime))}</tbody></table></div></section>
`;
}

function renderRow({ name, folder, said, time, isQuiet }: StackRow, index: number, hasTime: boolean): Html {
  const named = isQuiet ? html`${name}` : html`<a href="#stack-${index + 1}">${name}</a>`;
  return html`<tr><th scope="row">${named}</th><td>${folder}</td><td>${said}</td>${hasTime ? html`<td>${time}</td>` : undefined}</tr>
`;
}

/** Whole pages, each in a frame of its own, so that neither names nor filters of one stack meet those of another. */
function renderPart(
  { part, row, index }: { readonly part: StackPart; readonly row: StackRow | undefined; readonly index: number },
  options: FormOptions,
): Html | undefined {
  if (row === undefined || row.isQuiet) return undefined;
  const page = renderHtmlForm(part.report, { ...options, ...part.options });
  return html`<details class="stack" id="stack-${index + 1}"><summary>${row.title}: ${row.said}</summary>
<iframe title="${row.name}" srcdoc="${{ source: toAttribute(page) }}"></iframe></details>
`;
}

/** A whole document as the value of an attribute in double quotes. */
function toAttribute(document: string): string {
  return document.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}
