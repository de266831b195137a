import { assertNever } from '../../model/errors.ts';
import type { Place } from '../../model/place.ts';
import type {
  Block,
  CountsBlock,
  DangerLine,
  Document,
  EntriesBlock,
  ErrorBlock,
  ListBlock,
  Message,
  MessagesBlock,
  PartBlock,
  Sentence,
  ShownFinding,
  TableBlock,
} from '../document.ts';
import { isEffort } from '../document.ts';
import type { FormatOptions } from '../report.ts';
import { findUnmentionedAddress, listLines, listUnmentionedAddresses } from '../view/finding-wording.ts';
import { formatApplyCommandLead, formatTeamNote } from '../view/plan-wording.ts';
import { formatCount } from '../view/wording.ts';
import { createOpenEntries, type OpenEntries, renderFilter, renderItem } from './entries.ts';
import { type Html, html, renderHtmlPlace, renderHtmlProse, renderHtmlText } from './node.ts';
import { PAGE_END, renderPageStart } from './page.ts';

/** Writes a document as one self-contained page, chunk by chunk. Pipelines can keep it as an artifact. */
export function* writeHtml(document: Document, { excerpts }: Pick<FormatOptions, 'excerpts'>): Generator<string> {
  const { title, about = title, headline, applyCommand, origin } = document;
  yield renderPageStart(about ?? headline);
  yield html`<header>
<p class="brand">edgewise</p>
<button type="button" class="theme" aria-pressed="false" hidden>Dark</button>
<h1>${about ?? headline}</h1>
${about === undefined ? '' : html`<p class="conclusion"><strong>${headline}</strong></p>\n`}${renderSummary(document, '')}</header>
<main id="main" tabindex="-1">
`.source;
  for (const piece of listBlocks(document, {
    ...createPage(document, excerpts),
    lead: html`${renderCommand(applyCommand)}${renderFilter(document)}`,
  }))
    yield piece.source;
  yield renderEffort(document).source;
  if (origin !== undefined) yield html`<p class="note">${renderHtmlText(origin)}</p>\n`.source;
  yield PAGE_END;
}

/** What is unique on the page. `lead`: the command and the filter, between the dangers and what they concern. */
interface Page extends OpenEntries, Pick<FormatOptions, 'excerpts'> {
  /** The start of the ids in a part. */
  readonly scope: string;
  /** The id of the heading of the part, and a space. The names of its sections start with that heading. */
  readonly within: string;
  readonly ids: Map<string, number>;
  readonly lead?: Html | undefined;
}

function createPage(document: Document, excerpts: FormatOptions['excerpts']): Page {
  return { scope: '', within: '', ids: new Map(), excerpts, ...createOpenEntries(document) };
}

function createId({ scope, ids }: Page, name: string): string {
  const count = (ids.get(scope + name) ?? 0) + 1;
  ids.set(scope + name, count);
  return count === 1 ? scope + name : `${scope}${name}-${count}`;
}

/** `lead` is above the first entries or parts, or else above everything. */
function* listBlocks({ blocks }: Document, { lead = html``, ...page }: Page): Generator<Html> {
  const first = blocks.findIndex(({ block }) => block === 'entries' || block === 'part');
  const start = Math.max(0, first);
  for (const block of blocks.slice(0, start)) yield* listBlock(block, page);
  yield lead;
  for (const block of blocks.slice(start)) yield* listBlock(block, page);
}

function* listBlock(block: Block, page: Page): Generator<Html> {
  switch (block.block) {
    case 'entries':
      return yield* renderEntries(block, page);
    case 'part':
      return yield* listPart(block, page);
    case 'table':
      return yield* listTable(block, page);
    case 'counts':
      return yield renderCounts(block);
    case 'findings': {
      const isWrong = block.findings.some(({ level }) => level === 'error');
      const heading = block.about === 'violations' ? 'Refused by safety rules' : isWrong ? 'What is wrong' : 'Warnings';
      return yield renderSection(
        page,
        { name: block.about, heading },
        block.findings.map((one) => renderFinding(one, page)),
      );
    }
    case 'error':
      return yield renderSection(page, { name: 'error', heading: 'What went wrong' }, [renderErrorMessage(block)]);
    case 'dangers': {
      const dangers = renderItems('list dangers', block.dangers.map(renderDangerLine));
      return yield renderSection(page, { name: 'dangers', heading: block.count }, [dangers]);
    }
    case 'messages': {
      const messages = block.messages.map((one) => renderMessage(one, block, page));
      const head = { name: block.label, heading: block.heading };
      return yield renderSection(page, head, [...messages, ...listNotes(block.note)]);
    }
    case 'list':
      return yield renderListSection(block, page);
    default:
      return assertNever(block);
  }
}

