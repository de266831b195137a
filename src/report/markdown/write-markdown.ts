import {
  type Block,
  type DangerLine,
  type DangersBlock,
  type Document,
  type ErrorBlock,
  formatSummary,
  isEffort,
  type ListBlock,
  listEntries,
  type MessagesBlock,
  type PartBlock,
  type Sentence,
  type ShownFinding,
  type TableBlock,
} from '../document.ts';
import type { FormatOptions } from '../report.ts';
import { listUnmentionedAddresses } from '../view/finding-wording.ts';
import { formatApplyCommandLead } from '../view/plan-wording.ts';
import { formatCount } from '../view/wording.ts';
import { listEntriesSections } from './entries.ts';
import { type Section, type Weight, wrapInFold, writeWithinCommentLimit } from './sections.ts';
import {
  createFindingFence,
  joinMarkdownCells,
  type MarkdownOptions,
  renderAnchor,
  renderCodeSpan,
  renderCommentMarker,
  renderFence,
  renderMarkdownPlace,
  renderMarkdownText,
  toShortProse,
} from './text.ts';

/** Writes a document as a comment on a pull request. If it would be too long, omits sections and names them. */
export function writeMarkdown(document: Document, options: FormatOptions): Iterable<string> {
  const marker = renderCommentMarker(document.command, document.subject, options);
  const sections = listSections(document, { ...options, level: TOP_LEVEL });
  return writeWithinCommentLimit([marker, `## ${toShortProse(document.headline)}\n\n`], sections);
}

/** `parts`: the number of parts of the document. */
interface PartsOptions extends MarkdownOptions {
  readonly parts: number;
}

/** The level of the heading of a comment. */
const TOP_LEVEL = 2;

function* listSections(document: Document, options: MarkdownOptions): Generator<Section> {
  yield* listHeadSections(document, options);
  const entries = { ...options, total: listEntries(document).length };
  const blocks = listInOrder(document);
  const parts = blocks.filter(({ block }) => block === 'part').length;
  for (const block of blocks) {
    if (block.block === 'entries') yield* listEntriesSections(block, entries);
    else if (block.block === 'part') yield* listPartSections(block, { ...options, parts });
    else yield* listBlockSections(block, { ...options, parts });
  }
  const efforts = document.conclusion.filter(isEffort).map(({ text }) => toShortProse(text));
  if (efforts.length > 0) yield createParagraph(efforts.join(' '));
  if (options.level === TOP_LEVEL && document.origin !== undefined)
    yield createParagraph(`<sub>${renderMarkdownText(document.origin)}</sub>`);
  yield* listCommandSections(document);
}

/** If a comment cannot have a fold for each part, the table of all parts is above them. */
function listInOrder({ blocks }: Document): readonly Block[] {
  const start = blocks.findIndex(({ block }) => block === 'part');
  if (blocks.filter(({ block }) => block === 'part').length <= MAX_FOLDS) return blocks;
  const isTable = ({ block }: Block): boolean => block === 'table';
  return [...blocks.slice(0, start), ...blocks.filter(isTable), ...blocks.slice(start).filter((one) => !isTable(one))];
}

function createParagraph(text: string): Section {
  return { text: `${text}\n\n`, weight: 'always' };
}

/** The summary, the limits and facts of the report, and the next steps. A part has its result in its heading. */
function* listHeadSections(document: Document, { level }: MarkdownOptions): Generator<Section> {
  const { title, notes, conclusion, next } = document;
  const facts = conclusion.filter((one) => one.role === 'fact' && !isEffort(one)).map(({ text }: Sentence) => text);
  const isWhole = level === TOP_LEVEL;
  if (isWhole) yield createParagraph(renderSummary(document));
  const sentences = [...(isWhole || title === undefined ? [] : [`${title}.`]), ...notes, ...facts];
  if (sentences.length > 0) yield createParagraph(sentences.map(toShortProse).join(' '));
  if (next.length > 0) yield createParagraph(`Next:\n\n${next.map((step) => `- ${toShortProse(step)}`).join('\n')}`);
}

