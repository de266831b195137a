import { assertNever } from '../../model/errors.ts';
import type { TextOptions } from '../report.ts';
import type { ChangeView } from '../view/change-view.ts';
import { clipToColumns, countColumns } from '../view/escape.ts';
import type { FieldLine, FieldView } from '../view/field-view.ts';
import { formatOwnerNote, formatUnchangedCount, SEE_ABOVE } from '../view/plan-wording.ts';
import { formatNameList } from '../view/wording.ts';
import { breakBehind, createPainter, isTooWide, type Paint, padToColumns, type Style, wrapBehind } from './layout.ts';

/** How the lines of all changes of a plan are aligned. */
export interface ChangeLayout extends TextOptions {
  /** Column at which the actions stand. */
  readonly actionColumn: number;
}

/** Widest path and widest title that others are aligned to; wider ones stick out. */
const MAX_PATH_COLUMNS = 32;
const MAX_TITLE_COLUMNS = 72;

/** Columns that an action and its reason need to be read well. */
const MIN_ACTION_COLUMNS = 24;

/** The column at which the actions of changes stand. */
export function getActionColumnWidth(changes: readonly ChangeView[]): number {
  const widths = changes.map((change) => countColumns(toHeading(change))).filter((width) => width <= MAX_TITLE_COLUMNS);
  return Math.max(0, ...widths) + 3;
}

/** A change: its title line, then what else to know, then its fields, as far as they are shown, indented. */
export function renderChange(change: ChangeView, shown: readonly FieldView[], layout: ChangeLayout): readonly string[] {
  const { owner, isContinued, unchanged } = change;
  const owned = owner === undefined || isContinued ? [] : [formatOwnerNote(owner)];
  const paint = createPainter(layout.color);
  const warnings = new Set(change.warnings);
  const notes = [...owned, ...change.notes].flatMap((note) => {
    const lines = wrapBehind('    ', note, { width: layout.width, rest: 6 });
    return warnings.has(note) ? lines.map((line) => paint('warning', line)) : lines;
  });
  const rest = shown.length === 0 || unchanged === 0 ? [] : [paint('muted', `(${formatUnchangedCount(unchanged)})`)];
  return [
    ...renderTitle(change, layout),
    ...renderDangers(change, layout),
    ...notes,
    ...renderFields(shown, layout),
    ...rest.map((text) => `    ${text}`),
  ];
}

/** Each danger of a change, so that one sees them with and without colour. */
function renderDangers({ dangers }: ChangeView, { color, width }: ChangeLayout): readonly string[] {
  const paint = createPainter(color);
  return dangers.flatMap(({ group, said }) =>
    wrapBehind('    ', `! ${group}: ${said}`, { width, rest: 6 }).map((line) => paint('error', line)),
  );
}

/** A change on one line. `drifted`: the further fields that it reverts, where parts of a plan are told apart. */
export function renderCompactChange(change: ChangeView, drifted: readonly FieldView[], layout: ChangeLayout): string {
  const { action, dangers, warnings, reason, protect } = change;
  const style = toStyle(action);
  const why = [
    ...dangers.map(({ group, said }) => ({ text: `! ${group}: ${said}`, style: 'error' }) as const),
    ...(reason === undefined ? [] : [{ text: reason }]),
    ...warnings.map((text) => ({ text, style: 'warning' }) as const),
  ];
  return renderCompactLine(
    {
      heading: toHeading(change),
      column: layout.actionColumn,
      said: protect ? `${action} (protected)` : action,
      why,
      fields: action === 'create' ? [] : [...change.fields, ...drifted].map(({ path }) => path),
      paint: (text) => createPainter(layout.color)(style, text),
    },
    layout,
  );
}

/** The fields of a change that are shown; those of deleted resources only with --verbose. */
export function listShownFields({ fields, lost }: ChangeView, { verbose }: TextOptions): readonly FieldView[] {
  return verbose ? [...fields, ...lost] : fields;
}

function toHeading({ glyph, address, id }: ChangeView): string {
  return id === undefined ? `${glyph} ${address}` : `${glyph} ${address}  (${id})`;
}

/** The action has a column of its own; on a narrow terminal it follows the heading, or is below it. */
function renderTitle(change: ChangeView, { color, width, actionColumn }: ChangeLayout): readonly string[] {
  const heading = toHeading(change);
  const paint = createPainter(color);
  const style = toStyle(change.action);
  const styled = paint(style, heading);
  const action = toActionText(change);
  if (width > 0 && actionColumn > width - MIN_ACTION_COLUMNS) {
    const isShort = countColumns(`${heading}  ${action}`) <= width;
    if (isShort) return [`${styled}  ${action}`];
    const headings = isTooWide(heading, width) ? wrapBehind('', heading, { width, rest: 4 }) : [heading];
    return [...headings.map((line) => paint(style, line)), ...wrapBehind(' '.repeat(6), action, { width, rest: 8 })];
  }
  const prefix = padToColumns(`${heading}  `, actionColumn);
  const [first = '', ...rest] = wrapBehind(prefix, action, { width, rest: actionColumn });
  return [styled + first.slice(heading.length), ...rest];
}