function renderListSection({ heading, items, note }: ListBlock, page: Page): Html {
  const texts = items.map(renderHtmlText);
  if (heading === undefined) return html`${texts.flatMap(listNotes)}`;
  return renderSection(page, { name: 'list', heading }, [renderItems('list', texts), ...listNotes(note)]);
}

function listNotes(note: Html | string | undefined): readonly Html[] {
  return note === undefined ? [] : [html`<p class="note">${note}</p>\n`];
}

/** The notes, the conclusion and the next steps of a document, without what comes last. The headline has the result. */
function renderSummary(document: Document, scope: string): Html {
  const { notes, conclusion, next, blocks } = document;
  const shown = conclusion.filter((one) => one.role !== 'result' && one.to !== 'dangers' && !isEffort(one));
  const steps =
    next.length === 0
      ? ''
      : html`<p class="conclusion">Next:</p>\n${renderItems(
          'list',
          next.map((step) => html`${step}`),
        )}`;
  const say = ({ role, to, text, tone }: Sentence): Html => {
    if (role === 'fact') return html`<p class="conclusion">${text}</p>\n`;
    const isThere = blocks.some((one) => (one.block === 'findings' ? one.about : one.block) === to);
    const look = tone === 'error' ? 'bad' : 'heed';
    return html`<p class="conclusion">${isThere ? html`<a class="${look}" href="#${scope}${to}">${text}</a>` : text}.</p>\n`;
  };
  return html`${notes.map((note) => html`<p class="note">${note}</p>\n`)}${shown.map(say)}${steps}`;
}

function renderEffort({ conclusion }: Document): Html {
  return html`${conclusion.filter(isEffort).map(({ text }) => html`<p class="note">${text}</p>\n`)}`;
}

function renderCommand(command: Document['applyCommand']): Html | undefined {
  if (command?.lineElsewhere === undefined) return undefined;
  return html`<p class="command">${formatApplyCommandLead(command)} <code>${command.lineElsewhere}</code></p>\n`;
}

function renderSection(
  page: Page,
  { name, heading }: { readonly name: string; readonly heading: string },
  content: readonly Html[],
): Html {
  const id = createId(page, name);
  return html`<section aria-labelledby="${page.within}${id}"><h2 id="${id}">${heading}</h2>
${content}</section>
`;
}

function renderItems(look: string, items: readonly Html[]): Html {
  return html`<ul class="${look}">${items.map((item) => html`<li>${item}</li>\n`)}</ul>`;
}

/** The row of counts at the top of a page. */
function renderCounts({ label, counts }: CountsBlock): Html {
  return html`<ul class="counts" aria-label="${label}">
${counts.map(({ group, label: name, number }) => html`<li class="${group}${number === 0 ? ' zero' : ''}"><strong>${number}</strong><span>${name}</span></li>\n`)}</ul>
`;
}

function renderDangerLine({ part, group, address, team, said, place, entry }: DangerLine): Html {
  const stack = part === undefined ? '' : html`<a href="#${part.anchor}">${part.title}</a>: `;
  const name = html`<code>${address}</code>`;
  const whose = team === undefined ? '' : html` <span class="detail">${formatTeamNote(team)}</span>`;
  return html`${stack}<strong>${group}</strong> ${entry === undefined ? name : html`<a href="#${entry}">${name}</a>`} ${renderHtmlText(said)}${whose}${place === undefined ? '' : html` ${renderHtmlPlace(place)}`}`;
}

function renderMessage(
  { name, request, sentences, place, hasExcerpt }: Message,
  { label, tone }: MessagesBlock,
  page: Page,
): Html {
  const where = request === undefined ? '' : html`<p class="where"><code>${request}</code></p>\n`;
  return html`<article class="message ${tone}"><p class="headline"><span class="label">${label}</span> ${name}</p>
${where}${sentences.map((sentence) => html`<p>${sentence}</p>\n`)}${renderPlace(place, hasExcerpt ? page : {})}</article>
`;
}

function renderErrorMessage({ lines: [message = '', ...more], remedy }: ErrorBlock): Html {
  const said = more.length === 0 ? '' : html`<pre tabindex="0">${more.map((line) => html`${line}\n`)}</pre>\n`;
  return html`<article class="message error"><p class="headline">${renderHtmlProse(message)}</p>
${said}${renderRemedy(remedy)}</article>
`;
}