/** Escaped, the summary is shorter than MAX_SUMMARY. */
function renderSummary(document: Document): string {
  const lengths = [140, 80, 40, 20];
  const texts = lengths.map((most) => toShortProse(formatSummary(document, most)));
  return texts.find((text) => text.length < MAX_SUMMARY) ?? '';
}

/** A pager or a chat shows a text of this length at once. */
const MAX_SUMMARY = 300;

function listBlockSections(
  block: Exclude<Block, { readonly block: 'entries' | 'part' }>,
  options: PartsOptions,
): Iterable<Section> {
  switch (block.block) {
    case 'findings':
      return block.findings.map((one) =>
        one.nature === 'refusal' ? createRefusalSection(one) : createFindingSection(one, options),
      );
    case 'error':
      return [createErrorSection(block)];
    case 'dangers':
      return listDangerSections(block);
    case 'messages':
      return listMessageSections(block, options);
    case 'list':
      return listListSections(block);
    case 'table':
      return block.isDetail && !options.verbose ? [] : listTableBlockSections(block, options);
    // The headline has them.
    case 'counts':
      return [];
  }
}

/** The maximum number of addresses listed for a refusal. The table below has all changes. */
const MAX_LISTED = 10;

function createRefusalSection(finding: ShownFinding): Section {
  const { rule, message, remedy = '', related: places = [] } = finding;
  const addresses = listUnmentionedAddresses(finding);
  const hidden = addresses.length - MAX_LISTED;
  const more = hidden > 0 ? ` and ${hidden} more` : '';
  const paragraphs = [
    `**Refused (${toShortProse(rule)}):** ${toShortProse(message)}`,
    ...(addresses.length === 0 ? [] : [`${addresses.slice(0, MAX_LISTED).map(renderCodeSpan).join(', ')}${more}`]),
    ...(places.length === 0
      ? []
      : [
          places
            .map((one) => `${toShortProse(one.message)}: ${renderCodeSpan(`${one.place.file}:${one.place.line}`)}`)
            .join(', '),
        ]),
    ...remedy.split('\n').map(toShortProse),
  ];
  const text = `> [!CAUTION]\n> ${paragraphs.join('\n>\n> ')}\n\n`;
  return { text, weight: 'refusal', names: ['safety rule', 'safety rules'] };
}

function createFindingSection(finding: ShownFinding, options: MarkdownOptions): Section {
  const level = finding.level === 'error' ? 'error' : 'warning';
  const text = `${createFindingFence(finding, options)}\n\n`;
  return { text, weight: level, names: [level, `${level}s`] };
}

function createErrorSection({ lines, remedy }: ErrorBlock): Section {
  return createParagraph(renderFence('text', [...lines, ...(remedy?.split('\n') ?? [])]));
}

function* listDangerSections({ count, dangers }: DangersBlock): Generator<Section> {
  yield { text: `> [!CAUTION]\n> **${toShortProse(count)}**\n>\n`, weight: 'always' };
  for (const danger of dangers) yield { text: renderDangerItem(danger), weight: 'loss', names: ['danger', 'dangers'] };
  yield { text: '\n', weight: 'always' };
}

function renderDangerItem({ part, group, address, team, said, place, anchor }: DangerLine): string {
  const whose = team === undefined ? '' : ` (${toShortProse(team)})`;
  const lead = part === undefined ? '' : `**${toShortProse(part.title)}**${whose}: `;
  const name = `${renderCodeSpan(address)}${part === undefined ? whose : ''}`;
  const at = place === undefined ? '' : ` ${renderMarkdownPlace(place)}`;
  return `> - ${lead}**${group}** ${name} ${renderMarkdownText(said)}${at}${renderAnchor(anchor)}\n`;
}

function* listMessageSections(
  { heading, label, tone, messages, note }: MessagesBlock,
  { level }: MarkdownOptions,
): Generator<Section> {
  yield createParagraph(`${'#'.repeat(level + 1)} ${toShortProse(heading)}`);
  for (const { name, request, sentences, place } of messages) {
    const at = place === undefined ? '' : ` at ${renderCodeSpan(`${place.file}:${place.line}:${place.column}`)}`;
    const what = [
      ...(request === undefined ? [] : [renderCodeSpan(request)]),
      ...sentences.slice(0, 5).map(toShortProse),
    ];
    const text = `- **${label}** ${renderCodeSpan(name)}${at}: ${what.join('; ')}\n`;
    yield { text, weight: tone, names: [`${label} write`, `${label} writes`] };
  }
  yield createListEnd(note);
}

