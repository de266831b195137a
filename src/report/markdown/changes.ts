import type { Locate, ManifestStart } from '../../model/diagnostic.ts';
import { assertNever } from '../../model/errors.ts';
import type { Plan } from '../../model/plan.ts';
import type { FormatOptions } from '../report.ts';
import type { ChangeView } from '../view/change-view.ts';
import { type DangerView, findFieldPlace, isCoveredByDanger, listQuoted } from '../view/danger-view.ts';
import { createPlaceLinks } from '../view/diagnostic-view.ts';
import { type FieldLine, type FieldView, formatBrief, shortenNames } from '../view/field-view.ts';
import { formatUnchangedCount } from '../view/plan-wording.ts';
import { formatCount, shortenCommit } from '../view/wording.ts';
import {
  escapeProse,
  listFoldSections,
  renderAnchor,
  renderCode,
  renderFence,
  renderLink,
  renderRow,
  type Section,
} from './text.ts';

/** What a row of a table shows: fields, and characters of each value. */
interface Room {
  readonly fields: number;
  readonly value: number;
}

/** More fields or characters would make the table unreadable; the diff has the whole value. */
const SHORT: Room = { fields: 6, value: 60 };

/** With few rows whose diff is folded, the table shows all but the longest values. */
const WHOLE: Room = { fields: 12, value: 240 };
const MAX_WHOLE_ROWS = 10;

/** Changes whose diff is open, and its lines. */
const MAX_OPEN_DIFFS = 3;

/** Rows of a table that are open. */
const MAX_OPEN_ROWS = 50;

/** Lines of a diff that are open. */
const MAX_OPEN_LINES = 40;

/** How the rows of a table are made. */
export interface TableContext {
  /** There is a column for whose a resource is. */
  readonly hasOwners: boolean;
  readonly linkTo: LinkTo;
  readonly locate?: Locate | undefined;
  /** A sentence below the table. */
  readonly footnote?: string | undefined;
}

interface RowContext extends TableContext {
  readonly room: Room;
}

/** A table of changes with their effects, then their diff. Long ones are folded, each as one block. */
export function listChangeSections(changes: readonly ChangeView[], context: TableContext): readonly Section[] {
  const [open, folded] = [changes.slice(0, MAX_OPEN_ROWS), changes.slice(MAX_OPEN_ROWS)];
  const diffs = [...Map.groupBy(changes, ({ action }) => action)].map(([action, some]) => toDiff(action, some));
  const isFolded = changes.length > MAX_OPEN_DIFFS || countLines(diffs) > MAX_OPEN_LINES;
  const rows: RowContext = { ...context, room: isFolded && changes.length <= MAX_WHOLE_ROWS ? WHOLE : SHORT };
  return [
    ...listTablePieces(open, rows),
    ...(folded.length === 0 ? [] : listFoldedPieces(folded, rows)),
    { text: context.footnote === undefined ? '' : `${escapeProse(context.footnote)}\n\n`, weight: 'create' },
    ...listDiffPieces(diffs, isFolded),
  ];
}

function listTablePieces(changes: readonly ChangeView[], context: RowContext): readonly Section[] {
  const heads = ['', 'Resource', 'What', ...(context.hasOwners ? ['Owner'] : [])];
  return [
    { text: `${renderRow(heads)}${renderRow(heads.map(() => '---'))}`, weight: 'always' },
    ...changes.map((change) => toRowPiece(change, context)),
    { text: '\n', weight: 'always' },
  ];
}

function listFoldedPieces(changes: readonly ChangeView[], context: RowContext): readonly Section[] {
  const counts = [...Map.groupBy(changes, ({ action }) => action)].map(([action, { length }]) => `${length} ${action}`);
  return listFoldSections(
    { code: `${changes.length} more`, rest: counts.join(', ') },
    listTablePieces(changes, { ...context, linkTo: (place) => context.linkTo(place, 'text') }),
  );
}

function toRowPiece(change: ChangeView, { hasOwners, linkTo, locate, room }: RowContext): Section {
  const { action, glyph, address, id, owner, fields } = change;
  const names = [address, ...(id === undefined || change.change.duplicateOf === undefined ? [] : [id])].map(renderCode);
  const { at, linkField } = createRowLinks(change, { linkTo, locate });
  const isDrift = fields.some(({ origin }) => origin === 'drift');
  const cells = [
    `${renderCode(glyph)}&nbsp;${action}${isDrift ? '<br>reverts drift' : ''}`,
    [...names, ...(at === '' ? [] : [at])].join('<br>'),
    listRemarks(change, { room, linkField }).join('<br>'),
    ...(hasOwners ? [owner === undefined ? '' : escapeProse(owner)] : []),
  ];
  return {
    text: renderRow(cells),
    weight: action,
    names: [`row of resources to ${action}`, `rows of resources to ${action}`],
  };
}

