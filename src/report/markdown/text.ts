import { toPrintable } from '../../model/printable.ts';

/**
 * Pieces of Markdown as GitHub and GitLab read it. Whatever text they are given, each is exactly one piece: nothing in it closes a block, makes a
 * link or calls somebody.
 */

/** Characters of a text that are shown; more would only be there to fill a comment. */
const MAX_CHARACTERS = 1000;

/** Characters of a line in a fence, and of all its lines, that are shown. */
const MAX_LINE = 2000;
const MAX_FENCE = 16_000;

const ACTIVE = /[\\`*_{}[\]<>#!|~$&@^]/g;
const ACTIVE_AT_START = /^(\d*)([-+=.)])/;

/** What makes a reference of the text behind it: to people, issues, merge requests, labels, addresses and emoji. */
const REFERRING = /[@#!~$%&^](?=["'{\p{L}\p{N}_-])|:(?=[\w+/-])/gu;
const LINKED = /\b(?:www(?=\.)|gh(?=-)|[0-9a-f](?=[0-9a-f]{6,39}\b))/gi;

/** Stands for an invisible space, by a name that survives where the space itself is escaped. */
const GAP = '&#8203;';

/** Text as prose on one line. URLs in it are code: they can be copied, and are no links. */
export function toProse(text: string): string {
  return toShort(text)
    .split(URL_TEXT)
    .map((part, index) => (index % 2 === 1 ? toCode(part) : toWords(part, index === 0)))
    .join('');
}

/** Without the punctuation that ends a sentence. */
const URL_TEXT = /(\bhttps?:\/\/[^\s"'`<>|]*[^\s"'`<>|.,;:!?)\]])/;

function toWords(text: string, isStart: boolean): string {
  const printable = toPrintable(text);
  const parted = printable.replace(REFERRING, '$&\u0000').replace(LINKED, '$&\u0000');
  const escaped = parted.replace(ACTIVE, '\\$&');
  const inactive = isStart ? escaped.replace(ACTIVE_AT_START, '$1\\$2') : escaped;
  return inactive.replaceAll('\u0000', GAP);
}

/** Text as code on one line. It may stand in a cell of a table, where no escape says `|` behind a `\`. */
export function toCode(text: string): string {
  const printable = toPrintable(toShort(text)).replaceAll('|', '\\u007c');
  const content = printable.trim() === '' ? '""' : printable;
  const quote = '`'.repeat(countBackticks(content) + 1);
  const pad = /^[` ]|[` ]$/.test(content) ? ' ' : '';
  return `${quote}${pad}${content}${pad}${quote}`;
}

/** Lines as they are, in a fence that none of them can close. */
export function toFence(language: string, lines: readonly string[]): string {
  const shown = takeLines(lines.map(toPrintable).map((line) => toShort(line, MAX_LINE)));
  const fence = '`'.repeat(Math.max(3, ...shown.map((line) => countBackticks(line) + 1)));
  return `${fence}${language}\n${shown.map((line) => `${line}\n`).join('')}${fence}`;
}

/** A row of a table. The cells are Markdown. */
export function toRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/** A link to a page of the forge that the pipeline names. The label is Markdown; the address is one that needs no escape. */
export function toLink(label: string, page: string): string {
  return `[${label}](${page})`;
}

/** What opens on a click. The body is Markdown; of the summary, the code is text of others and the rest is ours. */
export function toDetails(summary: { readonly code: string; readonly rest: string }, body: string): string {
  const code = toHtml(toPrintable(toShort(summary.code)));
  return `<details>\n<summary><code>${code}</code> ${toHtml(summary.rest)}</summary>\n\n${body}\n\n</details>`;
}

/** A comment that nobody sees, by which a later run finds the place of this one. */
export function toMarker(command: string, stack: string | undefined): string {
  const name = `edgewise:${toMarkerWord(command)}`;
  return stack === undefined ? `<!-- ${name} -->` : `<!-- ${name} stack=${toMarkerWord(stack)} -->`;
}

/** A text as a program finds it again; what could end a comment is written as bytes of UTF-8. */
function toMarkerWord(text: string): string {
  return toShort(text, 200).replace(/[^\w.-]|-(?=-)|-$/gu, (character) =>
    Array.from(new TextEncoder().encode(character), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

function toHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function countBackticks(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

/** As many whole lines as there is room for. */
function takeLines(lines: readonly string[]): readonly string[] {
  const taken: string[] = [];
  let length = 0;
  for (const [index, line] of lines.entries()) {
    length += line.length + 1;
    if (length > MAX_FENCE) return [...taken, `  … ${lines.length - index} more lines`];
    taken.push(line);
  }
  return taken;
}

function toShort(text: string, most = MAX_CHARACTERS): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`;
}