function* listListSections({ heading, items, weight, note }: ListBlock): Generator<Section> {
  if (heading !== undefined) yield createParagraph(`${toShortProse(heading)}:`);
  const names = [`item of "${heading}"`, `items of "${heading}"`] as const;
  for (const item of items) yield { text: `- ${renderMarkdownText(item)}\n`, weight, names };
  yield createListEnd(note);
}

function createListEnd(note: string | undefined): Section {
  return { text: note === undefined ? '\n' : `\n${toShortProse(note)}\n\n`, weight: 'always' };
}

function listTableBlockSections(
  { heading, columns, size, rows, weight, isFolded }: TableBlock,
  { parts }: PartsOptions,
): Iterable<Section> {
  if (parts > MAX_FOLDS) return listTableRows({ heading, columns, rows, weight: 'refusal', isWhole: true });
  if (size === 0) return [];
  const table = listTableRows({ heading, columns, rows, weight, isWhole: false });
  if (isFolded) return wrapInFold({ code: heading, rest: formatCount(size, 'row') }, table);
  return [createParagraph(`${toShortProse(heading)}:`), ...table];
}

function* listTableRows({
  heading,
  columns,
  rows,
  weight,
  isWhole,
}: Pick<TableBlock, 'heading' | 'columns' | 'rows'> & {
  readonly weight: Weight;
  /** Whether the rows that are parts are shown too. */
  readonly isWhole: boolean;
}): Generator<Section> {
  yield { text: `${joinMarkdownCells(columns)}${joinMarkdownCells(columns.map(() => '---'))}`, weight: 'always' };
  const names = [`row of "${heading}"`, `rows of "${heading}"`] as const;
  for (const { cells, isPart } of rows)
    if (isWhole || isPart !== true) yield { text: joinMarkdownCells(cells.map(renderMarkdownText)), weight, names };
  yield { text: '\n', weight: 'always' };
}

/** If a comment has more reports of stacks, they are folded, so that the list of dangers stays in view. */
const MAX_OPEN_PARTS = 3;

/** With more, they are not folded: even an empty fold takes more characters than a heading. */
const MAX_FOLDS = 100;

const OMITTED_PART = ['summary of a stack', 'summaries of stacks'] as const;

/**
 * A part below its heading. The report of a failed or refused stack is not folded, because a fold cannot show a caution
 * box. Every section of a stack can be omitted; otherwise, two hundred stacks would not fit into a comment.
 */
function* listPartSections(
  { title, said, isStack, isBad, document }: PartBlock,
  { parts, ...options }: PartsOptions,
): Generator<Section> {
  const inner = { ...options, level: options.level + 1 };
  const shown = document === undefined ? [] : listSections({ ...document, applyCommand: undefined }, inner);
  const sections = isStack ? makeDispensable(shown) : shown;
  if (isStack && !isBad && parts > MAX_OPEN_PARTS && parts <= MAX_FOLDS) {
    yield* wrapInFold({ code: title, rest: said ?? '' }, sections);
    return;
  }
  const words = [title, ...(said === undefined ? [] : [said])].map(toShortProse).join(': ');
  const start = createParagraph(`${'#'.repeat(options.level + 1)} ${words}`);
  yield isStack ? { ...start, weight: 'refusal', names: OMITTED_PART } : start;
  yield* sections;
}

function* makeDispensable(sections: Iterable<Section>): Generator<Section> {
  for (const section of sections)
    yield section.weight === 'always' && section.fold === undefined
      ? { ...section, weight: 'refusal', names: OMITTED_PART }
      : section;
}

/** The maximum length of a shown command: about twenty lines. A truncated command would do something else. */
const MAX_COMMAND = 1500;

function* listCommandSections({ applyCommand }: Document): Generator<Section> {
  const line = applyCommand?.lineElsewhere;
  if (applyCommand === undefined || line === undefined || line.length > MAX_COMMAND) return;
  yield createParagraph(`${formatApplyCommandLead(applyCommand)}\n\n${renderFence('sh', [line])}`);
}