/** The link of a row, to the line of its first field, and those of the fields that have another line. */
export function createRowLinks(
  row: Pick<ChangeView, 'stated'> & Parameters<typeof findFieldPlace>[0],
  { linkTo, locate }: Pick<TableContext, 'linkTo' | 'locate'>,
): { readonly at: string; readonly linkField: NonNullable<BriefOptions['linkField']> } {
  const place = findFieldPlace(row, { locate });
  return {
    at: place === undefined ? '' : linkTo(place),
    linkField: ({ stated }) => {
      const own = stated === undefined ? undefined : findFieldPlace({ change: row.change, stated }, { locate });
      return own === undefined || own.line === place?.line ? '' : linkTo(own, 'line');
    },
  };
}

/** What a reader of the table alone has to know of a change. */
function listRemarks(change: ChangeView, options: BriefOptions): readonly string[] {
  const { action, reason, notes, protect, traits, fields, dangers } = change;
  const isWhole = action === 'create' || action === 'delete';
  return [
    ...(protect ? ['protected'] : []),
    ...joinClauses([...(reason === undefined ? [] : [escapeProse(reason)]), ...traits.map(toClause)]),
    ...notes.map(escapeProse),
    ...(isWhole && traits.length > 0 ? [] : listBriefs(fields, { ...options, dangers })),
  ];
}

function joinClauses(clauses: readonly string[]): readonly string[] {
  return clauses.length === 0 ? [] : [clauses.join('; ')];
}

function toClause({ said, values }: ChangeView['traits'][number]): string {
  return values === '' ? escapeProse(said) : `${escapeProse(said)} ${renderCode(values)}`;
}

/** How fields are said in short. */
interface BriefOptions {
  readonly room?: Room;
  /** Dangers that are shown above already, with their values. */
  readonly dangers?: readonly DangerView[];
  /** A link to the line of a field, if it is another than that of the row; empty: there is none. */
  readonly linkField?: (field: FieldView) => string;
}

/** The fields in short, as cells of a table have room for them. */
export function listBriefs(
  fields: readonly FieldView[],
  { room = SHORT, dangers = [], linkField = () => '' }: BriefOptions = {},
): readonly string[] {
  const hidden = fields.length - room.fields;
  const briefs = fields.slice(0, room.fields).map((field) => {
    const remarks = field.notes.length === 0 ? '' : ` (${escapeProse(field.notes.join(', '))})`;
    const danger = dangers.find((one) => isCoveredByDanger(one, field));
    if (danger !== undefined) return `${renderCode(shortenNames(field.path))}: ${linkToDanger(danger)}${remarks}`;
    return [`${renderCode(formatBrief(field, room.value))}${remarks}`, linkField(field)].filter(Boolean).join(' ');
  });
  return hidden > 0 ? [...briefs, `and ${formatCount(hidden, 'more field')}`] : briefs;
}

/** Where the values of a field are. */
function linkToDanger({ group, anchor }: DangerView): string {
  return renderLink(`${group} danger above`, `#${anchor}`);
}

/** Every field of the changes of one action, below a line for each resource. */
interface Diff {
  readonly action: ChangeView['action'];
  readonly lines: readonly string[];
  /** How many resources it is about. */
  readonly resources: number;
}

function toDiff(action: ChangeView['action'], changes: readonly ChangeView[]): Diff {
  const shown = changes.filter(({ fields, lost }) => fields.length + lost.length > 0);
  const lines = shown.flatMap(({ address, id, fields, lost, unchanged }) => [
    `@@ ${action} ${address}${id === undefined ? '' : ` (${id})`} @@`,
    ...listDiffLines([...fields, ...lost], unchanged),
  ]);
  return { action, lines, resources: shown.length };
}

function countLines(diffs: readonly Diff[]): number {
  return diffs.reduce((sum, { lines }) => sum + lines.length, 0);
}

/** One for each action, so that what has no room is left out by itself. */
function listDiffPieces(diffs: readonly Diff[], isFolded: boolean): readonly Section[] {
  const shown = diffs.filter(({ lines }) => lines.length > 0);
  const pieces = shown.map(({ action, lines }): Section => {
    const names = [`diff of resources to ${action}`, `diffs of resources to ${action}`] as const;
    return { text: `${renderFence('diff', lines)}\n\n`, weight: `${action}-fields`, names };
  });
  if (!isFolded || pieces.length === 0) return pieces;
  const resources = shown.reduce((sum, one) => sum + one.resources, 0);
  const rest = `${formatCount(countLines(shown), 'line')} on ${formatCount(resources, 'resource')}`;
  return listFoldSections({ code: 'Diff', rest }, pieces);
}

/** Fields as lines that a reader of `diff` knows: `-` before what was, `+` before what will be. */
export function listDiffLines(fields: readonly FieldView[], unchanged = 0): readonly string[] {
  const more = unchanged === 0 ? [] : [`  (${formatUnchangedCount(unchanged)})`];
  return [...fields.flatMap(listFieldLines), ...more];
}

