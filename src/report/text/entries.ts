import { assertNever } from '../../model/errors.ts';
import type { EntriesBlock, Entry, EntryDetails, NextApply, Text } from '../document.ts';
import { toPlainText } from '../document.ts';
import type { TextStyleOptions } from '../report.ts';
import { clipToColumns, countColumns } from '../view/escape.ts';
import type { FieldView } from '../view/field-view.ts';
import { formatTeamNote, formatUnchangedFieldCount, SEE_ABOVE_NOTE } from '../view/plan-wording.ts';
import { formatNameList, NEXT_APPLY_PREFIX } from '../view/wording.ts';
import {
  createPainter,
  hardWrapWithPrefix,
  isTooWide,
  type Paint,
  padToWidth,
  type TextRole,
  wrapWithPrefix,
} from './layout.ts';

/** Options, and all entries of the document, whose titles share a column. */
interface EntriesLayout extends TextStyleOptions {
  readonly entries: readonly Entry[];
}

interface EntryLayout extends TextStyleOptions {
  readonly labelColumn: number;
  readonly hasLabels: boolean;
}

/**
 * Values form a column after paths of up to MAX_PATH_COLUMNS, and labels form one after titles of up to
 * MAX_TITLE_COLUMNS. After a wider path or title, the text follows directly.
 */
const MAX_PATH_COLUMNS = 32;
const MAX_TITLE_COLUMNS = 72;

/** The minimum width of the column for labels and reasons. If the terminal has less space, there is no column. */
const MIN_LABEL_COLUMNS = 24;

/**
 * The entries of a block below its heading, as sections. An entry with fields has its own section; adjacent entries
 * without fields share one.
 */
export function* listEntryLines(
  { heading, hasLabels, entries }: EntriesBlock,
  { entries: all, ...options }: EntriesLayout,
): Generator<readonly string[]> {
  const layout = { ...options, hasLabels, labelColumn: computeLabelColumn(all) };
  if (heading !== undefined) yield [createPainter(options.color)('strong', `${heading}:`)];
  let dense: string[] = [];
  for (const entry of entries) {
    const details = entry.describe();
    if (options.compact === true) dense.push(renderCompactEntry(entry, details, layout));
    else if (listShownFields(details, options).length + (details.next?.fields.length ?? 0) === 0)
      dense.push(...renderEntry(entry, details, layout));
    else {
      if (dense.length > 0) yield dense;
      dense = [];
      yield renderEntry(entry, details, layout);
    }
  }
  if (dense.length > 0) yield dense;
}

/** The column at which labels start: after the widest title of at most MAX_TITLE_COLUMNS columns. */
function computeLabelColumn(entries: readonly Entry[]): number {
  let widest = 0;
  for (const entry of entries) {
    const columns = countColumns(formatTitle(entry));
    if (columns <= MAX_TITLE_COLUMNS) widest = Math.max(widest, columns);
  }
  return widest + 3;
}

/** The title line of an entry, then its dangers and notes, then its fields, indented. */
function renderEntry(entry: Entry, details: EntryDetails, layout: EntryLayout): readonly string[] {
  const { team, isContinued } = entry;
  const { dangers, notes, warnings, traits, unchanged, next } = details;
  const { width } = layout;
  const paint = createPainter(layout.color);
  const shown = listShownFields(details, layout);
  const isBare = details.fields.length + details.lost.length === 0;
  const warned = new Set(warnings);
  const said = [...(team === undefined || isContinued ? [] : [formatTeamNote(team)]), ...notes];
  return [
    ...renderTitle(entry, layout),
    ...renderDangers(dangers, layout),
    ...said.flatMap((note) => {
      const lines = wrapWithPrefix('    ', note, { width, rest: 6 });
      return warned.has(note) ? lines.map((line) => paint('warning', line)) : lines;
    }),
    ...(isBare ? renderTraits(traits, layout) : []),
    ...renderFields(shown, layout),
    ...(shown.length === 0 || unchanged === 0
      ? []
      : [`    ${paint('muted', `(${formatUnchangedFieldCount(unchanged)})`)}`]),
    ...(next === undefined ? [] : renderNext(next, layout)),
  ];
}

function renderTraits(traits: readonly Text[], { width }: TextStyleOptions): readonly string[] {
  return traits.length === 0 ? [] : wrapWithPrefix('    ', traits.map(toPlainText).join('; '), { width, rest: 6 });
}

function renderDangers(dangers: EntryDetails['dangers'], { color, width }: TextStyleOptions): readonly string[] {
  const paint = createPainter(color);
  return dangers.flatMap(({ group, said }) =>
    wrapWithPrefix('    ', `! ${group}: ${toPlainText(said)}`, { width, rest: 6 }).map((line) => paint('error', line)),
  );
}

