import { toBrief } from '../view/brief.ts';
import type { ChangeView } from '../view/change-view.ts';
import type { FieldView } from '../view/field-view.ts';
import { toCount } from '../view/wording.ts';
import { listDiffLines } from './fields.ts';
import type { LinkTo } from './links.ts';
import type { Piece } from './pieces.ts';
import { toCode, toDetails, toFence, toProse, toRow } from './text.ts';

/** What a row of a table shows: fields, and characters of each value. */
interface Room {
  readonly fields: number;
  readonly value: number;
}

/** More would make a table that nobody reads, and the diff below it has all. */
const SHORT: Room = { fields: 6, value: 60 };

/** Of few rows whose diff is folded, whoever unfolds nothing has to see all but the longest values. */
const WHOLE: Room = { fields: 12, value: 240 };
const MAX_WHOLE_ROWS = 10;

/** Rows of a table that are open. */
const MAX_OPEN_ROWS = 50;

/** Lines of a diff that are open. */
const MAX_OPEN_LINES = 40;

/** How the rows of a table are made. */
export interface TableContext {
  /** There is a column for whose a resource is. */
  readonly hasOwners: boolean;
  readonly linkTo: LinkTo;
}

interface RowContext extends TableContext {
  readonly findRoom: (change: ChangeView) => Room;
}

/** A table of changes with what each does, then one diff for each action. What is long is folded, each as one block. */
export function listChangePieces(changes: readonly ChangeView[], context: TableContext): readonly Piece[] {
  const [open, folded] = [changes.slice(0, MAX_OPEN_ROWS), changes.slice(MAX_OPEN_ROWS)];
  const diffs = new Map([...Map.groupBy(changes, ({ action }) => action)].map(([key, some]) => [key, toDiff(some)]));
  const isWhole = (action: ChangeView['action']): boolean =>
    changes.length <= MAX_WHOLE_ROWS && isLong(diffs.get(action));
  const rows: RowContext = { ...context, findRoom: ({ action }) => (isWhole(action) ? WHOLE : SHORT) };
  return [
    ...listTablePieces(open, rows),
    ...(folded.length === 0 ? [] : listFoldedPieces(folded, rows)),
    ...[...diffs].flatMap(([action, diff]) => listDiffPieces(action, diff)),
  ];
}

function listTablePieces(changes: readonly ChangeView[], context: RowContext): readonly Piece[] {
  const heads = ['', 'Resource', 'What', ...(context.hasOwners ? ['Owner'] : [])];
  return [
    { text: `${toRow(heads)}${toRow(heads.map(() => '---'))}`, weight: 'always' },
    ...changes.map((change) => toRowPiece(change, context)),
    { text: '\n', weight: 'always' },
  ];
}

function listFoldedPieces(changes: readonly ChangeView[], context: RowContext): readonly Piece[] {
  const counts = [...Map.groupBy(changes, ({ action }) => action)].map(([action, { length }]) => `${length} ${action}`);
  const [start = '', end = ''] = toDetails({ code: `${changes.length} more`, rest: counts.join(', ') }, '\n').split(
    '\n\n\n\n',
  );
  return [
    { text: `${start}\n\n`, weight: 'always' },
    ...listTablePieces(changes, { ...context, linkTo: (place) => context.linkTo(place, false) }),
    { text: `${end.trim()}\n\n`, weight: 'always' },
  ];
}

function toRowPiece(change: ChangeView, { hasOwners, linkTo, findRoom }: RowContext): Piece {
  const { action, glyph, address, id, owner, place } = change;
  const names = [address, ...(id === undefined || action !== 'delete' ? [] : [id])].map(toCode);
  const at = place === undefined ? '' : linkTo(place);
  const cells = [
    `${toCode(glyph)}&nbsp;${action}`,
    [...names, ...(at === '' ? [] : [at])].join('<br>'),
    listRemarks(change, findRoom(change)).join('<br>'),
    ...(hasOwners ? [owner === undefined ? '' : toProse(owner)] : []),
  ];
  return {
    text: toRow(cells),
    weight: action,
    names: [`row of resources to ${action}`, `rows of resources to ${action}`],
  };
}

/** What a reader of the table alone has to know of a change. */
function listRemarks(change: ChangeView, room: Room): readonly string[] {
  const { action, reason, notes, protect, traits, fields, isContinued } = change;
  const isWhole = action === 'create' || action === 'delete';
  return [
    ...(reason === undefined ? [] : [toProse(reason)]),
    ...(protect ? ['protected'] : []),
    ...(isContinued ? ['the same resource as above'] : []),
    ...(traits.length === 0 ? [] : [traits.map(toClause).join('; ')]),
    ...notes.map(toProse),
    ...(isWhole && traits.length > 0 ? [] : listBriefs(fields, room)),
  ];
}

function toClause({ said, values }: ChangeView['traits'][number]): string {
  return values === '' ? toProse(said) : `${toProse(said)} ${toCode(values)}`;
}

function listBriefs(fields: readonly FieldView[], room: Room): readonly string[] {
  const hidden = fields.length - room.fields;
  const briefs = fields.slice(0, room.fields).map((field) => {
    const remarks = field.notes.length === 0 ? '' : ` (${toProse(field.notes.join(', '))})`;
    return `${toCode(toBrief(field, room.value))}${remarks}`;
  });
  return hidden > 0 ? [...briefs, `and ${toCount(hidden, 'more field')}`] : briefs;
}

/** Every field of the changes of one action, below a line for each resource. */
interface Diff {
  readonly lines: readonly string[];
  /** How many resources it is about. */
  readonly resources: number;
}

function toDiff(changes: readonly ChangeView[]): Diff {
  const shown = changes.filter(({ fields, lost }) => fields.length + lost.length > 0);
  const lines = shown.flatMap(({ action, address, id, fields, lost, unchanged }) => [
    `@@ ${action} ${address}${id === undefined ? '' : ` (${id})`} @@`,
    ...listDiffLines([...fields, ...lost], unchanged),
  ]);
  return { lines, resources: shown.length };
}

function isLong(diff: Diff | undefined): boolean {
  return diff !== undefined && diff.lines.length > MAX_OPEN_LINES;
}

function listDiffPieces(action: ChangeView['action'], diff: Diff): readonly Piece[] {
  const { lines, resources } = diff;
  if (resources === 0) return [];
  const fence = toFence('diff', lines);
  const rest = `${toCount(lines.length, 'line')} on ${toCount(resources, 'resource')}`;
  const text = isLong(diff) ? toDetails({ code: action, rest }, fence) : fence;
  const names = [`diff of resources to ${action}`, `diffs of resources to ${action}`] as const;
  return [{ text: `${text}\n\n`, weight: `${action}-fields`, names }];
}