function listFieldLines({ path, notes, inline, lines }: FieldView): readonly string[] {
  const remark = notes.length === 0 ? '' : `  (${notes.join(', ')})`;
  if (inline === undefined) return [`  ${path}:${remark}`, ...lines.map(toDiffLine)];
  const { from, to, is } = inline;
  if (is !== undefined) return [`  ${path}: ${is}${remark}`];
  const before = from === undefined ? [] : [`- ${path}: ${from}${to === undefined ? remark : ''}`];
  return [...before, ...(to === undefined ? [] : [`+ ${path}: ${to}${remark}`])];
}

function toDiffLine({ role, text }: FieldLine): string {
  switch (role) {
    case 'added':
      return `+   ${text}`;
    case 'removed':
      return `-   ${text}`;
    case 'same':
      return `    ${text}`;
    case 'folded':
      return `    … ${text}`;
    default:
      return assertNever(role);
  }
}

/**
 * The start of a resource's manifest, as Markdown: a link where the forge is known and there is room (`link`), a position without a link (`text`), or a link
 * that shows the line only, since the file is beside it (`line`). Empty for standard input.
 */
export type LinkTo = (place: ManifestStart, format?: 'link' | 'text' | 'line') => string;

/** Links to manifests as they are in the commit that a plan was made of; positions without links where that is not known. */
export function createLinks(plan: Pick<Plan, 'made'>, options: FormatOptions): LinkTo {
  const findLink = createPlaceLinks(plan, options);
  return (place, format = 'link') => {
    const { label, page } = findLink(place) ?? {};
    if (label === undefined) return '';
    const shown = renderCode(format === 'line' ? `:${place.line}` : label);
    return page === undefined || format === 'text' ? shown : renderLink(shown, page);
  };
}

/** What a comment is about, as its last line says it. */
interface Footed extends Pick<Plan, 'made'> {
  readonly tool: Pick<Plan['tool'], 'version'>;
}

/** The last line of a comment: from which commit, by which run, when, and by which version it was made. */
export function renderFooter({ made, tool }: Footed, { pipeline = {} }: FormatOptions): string {
  const { commit } = made ?? {};
  const page = commit === pipeline.commit ? pipeline.commitUrl : undefined;
  const label = commit === undefined ? '' : renderCode(shortenCommit(commit));
  const parts = [
    ...(commit === undefined ? [] : [`Commit ${page === undefined ? label : renderLink(label, page)}`]),
    ...(pipeline.runUrl === undefined
      ? []
      : [renderLink(`run ${/\d+$/.exec(pipeline.runUrl)?.[0] ?? ''}`.trim(), pipeline.runUrl)]),
    ...toTimeTexts(made?.at),
    `edgewise ${escapeProse(tool.version)}`,
  ];
  return `<sub>${parts.join(' · ')}</sub>`;
}

function toTimeTexts(at = ''): readonly string[] {
  const [, day = '', time = ''] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(at) ?? [];
  return day === '' ? [] : [`${day} ${time} UTC`];
}

/** A link to the line that a danger is about; empty: there is none. */
export type LinkToDanger = (danger: DangerView) => string;

interface DangersView {
  readonly dangers: readonly DangerView[];
  readonly dangerCount: string;
}

/** The dangers alone, by group, each with its values and a link. Each one that may be left out is a section of its own, so that the most severe remain. */
export function listDangerSections(
  { dangers, dangerCount }: DangersView,
  linkToDanger: LinkToDanger,
): readonly Section[] {
  const items = dangers.map((danger) => renderDangerSection(danger, linkToDanger(danger)));
  return wrapInCaution(dangerCount, items);
}

/** One danger as an item of a list. `lead`: Markdown with its stack and owner, in a report on many. */
export function renderDangerSection(
  { group, address, clause, then, owner, path, anchor }: DangerView,
  link: string,
  lead?: string,
): Section {
  const whose = owner === undefined || lead !== undefined ? '' : ` (${escapeProse(owner)})`;
  const values = clause.values === '' ? '' : ` ${renderCode(clause.values)}`;
  const said = `${toQuotingProse(clause.lead)}${values}${then === '' ? '' : `: ${escapeProse(then)}`}`;
  // Only the row of a field leads here.
  const target = path === undefined ? '' : renderAnchor(anchor);
  const text = `> - ${lead ?? ''}**${group}** ${renderCode(address)}${whose} ${said}${link === '' ? '' : ` ${link}`}${target}\n`;
  return { text, weight: 'delete', names: ['danger', 'dangers'] };
}

/** Prose in which what stands in backticks is code. Whatever is quoted so, all of it is escaped. */
function toQuotingProse(text: string): string {
  return listQuoted(text)
    .map(({ piece, isCode }) => (isCode ? renderCode(piece) : escapeProse(piece)))
    .join('');
}

/** A list of dangers below how many they are. Nothing where there is none. */
export function wrapInCaution(dangerCount: string, items: readonly Section[]): readonly Section[] {
  if (items.length === 0) return [];
  const heading = `> [!CAUTION]\n> **${escapeProse(dangerCount)}**\n>\n`;
  return [{ text: heading, weight: 'always' }, ...items, { text: '\n', weight: 'always' }];
}
