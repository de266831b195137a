import { toPrintable } from '../../model/printable.ts';
import {
  type Block,
  type DangerLine,
  type DangersBlock,
  type Document,
  type ErrorBlock,
  isEffort,
  type ListBlock,
  listEntries,
  type MessagesBlock,
  type PartBlock,
  type Sentence,
  type Span,
  type StyledSpan,
  type TableBlock,
  type Text,
  toPlainText,
} from '../document.ts';
import type { CommandLine, FormatOptions, TextStyleOptions } from '../report.ts';
import { countColumns } from '../view/escape.ts';
import { listPlaceLines, nameCalls } from '../view/finding-wording.ts';
import { formatApplyCommandLead, formatTeamNote } from '../view/plan-wording.ts';
import { listEntryLines } from './entries.ts';
import { renderFindingLines, renderFindingTextLines } from './findings.ts';
import { createPainter, isTooWide, padToWidth, wrapWithPrefix } from './layout.ts';

/** Writes a document for a terminal, chunk by chunk. Each chunk is whole lines. */
export function* writeText(document: Document, options: FormatOptions): Generator<string> {
  let isFirst = true;
  for (const lines of listParagraphs(document, options)) {
    yield `${isFirst ? '' : '\n'}${lines.join('\n')}\n`;
    isFirst = false;
  }
}

/** A paragraph is lines; the paragraphs are separated by blank lines. None is empty. */
function* listParagraphs(document: Document, options: FormatOptions): Generator<readonly string[]> {
  const { isResultFirst = false, conclusion } = document;
  const top = isResultFirst ? conclusion.filter((sentence) => !isEffort(sentence)) : [];
  const end = conclusion.filter((sentence) => !top.includes(sentence));
  const head = [...listHead(document, options), ...listSentenceLines(top, options)];
  if (head.length > 0) yield head;
  const dangers = listDangerLines(document, options);
  if (isResultFirst && dangers.length > 0) yield dangers;
  const layout = { ...options, entries: listEntries(document) };
  for (const block of document.blocks) {
    if (block.block === 'entries') yield* listEntryLines(block, layout);
    else if (block.block === 'part') yield* listPartParagraphs(block, options);
    else yield* listBlockParagraphs(block, options).filter(({ length }) => length > 0);
  }
  for (const lines of [
    isResultFirst ? [] : dangers,
    listEndLines(end, document, options),
    listNextLines(document, options),
  ])
    if (lines.length > 0) yield lines;
}

function listHead({ title, notes }: Document, { color, width }: TextStyleOptions): readonly string[] {
  const paint = createPainter(color);
  const titles = title === undefined ? [] : wrapWithPrefix('', title, { width, rest: 2 });
  return [
    ...titles.map((line) => paint('strong', line)),
    ...notes.flatMap((note) => wrapWithPrefix('', note, { width, rest: 2 })),
  ];
}

function listBlockParagraphs(
  block: Exclude<Block, { readonly block: 'entries' | 'part' }>,
  options: FormatOptions,
): readonly (readonly string[])[] {
  switch (block.block) {
    case 'findings':
      return block.findings.map((one) => renderFindingLines(one, options));
    case 'error':
      return [renderError(block, options)];
    case 'messages':
      return [renderMessages(block, options)];
    case 'list':
      return [renderList(block, options)];
    case 'table':
      return block.isDetail && !options.verbose ? [] : [renderTableBlock(block, options)];
    // The conclusion has both.
    case 'dangers':
    case 'counts':
      return [];
  }
}

function renderError({ lines, remedy }: ErrorBlock, { findInvocation, width }: TextStyleOptions): readonly string[] {
  const texts = [`edgewise: ${lines.join('\n')}`, ...(remedy === undefined ? [] : [nameCalls(remedy, findInvocation)])];
  return texts
    .flatMap((text) => text.split('\n'))
    .flatMap((line) => (isTooWide(line, width) ? wrapWithPrefix('', line, { width, rest: 0 }) : [line]));
}

