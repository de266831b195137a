import { toBrief } from '../view/brief.ts';
import type { ChangeView } from '../view/change-view.ts';
import type { FieldView } from '../view/field-view.ts';
import { toCount } from '../view/wording.ts';
import { listDiffLines } from './fields.ts';
import type { LinkTo } from './links.ts';
import type { Piece } from './pieces.ts';
import { toCode, toDetails, toFence, toProse, toRow } from './text.ts';

/** Fields that a row of a table shows. */
const MAX_SHOWN = 6;

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

/** A table of changes with what each does, then one diff for each action. What is long is folded, each as one block. */
export function listChangePieces(changes: readonly ChangeView[], context: TableContext): readonly Piece[] {
  const [open, folded] = [changes.slice(0, MAX_OPEN_ROWS), changes.slice(MAX_OPEN_ROWS)];
  return [
    ...listTablePieces(open, context),
    ...(folded.length === 0 ? [] : listFoldedPieces(folded, context)),
    ...[...Map.groupBy(changes, ({ action }) => action).values()].flatMap(listDiffPieces),
  ];
}

function listTablePieces(changes: readonly ChangeView[], context: TableContext): readonly Piece[] {
  const heads = ['', 'Resource', 'What', ...(context.hasOwners ? ['Owner'] : [])];
  return [
    { text: `${toRow(heads)}${toRow(heads.map(() => '---'))}`, weight: 'always' },
    ...changes.map((change) => toRowPiece(change, context)),
    { text: '\n', weight: 'always' },
  ];
}

function listFoldedPieces(changes: readonly ChangeView[], context: TableContext): readonly Piece[] {
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

function toRowPiece(change: ChangeView, { hasOwners, linkTo }: TableContext): Piece {
  const { action, glyph, address, id, owner, place } = change;
  const names = [address, ...(id === undefined || action !== 'delete' ? [] : [id])].map(toCode);
  const at = place === undefined ? '' : linkTo(place);
  const cells = [
    `${toCode(glyph)}&nbsp;${action}`,
    [...names, ...(at === '' ? [] : [at])].join('<br>'),
    listRemarks(change).join('<br>'),
    ...(hasOwners ? [owner === undefined ? '' : toProse(owner)] : []),
  ];
  return {
    text: toRow(cells),
    weight: action,
    names: [`row of resources to ${action}`, `rows of resources to ${action}`],
  };
}

/** What a reader of the table alone has to know of a change. */
function listRemarks(change: ChangeView): readonly string[] {
  const { action, reason, notes, protect, traits, fields, isContinued } = change;
  const isWhole = action === 'create' || action === 'delete';
  return [
    ...(reason === undefined ? [] : [toProse(reason)]),
    ...(protect ? ['protected'] : []),
    ...(isContinued ? ['the same resource as above'] : []),
    ...(traits.length === 0 ? [] : [traits.map(toClause).join('; ')]),
    ...notes.map(toProse),
    ...(isWhole && traits.length > 0 ? [] : listBriefs(fields)),
  ];
}

function toClause({ said, values }: ChangeView['traits'][number]): string {
  return values === '' ? toProse(said) : `${toProse(said)} ${toCode(values)}`;
}

function listBriefs(fields: readonly FieldView[]): readonly string[] {
  const hidden = fields.length - MAX_SHOWN;
  const briefs = fields.slice(0, MAX_SHOWN).map((field) => {
    const remarks = field.notes.length === 0 ? '' : ` (${toProse(field.notes.join(', '))})`;
    return `${toCode(toBrief(field))}${remarks}`;
  });
  return hidden > 0 ? [...briefs, `and ${toCount(hidden, 'more field')}`] : briefs;
}

/** Every field of the changes of one action, below a line for each resource. */
function listDiffPieces(changes: readonly ChangeView[]): readonly Piece[] {
  const [first] = changes;
  const shown = changes.filter(({ fields, lost }) => fields.length + lost.length > 0);
  if (first === undefined || shown.length === 0) return [];
  const { action } = first;
  const lines = shown.flatMap(({ address, id, fields, lost, unchanged }) => [
    `@@ ${action} ${address}${id === undefined ? '' : ` (${id})`} @@`,
    ...listDiffLines([...fields, ...lost], unchanged),
  ]);
  const diff = toFence('diff', lines);
  const rest = `${toCount(lines.length, 'line')} on ${toCount(shown.length, 'resource')}`;
  const text = lines.length <= MAX_OPEN_LINES ? diff : toDetails({ code: action, rest }, diff);
  const names = [`diff of resources to ${action}`, `diffs of resources to ${action}`] as const;
  return [{ text: `${text}\n\n`, weight: `${action}-fields`, names }];
}
