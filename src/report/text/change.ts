import { formatAction } from '../../model/change.ts';
import { assertNever } from '../../model/errors.ts';
import type { TextStyleOptions } from '../report.ts';
import type { ChangeView } from '../view/change-view.ts';
import { clipToColumns, countColumns } from '../view/escape.ts';
import type { FieldValueLine, FieldView } from '../view/field-view.ts';
import { formatOwnerNote, formatUnchangedFieldCount, SEE_ABOVE_NOTE } from '../view/plan-wording.ts';
import { formatNameList } from '../view/wording.ts';
import {
  createPainter,
  hardWrapWithPrefix,
  isTooWide,
  type Paint,
  padToWidth,
  type TextRole,
  wrapWithPrefix,
} from './layout.ts';

export interface ChangeLayout extends TextStyleOptions {
  readonly actionColumn: number;
}

/**
 * Values form a column after paths of up to MAX_PATH_COLUMNS, and actions form one after titles of up to
 * MAX_TITLE_COLUMNS. After a wider path or title, the text follows directly.
 */
const MAX_PATH_COLUMNS = 32;
const MAX_TITLE_COLUMNS = 72;

/** The minimum width of the column for actions and reasons. If the terminal has less space, there is no column. */
const MIN_ACTION_COLUMNS = 24;

/** The column at which the actions of changes start: after the widest title of at most MAX_TITLE_COLUMNS columns. */
export function computeSharedActionColumn(changes: readonly ChangeView[]): number {
  const widths = changes
    .map((change) => countColumns(formatHeading(change)))
    .filter((width) => width <= MAX_TITLE_COLUMNS);
  return Math.max(0, ...widths) + 3;
}

/** A change: its title line, then dangers and notes, then the fields in `shown`, indented. */
export function renderChange(change: ChangeView, shown: readonly FieldView[], layout: ChangeLayout): readonly string[] {
  const { owner, isContinued, unchanged } = change;
  const owned = owner === undefined || isContinued ? [] : [formatOwnerNote(owner)];
  const paint = createPainter(layout.color);
  const warnings = new Set(change.warnings);
  const notes = [...owned, ...change.notes].flatMap((note) => {
    const lines = wrapWithPrefix('    ', note, { width: layout.width, rest: 6 });
    return warnings.has(note) ? lines.map((line) => paint('warning', line)) : lines;
  });
  const rest =
    shown.length === 0 || unchanged === 0 ? [] : [paint('muted', `(${formatUnchangedFieldCount(unchanged)})`)];
  return [
    ...renderTitle(change, layout),
    ...renderDangers(change, layout),
    ...notes,
    ...renderFields(shown, layout),
    ...rest.map((text) => `    ${text}`),
  ];
}

/** The dangers of a change. Each is marked with `!`, which is visible without colour too. */
function renderDangers({ dangers }: ChangeView, { color, width }: ChangeLayout): readonly string[] {
  const paint = createPainter(color);
  return dangers.flatMap(({ group, said }) =>
    wrapWithPrefix('    ', `! ${group}: ${said}`, { width, rest: 6 }).map((line) => paint('error', line)),
  );
}

/** A change on one line. `drifted`: the fields of the same change that are in the drift part of the plan. */
export function renderCompactChange(change: ChangeView, drifted: readonly FieldView[], layout: ChangeLayout): string {
  const { action, dangers, warnings, reason, protect } = change;
  const style = getStyle(action);
  const why = [
    ...dangers.map(({ group, said }) => ({ text: `! ${group}: ${said}`, style: 'error' }) as const),
    ...(reason === undefined ? [] : [{ text: reason }]),
    ...warnings.map((text) => ({ text, style: 'warning' }) as const),
  ];
  return renderCompactLine(
    {
      heading: formatHeading(change),
      column: layout.actionColumn,
      said: protect ? `${formatAction(action)} (protected)` : formatAction(action),
      why,
      fields: action === 'create' ? [] : [...change.fields, ...drifted].map(({ path }) => path),
      paint: (text) => createPainter(layout.color)(style, text),
    },
    layout,
  );
}

/** The fields to show for a change. The fields of a deleted resource are shown only with --verbose. */
export function listShownFields({ fields, lost }: ChangeView, { verbose }: TextStyleOptions): readonly FieldView[] {
  return verbose ? [...fields, ...lost] : fields;
}

function formatHeading({ glyph, address, id }: ChangeView): string {
  return id === undefined ? `${glyph} ${address}` : `${glyph} ${address}  (${id})`;
}

/**
 * The title of a change. On a narrow terminal, the action has no column: it follows the heading or is on the next line.
 */
function renderTitle(change: ChangeView, { color, width, actionColumn }: ChangeLayout): readonly string[] {
  const heading = formatHeading(change);
  const paint = createPainter(color);
  const style = getStyle(change.action);
  const styled = paint(style, heading);
  const action = formatActionLine(change);
  if (width > 0 && actionColumn > width - MIN_ACTION_COLUMNS) {
    const isShort = countColumns(`${heading}  ${action}`) <= width;
    if (isShort) return [`${styled}  ${action}`];
    const headings = isTooWide(heading, width) ? wrapWithPrefix('', heading, { width, rest: 4 }) : [heading];
    return [
      ...headings.map((line) => paint(style, line)),
      ...wrapWithPrefix(' '.repeat(6), action, { width, rest: 8 }),
    ];
  }
  const prefix = padToWidth(`${heading}  `, actionColumn);
  const [first = '', ...rest] = wrapWithPrefix(prefix, action, { width, rest: actionColumn });
  return [styled + first.slice(heading.length), ...rest];
}

function formatActionLine({ action, reason, protect, isContinued }: ChangeView): string {
  if (isContinued) return `${formatAction(action)}, ${SEE_ABOVE_NOTE}`;
  return `${formatAction(action)}${reason === undefined ? '' : `: ${reason}`}${protect ? ' (protected)' : ''}`;
}

function getStyle(action: ChangeView['action']): TextRole {
  switch (action) {
    case 'delete':
      return 'removed';
    case 'replace':
      return 'replaced';
    case 'update':
    case 'release':
    case 'adopt':
    case 'take-over':
      return 'changed';
    case 'create':
      return 'added';
    default:
      return assertNever(action);
  }
}

/** The fields of a resource with aligned values, indented below its title. */
export function renderFields(fields: readonly FieldView[], layout: TextStyleOptions): readonly string[] {
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

function formatFieldLine({ role, text }: FieldValueLine): { readonly style?: TextRole; readonly text: string } {
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
export function renderCompactLine(
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
