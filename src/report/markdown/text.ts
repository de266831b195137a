import { renderRunLine } from '../../model/pipeline.ts';
import { toPrintable } from '../../model/printable.ts';
import { type PlaceLink, type ShownFinding, shortenText, type Text } from '../document.ts';
import type { FormatOptions } from '../report.ts';
import { listFindingLines } from '../view/finding-wording.ts';

/** Markdown for GitHub and GitLab. Text from outside cannot close a block, create a link, or mention a user. */

/** `level`: the level of the heading above the document. */
export interface MarkdownOptions extends FormatOptions {
  readonly level: number;
}

/** The maximum number of characters shown of a text. A longer text could fill the whole comment. */
const MAX_CHARACTERS = 1000;

/**
 * The maximum number of characters of a line in a code block, and of all its lines together: a quarter of a comment.
 */
const MAX_LINE = 2000;
export const MAX_FENCE = 16_000;

const ACTIVE = /[\\`*_{}[\]<>#!|~$&@^]/g;
const ACTIVE_AT_START = /^(\d*)([-+=.)])/;

/** Characters that turn the following text into a reference to a user, issue, merge request, label or emoji. */
const REFERRING = /[@#!~$%&^](?=["'{\p{L}\p{N}_-])|:(?=[\w+/-])/gu;
const LINKED = /\b(?:www(?=\.)|gh(?=-)|[0-9a-f](?=[0-9a-f]{6,39}\b))/gi;

/** A zero-width space as an HTML entity. It also works where the character itself would be escaped. */
const GAP = '&#8203;';

/** Text as prose on one line. URLs become code, so that readers can copy them but not click them. */
export function toShortProse(text: string): string {
  return renderProse(text, true);
}

/** `isStart`: whether the text may be at the start of a line. */
function renderProse(text: string, isStart: boolean): string {
  return shortenText(text, MAX_CHARACTERS)
    .split(URL_TEXT)
    .map((part, index) => (index % 2 === 1 ? renderCodeSpan(part) : escapeWords(part, isStart && index === 0)))
    .join('');
}

/** Excludes punctuation at the end of a URL, because it may end a sentence. */
const URL_TEXT = /(\bhttps?:\/\/[^\s"'`<>|]*[^\s"'`<>|.,;:!?)\]])/;

function escapeWords(text: string, isStart: boolean): string {
  const printable = toPrintable(text);
  const parted = printable.replace(REFERRING, '$&\u0000').replace(LINKED, '$&\u0000');
  const escaped = parted.replace(ACTIVE, '\\$&');
  const inactive = isStart ? escaped.replace(ACTIVE_AT_START, '$1\\$2') : escaped;
  return inactive.replaceAll('\u0000', GAP);
}

/** Text as code on one line. Replaces `|`, because Markdown has no escape for a `|` after a `\` in a table cell. */
export function renderCodeSpan(text: string): string {
  const printable = toPrintable(shortenText(text, MAX_CHARACTERS)).replaceAll('|', '\\u007c');
  const content = printable.trim() === '' ? '""' : printable;
  const quote = '`'.repeat(countBackticks(content) + 1);
  const pad = /^[` ]|[` ]$/.test(content) ? ' ' : '';
  return `${quote}${pad}${content}${pad}${quote}`;
}

/**
 * A code block whose fence is longer than any run of backticks in the lines. `total`: the number of lines that there
 * are, if the last ones are not given.
 */
export function renderFence(language: string, lines: readonly string[], total = lines.length): string {
  const shown = takeLines(
    lines.map(toPrintable).map((line) => shortenText(line, MAX_LINE)),
    total,
  );
  const fence = '`'.repeat(Math.max(3, ...shown.map((line) => countBackticks(line) + 1)));
  return `${fence}${language}\n${shown.map((line) => `${line}\n`).join('')}${fence}`;
}

/** A row of a table. The cells must be Markdown. */
export function joinMarkdownCells(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/** A link. `label` must be Markdown. `page` must not need escaping, such as an anchor or a page of the forge. */
export function renderUnescapedLink(label: string, page: string): string {
  return `[${label}](${page})`;
}

/** A text with its styles and links. */
export function renderMarkdownText(text: Text): string {
  if (typeof text === 'string') return toShortProse(text);
  return text
    .map((span, index) => {
      if (typeof span === 'string') return renderProse(span, index === 0);
      const isCode = span.style !== undefined && span.style !== 'strong';
      const shown = isCode ? renderCodeSpan(span.text) : renderProse(span.text, false);
      const strong = span.style === 'strong' ? `**${shown}**` : shown;
      return span.page === undefined ? strong : renderUnescapedLink(strong, span.page);
    })
    .join('');
}

/** A position in a manifest. A link if its page is known. */
export function renderMarkdownPlace({ label, page }: Pick<PlaceLink, 'label' | 'page'>): string {
  return page === undefined ? renderCodeSpan(label) : renderUnescapedLink(renderCodeSpan(label), page);
}

/** A finding in a code block, so that the caret of an excerpt stays in its column. */
export function createFindingFence(finding: ShownFinding, options: Pick<FormatOptions, 'excerpts'>): string {
  const lines = listFindingLines(finding, options).map(({ label, text }) => `${label} ${text}`.trimEnd());
  return renderFence('text', lines);
}

/** The target of links within the same comment. The name must not need escaping. */
export function renderAnchor(name: string): string {
  return `<a name="${name}"></a>`;
}

/** The summary of a fold. `code` is shown as code. */
export interface Summary {
  readonly code: string;
  readonly rest: string;
}

/** The start of a fold, which opens on a click. */
export function renderDetailsStart({ code, rest }: Summary): string {
  return `<details>\n<summary><code>${escapeAsEntities(toPrintable(shortenText(code, MAX_CHARACTERS)))}</code> ${escapeReferences(rest)}</summary>\n\n`;
}

/**
 * Renders invisible HTML comments: one by which a later run finds the pull request comment to replace and, in a CI job,
 * one that says which run made the report.
 */
export function renderCommentMarker(
  command: string,
  stack: string | undefined,
  { pipeline = {}, at }: FormatOptions,
): string {
  const subject = stack === undefined ? '' : ` stack=${escapeMarkerWord(stack)}`;
  return `<!-- edgewise:${escapeMarkerWord(command)}${subject} -->\n${renderRunLine(pipeline, at)}\n`;
}

/** Percent-encodes text for a marker, so that the text cannot end the HTML comment. */
function escapeMarkerWord(text: string): string {
  return shortenText(text, 200).replace(/[^\w.-]|-(?=-)|-$/gu, (character) =>
    Array.from(new TextEncoder().encode(character), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

function escapeAsEntities(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function escapeReferences(text: string): string {
  return escapeAsEntities(toPrintable(text).replace(REFERRING, '$&\u0000')).replaceAll('\u0000', GAP);
}

function countBackticks(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

/** As many whole lines as fit into MAX_FENCE characters, then the number of omitted lines. */
function takeLines(lines: readonly string[], total: number): readonly string[] {
  const taken: string[] = [];
  let length = 0;
  for (const [index, line] of lines.entries()) {
    length += line.length + 1;
    if (length > MAX_FENCE) return [...taken, `  … ${total - index} more lines`];
    taken.push(line);
  }
  return total > taken.length ? [...taken, `  … ${total - taken.length} more lines`] : taken;
}