/** What the next apply does, and its details, which have an extra indent. */
function renderNext({ said, dangers, notes, fields }: NextApply, options: TextStyleOptions): readonly string[] {
  const { width } = options;
  const inner = { ...options, width: width === 0 ? 0 : width - 2 };
  const details = [
    ...renderDangers(dangers, inner),
    ...notes.flatMap((note) => wrapWithPrefix('    ', note, { width: inner.width, rest: 6 })),
    ...renderFields(fields, inner),
  ];
  return [
    ...wrapWithPrefix('    ', `${NEXT_APPLY_PREFIX}: ${said}`, { width, rest: 6 }),
    ...details.map((line) => `  ${line}`),
  ];
}

/** An entry on one line, because a list of many has no room for values. */
function renderCompactEntry(entry: Entry, details: EntryDetails, layout: EntryLayout): string {
  const { reason, group } = entry;
  const { dangers, warnings, fields, next } = details;
  const label = formatLabel({ ...entry, reason: undefined }, true);
  const shown = new Set(fields.map(({ path }) => path));
  return renderCompactLine(
    {
      heading: formatTitle(entry),
      column: layout.labelColumn,
      said: layout.hasLabels ? label : '',
      why: [
        ...dangers.map(
          ({ group: name, said }) => ({ text: `! ${name}: ${toPlainText(said)}`, style: 'error' }) as const,
        ),
        ...(reason === undefined ? [] : [{ text: reason }]),
        ...warnings.map((text) => ({ text, style: 'warning' }) as const),
      ],
      fields:
        group === 'create'
          ? []
          : [
              ...fields.map(({ path, notes }) => (layout.hasLabels ? path : `${path} ${notes.join(', ')}`.trim())),
              ...(next?.fields ?? []).map(({ path }) => path).filter((path) => !shown.has(path)),
            ],
      paint: (text) => createPainter(layout.color)(getStyle(group), text),
    },
    layout,
  );
}

/** The fields to show for an entry. The fields of a deleted resource are shown only with --verbose. */
function listShownFields({ fields, lost }: EntryDetails, { verbose }: TextStyleOptions): readonly FieldView[] {
  return verbose ? [...fields, ...lost] : fields;
}

function formatTitle({ glyph, address, id }: Entry): string {
  return id === undefined ? `${glyph} ${address}` : `${glyph} ${address}  (${id})`;
}

/** The title of an entry. On a narrow terminal, the label has no column: it follows the title or is on the next line. */
function renderTitle(entry: Entry, { color, width, labelColumn, hasLabels }: EntryLayout): readonly string[] {
  const title = formatTitle(entry);
  const paint = createPainter(color);
  const style = getStyle(entry.group);
  const styled = paint(style, title);
  const label = formatLabel(entry, hasLabels);
  if (label === '' && !isTooWide(title, width)) return [styled];
  if (width > 0 && labelColumn > width - MIN_LABEL_COLUMNS) {
    if (countColumns(`${title}  ${label}`) <= width) return [`${styled}  ${label}`];
    const titles = isTooWide(title, width) ? wrapWithPrefix('', title, { width, rest: 4 }) : [title];
    return [
      ...titles.map((line) => paint(style, line)),
      ...(label === '' ? [] : wrapWithPrefix(' '.repeat(6), label, { width, rest: 8 })),
    ];
  }
  const prefix = padToWidth(`${title}  `, labelColumn);
  const [first = '', ...rest] = wrapWithPrefix(prefix, label, { width, rest: labelColumn });
  return [styled + first.slice(title.length), ...rest];
}

function formatLabel({ label, reason, isProtected, isContinued }: Entry, hasLabels: boolean): string {
  if (isContinued) return `${label}, ${SEE_ABOVE_NOTE}`;
  const said = [...(hasLabels ? [label] : []), ...(reason === undefined ? [] : [reason])].join(': ');
  return `${said}${isProtected ? ' (protected)' : ''}`;
}

/** The colour of an action or a state. */
function getStyle(group: string): TextRole {
  return STYLES[group] ?? 'changed';
}

const STYLES: Readonly<Record<string, TextRole>> = {
  delete: 'removed',
  missing: 'removed',
  replace: 'replaced',
  create: 'added',
  pending: 'muted',
  'to-prune': 'muted',
};

/** The fields of a resource with aligned values, indented below its title. */
function renderFields(fields: readonly FieldView[], layout: TextStyleOptions): readonly string[] {
  const widths = fields.filter(({ inline }) => inline !== undefined).map(({ path }) => countColumns(path));
  const pathColumns = Math.max(0, ...widths.filter((width) => width <= MAX_PATH_COLUMNS)) + 2;
  return fields.flatMap((field) =>
    field.inline === undefined
      ? renderBlock(field, layout)
      : renderInline(field.inline, {
          ...layout,
          path: padToWidth(`${field.path}: `, pathColumns),
          notes: field.notes,
        }),
  );
}

function renderBlock({ path, notes, lines }: FieldView, { color, width }: TextStyleOptions): readonly string[] {
  const paint = createPainter(color);
  return [
    ...renderHeading(path, notes, { paint, width }),
    ...lines.flatMap((line) => {
      const { style, text } = formatFieldLine(line);
      return hardWrapWithPrefix('      ', text, { width, rest: 6 }).map((part) => paintBehind(part, style, paint));
    }),
  ];
}