function renderMessages(
  { heading, tone, messages, note }: MessagesBlock,
  options: TextStyleOptions,
): readonly string[] {
  const { color, width } = options;
  const paint = createPainter(color);
  return [
    `${heading}:`,
    ...messages.flatMap(({ name, request, sentences, place, hasExcerpt }) => [
      `  ${paint(tone, name)}`,
      ...(request === undefined ? [] : [`    ${request}`]),
      ...sentences.flatMap((sentence) => wrapWithPrefix('    ', sentence, { width, rest: 6 })),
      ...renderFindingTextLines(listPlaceLines(place, hasExcerpt ? options : {}), tone, options).map(
        (line) => `  ${line}`,
      ),
    ]),
    ...(note === undefined ? [] : wrapWithPrefix('  ', note, { width, rest: 4 })),
  ];
}

function renderList(
  { heading, items, limit, note }: ListBlock,
  { width, verbose }: TextStyleOptions,
): readonly string[] {
  const shown = verbose ? items : items.slice(0, limit);
  const prefix = heading === undefined ? '' : '  ';
  const wrap = (text: string) => wrapWithPrefix(prefix, text, { width, rest: prefix.length + 2 });
  return [
    ...(heading === undefined ? [] : [`${heading}:`]),
    ...shown.flatMap((item) => renderItem(item, prefix, width)),
    ...(shown.length < items.length ? wrap(`and ${items.length - shown.length} more: --verbose lists all`) : []),
    ...(note === undefined ? [] : wrapWithPrefix(prefix, note, { width, rest: prefix.length })),
  ];
}

/** Wraps an item. In one that is too wide, a command has a line of its own: a wrapped command cannot be copied. */
function renderItem(item: Text, prefix: string, width: number): readonly string[] {
  const rest = prefix.length + 2;
  const text = toPlainText(item);
  const at = typeof item === 'string' ? -1 : item.findIndex((span) => getStyle(span) === 'command');
  if (typeof item === 'string' || at < 0 || !isTooWide(prefix + text, width))
    return wrapWithPrefix(prefix, text, { width, rest });
  const [before, command, after] = [item.slice(0, at), item.slice(at, at + 1), item.slice(at + 1)].map(toPlainText);
  const end = after?.replace(/^[. ]+/, '') ?? '';
  return [
    ...wrapWithPrefix(prefix, before ?? '', { width, rest }),
    ' '.repeat(rest) + command,
    ...(end === '' ? [] : wrapWithPrefix(prefix, end, { width, rest })),
  ];
}

function getStyle(span: Span): StyledSpan['style'] {
  return typeof span === 'string' ? undefined : span.style;
}

/**
 * Cells form a column after cells of up to this width: with a usual id, a line has about 90 columns. After a wider
 * cell, the next one follows directly.
 */
const MAX_CELL_COLUMNS = 56;