function toActionText({ action, reason, protect, isContinued }: ChangeView): string {
  if (isContinued) return `${action}, ${SEE_ABOVE}`;
  return `${action}${reason === undefined ? '' : `: ${reason}`}${protect ? ' (protected)' : ''}`;
}

function toStyle(action: ChangeView['action']): Style {
  switch (action) {
    case 'delete':
      return 'removed';
    case 'replace':
      return 'replaced';
    case 'update':
    case 'release':
    case 'adopt':
      return 'changed';
    case 'create':
      return 'added';
    default:
      return assertNever(action);
  }
}

/** The fields of a resource, indented below its title, their values aligned. */
export function renderFields(fields: readonly FieldView[], layout: TextOptions): readonly string[] {
  const widths = fields.filter(({ inline }) => inline !== undefined).map(({ path }) => countColumns(path));
  const pathColumns = Math.max(0, ...widths.filter((width) => width <= MAX_PATH_COLUMNS)) + 2;
  return fields.flatMap((field) =>
    field.inline === undefined
      ? renderBlock(field, layout)
      : renderInline(field.inline, {
          ...layout,
          path: padToColumns(`${field.path}: `, pathColumns),
          notes: field.notes,
        }),
  );
}

function renderBlock({ path, notes, lines }: FieldView, { color, width }: TextOptions): readonly string[] {
  const paint = createPainter(color);
  return [
    ...renderHeading(path, notes, { paint, width }),
    ...lines.flatMap((line) => {
      const { style, text } = toLook(line);
      return breakBehind('      ', text, { width, rest: 6 }).map((part) => paintBehind(part, style, paint));
    }),
  ];
}

/** The path of a field, followed by the notes or, where there is no room, with the notes below it. */
function renderHeading(
  path: string,
  notes: readonly string[],
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  const remark = notes.join(', ');
  const headings = breakBehind('    ', `${path}:`, { width, rest: 4 });
  if (remark === '') return headings;
  if (headings.length === 1 && !isTooWide(`    ${path}: ${remark}`, width))
    return [`    ${path}: ${paint('muted', remark)}`];
  return [...headings, ...wrapBehind('      ', remark, { width, rest: 6 }).map((line) => paint('muted', line))];
}

interface InlineLayout extends TextOptions {
  readonly path: string;
  readonly notes: readonly string[];
}

/** Without room behind the path, values are below it, and notes on a line of their own. */
function renderInline(
  { from, to, is }: NonNullable<FieldView['inline']>,
  { path, notes, color, width }: InlineLayout,
): readonly string[] {
  const paint = createPainter(color);
  const toValues = (style: Paint) => {
    const before = from === undefined ? [] : [style('removed', from)];
    const after = to === undefined ? [] : [style('added', to)];
    return [...before, ...after, ...(is === undefined ? [] : [is])].join(' → ');
  };
  const remark = notes.length === 0 ? '' : `(${notes.join(', ')})`;
  const plain = toValues(createPainter(false));
  if (isTooWide(`    ${path}${plain}`, width))
    return [
      ...renderHeading(path.trimEnd().replace(/:$/, ''), remark === '' ? [] : [remark], { paint, width }),
      ...(isTooWide(`      ${plain}`, width)
        ? renderValues({ from, to: to ?? is }, { paint, width })
        : [`      ${toValues(paint)}`]),
    ];
  const line = `    ${path}${toValues(paint)}`;
  if (remark === '') return [line];
  const muted = paint('muted', remark);
  return isTooWide(`    ${path}${plain}  ${remark}`, width) ? [line, `      ${muted}`] : [`${line}  ${muted}`];
}

/** Each on lines of its own. */
function renderValues(
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  const toLines = (style: Style, text: string) =>
    breakBehind('      ', text, { width, rest: 6 }).map((line) => paintBehind(line, style, paint));
  return [
    ...(from === undefined ? [] : toLines('removed', from)),
    ...(to === undefined ? [] : toLines('added', from === undefined ? to : `→ ${to}`)),
  ];
}

/** Spaces before a line stay as they are. */
function paintBehind(line: string, style: Style | undefined, paint: Paint): string {
  const text = line.trimStart();
  return style === undefined ? line : line.slice(0, line.length - text.length) + paint(style, text);
}

function toLook({ role, text }: FieldLine): { readonly style?: Style; readonly text: string } {
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

/** A resource on one line: its name, the action, the reason, and the names of the fields. */
interface CompactLine {
  readonly heading: string;
  /** Column of the rest. */
  readonly column: number;
  /** The action; empty if the list names it. */
  readonly said: string;
  readonly why: readonly CompactPiece[];
  readonly fields: readonly string[];
  readonly paint: (text: string) => string;
}

/** A clause on the line; `style`: of what has to be seen. */
interface CompactPiece {
  readonly text: string;
  readonly style?: Style;
}

/** The line, as much of it as fits the terminal. The heading has a look, and what has to be seen. */
export function renderCompactLine(
  { heading, column, said, why, fields, paint }: CompactLine,
  { width, color }: Pick<TextOptions, 'width' | 'color'>,
): string {
  const names = formatNameList(fields);
  const list = fields.length === 0 || why.length === 0 ? names : ` (${names})`;
  const hasMore = why.length + fields.length > 0;
  const start = padToColumns(`${heading}  `, column) + (said !== '' && hasMore ? `${said}: ` : said);
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