function renderFinding(finding: ShownFinding, page: Page): Html {
  const { rule, level, nature, message, remedy, place, related = [] } = finding;
  const name = findUnmentionedAddress(finding);
  const subject = name === undefined ? '' : html` <code>${name}</code>`;
  const items = listUnmentionedAddresses(finding).map((address) => html`<li><code>${address}</code></li>`);
  const list = items.length === 0 ? '' : html`<ul class="addresses">${items}</ul>\n`;
  return html`<article class="message ${level}">
<p class="headline"><span class="label">${nature === 'refusal' ? 'refused' : level}</span> ${renderHtmlProse(message)}</p>
<p class="where"><code>${rule}</code>${subject}</p>
${list}${renderPlace(place, page)}${related.map((one) => renderRelated(one, page))}${renderRemedy(remedy)}</article>
`;
}

function renderRelated({ message, place }: NonNullable<ShownFinding['related']>[number], page: Page): Html {
  return html`<p class="where">${renderHtmlProse(message)}</p>\n${renderPlace(place, page)}`;
}

/**
 * A position with its excerpt. The excerpt scrolls instead of wrapping, so that the caret stays in its column.
 * Undefined without a place.
 */
function renderPlace(place: Place | undefined, { excerpts }: Pick<Page, 'excerpts'>): Html | undefined {
  if (place === undefined) return undefined;
  const { file, line, column } = place;
  const position = `${file}:${line}:${column}`;
  const lines = listLines(excerpts?.render(place));
  if (lines.length === 0) return html`<p class="where"><code>${position}</code></p>\n`;
  return html`<figure><figcaption><code>${position}</code></figcaption>
<pre tabindex="0" role="region" aria-label="Excerpt of ${position}">${lines.map((text) => html`${text}\n`)}</pre></figure>
`;
}

/** A remedy. The first line is a sentence; all further lines are for the user to copy. */
function renderRemedy(remedy: string | undefined): Html | undefined {
  if (remedy === undefined) return undefined;
  const [sentence = '', ...lines] = remedy.split('\n');
  const copied = lines.length === 0 ? '' : html`<pre tabindex="0">${lines.map((line) => html`${line}\n`)}</pre>\n`;
  return html`<p class="remedy">${renderHtmlProse(sentence)}</p>\n${copied}`;
}

/** If a list has more entries, the browser lays out only the visible ones: all would take noticeable time. */
const MAX_WHOLE = 100;

function* renderEntries({ heading = 'Changes', entries }: EntriesBlock, page: Page): Generator<Html> {
  const id = createId(page, 'entries');
  yield html`<section class="part" aria-labelledby="${page.within}${id}"><h2 id="${id}">${heading}</h2>
<div class="items${entries.length > MAX_WHOLE ? ' many' : ''}">
`;
  for (const entry of entries) yield renderItem(entry, page);
  yield html`</div></section>\n`;
}

function* listTable({ heading, columns, size, rows, isFolded }: TableBlock, page: Page): Generator<Html> {
  if (size === 0) return;
  yield html`<details class="requests" id="${createId(page, 'table')}"${isFolded ? '' : html` open`}><summary><h2>${heading}</h2> <span class="note">${formatCount(size, 'row')}</span></summary>
<table class="grid" aria-label="${heading}">
<thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
`;
  for (const { cells, isBad = false, isPart = false } of rows)
    if (!isPart)
      yield html`<tr${isBad ? html` class="bad"` : ''}>${cells.map((cell, index) => (index === 0 ? html`<th scope="row">${renderHtmlText(cell)}</th>` : html`<td>${renderHtmlText(cell)}</td>`))}</tr>\n`;
  yield html`</tbody></table></details>\n`;
}

/** A document below its heading. Its entries start closed, unless the user should look at them. */
function* listPart({ title, said, anchor, isStack, document }: PartBlock, page: Page): Generator<Html> {
  const scope = `${anchor}-`;
  const name = isStack ? html` data-stack="${title}"` : '';
  yield html`<section class="stack"${name} aria-labelledby="${anchor}"><h2 id="${anchor}">${title}</h2>
${said === undefined ? '' : html`<p class="said">${said}</p>\n`}`;
  if (document !== undefined) {
    yield renderSummary(document, scope);
    yield* listBlocks(document, { ...page, scope, within: `${anchor} `, isAllOpen: page.isAllOpen && !isStack });
    yield renderEffort(document);
  }
  yield html`</section>\n`;
}
