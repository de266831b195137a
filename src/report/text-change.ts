import { assertNever } from '../model/errors.ts';
import { type Paint, type Style, toPaint } from './color.ts';
import type { FieldView } from './field-view.ts';
import type { FoldedLine } from './line-diff.ts';
import { toColumns, toPadded, wrapBehind } from './text-layout.ts';
import type { TextOptions } from './text-options.ts';
import type { ChangeAction, ChangeView } from './view.ts';

/** How the lines of all changes of a plan are aligned. */
export interface ChangeLayout extends TextOptions {
  /** Column at which the actions stand. */
  readonly actionColumn: number;
}

/** Widest path and widest title that others are aligned to; wider ones stick out. */
const MAX_PATH_COLUMNS = 32;
const MAX_TITLE_COLUMNS = 56;

/** The column at which the actions of changes stand. */
export function toActionColumn(changes: readonly ChangeView[]): number {
  const widths = changes.map((change) => toColumns(toHeading(change))).filter((width) => width <= MAX_TITLE_COLUMNS);
  return Math.max(0, ...widths) + 3;
}

/** A change: its title line, then its fields, indented. */
export function renderChange(change: ChangeView, layout: ChangeLayout): readonly string[] {
  return [...renderTitle(change, layout), ...renderFields(listShownFields(change, layout), layout)];
}

/** The fields that are shown of a change. What is lost is for those who look closely. */
export function listShownFields({ fields, lost }: ChangeView, { verbose }: TextOptions): readonly FieldView[] {
  return verbose ? [...fields, ...lost] : fields;
}

function toHeading({ glyph, address, id }: ChangeView): string {
  return id === undefined ? `${glyph} ${address}` : `${glyph} ${address}  (${id})`;
}

function renderTitle(change: ChangeView, { color, width, actionColumn }: ChangeLayout): readonly string[] {
  const paint = toPaint(color);
  const heading = toHeading(change);
  const action = toActionText(change);
  const prefix = toColumns(heading) < actionColumn ? toPadded(heading, actionColumn) : `${heading}  `;
  const styled = paint(toStyle(change.action), heading) + ' '.repeat(toColumns(prefix) - toColumns(heading));
  const indent = width > 0 && actionColumn > width / 2 ? 6 : actionColumn;
  const [first = '', ...rest] = wrapBehind(prefix, action, { width, rest: indent });
  return [styled + first.slice(prefix.length), ...rest];
}

function toActionText({ action, reason, id, protect }: ChangeView): string {
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
    case 'adopt':
      return 'changed';
    case 'create':
      return 'added';
    default:
      return assertNever(action);
  }
}

function renderFields(fields: readonly FieldView[], { color }: ChangeLayout): readonly string[] {
  const paint = toPaint(color);
  const widths = fields.filter(({ inline }) => inline !== undefined).map(({ path }) => toColumns(path));
  const column = Math.max(0, ...widths.filter((width) => width <= MAX_PATH_COLUMNS)) + 2;
  return fields.flatMap((field) => {
    const notes = paint('muted', field.notes.join(', '));
    if (field.inline === undefined) {
      return [
        `    ${field.path}: ${notes}`.trimEnd(),
        ...field.lines.map((line) => `      ${renderLine(line, paint)}`),
      ];
    }
    const path = toColumns(field.path) + 2 <= column ? toPadded(`${field.path}:`, column) : `${field.path}: `;
    return [`    ${path}${renderInline(field.inline, paint)}${notes === '' ? '' : `  (${notes})`}`];
  });
}

function renderInline({ from, to }: NonNullable<FieldView['inline']>, paint: Paint): string {
  const sides = [
    ...(from === undefined ? [] : [paint('removed', from)]),
    ...(to === undefined ? [] : [paint('added', to)]),
  ];
  return sides.join(' → ');
}

function renderLine({ role, text }: FoldedLine, paint: Paint): string {
  switch (role) {
    case 'added':
      return paint('added', `+ ${text}`);
    case 'removed':
      return paint('removed', `- ${text}`);
    case 'same':
      return `  ${text}`;
    case 'folded':
      return paint('muted', `  … ${text}`);
    default:
      return assertNever(role);
  }
}