/** The path of a field, followed by its notes. If the line is too narrow, the notes are on the next line. */
function renderHeading(
  path: string,
  notes: readonly string[],
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  const note = notes.join(', ');
  const headings = hardWrapWithPrefix('    ', `${path}:`, { width, rest: 4 });
  if (note === '') return headings;
  if (headings.length === 1 && !isTooWide(`    ${path}: ${note}`, width))
    return [`    ${path}: ${paint('muted', note)}`];
  return [...headings, ...wrapWithPrefix('      ', note, { width, rest: 6 }).map((line) => paint('muted', line))];
}

interface InlineLayout extends TextStyleOptions {
  readonly path: string;
  readonly notes: readonly string[];
}

/** A field on one line. If the terminal is too narrow, the values and the notes are on lines below the path. */
function renderInline(
  { from, to, is }: NonNullable<FieldView['inline']>,
  { path, notes, color, width }: InlineLayout,
): readonly string[] {
  const paint = createPainter(color);
  const joinValues = (style: Paint) => {
    const before = from === undefined ? [] : [style('removed', from)];
    const after = to === undefined ? [] : [style('added', to)];
    return [...before, ...after, ...(is === undefined ? [] : [is])].join(' → ');
  };
  const note = notes.length === 0 ? '' : `(${notes.join(', ')})`;
  const plain = joinValues(createPainter(false));
  if (isTooWide(`    ${path}${plain}`, width))
    return [
      ...renderHeading(path.trimEnd().replace(/:$/, ''), note === '' ? [] : [note], { paint, width }),
      ...(isTooWide(`      ${plain}`, width)
        ? renderValues({ from, to: to ?? is }, { paint, width })
        : [`      ${joinValues(paint)}`]),
    ];
  const line = `    ${path}${joinValues(paint)}`;
  if (note === '') return [line];
  const muted = paint('muted', note);
  return isTooWide(`    ${path}${plain}  ${note}`, width) ? [line, `      ${muted}`] : [`${line}  ${muted}`];
}

/** The old and the new value, each on separate lines. */
function renderValues(
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  const breakValue = (style: TextRole, text: string) =>
    hardWrapWithPrefix('      ', text, { width, rest: 6 }).map((line) => paintBehind(line, style, paint));
  return [
    ...(from === undefined ? [] : breakValue('removed', from)),
    ...(to === undefined ? [] : breakValue('added', from === undefined ? to : `→ ${to}`)),
  ];
}

/** Paints a line except for its leading spaces. */
function paintBehind(line: string, style: TextRole | undefined, paint: Paint): string {
  const text = line.trimStart();
  return style === undefined ? line : line.slice(0, line.length - text.length) + paint(style, text);
}

function formatFieldLine({ role, text }: FieldView['lines'][number]): {
  readonly style?: TextRole;
  readonly text: string;
} {
  switch (role) {
    case 'added':
      return { style: 'added', text: `+ ${text}`.trimEnd() };
    case 'removed':
      return { style: 'removed', text: `- ${text}`.trimEnd() };
    case 'same':
      return { text: `  ${text}` };
    case 'folded':
      return { style: 'muted', text: `  … ${text}` };
    default:
      return assertNever(role);
  }
}

/** A resource on one line: its name, the action, the reasons, and the paths of the fields. */
interface CompactLine {
  readonly heading: string;
  /** Column at which the text after the heading starts. */
  readonly column: number;
  /** The action. Empty if a heading above the list names it. */
  readonly said: string;
  readonly why: readonly CompactPiece[];
  readonly fields: readonly string[];
  readonly paint: (text: string) => string;
}

/** A clause on the line. It has a `style` if readers must not miss it; otherwise it is not painted. */
interface CompactPiece {
  readonly text: string;
  readonly style?: TextRole;
}

/** Renders the line, cut to the width of the terminal. Paints the heading, and clauses that have a style. */
function renderCompactLine(
  { heading, column, said, why, fields, paint }: CompactLine,
  { width, color }: Pick<TextStyleOptions, 'width' | 'color'>,
): string {
  const names = formatNameList(fields);
  const list = fields.length === 0 || why.length === 0 ? names : ` (${names})`;
  const hasMore = why.length + fields.length > 0;
  const start = padToWidth(`${heading}  `, column) + (said !== '' && hasMore ? `${said}: ` : said);
  const line = clipToColumns(`${start}${why.map(({ text }) => text).join('; ')}${list}`.trimEnd(), width);
  if (!line.startsWith(heading)) return paint(line);
  const parts = [paint(heading), line.slice(heading.length, start.length)];
  let at = start.length;
  for (const { text, style } of why) {
    const shown = line.slice(at, at + text.length);
    at += text.length;
    parts.push(style === undefined ? shown : createPainter(color)(style, shown), line.slice(at, at + '; '.length));
    at += '; '.length;
  }
  return [...parts, line.slice(at)].join('');
}
