import { assertNever } from '../model/errors.ts';
import type { ChangeAction, ChangeView } from './change-view.ts';
import { type Paint, type Style, toPaint } from './color.ts';
import type { FieldView } from './field-view.ts';
import type { FoldedLine } from './line-diff.ts';
import { toColumns, toCount, toPadded, wrapBehind } from './text-layout.ts';
import type { TextOptions } from './text-options.ts';

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
export function toActionColumn(changes: readonly ChangeView[]): number {
  const widths = changes.map((change) => toColumns(toHeading(change))).filter((width) => width <= MAX_TITLE_COLUMNS);
  return Math.max(0, ...widths) + 3;
}

/** A change: its title line, then what else to know, then its fields, indented. */
export function renderChange(change: ChangeView, layout: ChangeLayout): readonly string[] {
  const notes = change.notes.flatMap((note) => wrapBehind('    ', note, { width: layout.width, rest: 6 }));
  const fields = renderFields(listShownFields(change, layout), layout);
  return [...renderTitle(change, layout), ...notes, ...fields, ...renderUnchanged(change, layout)];
}

/** The fields that are shown of a change. What is lost is for those who look closely. */
export function listShownFields({ fields, lost }: ChangeView, { verbose }: TextOptions): readonly FieldView[] {
  return verbose ? [...fields, ...lost] : fields;
}

/** Said where fields are shown: beside others that change, one wonders about those that are not there. */
function renderUnchanged({ fields, unchanged }: ChangeView, { color }: TextOptions): readonly string[] {
  if (fields.length === 0 || unchanged === 0) return [];
  return [`    ${toPaint(color)('muted', `(${toCount(unchanged, 'field')} unchanged)`)}`];
}

function toHeading({ glyph, address, id }: ChangeView): string {
  return id === undefined ? `${glyph} ${address}` : `${glyph} ${address}  (${id})`;
}

/** The action stands in its column; on a narrow terminal behind the heading, or below it. */
function renderTitle(change: ChangeView, { color, width, actionColumn }: ChangeLayout): readonly string[] {
  const heading = toHeading(change);
  const styled = toPaint(color)(toStyle(change.action), heading);
  const action = toActionText(change);
  if (width > 0 && actionColumn > width - MIN_ACTION_COLUMNS) {
    const isShort = toColumns(`${heading}  ${action}`) <= width;
    return isShort ? [`${styled}  ${action}`] : [styled, ...wrapBehind(' '.repeat(6), action, { width, rest: 8 })];
  }
  const prefix = toPadded(`${heading}  `, actionColumn);
  const [first = '', ...rest] = wrapBehind(prefix, action, { width, rest: actionColumn });
  return [styled + first.slice(heading.length), ...rest];
}

function toActionText({ action, reason, id, protect, isContinued }: ChangeView): string {
  if (isContinued) return `${action}, as above`;
  const why = reason ?? (action === 'adopt' && id !== undefined ? `takes over ${id}` : undefined);
  return `${action}${why === undefined ? '' : `: ${why}`}${protect ? ' (protected)' : ''}`;
}

function toStyle(action: ChangeAction): Style {
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
  const widths = fields.filter(({ inline }) => inline !== undefined).map(({ path }) => toColumns(path));
  const pathColumns = Math.max(0, ...widths.filter((width) => width <= MAX_PATH_COLUMNS)) + 2;
  return fields.flatMap((field) =>
    field.inline === undefined
      ? renderBlock(field, layout)
      : renderInline(field.inline, { ...layout, path: toPadded(`${field.path}: `, pathColumns), notes: field.notes }),
  );
}

function renderBlock({ path, notes, lines }: FieldView, { color }: TextOptions): readonly string[] {
  const paint = toPaint(color);
  const heading = `    ${path}: ${paint('muted', notes.join(', '))}`.trimEnd();
  return [heading, ...lines.map((line) => `      ${renderLine(line, paint)}`)];
}

interface InlineLayout extends TextOptions {
  readonly path: string;
  readonly notes: readonly string[];
}

/** Values are never wrapped; remarks go to a line of their own when there is no room behind the values. */
function renderInline(
  { from, to }: NonNullable<FieldView['inline']>,
  { path, notes, color, width }: InlineLayout,
): readonly string[] {
  const paint = toPaint(color);
  const toLine = (style: Paint) => {
    const before = from === undefined ? [] : [style('removed', from)];
    const after = to === undefined ? [] : [style('added', to)];
    return `    ${path}${[...before, ...after].join(' → ')}`;
  };
  if (notes.length === 0) return [toLine(paint)];
  const remark = `(${notes.join(', ')})`;
  const isTooWide = width > 0 && toColumns(`${toLine(toPaint(false))}  ${remark}`) > width;
  const muted = paint('muted', remark);
  return isTooWide ? [toLine(paint), `      ${muted}`] : [`${toLine(paint)}  ${muted}`];
}

function renderLine({ role, text }: FoldedLine, paint: Paint): string {
  switch (role) {
    case 'added':
      return paint('added', `+ ${text}`.trimEnd());
    case 'removed':
      return paint('removed', `- ${text}`.trimEnd());
    case 'same':
      return `  ${text}`;
    case 'folded':
      return paint('muted', `  … ${text}`);
    default:
      return assertNever(role);
  }
}
