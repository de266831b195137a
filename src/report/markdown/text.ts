import type { Diagnostic } from '../../model/diagnostic.ts';
import { toPrintable } from '../../model/printable.ts';
import { listDiagnosticLines } from '../view/diagnostic-view.ts';
import { formatCount } from '../view/wording.ts';

/** Pieces of Markdown as GitHub and GitLab read it. Any text results in exactly one piece: nothing in it closes a block, links, or mentions a user. */

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

/** Replaces an invisible space by an entity that survives where the space itself is escaped. */
const GAP = '&#8203;';

/** Text as prose on one line. URLs in it are code: they can be copied, and are no links. */
export function escapeProse(text: string): string {
  return toShort(text)
    .split(URL_TEXT)
    .map((part, index) => (index % 2 === 1 ? renderCode(part) : toWords(part, index === 0)))
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
export function renderCode(text: string): string {
  const printable = toPrintable(toShort(text)).replaceAll('|', '\\u007c');
  const content = printable.trim() === '' ? '""' : printable;
  const quote = '`'.repeat(countBackticks(content) + 1);
  const pad = /^[` ]|[` ]$/.test(content) ? ' ' : '';
  return `${quote}${pad}${content}${pad}${quote}`;
}

/** Lines as they are, in a fence that none of them can close. */
export function renderFence(language: string, lines: readonly string[]): string {
  const shown = takeLines(lines.map(toPrintable).map((line) => toShort(line, MAX_LINE)));
  const fence = '`'.repeat(Math.max(3, ...shown.map((line) => countBackticks(line) + 1)));
  return `${fence}${language}\n${shown.map((line) => `${line}\n`).join('')}${fence}`;
}

/** A row of a table. The cells are Markdown. */
export function renderRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/** A link to a page of the forge that the pipeline names. The label is Markdown; the address is one that needs no escape. */
export function renderLink(label: string, page: string): string {
  return `[${label}](${page})`;
}

/** A place that links of the same comment lead to. The name is one that needs no escape. */
export function renderAnchor(name: string): string {
  return `<a name="${name}"></a>`;
}

/** What opens on a click. The body is Markdown; of the summary, the code is text of others and the rest is ours. */
export function renderDetails(summary: Summary, body: string): string {
  return `${toDetailsStart(summary)}${body}\n\n</details>`;
}

interface Summary {
  readonly code: string;
  readonly rest: string;
}

function toDetailsStart({ code, rest }: Summary): string {
  return `<details>\n<summary><code>${toHtml(toPrintable(toShort(code)))}</code> ${toHtml(rest)}</summary>\n\n`;
}

/** Sections that open on one click, each of which can be left out; the fold disappears with the last of them. */
export function listFoldSections(summary: Summary, pieces: readonly Section[]): readonly Section[] {
  return [
    { text: toDetailsStart(summary), weight: 'always', fold: 'start' },
    ...pieces,
    { text: '</details>\n\n', weight: 'always', fold: 'end' },
  ];
}

/** A comment that nobody sees, by which a later run finds the place of this one. */
export function renderMarker(command: string, stack: string | undefined): string {
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

/** A comment is a row of pieces, each of which can be left out without harm to the others. */
export interface Section {
  readonly text: string;
  /** Less important sections are left out first. */
  readonly weight: Weight;
  /** What it is called when it is left out: one, and several. Absent: nobody misses it. */
  readonly names?: readonly [one: string, several: string];
  /** Where a fold starts, and where it ends: both stay, unless there is nothing between them. */
  readonly fold?: 'start' | 'end';
}

/** From the first that is left out to those that are always shown. */
const WEIGHTS = [
  'unchanged',
  'calls',
  'graph',
  'create-fields',
  'adopt-fields',
  'release-fields',
  'update-fields',
  'create',
  'adopt',
  'release',
  'replace-fields',
  'delete-fields',
  'update',
  'replace',
  'warning',
  'error',
  'delete',
  'refusal',
  'always',
] as const;

/** How important a piece is. */
type Weight = (typeof WEIGHTS)[number];

/** Characters that a comment may have at GitHub. Counted in UTF-16 units, of which there are never fewer than characters. */
export const MAX_COMMENT = 65_536;

/** Room for the sentence that says what was left out. */
const RESERVE = 1500;

/** The text of the pieces, with what has no room left out: the least important first, and the last of those that are alike. */
export function joinSections(head: readonly Section[], body: readonly Section[]): string {
  const whole = [...head, ...body];
  const kept = new Set(whole);
  let length = whole.reduce((sum, { text }) => sum + text.length, 0);
  const limit = length <= MAX_COMMENT ? MAX_COMMENT : MAX_COMMENT - RESERVE;
  for (const piece of listByWeight(whole)) {
    if (length <= limit) break;
    kept.delete(piece);
    length -= piece.text.length;
  }
  const isKept = (piece: Section): boolean => kept.has(piece);
  const note = renderLeftOut(whole.filter((piece) => !isKept(piece)));
  const shown = [...head.filter(isKept), note, ...withoutEmptyFolds(body.filter(isKept))];
  return shown.map(({ text }) => text).join('');
}

function withoutEmptyFolds(pieces: readonly Section[]): readonly Section[] {
  const isEmpty = (index: number): boolean => pieces[index]?.fold === 'start' && pieces[index + 1]?.fold === 'end';
  return pieces.filter((_, index) => !isEmpty(index) && !isEmpty(index - 1));
}

/** A diagnostic as a terminal shows it: the caret of an excerpt has to stand where it points. */
export function renderDiagnosticSection(diagnostic: Diagnostic): Section {
  const { severity } = diagnostic;
  const lines = listDiagnosticLines(diagnostic).map(({ label, text }) => `${label} ${text}`.trimEnd());
  return { text: `${renderFence('text', lines)}\n\n`, weight: severity, names: [severity, `${severity}s`] };
}

function listByWeight(pieces: readonly Section[]): readonly Section[] {
  const groups = Map.groupBy(pieces, ({ weight }) => weight);
  return WEIGHTS.filter((weight) => weight !== 'always').flatMap((weight) => (groups.get(weight) ?? []).toReversed());
}

function renderLeftOut(pieces: readonly Section[]): Section {
  const counts = Map.groupBy(
    pieces.flatMap(({ names }) => (names === undefined ? [] : [names])),
    ([one]) => one,
  );
  const parts = [...counts.values()].flatMap((names) =>
    names.slice(0, 1).map((name) => formatCount(names.length, ...name)),
  );
  const text = parts.length === 0 ? '' : `> [!NOTE]\n> Too long for a comment. Left out: ${parts.join(', ')}.\n\n`;
  return { text, weight: 'always' };
}
