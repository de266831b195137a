import type { Diagnostic } from '../../model/diagnostic.ts';
import { renderRunLine } from '../../model/pipeline.ts';
import { toPrintable } from '../../model/printable.ts';
import type { FormatOptions } from '../report.ts';
import { listDiagnosticLines } from '../view/diagnostic-view.ts';
import { formatCount } from '../view/wording.ts';

/** Markdown for GitHub and GitLab. Text from outside cannot close a block, create a link, or mention a user. */

/** The maximum number of characters shown of a text. A longer text could fill the whole comment. */
const MAX_CHARACTERS = 1000;

/**
 * The maximum number of characters of a line in a code block, and of all its lines together: a quarter of a comment.
 */
const MAX_LINE = 2000;
const MAX_FENCE = 16_000;

const ACTIVE = /[\\`*_{}[\]<>#!|~$&@^]/g;
const ACTIVE_AT_START = /^(\d*)([-+=.)])/;

/** Characters that turn the following text into a reference to a user, issue, merge request, label or emoji. */
const REFERRING = /[@#!~$%&^](?=["'{\p{L}\p{N}_-])|:(?=[\w+/-])/gu;
const LINKED = /\b(?:www(?=\.)|gh(?=-)|[0-9a-f](?=[0-9a-f]{6,39}\b))/gi;

/** A zero-width space as an HTML entity. It also works where the character itself would be escaped. */
const GAP = '&#8203;';

/** Text as prose on one line. URLs become code, so that readers can copy them but not click them. */
export function toShortProse(text: string): string {
  return shortenText(text)
    .split(URL_TEXT)
    .map((part, index) => (index % 2 === 1 ? renderCodeSpan(part) : escapeWords(part, index === 0)))
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
  const printable = toPrintable(shortenText(text)).replaceAll('|', '\\u007c');
  const content = printable.trim() === '' ? '""' : printable;
  const quote = '`'.repeat(countBackticks(content) + 1);
  const pad = /^[` ]|[` ]$/.test(content) ? ' ' : '';
  return `${quote}${pad}${content}${pad}${quote}`;
}

/** A code block whose fence is longer than any run of backticks in the lines. */
export function renderFence(language: string, lines: readonly string[]): string {
  const shown = takeLines(lines.map(toPrintable).map((line) => shortenText(line, MAX_LINE)));
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

/** The target of links within the same comment. The name must not need escaping. */
export function renderAnchor(name: string): string {
  return `<a name="${name}"></a>`;
}

/**
 * A fold, which opens on a click. The body must be Markdown. `summary.code` may be text from outside; `summary.rest`
 * must be Edgewise's own text.
 */
export function renderDetails(summary: Summary, body: string): string {
  return `${renderDetailsStart(summary)}${body}\n\n</details>`;
}

interface Summary {
  readonly code: string;
  readonly rest: string;
}

function renderDetailsStart({ code, rest }: Summary): string {
  return `<details>\n<summary><code>${escapeHtml(toPrintable(shortenText(code)))}</code> ${escapeHtml(rest)}</summary>\n\n`;
}

/** Puts sections into one fold. Each section can be omitted; if all are, the fold is omitted too. */
export function wrapSectionsInFold(summary: Summary, sections: readonly Section[]): readonly Section[] {
  return [
    { text: renderDetailsStart(summary), priority: 'always', fold: 'start' },
    ...sections,
    { text: '</details>\n\n', priority: 'always', fold: 'end' },
  ];
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

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function countBackticks(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

/** As many whole lines as fit into MAX_FENCE characters, then the number of omitted lines. */
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

function shortenText(text: string, most = MAX_CHARACTERS): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** A section of a comment. It can be omitted without breaking the Markdown of other sections. */
export interface Section {
  readonly text: string;
  /** Sections with a lower priority are omitted first. */
  readonly priority: Priority;
  /** Nouns that name the section in the note on omitted sections. Absent if the note does not mention it. */
  readonly names?: readonly [one: string, several: string];
  /** The start or the end of a fold. Both are omitted if no section remains between them. */
  readonly fold?: 'start' | 'end';
}

/** All priorities in ascending order. Sections with the last priority are never omitted. */
const PRIORITIES = [
  'unchanged',
  'calls',
  'graph',
  'create-fields',
  'adopt-fields',
  'take-over-fields',
  'release-fields',
  'update-fields',
  'create',
  'adopt',
  'take-over',
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

type Priority = (typeof PRIORITIES)[number];

/**
 * The maximum length of a comment on GitHub, in characters. Edgewise counts UTF-16 units; a text has at least as many
 * of them as characters.
 */
export const MAX_COMMENT_LENGTH = 65_536;

/** Characters reserved for the note on omitted sections, which names each kind of section once. */
const RESERVE = 1500;

/**
 * Joins sections. If they are too long for a comment, omits sections with a lower priority first and, among equal
 * priorities, the last sections first.
 */
export function joinSectionsWithinCommentLimit(head: readonly Section[], body: readonly Section[]): string {
  const whole = [...head, ...body];
  const kept = new Set(whole);
  let length = whole.reduce((sum, { text }) => sum + text.length, 0);
  const limit = length <= MAX_COMMENT_LENGTH ? MAX_COMMENT_LENGTH : MAX_COMMENT_LENGTH - RESERVE;
  for (const section of listByWeight(whole)) {
    if (length <= limit) break;
    kept.delete(section);
    length -= section.text.length;
  }
  const isKept = (section: Section): boolean => kept.has(section);
  const note = renderLeftOut(whole.filter((section) => !isKept(section)));
  const shown = [...head.filter(isKept), note, ...withoutEmptyFolds(body.filter(isKept))];
  return shown.map(({ text }) => text).join('');
}

function withoutEmptyFolds(sections: readonly Section[]): readonly Section[] {
  const isEmpty = (index: number): boolean => sections[index]?.fold === 'start' && sections[index + 1]?.fold === 'end';
  return sections.filter((_, index) => !isEmpty(index) && !isEmpty(index - 1));
}

/** A diagnostic in a code block, so that the caret of an excerpt stays in its column. */
export function createDiagnosticSection(diagnostic: Diagnostic): Section {
  const { severity } = diagnostic;
  const lines = listDiagnosticLines(diagnostic).map(({ label, text }) => `${label} ${text}`.trimEnd());
  return { text: `${renderFence('text', lines)}\n\n`, priority: severity, names: [severity, `${severity}s`] };
}

function listByWeight(sections: readonly Section[]): readonly Section[] {
  const groups = Map.groupBy(sections, ({ priority }) => priority);
  return PRIORITIES.filter((priority) => priority !== 'always').flatMap((priority) =>
    (groups.get(priority) ?? []).toReversed(),
  );
}

function renderLeftOut(sections: readonly Section[]): Section {
  const counts = Map.groupBy(
    sections.flatMap(({ names }) => (names === undefined ? [] : [names])),
    ([one]) => one,
  );
  const parts = [...counts.values()].flatMap((names) =>
    names.slice(0, 1).map((name) => formatCount(names.length, ...name)),
  );
  const text = parts.length === 0 ? '' : `> [!NOTE]\n> Too long for a comment. Left out: ${parts.join(', ')}.\n\n`;
  return { text, priority: 'always' };
}