/** A table with aligned columns. Below a heading, the other cells of a row that is too wide are on lines of their own. */
function renderTableBlock(
  { heading, layout, columns, rows }: TableBlock,
  { color, width }: TextStyleOptions,
): readonly string[] {
  const paint = createPainter(color);
  const widths = columns.map((name) => (layout === 'grid' ? countColumns(name) : 0));
  for (const { cells } of rows)
    for (const [index, cell] of cells.entries()) {
      const own = countColumns(toPlainText(cell));
      if (layout === 'grid' || own <= MAX_CELL_COLUMNS) widths[index] = Math.max(widths[index] ?? 0, own);
    }
  const align = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => padToWidth(cell, widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  const alignInGrid = (cells: readonly string[]): readonly string[] => {
    const line = align(cells);
    return isTooWide(line, width) ? wrapLastCell(cells, { widths, width }) : [line];
  };
  const lines =
    layout === 'grid'
      ? alignInGrid(columns.map((name) => name.toUpperCase())).map((line) => paint('strong', line))
      : wrapWithPrefix('', `${heading}:`, { width, rest: 2 });
  for (const { cells, isBad } of rows) {
    const texts = cells.map(toPlainText);
    const line = align(texts);
    if (layout === 'grid') {
      const row = alignInGrid(texts);
      lines.push(...(isBad === true ? row.map((one) => paint('error', one)) : row));
    } else if (layout === 'stack' || isTooWide(`  ${line}`, width))
      lines.push(...renderWideRow(texts, { color, width }));
    else lines.push(`  ${texts[0]}${paint('muted', line.slice(texts[0]?.length ?? 0))}`);
  }
  return lines;
}

/** A row of a grid whose last cell goes on below itself. If there is no room beside the others, each cell has its own lines. */
function wrapLastCell(
  cells: readonly string[],
  { widths, width }: { readonly widths: readonly number[]; readonly width: number },
): readonly string[] {
  const before = cells.slice(0, -1).map((cell, index) => `${padToWidth(cell, widths[index] ?? 0)}  `);
  const [prefix, last] = [before.join(''), cells.at(-1) ?? ''];
  const start = countColumns(prefix);
  if (start + MIN_LAST_CELL <= width) return wrapWithPrefix(prefix, last, { width, rest: start });
  const [first = '', ...more] = cells;
  return [first, ...more.flatMap((cell) => wrapWithPrefix('    ', cell, { width, rest: 4 }))];
}

/** The least columns of a last cell that is wrapped: as many as wrapping needs. */
const MIN_LAST_CELL = 20;

function renderWideRow(
  [first = '', ...more]: readonly string[],
  { color, width }: Pick<TextStyleOptions, 'color' | 'width'>,
): readonly string[] {
  const paint = createPainter(color);
  const rest = more.filter((text) => text !== '').flatMap((text) => wrapWithPrefix('      ', text, { width, rest: 8 }));
  return [...wrapWithPrefix('  ', first, { width, rest: 4 }), ...rest.map((line) => paint('muted', line))];
}

function* listPartParagraphs({ title, document }: PartBlock, options: FormatOptions): Generator<readonly string[]> {
  if (document === undefined) return;
  let heading: readonly string[] = [createPainter(options.color)('strong', `── ${title}`)];
  for (const lines of listParagraphs(document, options)) {
    yield [...heading, ...lines];
    heading = [];
  }
}

/** The dangers that no entry shows, and in a report on many stacks all of them. */
function listDangerLines({ blocks }: Document, { color, width }: TextStyleOptions): readonly string[] {
  const paint = createPainter(color);
  const found = blocks.filter((block): block is DangersBlock => block.block === 'dangers');
  return found.flatMap(({ count, dangers }) => {
    const shown = dangers.filter(({ part, entry }) => part !== undefined || entry === undefined);
    if (shown.length === 0) return [];
    const lines = shown.map(formatDangerLine).flatMap((line) => wrapWithPrefix('  ! ', line, { width, rest: 6 }));
    return [`${count}:`, ...lines].map((line) => paint('error', line));
  });
}

function formatDangerLine({ part, group, address, team, said }: DangerLine): string {
  const whose = team === undefined ? '' : ` (${formatTeamNote(team)})`;
  const start = part === undefined ? `${group}: ${address}${whose}` : `${part.title}${whose}: ${group}: ${address}`;
  return `${start} ${toPlainText(said)}`;
}

/** What is said at the end, and the command that applies what is shown. */
function listEndLines(
  sentences: readonly Sentence[],
  { applyCommand }: Document,
  options: TextStyleOptions,
): readonly string[] {
  const command = formatCommand(applyCommand, options.width);
  return [...listSentenceLines(sentences, options), ...(command === undefined ? [] : [command])];
}

function listSentenceLines(sentences: readonly Sentence[], { color, width }: TextStyleOptions): readonly string[] {
  const paint = createPainter(color);
  return sentences.flatMap((sentence) => {
    const wrapped = wrapWithPrefix('', formatTextSentence(sentence), { width, rest: 0 });
    const { tone } = sentence;
    return tone === undefined ? wrapped : wrapped.map((line) => paint(tone, line));
  });
}

function formatTextSentence({ role, to, text }: Sentence): string {
  if (role !== 'pointer') return text;
  return to === 'dangers' ? `${text}.` : `${text}: see below.`;
}

/**
 * The line with the command. Undefined if output is not a terminal, or if the command has unprintable characters. Not
 * wrapped, because a wrapped command cannot be copied.
 */
function formatCommand(command: CommandLine | undefined, width: number): string | undefined {
  if (command === undefined || width === 0 || toPrintable(command.line) !== command.line) return undefined;
  return `${formatApplyCommandLead(command)} ${command.line}`;
}

function listNextLines({ next }: Document, { width }: TextStyleOptions): readonly string[] {
  if (next.length === 0) return [];
  return ['Next:', ...next.flatMap((step) => wrapWithPrefix('  ', step, { width, rest: 4 }))];
}
